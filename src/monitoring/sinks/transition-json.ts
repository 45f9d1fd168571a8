import { toSnakeCaseJson } from '../../internal/arguments.ts';
import type { AlertEvent, AlertTransition } from '../alarms/alert-event.ts';
import { ALERT_FIELDS } from '../alarms/engine-snapshot.ts';

/**
 * Returns a transition as plain JSON with keys in snake_case: change, timestamp and the alert.
 * @throws {Error} if the argument is not a transition, so that no unreadable line is written to a file
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
  const fields = Object.keys(ALERT_FIELDS).map((name) => [name, alert[name as keyof AlertEvent]]);
  return toSnakeCaseJson(Object.fromEntries(fields)) as Record<string, unknown>;
}

/** Returns a transition as one line: `Alarm raised (high): … [sex:demographic_parity_difference:1]`. */
export function transitionText({ change, alert }: AlertTransition): string {
  const { tier, severity, reason, id } = alert;
  const weight = change === 'raised' || change === 'repeated' ? ` (${severity})` : '';
  return `${tier === 'alarm' ? 'Alarm' : 'Watch'} ${change}${weight}: ${reason} [${id}]`;
}
