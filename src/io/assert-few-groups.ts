import { rowsSql } from './group-by.ts';
import { MAX_LABEL_LENGTH, nameOf, tooLongLabel, tooManyGroups } from './group-limits.ts';
import { hasColumn, type Relation } from './relation.ts';
import type { SqlSession } from './sql-engine.ts';
import { type SqlSource, withRelation } from './sql-source.ts';

/**
 * The factor by which an estimate must differ from the limit so that no exact count is needed. The standard error of an
 * estimate is 13%.
 */
const SURELY = 4;

/**
 * Checks that each attribute of a source has at most `maxGroups` groups, without keeping the groups in memory. One scan
 * estimates the numbers of groups of all attributes. A second scan counts the groups of an attribute only if its
 * estimate is near the limit. An unknown column is not an error here; it is reported when the column is read.
 * @param attributes the columns of each attribute; several columns form an intersection
 * @throws {DataValidationError} if an attribute has more groups, or a label has more than 1,000 characters
 */
export async function assertFewGroups(
  source: SqlSource,
  attributes: readonly (readonly string[])[],
  maxGroups: number,
): Promise<void> {
  await withRelation(
    source,
    async (session, relation) => {
      const known = attributes.filter((names) => names.every((name) => hasColumn(relation, name)));
      if (known.length === 0) return;
      const estimates = await check(session, relation, known);
      for (const [index, names] of known.entries()) {
        const estimate = estimates[index] ?? 0;
        if (estimate > SURELY * maxGroups) throw tooManyGroups(nameOf(names), maxGroups);
        if (estimate * SURELY < maxGroups) continue;
        const [counted] = await session.rows(
          `SELECT CAST(count(*) AS DOUBLE) FROM (SELECT DISTINCT ${columnsOf(names).join(', ')} FROM (${rowsSql(relation, { names, select: {}, checks: [] })}))`,
        );
        if (Number(counted?.[0]) > maxGroups) throw tooManyGroups(nameOf(names), maxGroups);
      }
    },
    attributes.flat(),
  );
}

/** Estimates the number of groups of each attribute, and checks the length of labels in the same scan. */
async function check(
  session: SqlSession,
  relation: Relation,
  attributes: readonly (readonly string[])[],
): Promise<number[]> {
  const names = [...new Set(attributes.flat())];
  const column = (name: string): string => `g${String(names.indexOf(name))}`;
  const texts = names.filter((name) => relation.columns.get(name) === 'text');
  const longest = texts.map((name) => `CAST(max(length(CAST(${column(name)} AS VARCHAR))) AS DOUBLE)`);
  const estimates = attributes.map(
    (attribute) => `CAST(approx_count_distinct(hash(${attribute.map(column).join(', ')})) AS DOUBLE)`,
  );
  const [found = []] = await session.rows(
    `SELECT ${[...longest, ...estimates].join(', ')} FROM (${rowsSql(relation, { names, select: {}, checks: [] })})`,
  );
  const position = texts.findIndex((_, index) => Number(found[index]) > MAX_LABEL_LENGTH);
  if (position >= 0) throw tooLongLabel(texts[position] ?? '', Number(found[position]));
  return found.slice(texts.length).map(Number);
}

function columnsOf(names: readonly string[]): string[] {
  return names.map((_, index) => `g${String(index)}`);
}
