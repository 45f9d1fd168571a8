/**
 * The operands of plain loops in float64. The results of tensor ops are compared with the results of these loops. All
 * matrices are row-major.
 */
export type Values = ArrayLike<number>;

const at = (values: Values, index: number): number => values[index] as number;

/** Computes the product [n, m] of matrices [n, d] and [d, m]. */
export function product(a: Values, b: Values, n: number, d: number, m: number): number[] {
  const result: number[] = [];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      let sum = 0;
      for (let k = 0; k < d; k++) sum += at(a, i * d + k) * at(b, k * m + j);
      result.push(sum);
    }
  }
  return result;
}

/** Transposes a matrix [rows, columns] to [columns, rows]. */
export function turned(values: Values, rows: number, columns: number): number[] {
  const result: number[] = [];
  for (let column = 0; column < columns; column++) {
    for (let row = 0; row < rows; row++) result.push(at(values, row * columns + column));
  }
  return result;
}

/**
 * Returns the part of a list that belongs to one model. The list contains the values of k models, one model after
 * another.
 */
export function partOf(values: Values, model: number, k: number): number[] {
  const size = values.length / k;
  return Array.from({ length: size }, (_, index) => at(values, model * size + index));
}

/** Computes a list for each of k models, and concatenates the lists. */
export function ofModels(k: number, work: (model: number) => readonly number[]): number[] {
  return Array.from({ length: k }, (_, model) => work(model)).flat();
}

/** Computes the sum of each row of [rows, columns]. */
export function rowSums(values: Values, rows: number, columns: number): number[] {
  return product(values, new Float64Array(columns).fill(1), rows, columns, 1);
}

/** Computes the sum of each column of [rows, columns]. */
export function columnSums(values: Values, rows: number, columns: number): number[] {
  return product(new Float64Array(rows).fill(1), values, 1, rows, columns);
}

/**
 * Returns the sum of the values for each code or, if no values are given, the number of rows with each code. Codes of
 * at least `cells` are excluded.
 */
export function sumsByCode(codes: Values, cells: number, values?: Values): number[] {
  const sums = new Array<number>(cells).fill(0);
  for (let row = 0; row < codes.length; row++) {
    const code = at(codes, row);
    if (code < cells) sums[code] = (sums[code] as number) + (values === undefined ? 1 : at(values, row));
  }
  return sums;
}

/** Applies a function to each value. */
export function each(values: Values, work: (value: number, index: number) => number): number[] {
  return Array.from(values, work);
}

/** Computes 1 / (1 + exp(-x)). */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** Computes log(1 + exp(x)), without overflow. */
export function softplus(x: number): number {
  return Math.log1p(Math.exp(-Math.abs(x))) + Math.max(x, 0);
}
