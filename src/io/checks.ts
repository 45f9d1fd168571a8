import { DataValidationError } from '../exceptions/index.ts';
import {
  ambiguousPoint,
  type ColumnRole,
  decimalHint,
  hasAmbiguousPoint,
  notBinary,
  sortLabels,
} from '../table/index.ts';
import { columnKind, isNumeric, type Relation } from './relation.ts';
import { quoteIdentifier, type SqlSession } from './sql-engine.ts';
import {
  BAD_STATE,
  groupExpression,
  groupOutput,
  isOneOf,
  labelOf,
  numberExpression,
  textExpression,
} from './value-sql.ts';

/** A condition that marks a row as invalid. Invalid rows are counted while rows are grouped. */
export interface Check {
  readonly column: string;
  readonly condition: string;
  /** @param values sample values of the column, for checks that depend on them */
  readonly errorFor: (found: InvalidRow, values: readonly string[]) => DataValidationError;
  readonly needsValues?: boolean;
}

/** The number of the first invalid row, counted from 1 without the header, and the invalid value as text. */
interface InvalidRow {
  readonly row: string;
  readonly value: string;
}

/** Returns checks that a column contains finite numbers. */
export function numberChecks(relation: Relation, name: string): Check[] {
  if (columnKind(relation, name) === 'integer') return [];
  const number = numberExpression(relation, name);
  const isText = `${number} IS NULL AND ${quoteIdentifier(name)} IS NOT NULL`;
  return [{ column: name, condition: `(${isText}) OR isinf(${number})`, errorFor: (found) => notNumber(name, found) }];
}

/** Returns checks that a column contains finite weights of 0 or more. */
export function weightChecks(relation: Relation, name: string | undefined): Check[] {
  if (name === undefined) return [];
  const isNegative: Check = {
    column: name,
    condition: `${numberExpression(relation, name)} < 0`,
    errorFor: (found) =>
      new DataValidationError(
        `Column '${name}' must hold weights of 0 or more, but row ${found.row} holds ${found.value}.`,
        {
          code: 'invalid-value',
          context: { column: name, ...found },
          suggestion: 'Correct the weight or leave it empty.',
        },
      ),
  };
  return [...numberChecks(relation, name), isNegative];
}

/**
 * Returns a check that labels are 0, 1 or missing. The check is separate from grouping, because a grouping counts the
 * rows of each state anyway.
 */
export function binaryCheck(relation: Relation, name: string, state: string, role: ColumnRole): Check {
  return {
    column: name,
    condition: `${state} = ${String(BAD_STATE)}`,
    needsValues: true,
    errorFor: ({ row, value }, values) =>
      notBinary(`Column '${name}'`, `in row ${row}`, isNumeric(columnKind(relation, name)) ? Number(value) : value, {
        values,
        role,
        column: name,
      }),
  };
}

/**
 * Throws if a column of labels contains a number with a point, but numbers have decimal commas. Otherwise, '1.0' would be
 * another label than 1.
 * @throws {DataValidationError} the error names the first such row
 */
export async function assertNoPoints(session: SqlSession, relation: Relation, column: string): Promise<void> {
  if (relation.csv?.decimal !== ',' || columnKind(relation, column) !== 'text') return;
  const text = textExpression(column);
  const rows = await session.rows(`SELECT DISTINCT ${text} FROM ${relation.relation} WHERE contains(${text}, '.')`);
  const labels = rows.flatMap(([value]) => labelOf(relation, value) ?? []).filter(hasAmbiguousPoint);
  if (labels.length === 0) return;
  const condition = isOneOf(relation, column, labels);
  const { row, value } = await firstProblem(session, relation, { column, condition });
  throw ambiguousPoint(column, value, row);
}

/**
 * Throws if a check found invalid rows.
 * @param counts the number of invalid rows of each check
 * @throws {DataValidationError} if a count is above 0; the error contains the first invalid row of the first failed
 *   check
 */
export async function assertNoProblem(
  session: SqlSession,
  relation: Relation,
  checks: readonly Check[],
  counts: readonly number[],
): Promise<void> {
  const problem = checks.find((_, index) => (counts[index] ?? 0) > 0);
  if (problem === undefined) return;
  const values =
    problem.needsValues === true ? await distinctLabels(session, relation, [problem.column], MAX_VALUES) : [];
  throw problem.errorFor(await firstProblem(session, relation, problem), values);
}

/** The maximum number of values of a column that an error lists. */
const MAX_VALUES = 9;

/**
 * Returns the distinct labels of several columns together, without missing values. The labels are sorted in the same
 * way as the labels of arrays.
 * @param most the maximum number of labels of a column
 */
export async function distinctLabels(
  session: SqlSession,
  relation: Relation,
  columns: readonly string[],
  most?: number,
): Promise<readonly string[]> {
  const labels = new Set<string>();
  for (const name of columns) {
    const rows = await session.rows(
      `SELECT ${groupOutput(relation, name, 'v')} FROM
        (SELECT DISTINCT ${groupExpression(relation, name)} AS v FROM ${relation.relation})
        WHERE v IS NOT NULL ${most === undefined ? '' : `LIMIT ${String(most)}`}`,
    );
    for (const [value] of rows) labels.add(labelOf(relation, value) as string);
  }
  return sortLabels(new Int32Array(), [...labels]).labels;
}

async function firstProblem(
  session: SqlSession,
  relation: Relation,
  { column, condition }: Pick<Check, 'column' | 'condition'>,
): Promise<InvalidRow> {
  const { relation: rows } = relation.counted?.rows ?? relation;
  // The condition is computed in the inner query, where names refer to the columns of the relation.
  const [found] = await session.rows(
    `SELECT CAST(place AS VARCHAR), shown FROM (
       SELECT row_number() OVER () AS place, ${textExpression(column)} AS shown, (${condition}) AS holds FROM ${rows}
     ) WHERE holds ORDER BY place LIMIT 1`,
  );
  return { row: String(found?.[0]), value: String(found?.[1]) };
}

function notNumber(name: string, found: InvalidRow): DataValidationError {
  const isInfinite = Math.abs(Number(found.value)) === Infinity || /^[-+]?inf/i.test(found.value);
  return new DataValidationError(
    `Column '${name}' should hold ${isInfinite ? 'finite ' : ''}numbers, but row ${found.row} holds '${found.value}'.`,
    {
      code: 'invalid-value',
      context: { column: name, ...found },
      suggestion: `${decimalHint(found.value)}Correct the value, leave it empty, or use another column.`,
    },
  );
}
