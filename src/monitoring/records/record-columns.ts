import { LabelColumn, NumberColumn } from './growing-columns.ts';
import type { MonitoringRecord, MonitoringWindow } from './monitoring-record.ts';
import { formatTime } from './record-time.ts';

/** Records as columns of equal length: their times and values. */
export interface RecordColumns {
  /** Milliseconds since 1970. */
  readonly time: NumberColumn;
  readonly metric: LabelColumn;
  readonly attribute: LabelColumn;
  readonly group: LabelColumn;
  readonly window: LabelColumn;
  readonly value: NumberColumn;
  readonly n: NumberColumn;
  readonly low: NumberColumn;
  readonly high: NumberColumn;
}

/** The names of the label columns. */
export const LABEL_COLUMNS = ['metric', 'attribute', 'group', 'window'] as const;

/** The names of the number columns, except the times. */
export const NUMBER_COLUMNS = ['value', 'n', 'low', 'high'] as const;

/** Returns columns without rows. */
export function emptyColumns(): RecordColumns {
  return {
    time: new NumberColumn(),
    metric: new LabelColumn(),
    attribute: new LabelColumn(),
    group: new LabelColumn(),
    window: new LabelColumn(),
    value: new NumberColumn(),
    n: new NumberColumn(),
    low: new NumberColumn(),
    high: new NumberColumn(),
  };
}

/** Adds a record as the last row, at a time in milliseconds since 1970. */
export function pushRecord(columns: RecordColumns, record: MonitoringRecord, time: number): void {
  columns.time.push(time);
  for (const name of LABEL_COLUMNS) columns[name].push(record[name]);
  for (const name of NUMBER_COLUMNS) columns[name].push(record[name]);
}

/** Returns a row as a record. */
export function recordAt(columns: RecordColumns, row: number): MonitoringRecord {
  return Object.freeze({
    timestamp: formatTime(columns.time.at(row)),
    metric: columns.metric.at(row) ?? '',
    attribute: columns.attribute.at(row) ?? '',
    group: columns.group.at(row),
    window: columns.window.at(row) as MonitoringWindow,
    value: columns.value.valueAt(row),
    n: columns.n.at(row),
    low: columns.low.valueAt(row),
    high: columns.high.valueAt(row),
  });
}

/** Returns the given rows, in the given order. */
export function takeRecords(columns: RecordColumns, rows: ArrayLike<number>): RecordColumns {
  return {
    time: columns.time.take(rows),
    metric: columns.metric.take(rows),
    attribute: columns.attribute.take(rows),
    group: columns.group.take(rows),
    window: columns.window.take(rows),
    value: columns.value.take(rows),
    n: columns.n.take(rows),
    low: columns.low.take(rows),
    high: columns.high.take(rows),
  };
}
