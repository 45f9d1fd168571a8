import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

import { FairnessToolkitError } from '../../../src/exceptions/index.ts';
import { cannotRead, type Column, unknownColumn } from '../../../src/table/index.ts';
import type { DataSource, DataStart, OnProgress, WantedColumn } from './data-source.ts';
import { type Cell, TypedColumn } from './typed-columns.ts';

/** The number of rows at the start of a file from which the roles of columns are guessed. */
const START_ROWS = 20_000;

const DAY_MILLIS = 86_400_000;

/** Opens a Parquet file. */
export async function openParquet(name: string, blob: Blob): Promise<DataSource> {
  const file: AsyncBuffer = {
    byteLength: blob.size,
    slice: (start, end) => blob.slice(start, end).arrayBuffer(),
  };
  try {
    return new ParquetSource(name, file, await parquetMetadataAsync(file));
  } catch (cause) {
    throw damaged(name, cause);
  }
}

function damaged(name: string, cause: unknown): unknown {
  if (FairnessToolkitError.isInstance(cause)) return cause;
  return cannotRead(name, 'it is not a complete Parquet file', 'Export it again.', cause);
}

class ParquetSource implements DataSource {
  readonly format = 'Parquet';
  readonly #name: string;
  readonly #file: AsyncBuffer;
  readonly #metadata: FileMetaData;
  readonly #names: readonly string[];

  constructor(name: string, file: AsyncBuffer, metadata: FileMetaData) {
    this.#name = name;
    this.#file = file;
    this.#metadata = metadata;
    // Columns with parts have no single value in a row.
    this.#names = parquetSchema(metadata)
      .children.filter(({ children }) => children.length === 0)
      .map(({ element }) => element.name);
  }

  async start(): Promise<DataStart> {
    const total = Number(this.#metadata.num_rows);
    if (total === 0) throw cannotRead(this.#name, 'it has no rows', 'Check the query that created the file.');
    const rowCount = Math.min(total, START_ROWS);
    const columns = await this.#columns(this.#names, rowCount);
    return {
      names: this.#names,
      columns: new Map([...columns].map(([name, column]) => [name, column.finish(false)])),
      rowCount: total,
      isComplete: rowCount === total,
    };
  }

  async read(wanted: readonly WantedColumn[], onProgress: OnProgress): Promise<ReadonlyMap<string, Column>> {
    const names = [...new Set(wanted.map(({ name }) => name))];
    const unknown = names.find((name) => !this.#names.includes(name));
    if (unknown !== undefined) throw unknownColumn(unknown, this.#names, `'${this.#name}'`);
    const columns = await this.#columns(names, Number(this.#metadata.num_rows), onProgress);
    return new Map(wanted.map(({ name, isLabel }) => [name, (columns.get(name) as TypedColumn).finish(isLabel)]));
  }

  async #columns(
    names: readonly string[],
    rowEnd: number,
    onProgress?: OnProgress,
  ): Promise<ReadonlyMap<string, TypedColumn>> {
    const columns = new Map(names.map((name) => [name, new TypedColumn()]));
    const readers = new Map(names.map((name) => [name, this.#readerOf(name)]));
    let done = 0;
    try {
      await parquetRead({
        file: this.#file,
        metadata: this.#metadata,
        columns: [...names],
        compressors,
        rowEnd,
        parsers: PARSERS,
        onChunk: ({ columnName, columnData, rowStart }) => {
          const column = columns.get(columnName);
          const read = readers.get(columnName);
          if (column === undefined || read === undefined) return;
          // Chunks of a column arrive in the order of its rows, and may overlap.
          for (let index = column.length - rowStart; index < columnData.length; index++) {
            if (column.length >= rowEnd) break;
            column.add(read(columnData[index] as unknown));
          }
          onProgress?.('Reading the file', (done += columnData.length), rowEnd * names.length);
        },
      });
    } catch (cause) {
      throw damaged(this.#name, cause);
    }
    return columns;
  }

  /** Returns the function that reads the values of a column, which have the texts that DuckDB gives them. */
  #readerOf(name: string): (value: unknown) => Cell {
    const element = this.#metadata.schema.find((one) => one.name === name);
    const isDate = element?.converted_type === 'DATE' || element?.logical_type?.type === 'DATE';
    return (value) => {
      if (value === null || value === undefined) return null;
      if (
        typeof value === 'string' ||
        typeof value === 'number' ||
        typeof value === 'bigint' ||
        typeof value === 'boolean'
      )
        return value;
      if (value instanceof Date) return isDate ? value.toISOString().slice(0, 10) : timestampText(value);
      return JSON.stringify(value);
    };
  }
}

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const PARSERS = {
  // A decoder that replaces bytes could make one label of two.
  stringFromBytes: (bytes: Uint8Array | undefined): string | undefined => bytes && DECODER.decode(bytes),
  dateFromDays: (days: number | undefined): Date | undefined =>
    days === undefined ? undefined : new Date(days * DAY_MILLIS),
};

function timestampText(date: Date): string {
  const text = date.toISOString().replace('T', ' ').replace('Z', '');
  return text.replace(/\.?0+$/, (end) => (end.startsWith('.') ? '' : end));
}
