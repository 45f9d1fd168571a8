import { LabelColumn, NumberColumn } from './growing-columns.ts';
import type { MonitoringRecord, MonitoringWindow } from './monitoring-record.ts';
import { formatTime } from './record-time.ts';

/** The names of the label columns. */
export const LABEL_COLUMNS = ['metric', 'attribute', 'group', 'window'] as const;

/** The names of the number columns, except the time column. */
export const NUMBER_COLUMNS = ['value', 'n', 'low', 'high'] as const;

/** Records, stored as columns of equal length: the times in milliseconds since 1970, and the other fields. */
export type RecordColumns = Readonly<Record<'time' | (typeof NUMBER_COLUMNS)[number], NumberColumn>> &
  Readonly<Record<(typeof LABEL_COLUMNS)[number], LabelColumn>>;

/** Returns columns without rows. */
export function emptyColumns(): RecordColumns {
  return Object.fromEntries([
    ...LABEL_COLUMNS.map((name) => [name, new LabelColumn()]),
    ...['time', ...NUMBER_COLUMNS].map((name) => [name, new NumberColumn()]),
  ]) as RecordColumns;
}

/** Adds a record as the last row, with the given time in milliseconds since 1970. */
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
  const taken = Object.entries(columns).map(([name, column]) => [name, column.take(rows)]);
  return Object.fromEntries(taken) as RecordColumns;
}
