/** Rows taken at once: each sum is then read and written once for four rows. */
const ROWS_AT_ONCE = 4;

/**
 * A'WA in float64, its lower triangle, rows k^2 / 2 multiplications.
 * @param a [rows, columns], row-major
 * @param weights [rows]
 * @returns [columns, columns], row-major, 0 above the diagonal
 */
export function weightedGram(a: Float64Array, columns: number, weights: Float64Array): Float64Array {
  const gram = new Float64Array(columns * columns);
  const rows = weights.length;
  for (let row = 0; row < rows; row += ROWS_AT_ONCE) {
    // Past the end the first row stands in, with weight 0.
    const [second, third, fourth] = [row + 1, row + 2, row + 3];
    const [w0, w1, w2, w3] = [weights[row] as number, weights[second] ?? 0, weights[third] ?? 0, weights[fourth] ?? 0];
    const a0 = row * columns;
    const a1 = (second < rows ? second : row) * columns;
    const a2 = (third < rows ? third : row) * columns;
    const a3 = (fourth < rows ? fourth : row) * columns;
    for (let k = 0; k < columns; k++) {
      const v0 = w0 * (a[a0 + k] as number);
      const v1 = w1 * (a[a1 + k] as number);
      const v2 = w2 * (a[a2 + k] as number);
      const v3 = w3 * (a[a3 + k] as number);
      for (let l = 0, into = k * columns; l <= k; l++, into++) {
        gram[into] =
          (gram[into] as number) +
          v0 * (a[a0 + l] as number) +
          v1 * (a[a1 + l] as number) +
          v2 * (a[a2 + l] as number) +
          v3 * (a[a3 + l] as number);
      }
    }
  }
  return gram;
}
