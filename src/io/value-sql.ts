import { canonicalLabel } from '../internal/label-text.ts';
import { unmarkCell } from '../internal/spreadsheet-text.ts';
import { columnKind, isNumeric, type Relation } from './relation.ts';
import { type DecisionRequest, quoteIdentifier, quoteLiteral } from './sql-engine.ts';

/** States of a label or decision in SQL; the last is a value that is neither. */
export const MISSING_STATE = 2;
export const BAD_STATE = 3;

/** A column's values as numbers; text that is none is missing here and refused by `numberChecks`. */
export function numberExpression(relation: Relation, name: string): string {
  const column = quoteIdentifier(name);
  return isNumeric(columnKind(relation, name))
    ? `CAST(${column} AS DOUBLE)`
    : `TRY_CAST(${textExpression(name)} AS DOUBLE)`;
}

/** A column's values as text. */
export function textExpression(name: string): string {
  return `CAST(${quoteIdentifier(name)} AS VARCHAR)`;
}

/**
 * A column's values to group by, NULL where missing. Fractions go through
 * numbers, so that 1.0 is the label '1' as it is elsewhere.
 */
export function groupExpression(relation: Relation, name: string): string {
  if (columnKind(relation, name) !== 'fraction') return quoteIdentifier(name);
  const number = numberExpression(relation, name);
  return `CASE WHEN isnan(${number}) THEN NULL ELSE ${number} END`;
}

/** What {@link groupExpression} gave under an alias, as a number or text that {@link labelOf} reads. */
export function groupOutput(relation: Relation, name: string, alias: string): string {
  // Whole numbers are cast once per group and not per row, and keep all digits.
  return columnKind(relation, name) === 'fraction' ? alias : `CAST(${alias} AS VARCHAR)`;
}

/** The label of the group of a value that {@link groupOutput} selected, as arrays would have it; undefined where missing. */
export function groupLabelOf({ csv }: Relation, value: unknown): string | undefined {
  const label = labelOf(value);
  if (label === undefined) return undefined;
  return canonicalLabel(csv === undefined ? label : unmarkCell(label));
}

/** A value that {@link groupOutput} selected as text, as it is; undefined where missing. */
export function labelOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Whether a number is there; by its name, since it is written twice. */
export function isKnown(name: string): string {
  return `${name} IS NOT NULL AND NOT isnan(${name})`;
}

/** 0, 1, missing or bad. */
export function decisionState(
  relation: Relation,
  { yPred, scoreThreshold }: DecisionRequest,
  positiveLabel: string | undefined,
): string {
  if (scoreThreshold === undefined) return labelState(relation, yPred, positiveLabel);
  const score = numberExpression(relation, yPred);
  return caseOf(
    [
      [`${quoteIdentifier(yPred)} IS NULL OR isnan(${score})`, MISSING_STATE],
      [`${score} IS NULL OR isinf(${score})`, BAD_STATE],
      [`${score} >= ${String(scoreThreshold)}`, 1],
    ],
    0,
  );
}

/** 0, 1, missing or bad, as the host's reading of labels has it. */
export function labelState(relation: Relation, name: string, positiveLabel: string | undefined): string {
  const kind = columnKind(relation, name);
  const column = quoteIdentifier(name);
  const isMissing = kind === 'fraction' ? `${column} IS NULL OR isnan(CAST(${column} AS DOUBLE))` : `${column} IS NULL`;
  if (positiveLabel !== undefined) {
    return caseOf(
      [
        [isMissing, MISSING_STATE],
        [equalsLabel(relation, name, positiveLabel), 1],
      ],
      0,
    );
  }
  const text = `lower(${textExpression(name)})`;
  const [zero, one] = isNumeric(kind)
    ? [`${column} = 0`, `${column} = 1`]
    : [`${text} IN ('0', '0.0', 'false')`, `${text} IN ('1', '1.0', 'true')`];
  return caseOf(
    [
      [one, 1],
      [zero, 0],
      [isMissing, MISSING_STATE],
    ],
    BAD_STATE,
  );
}

/** Aggregates of a weight, read by {@link readWeights}: what all weights of one give too is not summed. */
export function weightSums(weight: string | undefined): string[] {
  return weight === undefined ? ['count(*)'] : ['count(*)', `kahan_sum(${weight})`, `kahan_sum(${weight} * ${weight})`];
}

/** How many rows some part of the data has, the sum of their weights, and of the weights' squares. */
export interface WeightSums {
  readonly count: number;
  readonly weight: number;
  readonly squaredWeight: number;
}

/** Reads what {@link weightSums} selected. Weights are finite, so that a sum is no number only where it leaves float64. */
export function readWeights(sums: readonly number[]): WeightSums {
  const [count = 0, weight = count, squaredWeight = count] = sums;
  const overflow = (sum: number): number => (Number.isNaN(sum) ? Infinity : sum);
  return { count, weight: overflow(weight), squaredWeight: overflow(squaredWeight) };
}

function caseOf(branches: readonly (readonly [condition: string, state: number])[], otherwise: number): string {
  const whens = branches.map(([condition, state]) => `WHEN ${condition} THEN ${String(state)}`);
  return `CASE ${whens.join(' ')} ELSE ${String(otherwise)} END`;
}

function equalsLabel(relation: Relation, name: string, label: string): string {
  const kind = columnKind(relation, name);
  if (!isNumeric(kind)) return `${textExpression(name)} = ${quoteLiteral(label)}`;
  // Digits as they stand, since whole numbers may have more of them than float64.
  if (kind === 'integer' && /^-?\d+$/.test(label)) return `${quoteIdentifier(name)} = ${label}`;
  const number = label.trim() === '' ? NaN : Number(label);
  return Number.isFinite(number)
    ? `${numberExpression(relation, name)} = CAST('${String(number)}' AS DOUBLE)`
    : 'false';
}
