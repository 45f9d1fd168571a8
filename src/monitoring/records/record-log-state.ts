import { isMapping } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { type LabelColumn, NumberColumn } from './growing-columns.ts';
import { WINDOWS } from './monitoring-record.ts';
import { emptyColumns, LABEL_COLUMNS, NUMBER_COLUMNS, type RecordColumns } from './record-columns.ts';

/** A column of labels as plain data. The code -1 is a missing label. */
export interface LabelColumnState {
  readonly labels: readonly string[];
  readonly codes: readonly number[];
}

/** The content of a `RecordLog` as plain JSON. Missing numbers are null. */
export interface RecordLogState {
  readonly kind: 'record_log';
  /** Milliseconds since 1970, ascending. */
  readonly time: readonly number[];
  /**
   * `ordinal`: for each record, the number of distinct times added before its own. `times`: the number of times ever
   * added.
   */
  readonly ordinal: readonly number[];
  readonly times: number;
  readonly metric: LabelColumnState;
  readonly attribute: LabelColumnState;
  readonly group: LabelColumnState;
  readonly window: LabelColumnState;
  readonly value: readonly (number | null)[];
  readonly n: readonly number[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

/** The parts of a log. */
export interface RecordLogParts {
  readonly columns: RecordColumns;
  readonly ordinals: NumberColumn;
  readonly times: number;
}

/** Returns a log as plain data. */
export function stateOfParts({ columns, ordinals, times }: RecordLogParts): RecordLogState {
  return {
    kind: 'record_log',
    time: [...columns.time.values()],
    ordinal: [...ordinals.values()],
    times,
    metric: labelState(columns.metric),
    attribute: labelState(columns.attribute),
    group: labelState(columns.group),
    window: labelState(columns.window),
    value: numberState(columns.value),
    n: [...columns.n.values()],
    low: numberState(columns.low),
    high: numberState(columns.high),
  };
}

/**
 * Reads what {@link stateOfParts} returned.
 * @throws {DataValidationError} if a part is invalid; the error names the first
 */
export function partsOfState(state: unknown): RecordLogParts {
  if (!isMapping(state) || state['kind'] !== 'record_log') throw badState('kind', "should be 'record_log'");
  const columns = emptyColumns();
  const times = arrayAt(state, 'time');
  times.forEach((time, row) => {
    if (!isTime(time) || time < Number(times[row - 1] ?? -Infinity)) {
      throw badState(`time[${String(row)}]`, 'should be a time in milliseconds, not before the previous one');
    }
    columns.time.push(time);
  });
  for (const name of LABEL_COLUMNS) fillLabels(columns[name], state, name, times.length);
  for (const name of NUMBER_COLUMNS) fillNumbers(columns[name], state, name, times.length);
  return { columns, ...readSteps(state, times.length) };
}

function readSteps(state: Readonly<Record<string, unknown>>, rows: number): Omit<RecordLogParts, 'columns'> {
  const { times } = state;
  if (!isInteger(times)) throw badState('times', 'should be a whole number of at least 0');
  const list = arrayAt(state, 'ordinal');
  requireRows(list, rows, 'ordinal');
  const ordinals = new NumberColumn();
  list.forEach((ordinal, row) => {
    if (!isInteger(ordinal) || ordinal >= times) {
      throw badState(`ordinal[${String(row)}]`, 'should be a whole number below times');
    }
    ordinals.push(ordinal);
  });
  return { ordinals, times };
}

function fillLabels(column: LabelColumn, state: object, name: (typeof LABEL_COLUMNS)[number], rows: number): void {
  const part: unknown = (state as Record<string, unknown>)[name];
  if (!isMapping(part)) throw badState(name, 'should hold labels and codes');
  const labels = arrayAt(part, 'labels', name);
  const codes = arrayAt(part, 'codes', name);
  requireRows(codes, rows, `${name}.codes`);
  const isLabel = (label: unknown): label is string =>
    typeof label === 'string' && (name !== 'window' || WINDOWS.some((window) => window === label));
  const badLabel = labels.findIndex((label) => !isLabel(label));
  if (badLabel >= 0) throw badState(`${name}.labels[${String(badLabel)}]`, 'is not a label of this column');
  codes.forEach((code, row) => {
    const label = code === -1 && name === 'group' ? null : labels[code as number];
    if (label === undefined) throw badState(`${name}.codes[${String(row)}]`, 'should be the index of a label');
    column.push(label as string | null);
  });
}

function fillNumbers(column: NumberColumn, state: object, name: (typeof NUMBER_COLUMNS)[number], rows: number): void {
  const values = arrayAt(state, name);
  requireRows(values, rows, name);
  values.forEach((value, row) => {
    const isRight =
      name === 'n' ? Number.isFinite(value) && Number(value) >= 0 : value === null || Number.isFinite(value);
    if (!isRight) throw badState(`${name}[${String(row)}]`, 'should be a finite number');
    column.push(value as number | null);
  });
}

function labelState(column: LabelColumn): LabelColumnState {
  return { labels: column.labels(), codes: [...column.codes()] };
}

function numberState(column: NumberColumn): (number | null)[] {
  return Array.from(column.values(), (value) => (Number.isNaN(value) ? null : value));
}

function arrayAt(part: object, name: string, of = ''): readonly unknown[] {
  const found: unknown = (part as Record<string, unknown>)[name];
  if (Array.isArray(found)) return found;
  throw badState(of === '' ? name : `${of}.${name}`, 'should be a list');
}

function requireRows(list: readonly unknown[], rows: number, index: string): void {
  if (list.length === rows) return;
  throw badState(index, `has ${String(list.length)} entries; expected ${String(rows)}, one for each time`);
}

function isTime(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= 8.64e15;
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function badState(index: string, problem: string): DataValidationError {
  return new DataValidationError(`The state of a record log cannot be read: ${index} ${problem}.`, {
    code: 'invalid-state',
    context: { place: index },
    suggestion: 'Pass the return value of state() of a RecordLog.',
  });
}
