import { isMapping } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { type Column, sortLabels, Table } from '../../table/index.ts';
import { shownKind } from '../require-kind.ts';
import { NumberColumn } from './growing-columns.ts';
import { checkRecords, type MonitoringRecord } from './monitoring-record.ts';
import {
  emptyColumns,
  LABEL_COLUMNS,
  NUMBER_COLUMNS,
  pushRecord,
  recordAt,
  type RecordColumns,
  takeRecords,
} from './record-columns.ts';
import { partsOfState, type RecordLogState, stateOfParts } from './record-log-state.ts';
import { parseIsoTime } from './record-time.ts';

/**
 * Monitoring records in memory, stored as columns. Times are not a column: they are the index, in ascending order. A
 * late record is inserted at its time; records with the same time stay in the order in which they were added.
 *
 * Memory use is about 70 bytes per record. The log grows without limit unless {@link RecordLog.thin} is called.
 * @example
 * ```ts
 * import { RecordLog } from 'evenhand/monitoring';
 *
 * const gap = { metric: 'demographic_parity_difference', attribute: 'sex', group: null, window: 'sliding' } as const;
 * const log = new RecordLog();
 * log.append([
 *   { ...gap, timestamp: '2024-05-01T00:00:00Z', value: 0.04, n: 500, low: 0, high: 0.09 },
 *   { ...gap, timestamp: '2024-05-02T00:00:00Z', value: 0.11, n: 900, low: 0.06, high: 0.16 },
 * ]);
 * console.log(log.length, log.index[1] === Date.UTC(2024, 4, 2));
 * console.log(log.toTable().columnNames.join(' '));
 * console.log(log.between('2024-05-02', '2024-05-03').toRecords()[0].value);
 * // 2 true
 * // metric attribute group window value n low high
 * // 0.11
 * ```
 */
export class RecordLog {
  #columns: RecordColumns = emptyColumns();
  /** For each row, the number of distinct times that the log had received before the time of the row. */
  #ordinals = new NumberColumn();
  #times = 0;
  #length = 0;
  #isSorted = true;

  /**
   * Creates a log from records.
   * @throws {DataValidationError} if a record is invalid, as in {@link RecordLog.append}
   */
  static from(records: readonly MonitoringRecord[]): RecordLog {
    const log = new RecordLog();
    log.append(records);
    return log;
  }

  /**
   * Creates a log from the return value of `state()`.
   * @throws {DataValidationError} if a field is invalid; the error names the first invalid field
   */
  static restore(state: unknown): RecordLog {
    const { columns, ordinals, times } = partsOfState(state);
    const log = new RecordLog();
    log.#columns = columns;
    log.#ordinals = ordinals;
    log.#times = times;
    log.#length = columns.time.values().length;
    return log;
  }

  /** The number of records. */
  get length(): number {
    return this.#length;
  }

  /** A copy of the index, which is the time of each record in milliseconds since 1970, in ascending order. */
  get index(): Float64Array {
    return this.#sorted().time.values();
  }

