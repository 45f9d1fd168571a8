import { DataValidationError } from '../../exceptions/index.ts';
import { counted, formatCount } from '../../internal/format.ts';
import { isNumberText } from '../../internal/values.ts';
import { decimalHint, hasDecimalComma, MISSING_LABEL, type Table } from '../../table/index.ts';
import type { Matrix } from './read-matrix.ts';

/**
 * A numeric feature, which is encoded as (value - mean) / scale, with 0 for a missing value. If the training rows have
 * missing values, a second column marks missing values.
 */
export interface NumericFeature {
  readonly kind: 'numeric';
  readonly name: string;
  readonly mean: number;
  readonly scale: number;
  readonly marksMissing: boolean;
}

/**
 * A categorical feature, which is encoded as one column per level. A value that is not a level has 0 in all these
 * columns.
 */
interface CategoricalFeature {
  readonly kind: 'categorical';
  readonly name: string;
  readonly levels: readonly string[];
}

/** The encoding of one table column as columns of a matrix. The encoding is plain data that is saved with a model. */
export type FeatureSpec = NumericFeature | CategoricalFeature;

/** The encoding learned from the training rows, and warnings. */
export interface FittedFeatures {
  readonly specs: readonly FeatureSpec[];
  readonly warnings: readonly string[];
}

/**
 * The maximum number of levels of a text column. If a column has more distinct values, only the most frequent values
 * become levels.
 */
export const MAX_LEVELS = 64;

/**
 * If the number of distinct values of a text column exceeds this share of the rows, the column is treated as an
 * identifier.
 */
const IDENTIFIER_SHARE = 0.5;

/** If a text column has at most this number of distinct values, it is never treated as an identifier. */
const FEWEST_IDENTIFIERS = 20;

/**
 * Learns the encoding of features from training rows: means and scales of numbers, levels of categories.
 * @throws {DataValidationError} if every feature is excluded
 */
export function fitFeatures(table: Table, names: readonly string[]): FittedFeatures {
  const warnings: string[] = [];
  const specs = names.flatMap((name): FeatureSpec[] => {
    const column = table.column(name);
    if (column.kind === 'numeric') return fitNumeric(name, column.values, warnings);
    return fitCategorical(name, column.codes, column.labels, warnings);
  });
  assertFeatures(specs, names, warnings);
  return { specs, warnings };
}

/** @throws {DataValidationError} if every feature is excluded; the error repeats the first warnings */
export function assertFeatures(
  specs: readonly FeatureSpec[],
  names: readonly string[],
  warnings: readonly string[],
): void {
  if (specs.length > 0) return;
  const reasons = warnings.length === 0 ? '' : ` (${warnings.slice(0, 3).join('; ')})`;
  throw new DataValidationError(`There is no feature to train on${reasons}.`, {
    code: 'empty-data',
    context: { features: names, warnings },
    suggestion: 'Specify feature columns whose values vary (features).',
  });
}

/** Returns the number of matrix columns of the encoded features. */
export function encodedWidth(specs: readonly FeatureSpec[]): number {
  return specs.reduce((sum, spec) => sum + specWidth(spec), 0);
}

/** Encodes all rows of a table: [rows, {@link encodedWidth}], row-major. */
export function encodeFeatures(table: Table, specs: readonly FeatureSpec[]): Float32Array {
  const width = encodedWidth(specs);
  const matrix = new Float32Array(table.rowCount * width);
  let offset = 0;
  for (const spec of specs) {
    if (spec.kind === 'numeric') encodeNumeric(table.numeric(spec.name).values, spec, matrix, offset, width);
    else encodeCategorical(table, spec, matrix, offset, width);
    offset += specWidth(spec);
  }
  return matrix;
}

/** Encodes all rows of a table as a matrix. */
export function encodedMatrix(table: Table, specs: readonly FeatureSpec[]): Matrix {
  return { rows: table.rowCount, columns: encodedWidth(specs), values: encodeFeatures(table, specs) };
}

/** Returns the number of matrix columns of an encoded feature. */
export function specWidth(spec: FeatureSpec): number {
  return spec.kind === 'numeric' ? 1 + Number(spec.marksMissing) : spec.levels.length;
}

function fitNumeric(name: string, values: Float64Array, warnings: string[]): FeatureSpec[] {
  const known = values.filter((value) => !Number.isNaN(value));
  assertFinite(name, values);
  return numericSpec(name, { ...standardScore(known), known: known.length, rows: values.length }, warnings);
}

