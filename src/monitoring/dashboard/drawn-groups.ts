import { MAX_LINES } from '../../charts/palette.ts';
import type { MonitoringRecord } from '../records/monitoring-record.ts';
import type { WatchedMetric } from './monitoring-view.ts';

/** The fields of records that identify a time series. */
export type SeriesPosition = Pick<MonitoringRecord, 'attribute' | 'metric' | 'group' | 'window'>;

/** An index that finds the records of a time series. */
export class HistoryIndex {
  readonly #series = new Map<string, Map<string, MonitoringRecord>>();

  /** @param history the records, oldest first */
  constructor(history: readonly MonitoringRecord[]) {
    for (const record of history) {
      const key = keyOf(record);
      const series = this.#series.get(key) ?? new Map<string, MonitoringRecord>();
      series.set(record.timestamp, record);
      this.#series.set(key, series);
    }
  }

  /**
   * Returns all times at which at least one of the given series has a record, in ascending order. If there are more
   * than `most` times, `most` evenly spaced times are returned.
   */
  times(indices: readonly SeriesPosition[], most: number): string[] {
    const all = new Set(indices.flatMap((position) => [...(this.#series.get(keyOf(position))?.keys() ?? [])]));
    return thinned(
      [...all].sort((a, b) => Date.parse(a) - Date.parse(b)),
      most,
    );
  }

  /** Returns the records of a series at the given times. */
  at(position: SeriesPosition, times: readonly string[]): (MonitoringRecord | undefined)[] {
    const series = this.#series.get(keyOf(position));
    return times.map((time) => series?.get(time));
  }
}

function keyOf({ attribute, metric, group, window }: SeriesPosition): string {
  return JSON.stringify([attribute, metric, group, window]);
}

/** Returns at most `most` evenly spaced items, including the first and the last. */
export function thinned<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, index) => items[Math.round(index * step)] as T);
}

/**
 * If there are too many groups for one chart, this number of groups with the lowest rates is drawn. The same number of
 * groups with the highest rates is drawn. The remaining lines of the chart show the largest of the other groups.
 */
const EXTREMES = 3;

/**
 * The maximum number of lines in a chart if every line has a band. In a chart with more lines, bands would hide each
 * other, so only the groups with the lowest and the highest rate have bands.
 */
const MAX_BANDS = 4;

/** A group whose rate is drawn as a line in a chart. */
export interface DrawnGroup {
  readonly label: string;
  /** The index of the group's colour and dash pattern. */
  readonly look: number;
  readonly hasBand: boolean;
}

/** The groups in one chart, by label, and the total number of groups. */
export interface DrawnGroups {
  readonly groups: readonly DrawnGroup[];
  readonly total: number;
}

/**
 * Returns the groups of a measure that fit into a chart: all groups if there are at most eight. Otherwise, the groups
 * with the three lowest and the three highest rates over all events, and the largest of the other groups. Groups
 * without a rate in the window are skipped.
 * @param attributeGroups the labels of all groups of the attribute; if they all fit into a chart, a group has the same
 * colour in every chart
 */
export function drawnGroups(watched: WatchedMetric, measure: string, attributeGroups: readonly string[]): DrawnGroups {
  const records = groupsOf(watched, measure);
  const sorted = inWindow(
    watched,
    measure,
    records.filter(({ value }) => value !== null),
  ).sort(byValue);
  const chosen = records.length <= MAX_LINES ? records : mostInformative(sorted);
  const labels = chosen.map(({ group }) => group ?? '').sort(byCode);
  const extremes = [sorted[0]?.group, sorted.at(-1)?.group];
  const isFixed = attributeGroups.length <= MAX_LINES;
  return {
    groups: labels.map((label, index) => ({
      label,
      look: isFixed ? attributeGroups.indexOf(label) : index,
      hasBand: labels.length <= MAX_BANDS || extremes.includes(label),
    })),
    total: records.length,
  };
}

/** Returns the group labels that occur in any watched metric of an attribute, in ascending order. */
export function attributeGroups(watched: readonly WatchedMetric[], attribute: string): string[] {
  const labels = watched
    .filter((one) => one.attribute === attribute)
    .flatMap(({ overall, now }) => [...overall, ...now].flatMap(({ group }) => (group === null ? [] : [group])));
  return [...new Set(labels)].sort(byCode);
}

/**
 * Returns a measure's group records over all events. If there are none, returns its group records of the sliding
 * window.
 */
export function groupsOf({ overall, now }: WatchedMetric, measure: string): MonitoringRecord[] {
  const isWanted = ({ group, metric }: MonitoringRecord): boolean => group !== null && metric === measure;
  const records = overall.filter(isWanted);
  return records.length === 0 ? now.filter(isWanted) : records;
}

/** Returns the measures that a metric compares. */
export function measuresOf({ overall, now }: WatchedMetric): string[] {
  return [...new Set([...overall, ...now].flatMap(({ group, metric }) => (group === null ? [] : [metric])))];
}

/**
 * Returns the records of groups that have a value in the sliding window, because a chart shows that window. Returns all
 * records if fewer than two would remain.
 */
function inWindow({ now }: WatchedMetric, measure: string, records: readonly MonitoringRecord[]): MonitoringRecord[] {
  const known = new Set(
    now.flatMap(({ metric, group, value }) => (metric === measure && value !== null ? [group] : [])),
  );
  const present = records.filter(({ group }) => known.has(group));
  return present.length < 2 ? [...records] : present;
}

function mostInformative(sorted: readonly MonitoringRecord[]): MonitoringRecord[] {
  if (sorted.length <= MAX_LINES) return [...sorted];
  const ends = [...sorted.slice(0, EXTREMES), ...sorted.slice(-EXTREMES)];
  const largest = sorted.slice(EXTREMES, -EXTREMES).sort((a, b) => b.n - a.n || byLabel(a, b));
  return [...ends, ...largest.slice(0, MAX_LINES - ends.length)];
}

function byValue(a: MonitoringRecord, b: MonitoringRecord): number {
  return (a.value ?? 0) - (b.value ?? 0) || byLabel(a, b);
}

function byLabel(a: MonitoringRecord, b: MonitoringRecord): number {
  return byCode(a.group ?? '', b.group ?? '');
}

function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
