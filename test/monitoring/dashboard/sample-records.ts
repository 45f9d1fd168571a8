import type { MonitoringRecord, MonitoringWindow } from '../../../src/monitoring/records/monitoring-record.ts';

const START = Date.UTC(2026, 0, 5);
const HOUR = 3_600_000;

/** The number of times in a history. */
export const TIMES = 200;

export const MEASURES = {
  demographic_parity_difference: ['selection_rate'],
  equalized_odds_difference: ['true_positive_rate', 'false_positive_rate'],
} as const;
export type Metric = keyof typeof MEASURES;

/** Returns an ISO time the given number of hours after the first. */
export function at(hours: number): string {
  return new Date(START + hours * HOUR).toISOString();
}

interface Rate {
  readonly base: number;
  /** The change of the rate from hour 120 on. */
  readonly shift: number;
  readonly share: number;
}

export const ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, Rate>>>> = {
  region: {
    north: { base: 0.52, shift: 0.06, share: 0.5 },
    south: { base: 0.47, shift: 0, share: 0.4 },
    west: { base: 0.44, shift: -0.16, share: 0.1 },
  },
  age: {
    'under 30': { base: 0.45, shift: 0.03, share: 0.3 },
    '30 to 60': { base: 0.48, shift: 0, share: 0.5 },
    'over 60': { base: 0.5, shift: -0.06, share: 0.2 },
  },
};

/** Returns a smooth wave instead of noise. */
function wave(hour: number, seed: number): number {
  return 0.015 * Math.sin(hour / 4 + seed) + 0.01 * Math.sin(hour / 1.7 + 2.3 * seed);
}

export function groupRecord(
  index: { readonly attribute: string; readonly group: string; readonly metric: string; readonly hour: number },
  window: MonitoringWindow,
  { base, shift, share }: Rate,
): MonitoringRecord {
  const { hour, metric } = index;
  const events = Math.round(60 * (hour + 1) * share);
  const n = window === 'sliding' ? Math.min(events, Math.round(2000 * share)) : events;
  const moved = window === 'sliding' ? shift * Number(hour >= 120) : shift * Math.max(0, 1 - 120 / (hour + 1));
  const noise = wave(hour, base * 100 + metric.length) * (window === 'sliding' ? 1 : 8 / Math.sqrt(hour + 1));
  const offset = metric === 'false_positive_rate' ? -0.25 : metric === 'true_positive_rate' ? 0.15 : 0;
  const value = Math.min(0.98, Math.max(0.02, base + offset + moved + noise));
  const half = (window === 'sliding' ? 1.96 : 3.6) * Math.sqrt((value * (1 - value)) / n);
  return {
    timestamp: at(hour),
    metric,
    attribute: index.attribute,
    group: index.group,
    window,
    value: n < 30 ? null : value,
    n,
    low: n < 30 ? null : Math.max(0, value - half),
    high: n < 30 ? null : Math.min(1, value + half),
  };
}

export function recordsAt(
  attribute: string,
  metric: Metric,
  window: MonitoringWindow,
  hour: number,
): MonitoringRecord[] {
  const groups = Object.entries(ATTRIBUTES[attribute] ?? {});
  const gaps: MonitoringRecord[] = [];
  const records = MEASURES[metric].flatMap((measure) => {
    const rates = groups.map(([group, rate]) => groupRecord({ attribute, group, metric: measure, hour }, window, rate));
    const known = rates.flatMap(({ value, low, high }) => (value === null ? [] : [{ value, low, high }]));
    const most = (pick: (record: (typeof known)[number]) => number): number => Math.max(...known.map(pick));
    const min = (pick: (record: (typeof known)[number]) => number): number => Math.min(...known.map(pick));
    const isKnown = known.length > 1;
    gaps.push({
      timestamp: at(hour),
      metric,
      attribute,
      group: null,
      window,
      value: isKnown ? most(({ value }) => value) - min(({ value }) => value) : null,
      n: rates.reduce((sum, { n }) => sum + n, 0),
      low: isKnown ? Math.max(0, most(({ low }) => low ?? 0) - min(({ high }) => high ?? 1)) : null,
      high: isKnown ? Math.min(1, most(({ high }) => high ?? 1) - min(({ low }) => low ?? 0)) : null,
    });
    return rates;
  });
  const gap = gaps.reduce((worst, next) => ((next.value ?? -1) > (worst.value ?? -1) ? next : worst));
  return [gap, ...records];
}
