/** The Cholesky factor L of a symmetric positive definite matrix M with a diagonal scaling: S M S + jitter I = L L'. */
export interface CholeskyFactor {
  readonly size: number;
  /** L, [size, size], row-major. */
  readonly lower: Float64Array;
  /** The diagonal of S. */
  readonly scale: Float64Array;
  /** The amount that was added to the diagonal after scaling it to ones; 0 if the matrix has full rank. */
  readonly jitter: number;
}

/**
 * The largest pivot that is treated as 0, and the amount that is then added to the diagonal. Both are relative to a
 * diagonal of ones.
 */
export interface PivotRule {
  readonly minPivot: number;
  readonly jitter: number;
}

/**
 * Factorises a symmetric matrix in O(size^3 / 6) time.
 *
 * If the matrix does not have full rank (collinear columns), a small ridge is added. The solution is then close to the
 * solution with the least norm.
 * @param matrix [size, size], row-major; only the lower triangle is read. A column of zeros is treated as a column
 * without effect.
 */
export function factorise(matrix: Float64Array, size: number, rule: PivotRule): CholeskyFactor {
  const scale = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const diagonal = matrix[i * size + i] as number;
    scale[i] = diagonal > 0 ? 1 / Math.sqrt(diagonal) : 0;
  }
  let jitter = 0;
  for (;;) {
    const lower = lowerFactor(matrix, size, scale, jitter, rule.minPivot);
    if (lower !== undefined) return { size, lower, scale, jitter };
    jitter = jitter === 0 ? rule.jitter : 10 * jitter;
  }
}

/** Returns L, or undefined if a pivot is too small. */
function lowerFactor(
  matrix: Float64Array,
  size: number,
  scale: Float64Array,
  jitter: number,
  minPivot: number,
): Float64Array | undefined {
  const lower = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const isDiagonal = i === j;
      let sum = isDiagonal
        ? 1 + jitter
        : (matrix[i * size + j] as number) * (scale[i] as number) * (scale[j] as number);
      for (let k = 0; k < j; k++) sum -= (lower[i * size + k] as number) * (lower[j * size + k] as number);
      // The comparison is false for NaN, so the factorisation continues. NaN then propagates to the solution, and the
      // caller checks the solution.
      if (isDiagonal && sum <= minPivot) return undefined;
      lower[i * size + j] = isDiagonal ? Math.sqrt(sum) : sum / (lower[j * size + j] as number);
    }
  }
  return lower;
}

/** Solves M x = b. If all entries of a column of M are 0, the corresponding entry of x is 0. */
export function solve({ size, lower, scale }: CholeskyFactor, b: Float64Array): Float64Array {
  const x = b.map((value, i) => value * (scale[i] as number));
  for (let i = 0; i < size; i++) {
    let sum = x[i] as number;
    for (let k = 0; k < i; k++) sum -= (lower[i * size + k] as number) * (x[k] as number);
    x[i] = sum / (lower[i * size + i] as number);
  }
  for (let i = size - 1; i >= 0; i--) {
    let sum = x[i] as number;
    for (let k = i + 1; k < size; k++) sum -= (lower[k * size + i] as number) * (x[k] as number);
    x[i] = sum / (lower[i * size + i] as number);
  }
  return x.map((value, i) => value * (scale[i] as number));
}
