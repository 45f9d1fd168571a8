import { DataValidationError } from '../../exceptions/index.ts';
import type { MonitoringRecord } from './monitoring-record.ts';
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
