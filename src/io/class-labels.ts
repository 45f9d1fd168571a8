import { sortLabels } from '../table/index.ts';
import type { Relation } from './relation.ts';
import type { SqlSession } from './sql-engine.ts';
import { type SqlSource, withRelation } from './sql-source.ts';
import { groupExpression, groupOutput, labelOf } from './value-sql.ts';

/**
 * The labels that occur in some columns together, as arrays would have them:
 * distinct, without missing ones, sorted.
 * @throws {DataValidationError} for an unreadable source or an unknown column
 */
export async function classLabels(source: SqlSource, columns: readonly string[]): Promise<readonly string[]> {
  return withRelation(source, (session, relation) => distinctLabels(session, relation, columns));
}

/** {@link classLabels} of a source that is open already. */
export async function distinctLabels(
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
