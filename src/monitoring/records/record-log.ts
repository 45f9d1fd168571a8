import { isMapping } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/arguments.ts';
import { requireWhole } from '../../stats/parameters.ts';
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
 * Records of monitoring in memory, as columns. Their times are the index, in
 * ascending order, and none of the columns. A record that comes late is put in
 * its place; those of one time stay in the order in which they came.
 *
 * About 70 bytes a record. It grows without end unless {@link RecordLog.thin} is called.
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
  /** For each row, how many other times had come before its own. */
  #ordinals = new NumberColumn();
  #times = 0;
  #length = 0;
  #isSorted = true;

  /**
   * A log of records.
   * @throws {DataValidationError} as {@link RecordLog.append} does
   */
  static from(records: readonly MonitoringRecord[]): RecordLog {
    const log = new RecordLog();
    log.append(records);
    return log;
  }

  /**
   * A log that holds what another did when its `state()` was taken.
   * @throws {DataValidationError} naming the first part that is not as it should be
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

  /** How many records there are. */
  get length(): number {
    return this.#length;
  }

  /** The time of each record in milliseconds since 1970, ascending; a copy, [records]. */
  get index(): Float64Array {
    return this.#sorted().time.values();
  }

  /**
   * Adds records. Times are kept to the millisecond.
   * @throws {DataValidationError} naming the first record with a field that is not as it should be; none is added then
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
   * The records from one time to another, both included.
   * @param from ISO 8601 (UTC where it names no zone), or milliseconds since 1970
   * @param to likewise; before `from`, nothing lies between
   * @throws {ValueError} where one is no time
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

  /** All records by time, oldest first. */
  toRecords(): MonitoringRecord[] {
    const columns = this.#sorted();
    return Array.from({ length: this.#length }, (_, row) => recordAt(columns, row));
  }

  /** The columns metric, attribute, group (missing for the gap over all groups), window, value, n, low and high, in the order of `index`. */
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
   * Where more than `most` distinct times are held, drops all records of every
   * second time, again until at most so many are left; the first and the last
   * time stay. Called as records come, it bounds memory: the past is kept at even
   * steps, counted in times that came, which double as it grows longer; what is
   * new is kept at finer steps while there is room.
   * @param most at least 2
   * @returns how many records were dropped
   * @throws {ValueError} where `most` is no whole number of at least 2
   */
  thin(most: number): number {
    requireWhole('most', most, 2);
    if (this.#length <= most) return 0;
    const columns = this.#sorted();
    const starts = startsOfTimes(columns, this.#length);
    const ordinals = starts.map((row) => this.#ordinals.at(row));
    const kept = thinTimes(ordinals, this.#times, most);
    if (kept.length === starts.length) return 0;
    const rows = kept.flatMap((place) => rowsOf(starts[place] as number, starts[place + 1] ?? this.#length));
    const dropped = this.#length - rows.length;
    this.#takeRows(rows);
    return dropped;
  }

  /** All that it holds, as plain JSON. */
  state(): RecordLogState {
    const columns = this.#sorted();
    return stateOfParts({ columns, ordinals: this.#ordinals, times: this.#times });
  }

  /** Counts the row that was just added. */
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

  /** The columns by time; a late record is put in its place only when somebody looks. */
  #sorted(): RecordColumns {
    if (this.#isSorted) return this.#columns;
    const { time } = this.#columns;
    const order = rowsOf(0, this.#length).sort((a, b) => time.at(a) - time.at(b) || a - b);
    this.#takeRows(order);
    this.#isSorted = true;
    return this.#columns;
  }
}

/** The first row of each distinct time. */
function startsOfTimes({ time }: RecordColumns, length: number): number[] {
  return rowsOf(0, length).filter((row) => row === 0 || time.at(row) !== time.at(row - 1));
}

/** The first row that is not before a time, by bisection. */
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
    `The argument records must be a list of records; ${Array.isArray(records) ? 'in it stands' : 'it is'} ${shownKind(odd)}.`,
    {
      context: { argument: 'records' },
      suggestion: 'Give records as RealTimeFairnessTracker makes them.',
    },
  );
}

function requireTime(parameter: string, given: string | number): number {
  const time = typeof given === 'string' ? parseIsoTime(given) : given;
  if (typeof time === 'number' && !Number.isNaN(time)) return time;
  throw invalidParameter(parameter, 'be a time in ISO 8601 or milliseconds since 1970', shownKind(given));
}

/**
 * Chooses which of the times held stay, where at most `most` may: the first, the
 * last, and those whose place in the order of arrival is a multiple of a step,
 * which doubles until they are few enough. Steps are counted among all times
 * that ever came, so that the whole past is left at even steps: dropping every
 * second of the times that are left, again and again, would leave nearly
 * nothing of it but the newest.
 * @param ordinals for each time held, how many came before it
 * @param count how many came in all
 * @param most at least 2
 * @returns places among the times held, ascending
 */
function thinTimes(ordinals: ArrayLike<number>, count: number, most: number): readonly number[] {
  let kept = Array.from(ordinals, (_, place) => place);
  const last = kept.length - 1;
  for (let step = 2; kept.length > most && step < 2 * count; step *= 2) {
    kept = kept.filter((place) => place === 0 || place === last || (ordinals[place] as number) % step === 0);
  }
  // The time that came first can lie between the others.
  return kept.length > most ? [0, last] : kept;
}
