import { DataValidationError } from '../exceptions/index.ts';
import { unmarkCell } from '../internal/spreadsheet-text.ts';
import { type CategoricalColumn, type Column, unknownColumn, withPoints } from '../table/index.ts';
import {
  changedRows,
  type ColumnChunk,
  type ColumnStream,
  openColumnStream,
  type StreamedColumn,
} from './column-stream.ts';
import { rowStatements } from './counting-sql.ts';
import { columnsOnEngine, titleOf } from './engines/count-on-engine.ts';
import { withLoadedLabels } from './exact-labels.ts';
import type { EngineValue } from './sql-engine.ts';
import { isOnEngine, type QuerySource, type SqlSource, withDuckDbRelation } from './sql-source.ts';

/** Rows that are read in chunks, and their name in messages. */
export interface RowStream extends ColumnStream {
  readonly title: string;
  /** Returns the label of a text as it is written in the source. */
  readonly labelOf: (text: string) => string;
  /**
   * Replaces decimal commas in the texts of a column, if the source has decimal commas. The column has one row for each
   * text.
   * @throws {DataValidationError} if a number contains a point
   */
  readonly pointed: (name: string, column: CategoricalColumn) => Column;
}

/** The columns to read. */
export interface RowStreamRequest {
  /**
   * The names of the columns.
   * @defaultValue all columns
   */
  readonly columns?: readonly string[] | undefined;
  /** Columns whose values are group names and must not be rounded. */
  readonly labels: readonly string[];
}

/**
 * Opens the rows of files, of a query in DuckDB, or of a table or a query in another database, as a stream. The memory
 * that it needs does not depend on the number of rows.
 * @param work reads the rows, and may be called twice
 * @throws {DataValidationError} if the source cannot be read or a column is unknown
 */
export async function withRowStream<T>(
  source: SqlSource,
  { columns, labels }: RowStreamRequest,
  work: (rows: RowStream) => Promise<T>,
): Promise<T> {
  if (isOnEngine(source)) return work(await openEngineRows(source, columns));
  return withDuckDbRelation(source, async (session, found) => {
    const relation = await withLoadedLabels(session, found, labels);
    const names = columns ?? [...relation.columns.keys()];
    const stream = await openColumnStream(session, relation, names);
    const { title, csv } = relation;
    return work({
      ...stream,
      title,
      labelOf: csv === undefined ? (text) => text : unmarkCell,
      pointed: (name, column) =>
        csv?.decimal === ',' && !labels.includes(name) ? withPoints(name, column, false) : column,
    });
  });
}

async function openEngineRows(source: QuerySource, names: readonly string[] | undefined): Promise<RowStream> {
  const { engine, signal } = source;
  const title = titleOf(source);
  if (engine.stream === undefined) throw cannotStream(engine.name);
  const statements = rowStatements(engine.dialect, source);
  const known = await columnsOnEngine(source);
  const columns = (names ?? known.map(({ name }) => name)).map((name) => {
    const column = known.find((one) => one.name === name);
    if (column !== undefined) return column;
    throw unknownColumn(
      name,
      known.map((one) => one.name),
      title,
    );
  });
  const rowCount = Number((await engine.query(statements.count, { signal })).rows[0]?.[0]);
  return {
    title,
    rowCount,
    columns: columns.map(({ name, isNumber }): StreamedColumn => ({ name, kind: isNumber ? 'numbers' : 'texts' })),
    labelOf: (text) => text,
    pointed: (_, column) => column,
    async *chunks() {
      let read = 0;
      for await (const rows of engine.stream?.(statements.rows(columns), { signal }) ?? []) {
        read += rows.length;
        yield chunkOf(rows);
      }
      // A connection that ends without an error must not look like the end of the rows.
      if (read !== rowCount) throw changedRows(title, rowCount, read);
    },
  };
}

function chunkOf(rows: readonly (readonly EngineValue[])[]): ColumnChunk {
  return {
    rowCount: rows.length,
    copyNumbers(column, target, start) {
      for (const [row, values] of rows.entries()) target[start + row] = numberOf(values[column]);
    },
    copyCodes() {
      throw new Error('The rows of an engine have no codes.');
    },
    texts: (column) => rows.map((values) => textOf(values[column])),
  };
}

/** Engines return NaN and infinite values as texts. */
function numberOf(value: EngineValue | undefined): number {
  if (typeof value === 'number') return value;
  if (value === null || value === undefined) return NaN;
  const text = String(value);
  return /^[-+]?inf(inity)?$/i.test(text) ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text);
}

function textOf(value: EngineValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

function cannotStream(engine: string): DataValidationError {
  return new DataValidationError(`${engine} cannot return rows in parts.`, {
    code: 'engine-failed',
    context: { engine, reason: 'statement' },
    suggestion: 'Write the rows to a Parquet file and train on it, or add a function `stream` to your engine.',
  });
}
