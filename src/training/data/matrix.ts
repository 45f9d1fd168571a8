/** A dense matrix of numbers, row-major. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  /** [rows columns]; the value of row r and column c at r columns + c. */
  readonly values: Float64Array | Float32Array;
}

/**
 * A matrix whose values are promised not to change. Estimators keep with it what
 * they derive from it, so that many fits on the same features look at them once.
 * What is kept is freed with the matrix.
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

  /** What was derived under a name, computed at the first call. */
  derive<Derived>(name: string, compute: () => Derived): Derived {
    if (!this.#derived.has(name)) this.#derived.set(name, compute());
    return this.#derived.get(name) as Derived;
  }
}

/** Derives something from a matrix, and keeps it where the matrix is fixed. */
export function deriveFrom<Derived>(matrix: Matrix, name: string, compute: () => Derived): Derived {
  return matrix instanceof FixedMatrix ? matrix.derive(name, compute) : compute();
}
