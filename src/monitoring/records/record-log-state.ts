import { z } from 'zod';

import { isMapping, numberOrNull } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { NumberColumn } from './growing-columns.ts';
import { WINDOWS } from './monitoring-record.ts';
import { emptyColumns, LABEL_COLUMNS, NUMBER_COLUMNS, type RecordColumns } from './record-columns.ts';

/** A column of labels as plain data. The code -1 means that the label is missing. */
export interface LabelColumnState {
  readonly labels: readonly string[];
  readonly codes: readonly number[];
}

/** The largest number of milliseconds before or after 1970 that a `Date` can represent. */
const FURTHEST = 8.64e15;

const BAD_TIME = 'should be a time in milliseconds, not before the previous one';
const BAD_COUNT = 'should be a whole number of at least 0';
const BAD_ORDINAL = 'should be a whole number below times';
const BAD_NUMBER = 'should be a finite number';
const BAD_CODE = 'should be the index of a label';
const BAD_LABEL = 'is not a label of this column';

const list = <Item extends z.ZodType>(item: Item): z.ZodArray<Item> => z.array(item, 'should be a list');
const labelled = (label: z.ZodType<string>): z.ZodType<LabelColumnState> =>
  z.object({ labels: list(label), codes: list(z.int(BAD_CODE)) }, 'should hold labels and codes');
const text = labelled(z.string(BAD_LABEL));
const measured = list(z.number(BAD_NUMBER).nullable());

const SCHEMA = z.object({
  kind: z.literal('record_log', "should be 'record_log'"),
  /** The times in milliseconds since 1970, in ascending order. */
  time: list(z.int(BAD_TIME).min(-FURTHEST, BAD_TIME).max(FURTHEST, BAD_TIME)),
  /** For each record, the number of distinct times that the log had received before the time of the record. */
  ordinal: list(z.int(BAD_ORDINAL).min(0, BAD_ORDINAL)),
  /** The total number of distinct times added, including times that were dropped. */
  times: z.int(BAD_COUNT).min(0, BAD_COUNT),
  metric: text,
  attribute: text,
  group: text,
  window: labelled(z.enum(WINDOWS, BAD_LABEL)),
  value: measured,
  n: list(z.number(BAD_NUMBER).min(0, BAD_NUMBER)),
  low: measured,
  high: measured,
});

/** The content of a `RecordLog` as plain JSON. Missing numbers are null. */
export type RecordLogState = z.output<typeof SCHEMA>;

/** The parts of a log. */
export interface RecordLogParts {
  readonly columns: RecordColumns;
  readonly ordinals: NumberColumn;
  readonly times: number;
}

/** Returns a log as plain data. */
export function stateOfParts({ columns, ordinals, times }: RecordLogParts): RecordLogState {
  const labels = LABEL_COLUMNS.map((name) => [
    name,
    { labels: columns[name].labels(), codes: [...columns[name].codes()] },
  ]);
  const numbers = NUMBER_COLUMNS.map((name) => [name, Array.from(columns[name].values(), numberOrNull)]);
  return {
    kind: 'record_log',
    time: [...columns.time.values()],
    ordinal: [...ordinals.values()],
    times,
    ...(Object.fromEntries([...labels, ...numbers]) as Omit<RecordLogState, 'kind' | 'time' | 'ordinal' | 'times'>),
  };
}

/**
 * Converts the return value of {@link stateOfParts} back to a log.
 * @throws {DataValidationError} if a field is invalid; the error names the first invalid field
 */
export function partsOfState(state: unknown): RecordLogParts {
  const parsed = SCHEMA.safeParse(isMapping(state) ? state : {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues as [z.core.$ZodIssue];
    const index = issue.path.map((part) => (typeof part === 'number' ? `[${String(part)}]` : `.${String(part)}`));
    throw badState(index.join('').slice(1), issue.message);
  }
  const { time, ordinal, times } = parsed.data;
  const columns = emptyColumns();
  const ordinals = new NumberColumn();
  const requireRows = ({ length }: readonly unknown[], field: string): void => {
    if (length === time.length) return;
    throw badState(field, `has ${String(length)} entries; expected ${String(time.length)}, one for each time`);
  };
  time.forEach((millis, row) => {
    if (millis < (time[row - 1] ?? -Infinity)) throw badState(`time[${String(row)}]`, BAD_TIME);
    columns.time.push(millis);
  });
  for (const name of LABEL_COLUMNS) {
    const { labels, codes } = parsed.data[name];
    requireRows(codes, `${name}.codes`);
    codes.forEach((code, row) => {
      const label = code === -1 && name === 'group' ? null : labels[code];
      if (label === undefined) throw badState(`${name}.codes[${String(row)}]`, BAD_CODE);
      columns[name].push(label);
    });
  }
  for (const name of NUMBER_COLUMNS) {
    requireRows(parsed.data[name], name);
    for (const value of parsed.data[name]) columns[name].push(value);
  }
  requireRows(ordinal, 'ordinal');
  ordinal.forEach((before, row) => {
    if (before >= times) throw badState(`ordinal[${String(row)}]`, BAD_ORDINAL);
    ordinals.push(before);
  });
  return { columns, ordinals, times };
}

function badState(field: string, problem: string): DataValidationError {
  return new DataValidationError(`The state of a record log cannot be read: ${field} ${problem}.`, {
    code: 'invalid-state',
    context: { place: field },
    suggestion: 'Pass the return value of state() of a RecordLog.',
  });
}
