import { DataValidationError } from '../exceptions/index.ts';
import { canonicalLabel, losesDigits } from '../internal/label-text.ts';
import { type CsvSource, hasColumn, isNumeric, type Relation } from './relation.ts';
import { quoteIdentifier, quoteLiteral, type SqlSession } from './sql-engine.ts';

/** Matches numbers whose label does not change when they are read as float64 instead of text. */
const PLAIN_NUMBER = '[ \\t]*-?(0|[1-9][0-9]*)?([.][0-9]*)?[ \\t]*';
const SHORTEST_LOSSY = 16;

/**
 * Returns the relation of a file. In a text file, numeric group columns are read as text. As numbers, long labels would
 * be rounded, and `01`, `0x1` and `1` could become the same group. Other sources have exact types.
 * @param labels the columns that name groups
 * @throws {DataValidationError} if a group in JSON lines is a number with too many digits to be read exactly
 */
export async function withExactLabels(
  session: SqlSession,
  file: Relation,
  labels: readonly string[],
): Promise<Relation> {
  await assertJsonDigits(session, file, labels);
  return file.csv === undefined ? file : readAsText(file, numbersOf(file, labels));
}

/**
 * Returns a file to load, with exact group labels. A numeric column may also be a feature. It is therefore read as text
 * only if a conversion to numbers would change a label.
 */
export async function withLoadedLabels(
  session: SqlSession,
  file: Relation,
  labels: readonly string[],
): Promise<Relation> {
  await assertJsonDigits(session, file, labels);
  const changing: string[] = [];
  for (const name of numbersOf(file, labels)) {
    // A float64 column of a typed source has no further digits.
    if (file.csv === undefined && file.columns.get(name) === 'fraction') continue;
    if (await changesLabels(session, readAsText(file, [name]), name)) changing.push(name);
  }
  return readAsText(file, changing);
}

/** Returns whether at least one label of a column would change if the column were read as numbers. */
async function changesLabels(session: SqlSession, { relation }: Relation, name: string): Promise<boolean> {
  const text = `CAST(${quoteIdentifier(name)} AS VARCHAR)`;
  const isPlain = `length(v) < ${String(SHORTEST_LOSSY)} AND regexp_full_match(v, ${quoteLiteral(PLAIN_NUMBER)})`;
  const rows = await session.rows(
    `SELECT DISTINCT v FROM (SELECT ${text} AS v FROM ${relation}) WHERE NOT (${isPlain})`,
  );
  return rows.some(([label]) => canonicalLabel(String(label)) !== String(Number(label)));
}

/** Throws if a label in JSON is a number that DuckDB rounds. The text of such a number is not available. */
async function assertJsonDigits(session: SqlSession, file: Relation, labels: readonly string[]): Promise<void> {
  if (file.jsonLines === undefined) return;
  for (const name of new Set(labels)) {
    const key = JSON.stringify(name).replaceAll(/[^\w"]/g, '\\$&');
    const number = `regexp_extract(json, ${quoteLiteral(`${key}\\s*:\\s*(-?[0-9][0-9.eE+-]*)`)}, 1)`;
    const rows = await session.rows(
      `SELECT DISTINCT v FROM (SELECT ${number} AS v FROM ${file.jsonLines}) WHERE length(v) >= ${String(SHORTEST_LOSSY)} OR v ILIKE '%e%' ORDER BY v`,
    );
    const lossy = rows.map(([value]) => String(value)).find((value) => isShortened(file, name, value));
    if (lossy === undefined) continue;
    throw new DataValidationError(
      `Column '${name}' of ${file.title} names groups and contains the number ${lossy}, which has too many digits to be read exactly.`,
      {
        code: 'invalid-value',
        context: { column: name, value: lossy },
        suggestion: `Write such labels as text: "${lossy}".`,
      },
    );
  }
}

/** Returns whether a number loses digits. Whole numbers in an integer column do not lose digits. */
function isShortened(file: Relation, name: string, number: string): boolean {
  return losesDigits(number) && !(file.columns.get(name) === 'integer' && /^-?\d+$/.test(number));
}

function numbersOf(file: Relation, labels: readonly string[]): string[] {
  return [...new Set(labels)].filter((name) => isNumeric(file.columns.get(name) ?? 'text') && hasColumn(file, name));
}

function readAsText(file: Relation, names: readonly string[]): Relation {
  if (names.length === 0) return file;
  return {
    ...file,
    relation: file.csv === undefined ? file.relation : withTexts(file.csv, file.columns, names),
    columns: new Map([...file.columns, ...names.map((name) => [name, 'text'] as const)]),
  };
}

/** Returns SQL that reads columns as text. NaN in a numeric column is a missing value and stays missing. */
function withTexts(csv: CsvSource, columns: Relation['columns'], names: readonly string[]): string {
  const texts = csv.withTexts(names);
  const fractions = names.filter((name) => columns.get(name) === 'fraction').map(quoteIdentifier);
  if (fractions.length === 0) return texts;
  const known = fractions.map((name) => `CASE WHEN lower(trim(${name})) = 'nan' THEN NULL ELSE ${name} END AS ${name}`);
  return `(SELECT * REPLACE (${known.join(', ')}) FROM ${texts})`;
}
