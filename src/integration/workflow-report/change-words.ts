import { tableNumber } from '../html/report-numbers.ts';

/** "0.1000 to 0.2000". */
export function rangeText(
  [low, high]: readonly [number, number],
  shown: (end: number) => string = (end) => tableNumber(end),
): string {
  return `${shown(low)} to ${shown(high)}`;
}

/** A change with its sign; of shares in percentage points. */
export function signedValue(change: number, unit: 'share' | 'number'): string {
  if (!Number.isFinite(change)) return 'undefined';
  const size = unit === 'share' ? (100 * Math.abs(change)).toFixed(2) : tableNumber(Math.abs(change));
  const points = unit === 'share' ? ' points' : '';
  // What rounds to 0 has no direction that could be seen.
  const sign = Number.parseFloat(size) === 0 ? '' : change < 0 ? '\u2212' : '+';
  return `${sign}${size}${points}`;
}

/** The change of a metric with what it means: a gap shrinks or grows, a ratio comes nearer to 1 or leaves it. */
export function metricChange(metric: string, before: number, after: number): string {
  if (!Number.isFinite(before) || !Number.isFinite(after)) return 'undefined';
  const isRatio = metric.endsWith('_ratio');
  const [from, to] = [unevenness(isRatio, before), unevenness(isRatio, after)];
  const change = signedValue(after - before, 'number');
  if (from === to) return `${change}, no change`;
  const words = isRatio ? ['nearer to 1', 'farther from 1'] : ['smaller gap', 'larger gap'];
  return `${change}, ${(to < from ? words[0] : words[1]) as string}`;
}

/** How far a metric is from evenness, whichever group is ahead. */
export function unevenness(isRatio: boolean, value: number): number {
  return isRatio ? 1 - Math.min(value, 1 / value) : Math.abs(value);
}
