import type { NanPolicy } from '../table/index.ts';
import { columnKind, type DataFile, isNumeric } from './data-file.ts';
import { quoteIdentifier, quoteLiteral } from './sql.ts';

/** What to count in a file, or to sum over it. */
export interface FileRequest {
  /** Attributes to analyse apart; each is one column or several to cross. */
  readonly attributes: readonly (readonly string[])[];
  /** Decisions, or predicted numbers. */
  readonly yPred: string;
  readonly yTrue?: string | undefined;
  readonly sampleWeight?: string | undefined;
  readonly nanPolicy: NanPolicy;
}

/** How a file's values become decisions. */
export interface DecisionRequest extends FileRequest {
  readonly positiveLabel?: string | undefined;
  /** Where set, `yPred` holds scores and a decision is score >= threshold. */
  readonly scoreThreshold?: number | undefined;
}

/** States of a label or decision in SQL; the last is a value that is neither. */
export const MISSING_STATE = 2;
export const BAD_STATE = 3;

/** A column's values as numbers; text that is none is missing here and refused by {@link assertNumbers}. */
export function numberExpression(file: DataFile, name: string): string {
  const column = quoteIdentifier(name);
  return isNumeric(columnKind(file, name))
    ? `CAST(${column} AS DOUBLE)`
    : `TRY_CAST(${textExpression(name)} AS DOUBLE)`;
}

/** A column's values as text. */
export function textExpression(name: string): string {
  return `CAST(${quoteIdentifier(name)} AS VARCHAR)`;
}

/** 0, 1, missing or bad. */
export function decisionState(file: DataFile, request: DecisionRequest): string {
  const { yPred, scoreThreshold } = request;
  if (scoreThreshold === undefined) return labelState(file, yPred, request);
  const score = numberExpression(file, yPred);
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
export function labelState(file: DataFile, name: string, { positiveLabel }: DecisionRequest): string {
  const kind = columnKind(file, name);
  const column = quoteIdentifier(name);
  const isMissing = kind === 'fraction' ? `${column} IS NULL OR isnan(CAST(${column} AS DOUBLE))` : `${column} IS NULL`;
  if (positiveLabel !== undefined) {
    return caseOf(
      [
        [isMissing, MISSING_STATE],
        [equalsLabel(file, name, positiveLabel), 1],
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

function caseOf(branches: readonly (readonly [condition: string, state: number])[], otherwise: number): string {
  const whens = branches.map(([condition, state]) => `WHEN ${condition} THEN ${String(state)}`);
  return `CASE ${whens.join(' ')} ELSE ${String(otherwise)} END`;
}

function equalsLabel(file: DataFile, name: string, label: string): string {
  if (!isNumeric(columnKind(file, name))) return `${textExpression(name)} = ${quoteLiteral(label)}`;
  const number = label.trim() === '' ? NaN : Number(label);
  return Number.isFinite(number) ? `${quoteIdentifier(name)} = ${String(number)}` : 'false';
}
