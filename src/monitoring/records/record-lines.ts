import { markCell } from '../../internal/spreadsheet-text.ts';
import type { MonitoringRecord } from './monitoring-record.ts';
import { formatTime, parseIsoTime } from './record-time.ts';

/** The names of a record's fields in files, in order. The first field is the time, which is the index of a log. */
export const RECORD_FIELDS = ['time', 'metric', 'attribute', 'group', 'window', 'value', 'n', 'low', 'high'] as const;

/** The first line of a CSV file of records. */
export const CSV_HEADER = RECORD_FIELDS.join(',');

/**
 * Matches labels that must be quoted: labels for which RFC 4180 requires quotes, and labels that begin or end with
 * spaces, which some readers would remove.
 */
const QUOTED = /[",\n\r]|^\s|\s$/;

/**
 * Returns a record as a line of CSV, without a line ending. A missing value is an empty field, and an empty label is
 * `""`. Labels that a spreadsheet would execute as formulas get a prefix that prevents this.
 */
export function toCsvLine(record: MonitoringRecord): string {
  const { metric, attribute, group, window, value, n, low, high } = record;
  return [
    timeOf(record),
    quoteLabel(metric),
    quoteLabel(attribute),
    group === null ? '' : quoteLabel(group),
    window,
    ...[value, n, low, high].map(numberText),
  ].join(',');
}

/** Returns a record as a line of NDJSON, without a line ending. */
export function toJsonLine(record: MonitoringRecord): string {
  const { metric, attribute, group, window, value, n, low, high } = record;
  return JSON.stringify({ time: timeOf(record), metric, attribute, group, window, value, n, low, high });
}

/** Returns the time in UTC with milliseconds, so that the texts sort in order of time. */
function timeOf({ timestamp }: MonitoringRecord): string {
  return formatTime(parseIsoTime(timestamp));
}

function quoteLabel(given: string): string {
  const label = markCell(given);
  return label === '' || QUOTED.test(label) ? `"${label.replaceAll('"', '""')}"` : label;
}

/** Returns the shortest decimal text that parses back to the same number. */
function numberText(value: number | null): string {
  return value === null ? '' : String(value);
}
