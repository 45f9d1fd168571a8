import { DataValidationError } from '../exceptions/index.ts';
import type { CategoricalColumn } from './column.ts';
import { type ColumnSource, toColumn, unwrap } from './column-source.ts';

/** Per row 1 (positive), 0 (negative) or -1 (missing); a `Uint8Array` has none missing. */
export type BinaryValues = Int8Array | Uint8Array;

/** Texts that mean 0 and 1 by themselves. */
const TEXT_VALUES: ReadonlyMap<string, 0 | 1> = new Map([
  ['0', 0],
  ['0.0', 0],
  ['false', 0],
  ['1', 1],
  ['1.0', 1],
  ['true', 1],
]);

/**
 * Reads labels or decisions as 0, 1 or missing.
 *
 * Numbers 0 and 1, booleans and the texts "0", "1", "true" and "false" stand
 * for themselves. With `positiveLabel`, that label is 1 and every other one 0.
 * @param name the argument's name in errors
 * @throws {DataValidationError} with the first other value and its index
 */
export function toBinary(source: ColumnSource, name: string, positiveLabel?: string): BinaryValues {
  const values = unwrap(source, name);
  if (positiveLabel === undefined) {
    if (values instanceof Uint8Array && holdsOnlyBits(values)) return values;
    const fast = fromNumbers(values, name);
    if (fast !== undefined) return fast;
  }
  const column = toColumn(values, name);
  if (column.kind === 'categorical') return fromLabels(column, name, positiveLabel);
  const texts = Array.from(column.values, (value) => (Number.isNaN(value) ? null : String(value)));
  const labelled = toColumn(texts, name);
  if (labelled.kind === 'categorical') return fromLabels(labelled, name, positiveLabel);
  return new Int8Array(texts.length).fill(-1);
}

function holdsOnlyBits(values: Uint8Array): boolean {
  let bits = 0;
  for (let row = 0; row < values.length; row++) bits |= values[row] as number;
  return bits <= 1;
}

/** Numbers and booleans, without a look at labels; undefined where there is anything else. */
function fromNumbers(values: ReturnType<typeof unwrap>, name: string): Int8Array | undefined {
  const list = 'kind' in values ? (values.kind === 'numeric' ? values.values : undefined) : values;
  if (list === undefined) return undefined;
  const binary = new Int8Array(list.length);
  for (let row = 0; row < binary.length; row++) {
    const value = list[row];
    if (value === 1 || value === true) binary[row] = 1;
    else if (value === 0 || value === false) binary[row] = 0;
    else if (value === null || value === undefined || Number.isNaN(value)) binary[row] = -1;
    else if (typeof value === 'number') throw notBinary(name, `at index ${String(row)}`, value);
    else return undefined;
  }
  return binary;
}

function fromLabels(column: CategoricalColumn, name: string, positiveLabel: string | undefined): Int8Array {
  const valueOf = column.labels.map((label) =>
    positiveLabel === undefined ? TEXT_VALUES.get(label.toLowerCase()) : Number(label === positiveLabel),
  );
  const binary = new Int8Array(column.codes.length);
  for (let row = 0; row < binary.length; row++) {
    const code = column.codes[row] as number;
    const value = code < 0 ? -1 : valueOf[code];
    if (value === undefined) throw notBinary(name, `at index ${String(row)}`, column.labels[code]);
    binary[row] = value;
  }
  return binary;
}

/** The error for a value that is neither 0 nor 1, wherever it was found. */
export function notBinary(name: string, where: string, value: unknown): DataValidationError {
  const shown = typeof value === 'string' ? `'${value}'` : String(value);
  return new DataValidationError(`${name} must be 0 or 1, but holds ${shown} ${where}.`, {
    context: { argument: name, where, value },
    suggestion:
      typeof value === 'string'
        ? 'Name the label that counts as positive (positiveLabel, --positive-label, positive_label in a configuration).'
        : 'Give decisions here; scores go in as scores, with a score threshold, and numbers are for mae_parity_difference.',
  });
}
