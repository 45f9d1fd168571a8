import type { AlertChange, AlertEvent, AlertTransition } from '../../../src/monitoring/alarms/alert-event.ts';

/** Returns an alarm, with the given changes. */
function sampleAlert(changes: Partial<AlertEvent> = {}): AlertEvent {
  return {
    id: 'sex:demographic_parity_difference:1',
    tier: 'alarm',
    timestamp: '2024-05-01T00:00:00.000Z',
    metric: 'demographic_parity_difference',
    attribute: 'sex',
    groups: ['male', 'female'],
    measure: 'selection_rate',
    rates: [0.5, 0.25],
    value: 0.25,
    low: 0.15,
    high: 0.35,
    limit: 0.1,
    n: 1550,
    severity: 'high',
    severityScore: 0.05,
    confidence: 0.3,
    driftScore: null,
    changedAt: null,
    windowStart: '2024-04-01T00:00:00.000Z',
    windowEvents: 3000,
    share: { engine: 0.05, combination: 0.025, window: 0.0125, group: 0.00625 },
    within: null,
    reason: 'The selection rates of male and female differ by at least 0.15.',
    ...changes,
  };
}

export function sampleTransition(change: AlertChange = 'raised', changes: Partial<AlertEvent> = {}): AlertTransition {
  return { change, timestamp: '2024-05-01T00:00:01.000Z', alert: sampleAlert(changes) };
}

/** The JSON of {@link sampleTransition}, written by hand. */
export const SAMPLE_JSON = {
  change: 'raised',
  timestamp: '2024-05-01T00:00:01.000Z',
  alert: {
    id: 'sex:demographic_parity_difference:1',
    tier: 'alarm',
    timestamp: '2024-05-01T00:00:00.000Z',
    metric: 'demographic_parity_difference',
    attribute: 'sex',
    groups: ['male', 'female'],
    measure: 'selection_rate',
    rates: [0.5, 0.25],
    value: 0.25,
    low: 0.15,
    high: 0.35,
    limit: 0.1,
    n: 1550,
    severity: 'high',
    severity_score: 0.05,
    confidence: 0.3,
    drift_score: null,
    changed_at: null,
    window_start: '2024-04-01T00:00:00.000Z',
    window_events: 3000,
    share: { engine: 0.05, combination: 0.025, window: 0.0125, group: 0.00625 },
    within: null,
    reason: 'The selection rates of male and female differ by at least 0.15.',
  },
};

export const SAMPLE_TEXT =
  'Alarm raised (high): The selection rates of male and female differ by at least 0.15. [sex:demographic_parity_difference:1]';
