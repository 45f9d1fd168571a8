import { finiteOrNull } from '../../internal/values.ts';
import type { AlertEvent, AlertTransition } from '../alarms/alert-event.ts';

/**
 * Returns a transition as plain JSON with keys in snake_case: change, timestamp and the alert.
 * @throws {Error} if it is not a transition, so that no unreadable line is written to a file
 */
export function transitionToJson({ change, timestamp, alert }: AlertTransition): Record<string, unknown> {
  if (typeof change !== 'string' || typeof alert.id !== 'string') throw new Error('it is not a change of an alert');
  return { change, timestamp, alert: alertToJson(alert) };
}

/**
 * Returns an alert as plain JSON with keys in snake_case, always in this order. Numbers that JSON cannot represent are
 * null.
 */
export function alertToJson(alert: AlertEvent): Record<string, unknown> {
  return {
    id: alert.id,
    tier: alert.tier,
    timestamp: alert.timestamp,
    metric: alert.metric,
    attribute: alert.attribute,
    groups: [...alert.groups],
    measure: alert.measure,
    rates: alert.rates.map(finiteOrNull),
    value: finiteOrNull(alert.value),
    low: finiteOrNull(alert.low),
    high: finiteOrNull(alert.high),
    limit: alert.limit,
    n: alert.n,
    severity: alert.severity,
    severity_score: finiteOrNull(alert.severityScore),
    confidence: finiteOrNull(alert.confidence),
    drift_score: finiteOrNull(alert.driftScore),
    changed_at: alert.changedAt,
    window_start: alert.windowStart,
    window_events: alert.windowEvents,
    share: alert.share === null ? null : { ...alert.share },
    reason: alert.reason,
  };
}

/** Returns a transition as one line: `Alarm raised (high): … [sex:demographic_parity_difference:1]`. */
export function transitionText({ change, alert }: AlertTransition): string {
  const { tier, severity, reason, id } = alert;
  const weight = change === 'raised' || change === 'repeated' ? ` (${severity})` : '';
  return `${tier === 'alarm' ? 'Alarm' : 'Watch'} ${change}${weight}: ${reason} [${id}]`;
}
