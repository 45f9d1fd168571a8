import type { DuckDBDataChunk } from '@duckdb/node-api';

import { DataValidationError } from '../exceptions/index.ts';
import { formatCount } from '../internal/format.ts';
import type { DuckDbSession } from './duckdb.ts';
import { columnKind, isNumeric, type Relation } from './relation.ts';
import { quoteIdentifier, quoteLiteral } from './sql-engine.ts';

/** A column of a {@link ColumnStream}. */
export type StreamedColumn =
  | { readonly name: string; readonly kind: 'numbers' }
  /** Texts that repeat. Rows have codes, which are the positions of the texts in `labels`; -1 means missing. */
  | { readonly name: string; readonly kind: 'labels'; readonly labels: readonly string[] }
  /** Texts with many different values. */
  | { readonly name: string; readonly kind: 'texts' };

/** Some rows of a {@link ColumnStream}. Its methods may only be called until the next chunk is requested. */
export interface ColumnChunk {
  readonly rowCount: number;
  /** Copies a column of numbers, with NaN for missing values, to `target` from `start` on. */
  copyNumbers(column: number, target: Float64Array, start: number): void;
  /** Copies the codes of a column of labels to `target` from `start` on. */
  copyCodes(column: number, target: Int32Array, start: number): void;
  /** Returns the values of a column of texts; null means missing. */
  texts(column: number): readonly (string | null)[];
}

/** The rows of a relation, which are read column by column in chunks. */
export interface ColumnStream {
  readonly rowCount: number;
  readonly columns: readonly StreamedColumn[];
  /**
   * Yields all rows in their order.
   * @throws {DataValidationError} if the number of rows is not `rowCount`, because the rows changed since they were
   *   counted
   */
  chunks(): AsyncIterable<ColumnChunk>;
}

/** The number of rows at the start of a relation that show which columns have few different texts. */
const SAMPLE_ROWS = 50_000;

/** If a column of texts has more than this number of different texts in the sample, each text is read by itself. */
const MAX_SAMPLE_TEXTS = 5_000;

/** If a column of texts has more than this number of different texts, each text is read by itself. */
const MAX_LABELS = 50_000;

/**
 * Opens a small relation as a stream of columns, whose rows are all read at once.
 */
export async function readColumnStream(
  session: DuckDbSession,
  file: Relation,
  names: readonly string[],
): Promise<ColumnStream> {
  const columns = names.map((name): StreamedColumn => ({
    name,
    kind: isNumeric(columnKind(file, name)) ? 'numbers' : 'texts',
  }));
  const { rowCount, chunks } = await session.complete(`SELECT ${selectList(columns)} FROM ${file.relation}`);
  return {
    rowCount,
    columns,
    async *chunks() {
      for await (const chunk of chunks) yield chunkOf(chunk);
    },
  };
}

/**
 * Opens a relation as a stream of columns. The relation is scanned once to count its rows and to find the texts of its
 * columns, and once more for each call of `chunks`. Codes of texts arrive as numbers, which is ten times as fast as
 * texts.
 */
export async function openColumnStream(
  session: DuckDbSession,
  file: Relation,
  names: readonly string[],
): Promise<ColumnStream> {
  const isNumber = names.map((name) => isNumeric(columnKind(file, name)));
  const texts = names.filter((_, index) => isNumber[index] !== true);
  const repeating = await repeatingTexts(session, file, texts);
  const found = new Map(repeating.map((name, index) => [name, index]));
  const lists = repeating.map((name) => `list(DISTINCT CAST(${quoteIdentifier(name)} AS VARCHAR))`);
  const [counted = []] = await session.rows(
    `SELECT ${['CAST(count(*) AS DOUBLE)', ...lists].join(', ')} FROM ${file.relation}`,
  );
  const rowCount = Number(counted[0]);
  const columns = names.map((name, index): StreamedColumn => {
    if (isNumber[index] === true) return { name, kind: 'numbers' };
    const at = found.get(name);
    const labels = at === undefined ? undefined : textsOf(counted[at + 1]);
    return labels !== undefined && isEnumerable(labels) ? { name, kind: 'labels', labels } : { name, kind: 'texts' };
  });
  return {
    rowCount,
    columns,
    async *chunks() {
      let read = 0;
      for await (const chunk of session.stream(`SELECT ${selectList(columns)} FROM ${file.relation}`)) {
        read += chunk.rowCount;
        yield chunkOf(chunk);
      }
      if (read !== rowCount) throw await incomplete(session, file, columns, [read, rowCount]);
    },
  };
}

