import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DataValidationError, FairnessToolkitError, ValueError } from '../exceptions/index.ts';
import type { Column, Table } from '../table/index.ts';
import { assertFileWritable, writeFileAtomic } from './atomic-write.ts';
import { type DuckDbSession, oneLine, withDuckDb } from './duckdb.ts';
import { repeatedNames } from './relation.ts';
import { quoteIdentifier, quoteLiteral } from './sql-engine.ts';

/** The first code point of a Unicode plane for private use. */
const FIRST_SEPARATOR = 0xf0000;
const MAX_SEPARATORS = 0xfffe;

/**
 * Writes a table as a Parquet file, completely or not at all.
 *
 * Numbers become DOUBLE, categories become VARCHAR, and missing values become NULL. The same table gives the same bytes
 * every time. A table without rows gives a file with columns but no rows, which {@link loadData} rejects.
 * @throws {DataValidationError} if the table has no columns, a column name is empty, two column names differ only in
 *   case, or the path cannot be written
 * @throws {DependencyError} if DuckDB's binary is not installed
 * @example
 * ```ts
 * import { Table } from 'evenhand';
 * import { loadData, writeParquet } from 'evenhand/io';
 *
 * await writeParquet('wages.parquet', Table.from({ wage: [7.5, null], sex: ['female', 'male'] }));
 * console.log((await loadData('wages.parquet')).toColumns());
 * // { wage: [ 7.5, null ], sex: [ 'female', 'male' ] }
 * ```
 */
export async function writeParquet(target: string, table: Table): Promise<void> {
  assertTableArguments('writeParquet', target, table);
  assertNames(target, table.columnNames);
  await assertFileWritable(target);
  await writeFileAtomic(target, await toParquet(target, table));
}

/**
 * Checks the arguments of a function that writes a table. JavaScript callers may swap them.
 * @throws {ValueError} if the first argument is not a path, or the second one is not a table
 */
export function assertTableArguments(caller: string, target: unknown, table: unknown): void {
  const isPath = typeof target === 'string';
  if (isPath && isTable(table)) return;
  const [parameter, position, required, given] = isPath
    ? ['table', 'second', 'a Table', table]
    : ['path', 'first', 'a path', target];
  const order = `Call ${caller}(path, table).`;
  throw new ValueError(
    `The ${parameter} parameter of ${caller}, its ${position} argument, must be ${required}. Got ${nameOfKind(given)} instead.`,
    {
      context: { parameter, expected: required, received: nameOfKind(given) },
      suggestion:
        isPath && typeof table === 'object' ? `${order} Table.from converts records and columns to a table.` : order,
    },
  );
}

/** Returns whether a value is a table, also one of another copy of this package. */
function isTable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'columnNames' in value && 'toColumns' in value;
}

function nameOfKind(value: unknown): string {
  if (isTable(value)) return 'a Table';
  if (Array.isArray(value)) return 'an array';
  if (value === null || value === undefined) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Checks that SQL can name every column. */
function assertNames(target: string, names: readonly string[]): void {
  const [twice] = repeatedNames(names);
  if (twice !== undefined) {
    const same = names.filter((name) => name.toLowerCase() === twice.toLowerCase());
    throw cannotWrite(
      target,
      `the names of its columns '${same.join("', '")}' differ only in case`,
      'Rename one of them, or write CSV.',
    );
  }
  const nameless = names.findIndex((name) => name === '' || name.includes('\0'));
  if (nameless >= 0) throw cannotWrite(target, `column ${String(nameless + 1)} has no usable name`, 'Name the column.');
  if (names.length === 0) throw cannotWrite(target, 'the table has no columns', 'Keep at least one column.');
}

/** Returns a table as Parquet. DuckDB writes only to files, so it writes the table to a temporary file first. */
async function toParquet(target: string, table: Table): Promise<Uint8Array> {
  let scratch: string | undefined;
  const clear = (): void => {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  };
  // An interrupt ends the process before `finally` runs.
  process.once('exit', clear);
  try {
    // This call is synchronous, so that an interrupt cannot come between the creation of the folder and the assignment.
    scratch = mkdtempSync(path.join(tmpdir(), 'evenhand-parquet-'));
    const file = path.join(scratch, 'table.parquet');
    await withDuckDb((session) => copyTable(session, table, file));
    return await readFile(file);
  } catch (cause) {
    if (FairnessToolkitError.isInstance(cause)) throw cause;
    const suggestion = 'Free some memory and some space for temporary files (TMPDIR names their folder).';
    throw cannotWrite(target, oneLine(cause).replace(/\.$/, ''), suggestion, cause);
  } finally {
    process.off('exit', clear);
    clear();
  }
}

async function copyTable(session: DuckDbSession, table: Table, file: string): Promise<void> {
  const columns = table.columnNames.map((name, index) => {
    const column = table.column(name);
    return { name, stored: `c${String(index)}`, column };
  });
  await session.createTable(
    'stored',
    Object.fromEntries(
      columns.map(({ stored, column }) => [stored, column.kind === 'numeric' ? column.values : column.codes]),
    ),
  );
  const selected: string[] = [];
  for (const { name, stored, column } of columns) {
    if (column.kind === 'categorical') await setLabels(session, stored, column.labels);
    selected.push(`${valueOf(stored, column)} AS ${quoteIdentifier(name)}`);
  }
  const copy = `COPY (SELECT ${selected.join(', ')} FROM stored) TO ${quoteLiteral(file)} (FORMAT parquet)`;
  // Rows are written in order, so that the bytes do not depend on the number of cores.
  await session.rows(copy, { ordered: true });
}

/**
 * Returns SQL for the value of a column. The indices of SQL lists begin at 1, so the code -1 (a missing value) gives
 * NULL.
 */
function valueOf(stored: string, { kind }: Column): string {
  return kind === 'categorical'
    ? `getvariable('${stored}')[${stored} + 1]`
    : `CASE WHEN isnan(${stored}) THEN NULL ELSE ${stored} END`;
}

/**
 * Sets a variable to a list of labels. The labels are passed as one text, which is much faster than a list of texts.
 */
async function setLabels(session: DuckDbSession, name: string, labels: readonly string[]): Promise<void> {
  const [separator, zero] = unusedCharacters(labels) as [string, string];
  // SQL text ends at a NUL character, so another character replaces it.
  const text = quoteLiteral(labels.join(separator).replaceAll('\0', zero));
  const restored = `replace(${text}, ${quoteLiteral(zero)}, chr(0))`;
  await session.rows(
    `SET VARIABLE ${name} = string_split(${text.includes(zero) ? restored : text}, ${quoteLiteral(separator)})`,
  );
}

/** Returns two private-use characters that no label contains. */
function unusedCharacters(labels: readonly string[]): string[] {
  const used = new Set(labels.flatMap((label) => label.match(/\p{Co}/gu) ?? []));
  const unused: string[] = [];
  for (let index = 0; index < MAX_SEPARATORS && unused.length < 2; index++) {
    const character = String.fromCodePoint(FIRST_SEPARATOR + index);
    if (!used.has(character)) unused.push(character);
  }
  return unused;
}

function cannotWrite(target: string, reason: string, suggestion: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`Cannot write '${target}': ${reason}.`, {
    code: 'unwritable-file',
    context: { path: target },
    suggestion,
    cause,
  });
}
