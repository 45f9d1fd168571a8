import type { Column, Table as TableType } from '../../src/table/index.ts';
import { Table } from '../../src/table/index.ts';

/** A column in the file. All numbers are little-endian. */
interface StoredColumn {
  readonly name: string;
  /** Categories are codes, -1 for missing values; numbers are doubles, NaN for missing values. */
  readonly kind: 'categorical' | 'numeric';
  readonly labels?: readonly string[];
}

/** The header of the file, as JSON. */
interface StoredHeader {
  readonly tables: readonly {
    readonly name: string;
    readonly rows: number;
    readonly columns: readonly StoredColumn[];
  }[];
}

/** The number of bytes of the header's length, which precedes the header. */
const LENGTH_BYTES = 4;

/**
 * Packs tables into one block of bytes that can be read without a library: the length of the header, the header as
 * JSON, and the columns one after another.
 */
export function packTables(tables: Readonly<Record<string, TableType>>): Buffer {
  const header: StoredHeader = {
    tables: Object.entries(tables).map(([name, table]) => ({
      name,
      rows: table.rowCount,
      columns: table.columnNames.map((column) => describe(column, table.column(column))),
    })),
  };
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(json.length);
  const bodies = Object.values(tables).flatMap((table) =>
    table.columnNames.map((name) => packColumn(table.column(name))),
  );
  return Buffer.concat([length, json, ...bodies]);
}

/**
 * Reads the output of {@link packTables}.
 * @throws {Error} if the block does not have the length that its header specifies
 */
export function unpackTables(bytes: Buffer): Record<string, TableType> {
  const start = LENGTH_BYTES + bytes.readUInt32LE(0);
  const header = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, start)) as StoredHeader;
  let offset = start;
  const take = (size: number): DataView => {
    if (offset + size > bytes.length) throw new Error('the file of tables is truncated');
    const view = new DataView(bytes.buffer, bytes.byteOffset + offset, size);
    offset += size;
    return view;
  };
  const tables = header.tables.map(({ name, rows, columns }) => {
    const read = columns.map((column) => [column.name, unpackColumn(column, rows, take)] as const);
    return [name, Table.ofColumns(read)] as const;
  });
  if (offset !== bytes.length) throw new Error('the file of tables is longer than its header specifies');
  return Object.fromEntries(tables);
}

function describe(name: string, column: Column): StoredColumn {
  return column.kind === 'numeric' ? { name, kind: 'numeric' } : { name, kind: 'categorical', labels: column.labels };
}

function packColumn(column: Column): Buffer {
  if (column.kind === 'numeric') {
    const bytes = Buffer.alloc(column.values.length * 8);
    column.values.forEach((value, row) => bytes.writeDoubleLE(value, row * 8));
    return bytes;
  }
  const bytes = Buffer.alloc(column.codes.length * 4);
  column.codes.forEach((code, row) => bytes.writeInt32LE(code, row * 4));
  return bytes;
}

function unpackColumn({ kind, labels }: StoredColumn, rows: number, take: (size: number) => DataView): Column {
  if (kind === 'numeric') {
    const view = take(rows * 8);
    return { kind, values: Float64Array.from({ length: rows }, (_, row) => view.getFloat64(row * 8, true)) };
  }
  const view = take(rows * 4);
  const codes = Int32Array.from({ length: rows }, (_, row) => view.getInt32(row * 4, true));
  return { kind, codes, labels: labels ?? [] };
}
