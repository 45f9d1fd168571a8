import { markCell } from '../../internal/spreadsheet-text.ts';
import type { MonitoringRecord } from './monitoring-record.ts';
import { formatTime, parseIsoTime } from './record-time.ts';

/** What a record's fields are called in files, in their order there; the first is the time, which is the index. */
export const RECORD_FIELDS = ['time', 'metric', 'attribute', 'group', 'window', 'value', 'n', 'low', 'high'] as const;

/** The first line of a CSV file of records. */
export const CSV_HEADER = RECORD_FIELDS.join(',');

/** What RFC 4180 has quoted, and spaces at the ends, which some readers cut off. */
const QUOTED = /[",\n\r]|^\s|\s$/;

/** A record as a line of CSV, without its end; a missing value is an empty field, an empty label is `""`. Labels are marked for spreadsheets. */
export function toCsvLine(record: MonitoringRecord): string {
  const { metric, attribute, group, window, value, n, low, high } = record;
  return [
    timeOf(record),
    quoteLabel(metric),
    quoteLabel(attribute),
    group === null ? '' : quoteLabel(group),
    window,
    numberText(value),
    numberText(n),
    numberText(low),
    numberText(high),
  ].join(',');
}

/** A record as a line of NDJSON, without its end. */
export function toJsonLine(record: MonitoringRecord): string {
  const { metric, attribute, group, window, value, n, low, high } = record;
  return JSON.stringify({ time: timeOf(record), metric, attribute, group, window, value, n, low, high });
}

/** Always in UTC and to the millisecond, so that texts sort as times do. */
function timeOf({ timestamp }: MonitoringRecord): string {
  return formatTime(parseIsoTime(timestamp));
}

function quoteLabel(given: string): string {
  const label = markCell(given);
  return label === '' || QUOTED.test(label) ? `"${label.replaceAll('"', '""')}"` : label;
}

/** The shortest decimal that reads back as the same number. */
function numberText(value: number | null): string {
  return value === null ? '' : String(value);
}
