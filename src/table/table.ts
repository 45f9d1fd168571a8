import { DataValidationError } from '../exceptions/index.ts';
import { suggestNames } from '../internal/arguments.ts';
import { type ColumnSource, onHost, toColumn } from './column-source.ts';
import {
  type CategoricalColumn,
  type Column,
  columnLength,
  columnToArray,
  isNumber,
  numbersOf,
  type NumericColumn,
  takeRows,
} from './column.ts';
import { type DanfoDataFrame, isDanfoFrame, readDanfoFrame, toDanfoFrame } from './danfo.ts';
import { decimalHint } from './decimal-commas.ts';

/** A source of a table: a table, an object of columns, records or a danfojs DataFrame. */
export type TableSource =
  Table | DanfoDataFrame | Readonly<Record<string, ColumnSource>> | readonly Readonly<Record<string, unknown>>[];

/**
 * An immutable table of named columns of equal length.
 * @example
 * ```ts
 * import { Table } from 'evenhand';
 *
 * const table = Table.from({ wage: [7.5, null, 12], sex: ['female', 'male', 'female'] });
 * console.log(table.rowCount, table.columnNames, table.categorical('sex').labels);
 * // 3 [ 'wage', 'sex' ] [ 'female', 'male' ]
 * ```
 */
export class Table {
  readonly rowCount: number;
  readonly columnNames: readonly string[];
  readonly #columns: ReadonlyMap<string, Column>;

  private constructor(columns: ReadonlyMap<string, Column>) {
    const lengths = [...columns].map(([name, column]) => [name, columnLength(column)] as const);
    const [first] = lengths;
    const odd = lengths.find(([, length]) => length !== first?.[1]);
    if (first !== undefined && odd !== undefined) {
      throw new DataValidationError(
        `The columns differ in length: '${first[0]}' has ${String(first[1])} rows and '${odd[0]}' has ${String(odd[1])}.`,
        {
          code: 'length-mismatch',
          context: { columns: Object.fromEntries(lengths) },
          suggestion: 'Give every column one value per row.',
        },
      );
    }
    this.#columns = columns;
    this.rowCount = first?.[1] ?? 0;
    this.columnNames = Object.freeze([...columns.keys()]);
  }

  /**
   * Reads a table from columns, records or a danfojs DataFrame.
   * @throws {DataValidationError} if columns differ in length or contain objects
   */
  static from(source: TableSource): Table {
    if (source instanceof Table) return source;
    return new Table(new Map(columnsOf(source).map(([name, values]) => [name, toColumn(values, name)])));
  }

  /**
   * Creates a table from columns, in the given order.
   * @throws {DataValidationError} if columns differ in length
   */
  static ofColumns(columns: Iterable<readonly [name: string, column: Column]>): Table {
    return new Table(new Map(columns));
  }

  /** Returns whether the table has a column of this name. */
  has(name: string): boolean {
    return this.#columns.has(name);
  }

  /**
   * Returns a column by name.
   * @throws {DataValidationError} if there is no such column; the error suggests similar names
   */
  column(name: string): Column {
    const column = this.#columns.get(name);
    if (column === undefined) throw unknownColumn(name, this.columnNames, 'The table');
    return column;
  }

  /**
   * Returns a column as numbers.
   * @throws {DataValidationError} if the column contains text; the error names the first text and its row
   */
  numeric(name: string): NumericColumn {
    const column = this.column(name);
    if (column.kind === 'numeric') return column;
    const row = column.codes.findIndex((code) => code >= 0 && !isNumber(column.labels[code] ?? ''));
    if (row < 0) return numbersOf(column);
    const text = column.labels[column.codes[row] as number] ?? '';
    throw new DataValidationError(`Column '${name}' should hold numbers, but row ${String(row + 1)} holds '${text}'.`, {
      code: 'invalid-value',
      context: { column: name, row, value: text },
      suggestion: `${decimalHint(text)}Correct the value or leave it empty, or use another column.`,
    });
  }

  /** Returns a column as categories. Numbers are converted to their shortest decimal text. */
  categorical(name: string): CategoricalColumn {
    const column = this.column(name);
    if (column.kind === 'categorical') return column;
    const text = toColumn(
      Array.from(column.values, (value) => (Number.isNaN(value) ? null : String(value))),
      name,
    );
    return text.kind === 'categorical'
      ? text
      : { kind: 'categorical', codes: new Int32Array(this.rowCount).fill(-1), labels: [] };
  }

  /** Returns a table with the same rows and only the given columns. */
  select(names: readonly string[]): Table {
    return new Table(new Map(names.map((name) => [name, this.column(name)])));
  }

  /** Returns a table with the rows at the given indexes, in the order of the indexes. */
  take(rows: ArrayLike<number>): Table {
    return new Table(new Map([...this.#columns].map(([name, column]) => [name, takeRows(column, rows)])));
  }

  /** Returns the columns as plain arrays, with null for missing values. */
  toColumns(): Record<string, (number | string | null)[]> {
    return Object.fromEntries([...this.#columns].map(([name, column]) => [name, columnToArray(column)]));
  }

  /** Returns one object per row. This method is intended for small tables and for display. */
  toRecords(): Record<string, number | string | null>[] {
    const columns = Object.entries(this.toColumns());
    return Array.from({ length: this.rowCount }, (_, row) =>
      Object.fromEntries(columns.map(([name, values]) => [name, values[row] ?? null])),
    );
  }

  /**
   * Converts the table to a danfojs DataFrame.
   * @throws {DependencyError} if danfojs-node is not installed
   */
  async toDanfo(): Promise<DanfoDataFrame> {
    return toDanfoFrame(this.toColumns());
  }
}

/**
 * Reads a table like {@link Table.from}, and waits for columns that are tensors on a device.
 * @throws {DataValidationError} as `Table.from`
 */
export async function readTable(source: TableSource): Promise<Table> {
  return Table.from((await onHost({ source })).source);
}

/** Returns the error for an unknown column name. */
export function unknownColumn(name: string, known: readonly string[], who: string): DataValidationError {
  return new DataValidationError(`${who} has no column '${name}'.`, {
    code: 'unknown-column',
    context: { column: name, columns: known },
    suggestion: `${suggestNames(name, known, 'columns')}${headerHint(known)}`.trimStart(),
  });
}

/** Suggests a cause if many columns have no name: the first line is a title, and the header follows later. */
function headerHint(names: readonly string[]): string {
  const unnamed = names.filter((name) => /^column\d+$/.test(name)).length;
  if (unnamed === 0 || unnamed < names.length / 2) return '';
  return ' Many columns have no name in the first line. If it is a title and the header is in a later line, remove the lines above the header.';
}

/** Returns the columns of a table source, in the order of the source. If a record lacks a key, the value is missing. */
export function columnsOf(source: TableSource): (readonly [name: string, values: ColumnSource])[] {
  if (source instanceof Table) return source.columnNames.map((name) => [name, source.column(name)]);
  if (isDanfoFrame(source)) return readDanfoFrame(source);
  if (!isListOfRecords(source)) return Object.entries(source);
  const names = new Set<string>();
  for (const record of source) for (const name of Object.keys(record)) names.add(name);
  return Array.from(names, (name) => [name, source.map((record) => record[name])]);
}

function isListOfRecords(source: TableSource): source is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(source);
}
