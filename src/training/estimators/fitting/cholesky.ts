/** A symmetric positive definite matrix M as L L', with a diagonal scaling: S M S + jitter I = L L'. */
export interface CholeskyFactor {
  readonly size: number;
  /** L, [size, size], row-major. */
  readonly lower: Float64Array;
  /** The diagonal of S. */
  readonly scale: Float64Array;
  /** What had to be added to the scaled diagonal of ones; 0 where the matrix has full rank. */
  readonly jitter: number;
}

/** From where a pivot counts as 0, and what is then added to the diagonal. The diagonal itself is scaled to ones. */
export interface PivotRule {
  readonly leastPivot: number;
  readonly jitter: number;
}

/**
 * Factorises a symmetric matrix, O(size^3 / 6).
 *
 * Where it has no full rank (columns that repeat each other), a small ridge
 * stands in: the solution is then close to the one of least norm.
 * @param matrix [size, size], row-major, of which the lower triangle is read; a column of zeros is taken for one that decides nothing
 */
export function factorise(matrix: Float64Array, size: number, rule: PivotRule): CholeskyFactor {
  const scale = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const diagonal = matrix[i * size + i] as number;
    scale[i] = diagonal > 0 ? 1 / Math.sqrt(diagonal) : 0;
  }
  let jitter = 0;
  for (;;) {
    const lower = lowerFactor(matrix, size, scale, jitter, rule.leastPivot);
    if (lower !== undefined) return { size, lower, scale, jitter };
    jitter = jitter === 0 ? rule.jitter : 10 * jitter;
  }
}

/** L, or nothing where a pivot is too small. */
function lowerFactor(
  matrix: Float64Array,
  size: number,
  scale: Float64Array,
  jitter: number,
  leastPivot: number,
): Float64Array | undefined {
  const lower = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const isDiagonal = i === j;
      let sum = isDiagonal
        ? 1 + jitter
        : (matrix[i * size + j] as number) * (scale[i] as number) * (scale[j] as number);
      for (let k = 0; k < j; k++) sum -= (lower[i * size + k] as number) * (lower[j * size + k] as number);
      // Written so that NaN stops nothing: it comes out of the solution, where it is looked for.
      if (isDiagonal && sum <= leastPivot) return undefined;
      lower[i * size + j] = isDiagonal ? Math.sqrt(sum) : sum / (lower[j * size + j] as number);
    }
  }
  return lower;
}

/** Solves M x = b; x is 0 where M has a column of zeros. */
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
