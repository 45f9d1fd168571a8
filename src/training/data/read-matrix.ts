import { DataValidationError } from '../../exceptions/index.ts';
import { isTensorLike, onHost, Table, type TableSource, type TensorLike } from '../../table/index.ts';

/** A dense matrix of numbers, row-major. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  /** The values of all rows, one row after another. The value of row r and column c is at index r columns + c. */
  readonly values: Float64Array | Float32Array;
}

/**
 * A matrix whose values must not change. Estimators store intermediate results in the matrix, so that many fits on the
 * same features compute them only once. The results are freed with the matrix.
 */
export class FixedMatrix implements Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float64Array | Float32Array;
  readonly #derived = new Map<string, unknown>();

  constructor({ rows, columns, values }: Matrix) {
    this.rows = rows;
    this.columns = columns;
    this.values = values;
    Object.freeze(this);
  }

  /** Returns the cached result with the given name. The result is computed on the first call. */
  derive<Derived>(name: string, compute: () => Derived): Derived {
    if (!this.#derived.has(name)) this.#derived.set(name, compute());
    return this.#derived.get(name) as Derived;
  }
}

/** Derives a result from a matrix, and caches it if the matrix is fixed. */
export function deriveFrom<Derived>(matrix: Matrix, name: string, compute: () => Derived): Derived {
  return matrix instanceof FixedMatrix ? matrix.derive(name, compute) : compute();
}

/** A source of features: rows of numbers, a matrix, a 2-D tensor, or a table of numbers. */
export type MatrixSource = Matrix | TensorLike | readonly ArrayLike<number>[] | TableSource;

/**
 * Reads a matrix of features.
 *
 * Rows of numbers and tables are copied. A matrix is used without a copy. Text columns and missing or infinite values
 * are errors. Encode or replace these values first.
 * @param source the matrix
 * @param name the name of the matrix in errors
 * @throws {DataValidationError} if a value is text, missing or infinite, if rows differ in length, or if a tensor is
 *   not 2-D
 */
export async function readMatrix(source: MatrixSource, name = 'X'): Promise<Matrix> {
  const { x } = await onHost({ x: source });
  const matrix = matrixOf(x, name);
  deriveFrom(matrix, 'finite', () => {
    assertFinite(matrix, name);
  });
  return matrix;
}

/** Returns the rows of a matrix at the given indices, in the given order. */
export function takeMatrixRows({ columns, values }: Matrix, rows: ArrayLike<number>): Matrix {
  const size = rows.length * columns;
  const picked = values instanceof Float32Array ? new Float32Array(size) : new Float64Array(size);
  for (let i = 0; i < rows.length; i++) {
    const start = (rows[i] as number) * columns;
    picked.set(values.subarray(start, start + columns), i * columns);
  }
  return { rows: rows.length, columns, values: picked };
}

function matrixOf(source: MatrixSource, name: string): Matrix {
  if (isTensorLike(source)) return matrixOfTensor(source, name);
  if (isMatrix(source)) return checkedMatrix(source, name);
  if (isRows(source)) return matrixOfRows(source, name);
  return matrixOfTable(Table.from(source));
}

/** Returns whether features were given as named columns. */
export function isTableSource(source: MatrixSource): source is TableSource {
  return !isTensorLike(source) && !isMatrix(source) && !isRows(source);
}

function isMatrix(source: unknown): source is Matrix {
  return (
    typeof source === 'object' &&
    source !== null &&
    'rows' in source &&
    'columns' in source &&
    'values' in source &&
    typeof source.rows === 'number' &&
    ArrayBuffer.isView(source.values)
  );
}

function isRows(source: unknown): source is readonly ArrayLike<number>[] {
  if (!Array.isArray(source)) return false;
  const first: unknown = source[0];
  return source.length === 0 || Array.isArray(first) || ArrayBuffer.isView(first);
}

function matrixOfRows(source: readonly ArrayLike<number>[], name: string): Matrix {
  const columns = source[0]?.length ?? 0;
  const values = new Float64Array(source.length * columns);
  for (const [row, cells] of source.entries()) {
    // JavaScript callers may pass a row that is null or undefined.
    if ((cells as ArrayLike<number> | null | undefined)?.length !== columns) {
      throw new DataValidationError(
        `The rows of ${name} differ in length: row 1 has ${String(columns)} values and row ${String(row + 1)} ${describeRow(cells)}.`,
        {
          code: 'length-mismatch',
          context: { argument: name, row },
          suggestion: 'Provide one value per feature in every row.',
        },
      );
    }
    for (let column = 0; column < columns; column++) {
      const cell: unknown = cells[column];
      if (typeof cell !== 'number') throw notNumber(name, row, column, cell);
      values[row * columns + column] = cell;
    }
  }
  return { rows: source.length, columns, values };
}

/** Describes an invalid row for an error. */
function describeRow(cells: unknown): string {
  if (Array.isArray(cells) || ArrayBuffer.isView(cells)) return String((cells as { length?: number }).length);
  return `is ${String(cells)}`;
}

function checkedMatrix(matrix: Matrix, name: string): Matrix {
  const { rows, columns, values } = matrix;
  const isSized = [rows, columns].every((size) => Number.isInteger(size) && size >= 0);
  const areNumbers = values instanceof Float32Array || values instanceof Float64Array;
  if (isSized && areNumbers && values.length === rows * columns) return matrix;
  throw new DataValidationError(
    `${name} must hold rows x columns values in a Float32Array or Float64Array; got ${String(rows)} rows, ` +
      `${String(columns)} columns and ${String((values as ArrayLike<number>).length)} values.`,
    {
      code: 'invalid-value',
      context: { argument: name, rows, columns },
      suggestion: 'Pass values of length rows x columns.',
    },
  );
}

function notNumber(
  name: string,
  row: number,
  column: number,
  value: unknown,
  suggestion = 'Fill in or drop missing values, and encode texts first.',
): DataValidationError {
  const shown = typeof value === 'string' ? `'${value}'` : String(value);
  return new DataValidationError(
    `${name} must hold finite numbers, but row ${String(row + 1)}, column ${String(column + 1)} holds ${shown}.`,
    { code: 'invalid-value', context: { argument: name, row, column, value }, suggestion },
  );
}

function matrixOfTable(table: Table): Matrix {
  const columns = table.columnNames.map((name) => table.numeric(name).values);
  const values = new Float64Array(table.rowCount * columns.length);
  for (const [index, column] of columns.entries()) {
    for (let row = 0; row < column.length; row++) values[row * columns.length + index] = column[row] as number;
  }
  return { rows: table.rowCount, columns: columns.length, values };
}

function matrixOfTensor(tensor: TensorLike, name: string): Matrix {
  const [rows, columns] = tensor.shape;
  if (tensor.shape.length !== 2 || rows === undefined || columns === undefined) {
    throw new DataValidationError(
      `${name} must be a 2-D tensor, [rows, features]; got one of shape [${tensor.shape.join(', ')}].`,
      {
        code: 'invalid-value',
        context: { argument: name, shape: tensor.shape },
        suggestion: 'Reshape it with tensor.reshape([rows, features]).',
      },
    );
  }
  return { rows, columns, values: Float32Array.from(tensor.dataSync() as ArrayLike<number>) };
}

function assertFinite({ values, columns }: Matrix, name: string): void {
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number;
    if (Number.isFinite(value)) continue;
    const suggestion = 'Fill in or drop missing and infinite values first.';
    throw notNumber(name, Math.floor(index / columns), index % columns, value, suggestion);
  }
}
