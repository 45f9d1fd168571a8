import type { AlertEvent, AlertHistory, MonitorState } from '../../../src/monitoring/alarms/alert-event.ts';
import type { MonitoringView, WatchedMetric } from '../../../src/monitoring/dashboard/monitoring-view.ts';
import type { MonitoringRecord } from '../../../src/monitoring/records/monitoring-record.ts';
import type { LabelCoverage } from '../../../src/monitoring/tracker/event-block.ts';
import { at, ATTRIBUTES, MEASURES, type Metric, recordsAt, TIMES } from './sample-records.ts';

const SENTENCES: Readonly<Record<MonitorState, string>> = {
  breach: "The gap between 'north' and 'west' is at least 0.131, above the limit of 0.1, at every check so far.",
  watch: 'The gap in the window is 0.117, above the limit, but a single check cannot distinguish a trend from chance.',
  within: 'The gap is at most 0.084 at every check so far, which is within the limit of 0.1.',
  unknown: "The gap may be anywhere from 0.02 to 0.19: about 1,200 more events of group 'west' are needed.",
};

export function watchedMetric(attribute: string, metric: Metric, state: MonitorState): WatchedMetric {
  return {
    attribute,
    metric,
    state,
    sentence: SENTENCES[state],
    limit: 0.1,
    alpha: 0.0125,
    now: recordsAt(attribute, metric, 'sliding', TIMES - 1),
    overall: recordsAt(attribute, metric, 'cumulative', TIMES - 1),
  };
}

export const ALERT: AlertEvent = {
  id: 'region:demographic_parity_difference:1',
  tier: 'alarm',
  timestamp: at(151),
  metric: 'demographic_parity_difference',
  attribute: 'region',
  groups: ['north', 'west'],
  measure: 'selection_rate',
  rates: [0.577, 0.285],
  value: 0.292,
  low: 0.131,
  high: 0.41,
  limit: 0.1,
  n: 480,
  severity: 'critical',
  severityScore: 0.11,
  confidence: 0.57,
  driftScore: 0.16,
  changedAt: at(121),
  windowStart: at(118),
  windowEvents: 1980,
  share: { engine: 0.05, combination: 0.0125, window: 0.00625, group: 0.00208 },
  within: null,
  reason:
    "Selection rate: 57.7% of 'north' and 28.5% of 'west'; the gap is at least 0.131, above the limit of 0.1, by a bound that holds at all times.",
};

const ALERTS: readonly AlertHistory[] = [
  {
    alert: ALERT,
    isOpen: true,
    isAcknowledged: false,
    changes: [
      { change: 'raised', timestamp: at(151) },
      { change: 'repeated', timestamp: at(175) },
    ],
  },
  {
    alert: {
      ...ALERT,
      id: 'region:equalized_odds_difference:1',
      metric: 'equalized_odds_difference',
      measure: 'true_positive_rate',
      timestamp: at(166),
      severity: 'high',
      severityScore: 0.04,
      changedAt: null,
      driftScore: null,
    },
    isOpen: true,
    isAcknowledged: true,
    changes: [
      { change: 'raised', timestamp: at(166) },
      { change: 'acknowledged', timestamp: at(169) },
    ],
  },
  {
    alert: {
      ...ALERT,
      id: 'age:demographic_parity_difference:1',
      attribute: 'age',
      groups: ['30 to 60', 'under 30'],
      timestamp: at(40),
      severity: 'low',
      severityScore: 0.01,
      changedAt: at(31),
    },
    isOpen: false,
    isAcknowledged: true,
    changes: [
      { change: 'raised', timestamp: at(40) },
      { change: 'acknowledged', timestamp: at(44) },
      { change: 'resolved', timestamp: at(60) },
      { change: 'cleared', timestamp: at(82) },
    ],
  },
  {
    alert: {
      ...ALERT,
      id: 'age:demographic_parity_difference:2',
      tier: 'watch',
      attribute: 'age',
      groups: ['under 30', 'over 60'],
      rates: [0.505, 0.388],
      value: 0.117,
      low: 0.02,
      timestamp: at(190),
      severity: 'low',
      severityScore: 0.004,
      changedAt: at(180),
      share: null,
      reason: 'The gap in the window is 0.117, above the limit of 0.1; a watch has no guarantee over many checks.',
    },
    isOpen: true,
    isAcknowledged: false,
    changes: [{ change: 'raised', timestamp: at(190) }],
  },
];

const COVERAGE: readonly LabelCoverage[] = Object.entries(ATTRIBUTES).flatMap(([attribute, groups]) =>
  Object.entries(groups).map(([group, { share }], index) => {
    const n = Math.round(12_000 * share);
    const labelled = Math.round(n * (0.8 - 0.2 * index));
    return { attribute, group, n, labelled, share: labelled / n };
  }),
);

function historyOf(attributes: readonly string[]): MonitoringRecord[] {
  return Array.from({ length: TIMES }, (_, hour) =>
    attributes.flatMap((attribute) =>
      (Object.keys(MEASURES) as Metric[]).flatMap((metric) =>
        (['sliding', 'cumulative'] as const).flatMap((window) => recordsAt(attribute, metric, window, hour)),
      ),
    ),
  ).flat();
}

/**
 * Returns a view of two attributes with three groups each, four metrics in the four states, an alert of every kind, and
 * one intersection.
 * @param hiddenRate the rate of a cell with so few events that it must be hidden
 */
export function fullView(hiddenRate = 0.43): MonitoringView {
  return {
    timestamp: at(TIMES - 1),
    firstTimestamp: at(0),
    nEvents: 12_000,
    windowSize: 2000,
    minGroupSize: 30,
    level: 0.95,
    alpha: 0.05,
    watched: [
      watchedMetric('region', 'demographic_parity_difference', 'breach'),
      watchedMetric('region', 'equalized_odds_difference', 'unknown'),
      watchedMetric('age', 'demographic_parity_difference', 'watch'),
      watchedMetric('age', 'equalized_odds_difference', 'within'),
    ],
    history: historyOf(['region', 'age']),
    alerts: ALERTS,
    coverage: COVERAGE,
    crossings: [
      {
        attribute: 'region||age',
        rowAttribute: 'region',
        columnAttribute: 'age',
        measure: 'selection_rate',
        cells: Object.keys(ATTRIBUTES['region'] ?? {}).flatMap((row, r) =>
          Object.keys(ATTRIBUTES['age'] ?? {}).map((column, c) => {
            const isSmall = r === 2 && c === 2;
            return {
              row,
              column,
              n: isSmall ? 12 : 2000 - 600 * r - 90 * c,
              value: isSmall ? hiddenRate : 0.55 - 0.09 * r + 0.03 * c,
            };
          }),
        ),
      },
    ],
    faults: { missing_prediction: 14, unknown_label: 3, late_label: 0 },
    notes: ['Labels come about two days after their predictions.'],
  };
}

/** Returns a view before the first event. */
export function emptyView(): MonitoringView {
  return {
    timestamp: null,
    firstTimestamp: null,
    nEvents: 0,
    windowSize: 2000,
    minGroupSize: 30,
    level: 0.95,
    alpha: 0.05,
    watched: [
      {
        attribute: 'region',
        metric: 'demographic_parity_difference',
        state: 'unknown',
        sentence: 'Nothing has been counted yet.',
        limit: 0.1,
        alpha: 0.05,
        now: [],
        overall: [],
      },
    ],
    history: [],
    alerts: [],
    coverage: [],
    crossings: [],
    faults: {},
    notes: [],
  };
}
