import { DataValidationError } from '../exceptions/index.ts';
import type { CategoricalColumn } from './column.ts';
import { type ColumnSource, toColumn, unwrap } from './column-source.ts';
import { encodeLabels } from './encode-labels.ts';
import { type LabelRule, labelValue, positiveLabelFor } from './label-values.ts';
import { missingOutcomes, numbersAmong } from './missing-values.ts';

/** One value per row: 1 (positive), 0 (negative) or -1 (missing). A `Uint8Array` cannot contain missing values. */
export type BinaryValues = Int8Array | Uint8Array;

/**
 * Converts labels or decisions to 0, 1 or missing.
 *
 * The numbers 0 and 1, booleans and the texts "0", "1", "true" and "false" are converted to 0 or 1. If `positiveLabel`
 * is given, this label becomes 1 and every other label becomes 0. The texts in `MISSING_TEXTS`, such as "NA", become
 * missing values, unless one of them is the positive label.
 * @param name the argument's name in errors
 * @param naValues texts that mean a missing value, instead of `MISSING_TEXTS`
 * @throws {DataValidationError} if a value cannot be converted; the error names the first invalid value and its index
 */
export function toBinary(
  source: ColumnSource,
  name: string,
  positiveLabel?: string,
  naValues?: readonly string[],
): BinaryValues {
  const values = unwrap(source, name);
  if (positiveLabel === undefined && naValues === undefined) {
    if (values instanceof Uint8Array && holdsOnlyBits(values)) return values;
    const fast = fromNumbers(values, name);
    if (fast !== undefined) return fast;
  }
  const { column, rule } = readLabels(values, name, positiveLabel, naValues);
  return fromLabels(column, name, rule);
}

/** Returns labels or decisions as categories, with the rule that maps them to 0, 1 or missing. */
export function readLabels(
  source: ColumnSource,
  name: string,
  positiveLabel: string | undefined,
  naValues: readonly string[] | undefined,
): { readonly column: CategoricalColumn; readonly rule: LabelRule } {
  const given = toColumn(source, name);
  if (given.kind === 'categorical') {
    const missing = missingOutcomes(naValues, positiveLabel);
    return { column: given, rule: { positiveLabel: positiveLabelFor(given.labels, positiveLabel, missing), missing } };
  }
  const { values } = given;
  const column = encodeLabels(values.length, (row) => (Number.isNaN(values[row]) ? undefined : String(values[row])));
  return { column, rule: ruleOfNumbers(column.labels, positiveLabel, naValues) };
}

/** Returns the rule for labels that are numbers, as text. */
export function ruleOfNumbers(
  labels: readonly string[],
  positiveLabel: string | undefined,
  naValues: readonly string[] | undefined,
): LabelRule {
  const missing = missingOutcomes(naValues, positiveLabel);
  const numbers = new Set(numbersAmong(missing));
  const texts = labels.filter((label) => numbers.has(Number(label)));
  return { positiveLabel, missing: new Set([...missing, ...texts]), isNumeric: true };
}

function holdsOnlyBits(values: Uint8Array): boolean {
  let bits = 0;
  for (let row = 0; row < values.length; row++) bits |= values[row] as number;
  return bits <= 1;
}

/** Converts numbers and booleans directly, without labels. Returns undefined if a value has another type. */
function fromNumbers(values: ReturnType<typeof unwrap>, name: string): Int8Array | undefined {
  const list = 'kind' in values ? (values.kind === 'numeric' ? values.values : undefined) : values;
  if (list === undefined) return undefined;
  const binary = new Int8Array(list.length);
  for (let row = 0; row < binary.length; row++) {
    const value = list[row];
    if (value === 1 || value === true) binary[row] = 1;
    else if (value === 0 || value === false) binary[row] = 0;
    else if (value === null || value === undefined || Number.isNaN(value)) binary[row] = -1;
    else if (typeof value === 'number') {
      throw notBinary(name, `at index ${String(row)}`, value, { values: distinctNumbers(list), index: row });
    } else return undefined;
  }
  return binary;
}

