import { resolve } from 'node:path';

import { MISSING_TEXTS } from '../table/index.ts';
import type { DataFile } from '../schemas/data-source.ts';
import type { DataValidationError } from '../exceptions/index.ts';
import { cannotRead } from './csv-header.ts';
import { FILE_COLUMN } from './partitions.ts';
import { isNumeric, type StoredKind } from './relation.ts';
import { quoteIdentifier, quoteLiteral, type SqlSession } from './sql-engine.ts';

type Columns = ReadonlyMap<string, StoredKind>;

const SUGGESTION = 'Files that are read together need the same columns. Correct the file or exclude it.';

/**
 * Checks that all files have the columns of the first file.
 * @returns whether all files have the columns in the same order
 * @throws {DataValidationError} if a file lacks a column or has an additional column
 */
export function assertSameNames(files: readonly DataFile[], described: readonly Columns[]): boolean {
  const [first, ...others] = described.map((columns) => [...columns.keys()]);
  let isSameOrder = true;
  for (const [index, names] of others.entries()) {
    if (names.length === first?.length && names.every((name, at) => name === first[at])) continue;
    isSameOrder = false;
    const [own, ofFirst] = [new Set(names), new Set(first)];
    const missing = first?.find((name) => !own.has(name));
    const added = names.find((name) => !ofFirst.has(name));
    const where = `'${files[0]?.name ?? ''}'`;
    const reason =
      missing === undefined
        ? `it has the column '${added ?? ''}', which ${where} lacks`
        : `it has no column '${missing}', which ${where} has`;
    if (missing ?? added) throw cannotRead(files[index + 1]?.name ?? '', reason, SUGGESTION);
  }
  return isSameOrder;
}

/** SQL that reads the values of several files without conversion, and adds {@link FILE_COLUMN}. */
interface RawValues {
  readonly relation: string;
  /**
   * Returns a SQL condition that is true if a text is a number. The condition is used for files whose columns have no
   * types.
   */
  readonly isNumber?: (text: string) => string;
}

/**
 * Returns column kinds that fit the values of all files. The values of a column are read again only if its kinds differ
 * between files.
 * @throws {DataValidationError} if a column contains text in one file and numbers in another file
 */
export async function agreeOnKinds(
  session: SqlSession,
  files: readonly DataFile[],
  described: readonly Columns[],
  values: RawValues,
): Promise<Columns> {
  const agreed = new Map(described[0]);
  for (const name of agreed.keys()) {
    const kinds = described.map((columns) => columns.get(name) ?? 'text');
    const filled = new Set(kinds.map(familyOf)).size === 1 ? kinds : await compare(session, name, files, kinds, values);
    agreed.set(name, commonKind(filled));
  }
  return agreed;
}

type Family = 'numbers' | 'booleans' | 'text';

function familyOf(kind: StoredKind): Family {
  if (isNumeric(kind)) return 'numbers';
  return kind === 'boolean' ? 'booleans' : 'text';
}

function commonKind(kinds: readonly StoredKind[]): StoredKind {
  const [first = 'text'] = kinds;
  if (kinds.every((kind) => kind === first)) return first;
  return kinds.every(isNumeric) ? 'fraction' : 'text';
}

/** The values of a column in one file. */
interface Content {
  readonly file: DataFile;
  readonly family: Family;
  readonly example: string;
}

/**
 * Compares the values of a column across files. If a file has no values in the column, it is compatible with every
 * kind. In a file without types, a column of numbers may also contain texts that mean a missing value.
 * @returns the kinds of the files that have values
 */
async function compare(
  session: SqlSession,
  name: string,
  files: readonly DataFile[],
  kinds: readonly StoredKind[],
  { relation, isNumber }: RawValues,
): Promise<StoredKind[]> {
  const missing = MISSING_TEXTS.map(quoteLiteral).join(', ');
  const rows = await session.rows(
    `SELECT f, CAST(count(*) FILTER (${isNumber?.('v') ?? 'false'}) AS DOUBLE), left(min(v), 40),
       left(min(v) FILTER (NOT (${isNumber?.('v') ?? 'false'}) AND v NOT IN (${missing})), 40)
     FROM (SELECT ${quoteIdentifier(FILE_COLUMN)} AS f, CAST(${quoteIdentifier(name)} AS VARCHAR) AS v FROM ${relation})
     WHERE v IS NOT NULL GROUP BY f`,
  );
  const found = new Map(rows.map(([path, ...content]) => [String(path), content]));
  const filled: StoredKind[] = [];
  const contents: Content[] = [];
  for (const [index, file] of files.entries()) {
    const content = found.get(resolve(file.path));
    if (content === undefined) continue;
    const [numbers, any, text] = content;
    const kind = kinds[index] as StoredKind;
    filled.push(kind);
    if (isNumber === undefined) contents.push({ file, family: familyOf(kind), example: String(any) });
    else if (text === null && Number(numbers) > 0) contents.push({ file, family: 'numbers', example: String(any) });
    else if (text !== null && Number(numbers) === 0) contents.push({ file, family: 'text', example: text as string });
  }
  const odd = contents.find(({ family }) => family === 'text') ?? contents.find(({ family }) => family === 'booleans');
  const other = contents.find(({ family }) => family !== odd?.family);
  if (odd !== undefined && other !== undefined) throw differentKinds(name, odd, other);
  return filled;
}

function differentKinds(name: string, { file, family, example }: Content, other: Content): DataValidationError {
  return cannotRead(
    file.name,
    `column '${name}' holds ${family} ('${example}'), but ${other.family} in '${other.file.name}'`,
    SUGGESTION,
  );
}