/** Returns the columns whose texts repeat at the start of a relation. */
async function repeatingTexts(
  session: DuckDbSession,
  { relation }: Relation,
  names: readonly string[],
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const quoted = names.map(quoteIdentifier);
  const [counts = []] = await session.rows(
    `SELECT ${quoted.map((name) => `CAST(count(DISTINCT ${name}) AS DOUBLE)`).join(', ')} FROM (SELECT ${quoted.join(', ')} FROM ${relation} LIMIT ${String(SAMPLE_ROWS)})`,
  );
  return names.filter((_, index) => Number(counts[index]) <= MAX_SAMPLE_TEXTS);
}

function textsOf(list: unknown): string[] {
  // The driver returns a list as an object with its items; an empty relation has no list.
  const items = (list as { readonly items: readonly (string | null)[] } | null)?.items ?? [];
  return items.filter((text) => text !== null).sort();
}

/** Returns whether texts can be written as the values of an enumeration. */
function isEnumerable(labels: readonly string[]): boolean {
  return labels.length > 0 && labels.length <= MAX_LABELS && !labels.some((label) => label.includes('\0'));
}

function selectList(columns: readonly StreamedColumn[]): string {
  return columns.map((column) => `CAST(${readAs(column)} AS ${typeOf(column)})`).join(', ');
}

function readAs({ name, kind }: StreamedColumn): string {
  return kind === 'labels' ? `CAST(${quoteIdentifier(name)} AS VARCHAR)` : quoteIdentifier(name);
}

function typeOf(column: StreamedColumn): string {
  if (column.kind === 'labels') return `ENUM(${column.labels.map(quoteLiteral).join(', ')})`;
  return column.kind === 'numbers' ? 'DOUBLE' : 'VARCHAR';
}

function chunkOf(chunk: DuckDBDataChunk): ColumnChunk {
  const { rowCount } = chunk;
  return {
    rowCount,
    copyNumbers(column, target, start) {
      const { items, validity } = dataOf(chunk, column);
      target.set(items, start);
      eachMissing(validity, rowCount, (row) => {
        target[start + row] = NaN;
      });
    },
    copyCodes(column, target, start) {
      const { items, validity } = dataOf(chunk, column);
      target.set(items, start);
      eachMissing(validity, rowCount, (row) => {
        target[start + row] = -1;
      });
    },
    texts(column) {
      const vector = chunk.getColumnVector(column);
      return Array.from({ length: rowCount }, (_, row) => vector.getItem(row) as string | null);
    },
  };
}

/** The values of a column in a chunk, as the driver holds them. */
interface VectorData {
  readonly items: Float64Array | Uint8Array | Uint16Array | Uint32Array;
  /** One bit for each row: 1 if the row has a value. Null if all rows have values. */
  readonly validity: { readonly data: BigUint64Array | null };
}

function dataOf(chunk: DuckDBDataChunk, column: number): VectorData {
  // The driver declares these fields as private. Its public access to them is one call for each value.
  return chunk.getColumnVector(column) as unknown as VectorData;
}

function eachMissing({ data }: VectorData['validity'], rowCount: number, note: (row: number) => void): void {
  if (data === null) return;
  const bits = new Uint32Array(data.buffer, data.byteOffset, 2 * data.length);
  for (let row = 0; row < rowCount; row++) {
    const word = bits[row >>> 5] as number;
    if (word === 0xffffffff) row |= 31;
    else if (((word >>> (row & 31)) & 1) === 0) note(row);
  }
}

/** Returns the error for a stream that has ended early: that of the first invalid row, if there is one. */
async function incomplete(
  session: DuckDbSession,
  { title, relation }: Relation,
  columns: readonly StreamedColumn[],
  [read, counted]: readonly [number, number],
): Promise<unknown> {
  const checked = columns.map((column) => `count(CAST(${readAs(column)} AS ${typeOf(column)}))`);
  try {
    await session.rows(`SELECT ${checked.join(', ')} FROM ${relation}`);
  } catch (error) {
    return error;
  }
  return changedRows(title, counted, read);
}

/** Returns the error for rows that changed between two scans. */
export function changedRows(title: string, counted: number, read: number): DataValidationError {
  return new DataValidationError(
    `The rows of ${title} changed while they were read: ${formatCount(counted)} rows were counted, but ${formatCount(read)} were read.`,
    {
      code: 'invalid-data',
      context: { counted, read },
      suggestion: 'Try again when nothing writes to the data, or read a snapshot.',
    },
  );
}
