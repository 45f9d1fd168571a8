import { DataValidationError } from '../../exceptions/index.ts';
import type { StoreStatus } from './file/file-functions.ts';
import { parseIsoTime } from './record-time.ts';

/** The windows of records. */
export const WINDOWS = ['sliding', 'cumulative'] as const;

type Check = readonly [field: keyof MonitoringRecord, required: string, holds: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === 'string';
const isMeasured = (value: unknown): boolean => value === null || Number.isFinite(value);

const CHECKS: readonly Check[] = [
  ['metric', 'text', isText],
  ['attribute', 'text', isText],
  ['group', 'text or null', (value) => value === null || isText(value)],
  ['window', `one of ${WINDOWS.join(', ')}`, (value) => WINDOWS.some((window) => window === value)],
  ['value', 'a finite number or null', isMeasured],
  ['n', 'a finite number of at least 0', (value) => Number.isFinite(value) && Number(value) >= 0],
  ['low', 'a finite number or null', isMeasured],
  ['high', 'a finite number or null', isMeasured],
];

/**
 * Checks all records before any record is stored, so that an invalid record leaves no partial result.
 * @returns the times of the records in milliseconds since 1970
 * @throws {DataValidationError} if a record is invalid; the error names its index, its field and the value
 */
export function checkRecords(records: readonly MonitoringRecord[]): Float64Array {
  const times = new Float64Array(records.length);
  for (const [index, record] of records.entries()) {
    // Consecutive records often share a time, which is parsed once.
    const isSameTime = index > 0 && record.timestamp === records[index - 1]?.timestamp;
    times[index] = isSameTime ? (times[index - 1] as number) : timeOf(record.timestamp);
    if (Number.isNaN(times[index])) throw badField(record, index, 'timestamp', 'a time in ISO 8601');
    const broken = CHECKS.find(([field, , holds]) => !holds(record[field]));
    if (broken !== undefined) throw badField(record, index, broken[0], broken[1]);
  }
  return times;
}

function timeOf(timestamp: unknown): number {
  return typeof timestamp === 'string' ? parseIsoTime(timestamp) : NaN;
}

function badField(
  record: MonitoringRecord,
  index: number,
  field: keyof MonitoringRecord,
  required: string,
): DataValidationError {
  const value: unknown = record[field];
  const shown = typeof value === 'string' ? `'${value}'` : String(value);
  return new DataValidationError(
    `The ${field} of records[${String(index)}] must be ${required}. Got ${shown} instead.`,
    {
      code: 'invalid-value',
      context: { argument: 'records', index, field, value },
      suggestion: 'Pass records in the form that RealTimeFairnessTracker returns; use null for undefined values.',
    },
  );
}

/** The kind of window whose events a value covers. */
export type MonitoringWindow = 'sliding' | 'cumulative';

/**
 * One value of a stream at one time: a group's rate, or the gap between groups. A log uses the time as its index and
 * not as a column.
 */
export interface MonitoringRecord {
  /** The time of the latest counted event, in ISO 8601 (UTC). */
  readonly timestamp: string;
  /**
   * The name of a measure of a group (`selection_rate`). If `group` is null, this is the name of a metric that compares
   * groups (`demographic_parity_difference`).
   */
  readonly metric: string;
  /** A sensitive attribute, or several joined by `||`. */
  readonly attribute: string;
  /** The group's label; null for the gap over all groups. */
  readonly group: string | null;
  /** The window: `sliding` for the last `windowSize` events, `cumulative` for all events. */
  readonly window: MonitoringWindow;
  /** The rate or the gap; null if it is undefined (too few events). */
  readonly value: number | null;
  /**
   * The number of events that the value covers: for a group's rate, the events in the denominator; for a gap, all
   * events.
   */
  readonly n: number;
  /**
   * The bounds of the value's interval; null if there is no interval. The bounds of the cumulative window hold at all
   * times simultaneously (anytime-valid). The bounds of the sliding window hold only at this time.
   */
  readonly low: number | null;
  readonly high: number | null;
}

/**
 * A destination of records. A failed write is reported in {@link RecordStore.status} and never thrown, so that
 * monitoring continues.
 */
export interface RecordStore {
  /** Appends records. */
  append(records: readonly MonitoringRecord[]): void;
  status(): StoreStatus;
  /** Writes pending records and closes the file. */
  close(): void;
}
