import { canonicalLabel } from '../internal/label-text.ts';
import { unmarkCell } from '../internal/spreadsheet-text.ts';
import type { DecimalSeparator } from '../schemas/data-source.ts';
import { columnKind, isNumeric, type Relation } from './relation.ts';
import { type DecisionRequest, quoteIdentifier, quoteLiteral } from './sql-engine.ts';

/** The SQL values for a label or decision that is neither 0 nor 1: one for missing, and one for any other value. */
export const MISSING_STATE = 2;
export const BAD_STATE = 3;

/** Returns SQL for a column as numbers. Text that is not a number becomes NULL; `numberChecks` rejects it. */
export function numberExpression(relation: Relation, name: string): string {
  const column = quoteIdentifier(name);
  return isNumeric(columnKind(relation, name))
    ? `CAST(${column} AS DOUBLE)`
    : numberOfText(textExpression(name), relation.csv?.decimal);
}

/**
 * Returns SQL that converts a text to a number, or to NULL if the text is not a number. With a decimal comma, a number
 * that contains a point is ambiguous.
 */
export function numberOfText(text: string, decimal: DecimalSeparator = '.'): string {
  return decimal === '.'
    ? `TRY_CAST(${text} AS DOUBLE)`
    : `CASE WHEN contains(${text}, '.') THEN NULL ELSE TRY_CAST(replace(${text}, ',', '.') AS DOUBLE) END`;
}

/** Returns SQL for a column as text. */
export function textExpression(name: string): string {
  return `CAST(${quoteIdentifier(name)} AS VARCHAR)`;
}

/**
 * Returns SQL for a column to group by. Missing values are NULL. Fractions are converted to numbers, so that 1.0 has
 * the label '1', as in arrays.
 */
export function groupExpression(relation: Relation, name: string): string {
  if (columnKind(relation, name) !== 'fraction') return quoteIdentifier(name);
  const number = numberExpression(relation, name);
  return `CASE WHEN isnan(${number}) THEN NULL ELSE ${number} END`;
}

/** Returns SQL that converts the value of a {@link groupExpression} to a number or text that {@link labelOf} reads. */
export function groupOutput(relation: Relation, name: string, alias: string): string {
  // Whole numbers are cast once per group, not once per row, and keep all digits.
  return columnKind(relation, name) === 'fraction' ? alias : `CAST(${alias} AS VARCHAR)`;
}

/** Returns the {@link groupOutput} of each column of an attribute. The columns are named `g0`, `g1` … */
export function groupOutputs(relation: Relation, attribute: readonly string[]): string[] {
  return attribute.map((name, index) => groupOutput(relation, name, `g${String(index)}`));
}

/** Returns the group label of a value selected by {@link groupOutput}, as for arrays; undefined if missing. */
export function groupLabelOf(relation: Relation, value: unknown): string | undefined {
  const label = labelOf(relation, value);
  return label === undefined ? undefined : canonicalLabel(label);
}

/**
 * Returns a value selected by {@link groupOutput} as text, without the mark for spreadsheets of a cell in a text file;
 * undefined if missing.
 */
export function labelOf({ csv }: Relation, value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  return csv === undefined ? String(value) : unmarkCell(String(value));
}

/** Returns the SQL condition that a column of texts holds one of some labels, marked for spreadsheets or not. */
export function isOneOf({ csv }: Relation, name: string, labels: Iterable<string>): string {
  const cells = [...labels].flatMap((label) =>
    csv === undefined ? [label] : [label, `'${label}`].filter((cell) => unmarkCell(cell) === label),
  );
  return `${textExpression(name)} IN (${cells.map(quoteLiteral).join(', ')})`;
}

/** Returns the SQL condition that a float64 equals one of some numbers. */
export function isOneNumber(expression: string, numbers: readonly (number | string)[]): string {
  return `${expression} IN (${numbers.map((value) => `CAST('${String(value)}' AS DOUBLE)`).join(', ')})`;
}

/** Matches the labels that {@link canonicalLabel} reads as numbers. */
const NUMBER_LABEL = '[ \\t]*-?(0|[1-9][0-9]*)?([.][0-9]*)?([eE][+-]?[0-9]{1,9})?[ \\t]*';

/**
 * Returns the SQL condition that a column may hold a label of one of some numbers, such as `-99`, `-99.0` or `-9.9e1` for
 * -99. As float64, different labels may be the same number, so the labels that are found must be compared.
 */
