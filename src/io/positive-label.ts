import { absentLabelError, findAbsentLabel, type PositiveLabelOptions, type SearchedColumn } from '../table/index.ts';
import { distinctLabels } from './checks.ts';
import type { Relation } from './relation.ts';
import type { SqlSession } from './sql-engine.ts';
import { type SqlSource, withRelation } from './sql-source.ts';

/** A column that was searched for the positive label. */
interface LabelledColumn {
  readonly name: string;
  /** Returns whether a value (0 or 1) occurs among the counted labels or decisions. */
  readonly has: (state: number) => boolean;
  readonly isRead: boolean;
}

/** The columns that were searched for positive labels. */
interface LabelledColumns extends PositiveLabelOptions {
  readonly yTrue?: LabelledColumn | undefined;
  /** The column of decisions; undefined if decisions do not come from labels. */
  readonly yPred?: LabelledColumn | undefined;
}

/**
 * Checks that the positive labels occur in the counted rows.
 * @throws {DataValidationError} if a positive label does not occur; the error lists the labels found
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
 * Opens a source and returns the distinct labels of several columns together; see {@link distinctLabels}.
 * @throws {DataValidationError} if the source cannot be read or a column is unknown
 */
export async function classLabels(source: SqlSource, columns: readonly string[]): Promise<readonly string[]> {
  return withRelation(source, (session, relation) => distinctLabels(session, relation, columns));
}