  /**
   * Adds records. Times are stored with a precision of one millisecond.
   * @throws {DataValidationError} if a record has an invalid field; the error names the first invalid field, and no
   *   record is added
   */
  append(records: readonly MonitoringRecord[]): void {
    requireList(records);
    const times = checkRecords(records);
    for (const [index, record] of records.entries()) {
      pushRecord(this.#columns, record, times[index] as number);
      this.#noteTime();
    }
  }

  /**
   * Returns the records from one time to another, both included.
   * @param from ISO 8601 (UTC if no zone is given), or milliseconds since 1970
   * @param to a time in the same format; if it is before `from`, the result is empty
   * @throws {ValueError} if `from` or `to` is not a time
   */
  between(from: string | number, to: string | number): RecordLog {
    const first = requireTime('from', from);
    const last = requireTime('to', to);
    const columns = this.#sorted();
    const between = new RecordLog();
    const start = firstRowFrom(columns, this.#length, first);
    let end = start;
    while (end < this.#length && columns.time.at(end) <= last) end++;
    between.#columns = takeRecords(columns, rowsOf(start, end));
    for (let row = start; row < end; row++) between.#noteTime();
    return between;
  }

  /** Returns all records by time, oldest first. */
  toRecords(): MonitoringRecord[] {
    const columns = this.#sorted();
    return Array.from({ length: this.#length }, (_, row) => recordAt(columns, row));
  }

  /**
   * Returns the columns metric, attribute, group (missing for the gap over all groups), window, value, n, low and high,
   * in the order of `index`.
   */
  toTable(): Table {
    const columns = this.#sorted();
    const labels = LABEL_COLUMNS.map((name): [string, Column] => [
      name,
      sortLabels(columns[name].codes(), columns[name].labels()),
    ]);
    const numbers = NUMBER_COLUMNS.map((name): [string, Column] => [
      name,
      { kind: 'numeric', values: columns[name].values() },
    ]);
    return Table.ofColumns([...labels, ...numbers]);
  }

  /**
   * If the log contains more than `most` distinct times, drops the records of every second time, and repeats this until
   * at most `most` times are left. The first and last times are always kept. To limit memory, call this method
   * regularly as records arrive. The remaining past times are evenly spaced, and the spacing doubles as the log grows.
   * Newer times are spaced more closely while there is room.
   * @param most at least 2
   * @returns the number of dropped records
   * @throws {ValueError} if `most` is not a whole number of at least 2
   */
  thin(most: number): number {
    requireInteger('most', most, 2);
    if (this.#length <= most) return 0;
    const columns = this.#sorted();
    const starts = startsOfTimes(columns, this.#length);
    const ordinals = starts.map((row) => this.#ordinals.at(row));
    const kept = thinTimes(ordinals, this.#times, most);
    if (kept.length === starts.length) return 0;
    const rows = kept.flatMap((position) => rowsOf(starts[position] as number, starts[position + 1] ?? this.#length));
    const dropped = this.#length - rows.length;
    this.#takeRows(rows);
    return dropped;
  }

  /** Returns the complete log as plain JSON. */
  state(): RecordLogState {
    const columns = this.#sorted();
    return stateOfParts({ columns, ordinals: this.#ordinals, times: this.#times });
  }

  /** Updates the counts of times for the row just added. */
  #noteTime(): void {
    const row = this.#length++;
    const { time } = this.#columns;
    const isFirst = row === 0;
    if (isFirst || time.at(row) !== time.at(row - 1)) this.#times++;
    this.#isSorted &&= isFirst || time.at(row) >= time.at(row - 1);
    this.#ordinals.push(this.#times - 1);
  }

  #takeRows(rows: readonly number[]): void {
    this.#columns = takeRecords(this.#columns, rows);
    this.#ordinals = this.#ordinals.take(rows);
    this.#length = rows.length;
  }

  /** Returns the columns sorted by time. Late records are sorted only when the columns are read. */
  #sorted(): RecordColumns {
    if (this.#isSorted) return this.#columns;
    const { time } = this.#columns;
    const order = rowsOf(0, this.#length).sort((a, b) => time.at(a) - time.at(b) || a - b);
    this.#takeRows(order);
    this.#isSorted = true;
    return this.#columns;
  }
}

/** Returns the first row of each distinct time. */
function startsOfTimes({ time }: RecordColumns, length: number): number[] {
  return rowsOf(0, length).filter((row) => row === 0 || time.at(row) !== time.at(row - 1));
}

/** Returns the first row that is not before a time, by bisection. */
function firstRowFrom({ time }: RecordColumns, length: number, from: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (time.at(middle) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rowsOf(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, row) => start + row);
}

function requireList(records: unknown): void {
  const odd: unknown = Array.isArray(records) ? records.find((record) => !isMapping(record)) : records;
  if (Array.isArray(records) && odd === undefined && !records.includes(undefined)) return;
  throw new DataValidationError(
    `The argument records must be a list of records; ${Array.isArray(records) ? 'it contains' : 'it is'} ${shownKind(odd)}.`,
    {
      code: 'invalid-value',
      context: { argument: 'records' },
      suggestion: 'Pass records in the form that RealTimeFairnessTracker returns.',
    },
  );
}

function requireTime(parameter: string, given: string | number): number {
  const time = typeof given === 'string' ? parseIsoTime(given) : given;
  if (typeof time === 'number' && !Number.isNaN(time)) return time;
  throw invalidParameter(parameter, 'be a time in ISO 8601 or milliseconds since 1970', shownKind(given));
}

/**
 * Chooses at most `most` times to keep. These are the first time, the last time, and every time whose position in the
 * order of arrival is a multiple of a step. The step doubles until at most `most` times are left. Positions are counted
 * among all times ever added, so that the times kept are evenly spaced over the complete past. If every second
 * remaining time were dropped repeatedly, almost only the newest times would be left.
 * @param ordinals for each time in the log, the number of times added before it
 * @param count the number of times ever added
 * @param most at least 2
 * @returns the indexes of the chosen times among the times in the log, in ascending order
 */
function thinTimes(ordinals: ArrayLike<number>, count: number, most: number): readonly number[] {
  let kept = Array.from(ordinals, (_, index) => index);
  const last = kept.length - 1;
  for (let step = 2; kept.length > most && step < 2 * count; step *= 2) {
    kept = kept.filter((index) => index === 0 || index === last || (ordinals[index] as number) % step === 0);
  }
  // The time that was added first can lie between other times.
  return kept.length > most ? [0, last] : kept;
}