export function mayBeNumber(relation: Relation, name: string, numbers: readonly number[]): string {
  if (isNumeric(columnKind(relation, name))) return isOneNumber(numberExpression(relation, name), numbers);
  const text = textExpression(name);
  // Without the mark for spreadsheets.
  const label = relation.csv === undefined ? text : `regexp_replace(${text}, '^''-', '-')`;
  const number = `TRY_CAST(trim(${label}, E' \\t') AS DOUBLE)`;
  return `(regexp_full_match(${label}, '${NUMBER_LABEL}') AND (${number} IS NULL OR isinf(${number}) OR ${isOneNumber(number, numbers)}))`;
}

/** Returns a SQL condition that is true if the number with the given name is not missing. */
export function isKnown(name: string): string {
  return `${name} IS NOT NULL AND NOT isnan(${name})`;
}

/** Returns SQL that maps a decision to one of four states: 0, 1, missing, or any other value. */
export function decisionState(
  relation: Relation,
  { yPred, scoreThreshold }: DecisionRequest,
  positiveLabel: string | undefined,
): string {
  if (scoreThreshold === undefined) return labelState(relation, yPred, positiveLabel);
  const score = numberExpression(relation, yPred);
  return caseOf(
    0,
    [`${quoteIdentifier(yPred)} IS NULL OR isnan(${score})`, MISSING_STATE],
    [`${score} IS NULL OR isinf(${score})`, BAD_STATE],
    [`${score} >= ${String(scoreThreshold)}`, 1],
  );
}

/**
 * Returns SQL that maps a label to one of four states (0, 1, missing, or any other value), by the same rules as for
 * arrays.
 */
export function labelState(relation: Relation, name: string, positiveLabel: string | undefined): string {
  const kind = columnKind(relation, name);
  const column = quoteIdentifier(name);
  const isMissing = kind === 'fraction' ? `${column} IS NULL OR isnan(CAST(${column} AS DOUBLE))` : `${column} IS NULL`;
  if (positiveLabel !== undefined) {
    return caseOf(0, [isMissing, MISSING_STATE], [equalsLabel(relation, name, positiveLabel), 1]);
  }
  const text = `lower(${textExpression(name)})`;
  const decimal = relation.csv?.decimal ?? '.';
  const [zero, one] = isNumeric(kind)
    ? [`${column} = 0`, `${column} = 1`]
    : [`${text} IN ('0', '0${decimal}0', 'false')`, `${text} IN ('1', '1${decimal}0', 'true')`];
  return caseOf(BAD_STATE, [one, 1], [zero, 0], [isMissing, MISSING_STATE]);
}

/** Returns SQL aggregates of a weight for {@link readWeights}. If there are no weights, returns only the count. */
export function weightSums(weight: string | undefined): string[] {
  return weight === undefined ? ['count(*)'] : ['count(*)', `kahan_sum(${weight})`, `kahan_sum(${weight} * ${weight})`];
}

/** For a part of the data: the number of rows, the sum of the weights, and the sum of the squared weights. */
export interface WeightSums {
  readonly count: number;
  readonly weight: number;
  readonly squaredWeight: number;
}

/** Reads the values of {@link weightSums}. Weights are finite, so a NaN sum means an overflow of float64. */
export function readWeights(sums: readonly number[]): WeightSums {
  const [count = 0, weight = count, squaredWeight = count] = sums;
  const overflow = (sum: number): number => (Number.isNaN(sum) ? Infinity : sum);
  return { count, weight: overflow(weight), squaredWeight: overflow(squaredWeight) };
}

function caseOf(otherwise: number, ...branches: readonly (readonly [condition: string, state: number])[]): string {
  const whens = branches.map(([condition, state]) => `WHEN ${condition} THEN ${String(state)}`);
  return `CASE ${whens.join(' ')} ELSE ${String(otherwise)} END`;
}

function equalsLabel(relation: Relation, name: string, label: string): string {
  const kind = columnKind(relation, name);
  if (!isNumeric(kind)) return isOneOf(relation, name, [label]);
  // Compared as written, since whole numbers may have more digits than float64.
  if (kind === 'integer' && /^-?\d+$/.test(label)) return `${quoteIdentifier(name)} = ${label}`;
  const number = label.trim() === '' ? NaN : Number(label);
  return Number.isFinite(number)
    ? `${numberExpression(relation, name)} = CAST('${String(number)}' AS DOUBLE)`
    : 'false';
}
