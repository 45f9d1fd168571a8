import { DataValidationError } from '../../exceptions/index.ts';
import { parseIsoTime } from './record-time.ts';

/** The windows that a record may be of. */
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
 * Checks records before any of them is kept, so that a bad one leaves nothing behind.
 * @returns their times in milliseconds since 1970, [records]
 * @throws {DataValidationError} naming the first record at fault, its field and what it held
 */
export function checkRecords(records: readonly MonitoringRecord[]): Float64Array {
  const times = new Float64Array(records.length);
  for (const [index, record] of records.entries()) {
    // Many records in a row are of one time, which is read once.
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
  return new DataValidationError(`The ${field} of records[${String(index)}] should be ${required}, not ${shown}.`, {
    context: { argument: 'records', index, field, value },
    suggestion: 'Give records as RealTimeFairnessTracker makes them; what is undefined is null.',
  });
}

/** What a record's value was computed over. */
export type MonitoringWindow = 'sliding' | 'cumulative';

/**
 * One number of a stream at one time: a group's rate, or the gap between groups.
 * Records are kept by their time, which is their index and none of their columns.
 */
export interface MonitoringRecord {
  /** When, ISO 8601 in UTC: the time of the latest event that had been counted. */
  readonly timestamp: string;
  /** A measure of a group (`selection_rate`), or where `group` is null a metric over groups (`demographic_parity_difference`). */
  readonly metric: string;
  /** A sensitive attribute, or several joined by `||`. */
  readonly attribute: string;
  /** The group's label; null for the gap over all groups. */
  readonly group: string | null;
  /** The last `windowSize` events, or all. */
  readonly window: MonitoringWindow;
  /** The rate or the gap; null where it is undefined (too few events). */
  readonly value: number | null;
  /** Events that it was computed from: those in the denominator of a group's rate, all of them for a gap. */
  readonly n: number;
  /**
   * The ends of its interval; null where there is none. Of the cumulative window they hold at all times together
   * (anytime-valid), of the sliding one at this time alone.
   */
  readonly low: number | null;
  readonly high: number | null;
}

/** What a store has done, and what it could not do. */
export interface StoreStatus {
  /** Records that are on disk. */
  readonly written: number;
  /** Records that wait for the next try, since a write failed. */
  readonly pending: number;
  /** Records given up, since more than the store may hold waited. */
  readonly dropped: number;
  /** Why the last write failed; null once one succeeded. */
  readonly problem: string | null;
}

/** Where records go as they come. Monitoring outlives its disk: a write that fails is told, never thrown. */
export interface RecordStore {
  /** Adds records after those that are there. */
  append(records: readonly MonitoringRecord[]): void;
  status(): StoreStatus;
  /** Writes what is pending and lets go of the file. */
  close(): void;
}