/** Returns the encoding of a numeric column, given its moments, or a warning if the column is excluded. */
export function numericSpec(
  name: string,
  { mean, scale, known, rows }: StandardScore & { readonly known: number; readonly rows: number },
  warnings: string[],
): NumericFeature[] {
  const marksMissing = known < rows && known > 0;
  if (!(scale > 0) && !marksMissing) {
    warnings.push(`feature '${name}' is excluded: it has ${known === 0 ? 'no value' : 'one value only'}`);
    return [];
  }
  return [{ kind: 'numeric', name, mean, scale: scale > 0 ? scale : 1, marksMissing }];
}

function fitCategorical(name: string, codes: Int32Array, labels: readonly string[], warnings: string[]): FeatureSpec[] {
  const counts = new Float64Array(labels.length);
  let missing = 0;
  for (const code of codes) {
    if (code < 0) missing++;
    else counts[code] = (counts[code] as number) + 1;
  }
  return categoricalSpec(name, { labels, counts, missing }, warnings);
}

/** Returns the encoding of a text column, given the number of rows of each text, or a warning if it is excluded. */
export function categoricalSpec(
  name: string,
  {
    labels,
    counts,
    missing,
  }: { readonly labels: readonly string[]; readonly counts: ArrayLike<number>; readonly missing: number },
  warnings: string[],
): CategoricalFeature[] {
  const seen = labels.map((label, code) => ({ label, count: counts[code] as number })).filter(({ count }) => count > 0);
  const rows = seen.reduce((sum, { count }) => sum + count, missing);
  if (seen.length > FEWEST_IDENTIFIERS) assertNotNumbers(name, seen);
  if (seen.length > Math.max(FEWEST_IDENTIFIERS, IDENTIFIER_SHARE * rows)) {
    warnings.push(`feature '${name}' is excluded: its ${String(seen.length)} distinct texts look like identifiers`);
    return [];
  }
  if (seen.length + Number(missing > 0) < 2) {
    warnings.push(`feature '${name}' is excluded: it has ${seen.length === 0 ? 'no value' : 'one value only'}`);
    return [];
  }
  // The sort is stable, so equally frequent levels remain in the order of their labels.
  const kept = seen.length > MAX_LEVELS ? [...seen].sort((a, b) => b.count - a.count).slice(0, MAX_LEVELS) : seen;
  if (kept.length < seen.length) {
    warnings.push(`feature '${name}' keeps its ${String(MAX_LEVELS)} most frequent of ${String(seen.length)} texts`);
  }
  const levels = kept.map(({ label }) => label).sort();
  return [
    {
      kind: 'categorical',
      name,
      levels: missing > 0 && !levels.includes(MISSING_LABEL) ? [...levels, MISSING_LABEL] : levels,
    },
  ];
}

/** If at least this share of the values of a text column are numbers, the other texts are errors in the data. */
const NUMBERS_SHARE = 0.9;

/** A code such as 00127 is not a number: zeros at its start distinguish it from others. */
const LEADING_ZERO = /^[+-]?0\d/;

/**
 * Checks that a column of many different texts is not a column of numbers with decimal commas, or with a few texts. As
 * texts, its numbers would be excluded as identifiers, or reduced to the most frequent ones, and the model would lose
 * them.
 * @param seen the texts of a text column with their numbers of rows
 * @param isPart whether there are too many texts, so that these are only the first; a later one may not be a number
 * @throws {DataValidationError} if most of its values are numbers; the error gives one that cannot be read as a number
 */
export function assertNotNumbers(
  name: string,
  seen: readonly { readonly label: string; readonly count: number }[],
  isPart: boolean = false,
): void {
  const rowsOf = (those: typeof seen): number => those.reduce((sum, { count }) => sum + count, 0);
  const known = rowsOf(seen);
  const withComma = seen.filter(({ label }) => hasDecimalComma(label));
  if (withComma.length > 0 && rowsOf(withComma) >= NUMBERS_SHARE * known) {
    const { label } = withComma[0] as (typeof seen)[0];
    const share = `${formatCount(rowsOf(withComma))} of ${counted(known, 'value')}`;
    throw notNumbers(name, `${share} have a decimal comma, for example '${label}'`, {
      value: label,
      parameters: ['decimal'],
      suggestion: `${decimalHint(label)}If these are not numbers, leave the column out of the features.`,
    });
  }
  const texts = seen.filter(({ label }) => !isNumberText(label) || LEADING_ZERO.test(label));
  const count = rowsOf(texts);
  if (known - count < NUMBERS_SHARE * known) return;
  const [text] = texts;
  if (text === undefined && !isPart) return;
  const found =
    text === undefined
      ? 'some of its values are not'
      : `${formatCount(count)} of ${counted(known, 'value')} ${count === 1 ? 'is' : 'are'} not, for example '${text.label}'`;
  throw notNumbers(name, found, {
    value: text?.label,
    suggestion:
      'Correct these values or leave them empty. If the column is an identifier, leave it out of the features.',
  });
}

