/** Plain loops in float64: what tensor ops are compared with. All matrices are row-major. */
export type Values = ArrayLike<number>;

const at = (values: Values, index: number): number => values[index] as number;

/** The product of [n, d] and [d, m], [n, m]. */
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

/** A matrix [rows, columns] as [columns, rows]. */
export function turned(values: Values, rows: number, columns: number): number[] {
  const result: number[] = [];
  for (let column = 0; column < columns; column++) {
    for (let row = 0; row < rows; row++) result.push(at(values, row * columns + column));
  }
  return result;
}

/** The part of one model among k. */
export function partOf(values: Values, model: number, k: number): number[] {
  const size = values.length / k;
  return Array.from({ length: size }, (_, index) => at(values, model * size + index));
}

/** Something of each of k models, side by side. */
export function ofModels(k: number, work: (model: number) => readonly number[]): number[] {
  return Array.from({ length: k }, (_, model) => work(model)).flat();
}

/** Sums over each row of [rows, columns]. */
export function rowSums(values: Values, rows: number, columns: number): number[] {
  return product(values, new Float64Array(columns).fill(1), rows, columns, 1);
}

/** Sums over each column of [rows, columns]. */
export function columnSums(values: Values, rows: number, columns: number): number[] {
  return product(new Float64Array(rows).fill(1), values, 1, rows, columns);
}

/** Sums of values, or numbers of rows, by code; codes of `cells` and above are left out. */
export function sumsByCode(codes: Values, cells: number, values?: Values): number[] {
  const sums = new Array<number>(cells).fill(0);
  for (let row = 0; row < codes.length; row++) {
    const code = at(codes, row);
    if (code < cells) sums[code] = (sums[code] as number) + (values === undefined ? 1 : at(values, row));
  }
  return sums;
}

/** A function of each value. */
export function each(values: Values, work: (value: number, index: number) => number): number[] {
  return Array.from(values, work);
}

/** 1 / (1 + exp(-x)). */
export function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** log(1 + exp(x)), without overflow. */
export function softplus(x: number): number {
  return Math.log1p(Math.exp(-Math.abs(x))) + Math.max(x, 0);
}
