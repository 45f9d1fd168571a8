import {
  absentLabelError,
  findAbsentLabel,
  type PositiveLabelOptions,
  type SearchedColumn,
  sortLabels,
} from '../table/index.ts';
import type { Relation } from './relation.ts';
import type { SqlSession } from './sql-engine.ts';
import { type SqlSource, withRelation } from './sql-source.ts';
import { groupExpression, groupOutput, labelOf } from './value-sql.ts';

/** A column in which the positive label was searched. */
interface LabelledColumn {
  readonly name: string;
  /** Returns whether a state occurs among the counted labels or decisions. */
  readonly has: (state: number) => boolean;
  readonly isRead: boolean;
}

/** The columns in which positive labels were searched. */
interface LabelledColumns extends PositiveLabelOptions {
  readonly yTrue?: LabelledColumn | undefined;
  /** Undefined if decisions do not come from labels. */
  readonly yPred?: LabelledColumn | undefined;
}

/**
 * Checks that the positive labels occur in the counted rows.
 * @throws {DataValidationError} if one does not; the error lists the labels found
 */
export async function assertLabelsCounted(
  session: SqlSession,
  relation: Relation,
  request: LabelledColumns,
): Promise<void> {
  const search = (column: LabelledColumn | undefined): SearchedColumn | undefined =>
    column && { hasPositive: column.has(1), hasNegative: column.has(0), isRead: column.isRead };
  const absent = findAbsentLabel(request, search(request.yTrue), search(request.yPred));
  if (absent === undefined) return;
  const { name: column = '' } = request[absent.column] ?? {};
  const labels = await distinctLabels(session, relation, [column]);
  if (absent.column === 'yPred' && absent.isShared) {
    const known = new Set(await distinctLabels(session, relation, [request.yTrue?.name ?? '']));
    if (labels.every((label) => known.has(label))) return;
  }
  throw absentLabelError(absent, { data: relation.title, column }, labels);
}

/**
 * Returns the labels of several columns together: distinct, without missing values, sorted as for arrays.
 * @throws {DataValidationError} if the source cannot be read or a column is unknown
 */
export async function classLabels(source: SqlSource, columns: readonly string[]): Promise<readonly string[]> {
  return withRelation(source, (session, relation) => distinctLabels(session, relation, columns));
}

/** Returns {@link classLabels} of an open source. */
async function distinctLabels(
  session: SqlSession,
  relation: Relation,
  columns: readonly string[],
): Promise<readonly string[]> {
  const labels = new Set<string>();
  for (const name of columns) {
    const rows = await session.rows(
      `SELECT ${groupOutput(relation, name, 'v')} FROM
        (SELECT DISTINCT ${groupExpression(relation, name)} AS v FROM ${relation.relation}) WHERE v IS NOT NULL`,
    );
    for (const [value] of rows) labels.add(labelOf(value) as string);
  }
  return sortLabels(
    Int32Array.from(labels.keys(), (_, code) => code),
    [...labels],
  ).labels;
}