function notNumbers(
  name: string,
  found: string,
  { suggestion, ...context }: { readonly suggestion: string } & Readonly<Record<string, unknown>>,
): DataValidationError {
  return new DataValidationError(`Feature '${name}' should hold numbers, but ${found}.`, {
    code: 'invalid-value',
    context: { column: name, ...context },
    suggestion,
  });
}

/** @throws {DataValidationError} if a value is infinite; the error names the first such value and its row */
export function assertFinite(name: string, values: Float64Array): void {
  const row = values.findIndex((value) => value === Infinity || value === -Infinity);
  if (row < 0) return;
  throw new DataValidationError(
    `Column '${name}' must be finite, but row ${String(row + 1)} holds ${String(values[row])}.`,
    {
      code: 'invalid-value',
      context: { column: name, row, value: values[row] },
      suggestion: 'Correct or clear that value.',
    },
  );
}

function encodeNumeric(
  values: Float64Array,
  { name, mean, scale, marksMissing }: NumericFeature,
  matrix: Float32Array,
  offset: number,
  width: number,
): void {
  assertFinite(name, values);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    const isMissing = Number.isNaN(value);
    const score = isMissing ? 0 : (value - mean) / scale;
    if (Math.abs(score) > MAX_DEVIATIONS) throw tooFar(name, value, row);
    matrix[row * width + offset] = score;
    if (marksMissing && isMissing) matrix[row * width + offset + 1] = 1;
  }
}

/**
 * The maximum distance of a value from the mean, in standard deviations. For larger distances, float32 results are
 * useless.
 */
const MAX_DEVIATIONS = 1e15;

/** @throws {DataValidationError} if a value is too far from the mean of a feature */
export function assertNear({ name, mean, scale }: NumericFeature, value: number): void {
  if (Math.abs((value - mean) / scale) > MAX_DEVIATIONS) throw tooFar(name, value);
}

function tooFar(name: string, value: number, row?: number): DataValidationError {
  const position = row === undefined ? '' : ` in row ${String(row + 1)}`;
  return new DataValidationError(
    `Column '${name}' holds ${String(value)}${position}, which is far outside the range of the training rows.`,
    { code: 'invalid-value', context: { column: name, row, value }, suggestion: 'Correct or clear that value.' },
  );
}

function encodeCategorical(
  table: Table,
  { name, levels }: CategoricalFeature,
  matrix: Float32Array,
  offset: number,
  width: number,
): void {
  const { codes, labels } = table.categorical(name);
  const position = new Map(levels.map((level, index) => [level, index]));
  const positionOf = labels.map((label) => position.get(label));
  const positionOfMissing = position.get(MISSING_LABEL);
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row] as number;
    const index = code < 0 ? positionOfMissing : positionOf[code];
    if (index !== undefined) matrix[row * width + offset + index] = 1;
  }
}

/** The standardisation of values: (value - mean) / scale. */
export interface StandardScore {
  readonly mean: number;
  /** The population standard deviation; 0 if all values are equal. */
  readonly scale: number;
}

/**
 * Computes the mean and standard deviation of finite values. The values are first divided by approximately the largest
 * value, so that squares neither overflow nor underflow.
 */
export function standardScore(values: Float64Array): StandardScore {
  if (values.length === 0) return { mean: NaN, scale: NaN };
  const [first = NaN] = values;
  // Because of rounding, the mean of equal values may differ from the values. The scale would then be a rounding error.
  if (values.every((value) => value === first)) return { mean: first, scale: 0 };
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  // The unit is a power of two, so that the division is exact.
  const unit = 2 ** Math.max(-1021, Math.min(1022, Math.floor(Math.log2(largest))));
  const mean = values.reduce((sum, value) => sum + value / unit, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value / unit - mean) ** 2, 0) / values.length;
  return { mean: mean * unit, scale: Math.sqrt(variance) * unit };
}
