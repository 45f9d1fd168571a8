import type { MonitoringView } from '../../../src/monitoring/dashboard/monitoring-view.ts';
import type { MonitoringRecord, MonitoringWindow } from '../../../src/monitoring/records/monitoring-record.ts';
import { at, groupRecord, MEASURES } from './sample-records.ts';
import { ALERT, emptyView, fullView, watchedMetric } from './views.ts';

/** Returns one attribute with a rate for each label, at few times. */
export function viewOfGroups(labels: readonly string[], times = 5): MonitoringView {
  const attribute = 'group';
  const metric = 'demographic_parity_difference';
  const records = (window: MonitoringWindow, hour: number): MonitoringRecord[] =>
    labels.map((group, index) =>
      groupRecord({ attribute, group, metric: 'selection_rate', hour: 1000 + hour }, window, {
        base: 0.3 + (0.4 * index) / labels.length,
        shift: 0,
        share: labels.length < 100 || index % 7 === 0 ? 0.02 : 0.005,
      }),
    );
  const gap = (window: MonitoringWindow, hour: number): MonitoringRecord => ({
    timestamp: at(1000 + hour),
    metric,
    attribute,
    group: null,
    window,
    value: 0.38,
    n: 9000,
    low: 0.2,
    high: 0.5,
  });
  const all = (window: MonitoringWindow, hour: number): MonitoringRecord[] => [
    gap(window, hour),
    ...records(window, hour),
  ];
  return {
    ...emptyView(),
    timestamp: at(1000 + times - 1),
    firstTimestamp: at(0),
    nEvents: 60_000,
    watched: [
      {
        attribute,
        metric,
        state: 'breach',
        sentence: `The gap between '${labels[0] ?? ''}' and '${labels.at(-1) ?? ''}' is above its limit.`,
        limit: 0.1,
        alpha: 0.05,
        now: all('sliding', times - 1),
        overall: all('cumulative', times - 1),
      },
    ],
    history: Array.from({ length: times }, (_, hour) => [...all('sliding', hour), ...all('cumulative', hour)]).flat(),
    coverage: labels.map((group, index) => ({
      attribute,
      group,
      n: 100,
      labelled: index % 100,
      share: (index % 100) / 100,
    })),
    crossings: [
      {
        attribute: 'group||other',
        rowAttribute: 'group',
        columnAttribute: 'other',
        measure: 'selection_rate',
        cells: labels.map((row, index) => ({ row, column: labels[(index + 1) % 3] ?? 'x', n: 50, value: 0.5 })),
      },
    ],
    alerts: [
      {
        alert: {
          ...ALERT,
          attribute,
          groups: [labels[0] ?? '', labels.at(-1) ?? ''],
          reason: `Of '${labels[0] ?? ''}'.`,
        },
        isOpen: true,
        isAcknowledged: false,
        changes: [{ change: 'raised', timestamp: at(1001) }],
      },
    ],
    faults: { [labels[0] ?? 'problem']: 2 },
    notes: [`A note on ${labels[0] ?? ''}.`],
  };
}

/** Labels that could break markup, scripts, objects and text direction. */
export const HOSTILE_LABELS: readonly string[] = [
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  '</script><img src=x onerror=alert(2)>',
  '\u202Eright to left\u200F',
  'two\nlines\r\nand\u2028three',
  'x'.repeat(300),
  '"&\'<!--',
  '',
  '{b}|{a|b}',
];

/**
 * Returns a view with more data than a page shows: attributes, groups with long names, times, alerts and intersections.
 */
export function largestView(): MonitoringView {
  const full = fullView();
  const metric = 'equalized_odds_difference';
  const attributes = Array.from({ length: 9 }, (_, index) => `an attribute with a long name, ${index}`);
  const groups = Array.from({ length: 45 }, (_, index) => `a group with quite a long name, number ${index}`);
  const records = (attribute: string, window: MonitoringWindow, hour: number): MonitoringRecord[] =>
    [null, ...MEASURES[metric].flatMap((measure) => groups.map((group) => [measure, group] as const))].map(
      (one, index) => {
        const value = 0.4 + 0.2 * Math.sin(hour / 9 + index);
        const ends = { low: value - 0.1234, high: value + 0.1234 };
        const [measure, group] = one ?? [metric, null];
        return { timestamp: at(hour), metric: measure, attribute, group, window, value, n: 500 + index, ...ends };
      },
    );
  return {
    ...full,
    watched: attributes.map((attribute) => ({
      ...watchedMetric('region', metric, 'breach'),
      attribute,
      now: records(attribute, 'sliding', 100),
      overall: records(attribute, 'cumulative', 100),
    })),
    history: Array.from({ length: 101 }, (_, hour) =>
      attributes.flatMap((one) => [...records(one, 'sliding', hour), ...records(one, 'cumulative', hour)]),
    ).flat(),
    alerts: Array.from({ length: 20 }, () => full.alerts).flat(),
    coverage: attributes.flatMap((attribute) =>
      groups.map((group) => ({ attribute, group, n: 1000, labelled: 500, share: 0.5 })),
    ),
    crossings: Array.from({ length: 9 }, () => ({
      attribute: 'a||b',
      rowAttribute: 'a',
      columnAttribute: 'b',
      measure: 'selection_rate',
      cells: Array.from({ length: 900 }, (_, index) => ({
        row: `a row of an intersection, number ${index % 30}`,
        column: `a column of it, number ${Math.floor(index / 30)}`,
        n: 900 + index,
        value: 0.4 + 0.0003 * index,
      })),
    })),
  };
}
