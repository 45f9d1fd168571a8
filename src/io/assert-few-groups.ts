import { DataValidationError } from '../exceptions/index.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';
import { rowsSql } from './group-by.ts';
import type { Relation } from './relation.ts';
import type { SqlSession } from './sql-engine.ts';
import { type SqlSource, withRelation } from './sql-source.ts';

/** Characters of a label at most, where groups are bounded. */
export const MAX_LABEL_LENGTH = 1000;

/** How far an estimate must lie from the limit before it is believed; its standard error is 13 %. */
const SURELY = 4;

/**
 * Checks that attributes of a source have few groups, without holding the groups: one scan estimates all attributes, and
 * one more counts each that is near the limit. Attributes with a column that is not there are left to who reads them.
 * @param attributes each is one column or several to cross
 * @throws {DataValidationError} for an attribute of more groups, or a label of more than 1,000 characters
 */
export async function assertFewGroups(
  source: SqlSource,
  attributes: readonly (readonly string[])[],
  mostGroups: number,
): Promise<void> {
  await withRelation(
    source,
    async (session, relation) => {
      const known = attributes.filter((names) => names.every((name) => isKnown(relation, name)));
      if (known.length === 0) return;
      const estimates = await look(session, relation, known);
      for (const [place, names] of known.entries()) {
        const estimate = estimates[place] ?? 0;
        if (estimate > SURELY * mostGroups) throw tooManyGroups(nameOf(names), mostGroups);
        if (estimate * SURELY < mostGroups) continue;
        const [counted] = await session.rows(
          `SELECT CAST(count(*) AS DOUBLE) FROM (SELECT DISTINCT ${columnsOf(names).join(', ')} FROM (${rowsSql(relation, { names, select: {}, checks: [] })}))`,
        );
        if (Number(counted?.[0]) > mostGroups) throw tooManyGroups(nameOf(names), mostGroups);
      }
    },
    attributes.flat(),
  );
}

/** What an attribute of too many groups is refused with. */
export function tooManyGroups(attribute: string, mostGroups: number): DataValidationError {
  return new DataValidationError(
    `'${attribute}' has more than ${mostGroups.toLocaleString('en-US')} groups; so many are taken at most.`,
    {
      context: { attribute, mostGroups },
      suggestion: 'Name a column whose values repeat, such as age groups in place of a number or an id.',
    },
  );
}

/** What a label of too many characters is refused with. */
export function tooLongLabel(attribute: string, length: number): DataValidationError {
  return new DataValidationError(
    `'${attribute}' has a label of ${length.toLocaleString('en-US')} characters; ${MAX_LABEL_LENGTH.toLocaleString('en-US')} are taken at most.`,
    { context: { attribute, length }, suggestion: 'Name a column of short labels.' },
  );
}

/** What an attribute is called. */
export function nameOf(names: readonly string[]): string {
  return names.join(INTERSECTION_SEPARATOR);
}

/** The estimated groups of each attribute; checks how long labels are in the same scan. */
async function look(
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
  const place = texts.findIndex((_, index) => Number(found[index]) > MAX_LABEL_LENGTH);
  if (place >= 0) throw tooLongLabel(texts[place] ?? '', Number(found[place]));
  return found.slice(texts.length).map(Number);
}

function columnsOf(names: readonly string[]): string[] {
  return names.map((_, place) => `g${String(place)}`);
}

function isKnown({ columns, ambiguous }: Relation, name: string): boolean {
  return columns.has(name) && !ambiguous.includes(name);
}