/** Returns the first few distinct numbers of a column, in ascending order: as many as an error message needs. */
function distinctNumbers(list: ArrayLike<unknown>): string[] {
  const found = new Set<number>();
  for (let row = 0; row < list.length && found.size <= SHOWN_VALUES; row++) {
    const value = list[row];
    if (typeof value === 'number' && !Number.isNaN(value)) found.add(value);
  }
  return [...found].sort((a, b) => a - b).map(String);
}

function fromLabels(column: CategoricalColumn, name: string, rule: LabelRule): Int8Array {
  const valueOf = column.labels.map((label) => labelValue(label, rule));
  const binary = new Int8Array(column.codes.length);
  for (let row = 0; row < binary.length; row++) {
    const code = column.codes[row] as number;
    const value = code < 0 ? -1 : valueOf[code];
    if (value === undefined) {
      const values = column.labels.filter((label) => !rule.missing.has(label));
      const label = column.labels[code] as string;
      throw notBinary(name, `at index ${String(row)}`, rule.isNumeric === true ? Number(label) : label, {
        values,
        index: row,
      });
    }
    binary[row] = value;
  }
  return binary;
}

/** Describes a column with a value that is neither 0 nor 1, for {@link notBinary}. */
export interface LabelProblem {
  /** Distinct values of the column. The list may be incomplete. */
  readonly values: readonly string[];
  /** The role of the column, if its name does not determine the role. */
  readonly role?: string | undefined;
  /** The row index, from 0, if the values come from an argument. */
  readonly index?: number | undefined;
  /** The name of the column, if the values come from a file. */
  readonly column?: string | undefined;
}

/** The role of each argument, as shown in messages. */
const ROLES: Readonly<Record<string, string>> = { yPred: 'predictions', yTrue: 'true labels' };

/** Returns the error for a value that is neither 0 nor 1. */
export function notBinary(
  name: string,
  where: string,
  value: unknown,
  { values, role = ROLES[name], index, column }: LabelProblem,
): DataValidationError {
  const shown = typeof value === 'string' ? `'${value}'` : String(value);
  const areNumbers = typeof value === 'number';
  // A column with fractions or many different numbers contains scores or amounts, not labels.
  const areLabels = !areNumbers || (values.length <= 2 && values.every((label) => Number.isInteger(Number(label))));
  const largest = areNumbers && areLabels ? `, for example ${String(Math.max(...values.map(Number)))}` : '';
  const suggestion = areLabels
    ? `Name the label that counts as positive (positiveLabel${largest}).`
    : 'Pass decisions here. Pass scores as scores, with a score threshold. For predicted numbers, use mae_parity_difference.' +
      (values.length > 2 && values.length <= SHOWN_VALUES
        ? ' For labels, specify the label that counts as positive (positiveLabel).'
        : '');
  return new DataValidationError(`${name} must be 0 or 1, but holds ${shown} ${where}.`, {
    code: areLabels ? 'positive-label-required' : 'invalid-value',
    context: {
      ...(column === undefined ? { argument: name } : { column }),
      ...(index === undefined ? { where } : { index }),
      value,
      values: values.slice(0, 50),
    },
    suggestion: `${suggestion} ${valuesInWords(name, role, values, areNumbers)}`.trim(),
  });
}

const SHOWN_VALUES = 8;

function valuesInWords(name: string, role: string | undefined, values: readonly string[], areNumbers: boolean): string {
  if (values.length === 0) return '';
  const shown = values.slice(0, SHOWN_VALUES).map((label) => (areNumbers ? label : `'${label}'`));
  const more = values.length > SHOWN_VALUES ? ', …' : '';
  return `${name}${role === undefined ? '' : ` (the ${role})`} holds ${shown.join(', ')}${more}.`;
}
