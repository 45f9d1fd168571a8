import { isNumeric, type Relation } from './relation.ts';
import { quoteIdentifier, quoteLiteral } from './sql.ts';
import type { SqlSession } from './sql-engine.ts';

/** From here on two whole numbers may be one float64. */
const FIRST_ROUNDED = '9007199254740992';

/**
 * A CSV file whose labels are not rounded: where a column that names groups was taken for fractions and holds whole
 * numbers with more digits than a float64 keeps, so that two groups would become one, it is read as text. Other columns
 * stay as they are.
 * @param labels the columns that name groups
 */
export async function withExactLabels(
  session: SqlSession,
  file: Relation,
  labels: readonly string[],
): Promise<Relation> {
  if (file.csv === undefined) return file;
  const fractions = known(file, labels).filter((name) => file.columns.get(name) === 'fraction');
  if (fractions.length === 0) return file;
  const isRounded = fractions.map((name) => {
    const column = quoteIdentifier(name);
    const isWhole = `regexp_full_match(trim(${column}), '[+-]?[0-9]{16,}([.]0*)?')`;
    return `coalesce(bool_or(${isWhole} AND abs(TRY_CAST(${column} AS DOUBLE)) >= ${FIRST_ROUNDED}), false)`;
  });
  const [found] = await session.rows(`SELECT ${isRounded.join(', ')} FROM ${asText(file.relation, fractions)}`);
  return readAsText(
    file,
    fractions.filter((_, place) => found?.[place] === true),
    asText,
  );
}

/** The same for a file that is loaded, where all numbers become float64: whole numbers of 64 bits too. */
export async function withWideLabels(
  session: SqlSession,
  file: Relation,
  labels: readonly string[],
): Promise<Relation> {
  const whole = known(file, labels).filter((name) => file.columns.get(name) === 'integer');
  if (whole.length === 0) return file;
  const largest = whole.map(
    (name) => `coalesce(max(abs(CAST(${quoteIdentifier(name)} AS HUGEINT))) >= ${FIRST_ROUNDED}, false)`,
  );
  const [found] = await session.rows(`SELECT ${largest.join(', ')} FROM ${file.relation}`);
  return readAsText(
    file,
    whole.filter((_, place) => found?.[place] === true),
    (relation) => relation,
  );
}

function known({ columns, ambiguous }: Relation, labels: readonly string[]): string[] {
  return [...new Set(labels)].filter((name) => isNumeric(columns.get(name) ?? 'text') && !ambiguous.includes(name));
}

function asText(relation: string, names: readonly string[]): string {
  const types = names.map((name) => `${quoteLiteral(name)}: 'VARCHAR'`);
  return relation.replace(/\)$/, `, types={${types.join(', ')}})`);
}

function readAsText(file: Relation, names: readonly string[], reread: typeof asText): Relation {
  if (names.length === 0) return file;
  return {
    ...file,
    relation: reread(file.relation, names),
    columns: new Map([...file.columns, ...names.map((name) => [name, 'text'] as const)]),
  };
}
