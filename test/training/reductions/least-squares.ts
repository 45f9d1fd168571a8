import assert from 'node:assert/strict';

import { type ColumnSource, toColumn } from '../../../src/table/index.ts';
import { type Matrix, type MatrixSource, readMatrix } from '../../../src/training/data/read-matrix.ts';
import type { Estimator, EstimatorJson, FitOptions } from '../../../src/training/estimators/estimator.ts';

/**
 * The learner of the reference vectors: weighted least squares of least norm, without an intercept. As a classifier
 * it decides 1 above 0.5.
 */
export class LeastSquares implements Estimator {
  coefficients: Float64Array = new Float64Array(0);
  readonly isClassifier: boolean;
  /** Counts the fits of this learner and its clones. */
  readonly counter: { fits: number };

  constructor({ isClassifier = true, counter = { fits: 0 } } = {}) {
    this.isClassifier = isClassifier;
    this.counter = counter;
  }

  async fit(x: MatrixSource, y: ColumnSource, { sampleWeight }: FitOptions = {}): Promise<this> {
    const matrix = await readMatrix(x);
    const weights = sampleWeight === undefined ? new Float64Array(matrix.rows).fill(1) : numbers(sampleWeight);
    this.coefficients = solveLeastSquares(matrix, numbers(y), weights);
    this.counter.fits++;
    return this;
  }

  async predictProba(x: MatrixSource): Promise<Float64Array> {
    return (await this.values(x)).map((value) => Math.min(1, Math.max(0, value)));
  }

  async predict(x: MatrixSource): Promise<Uint8Array | Float64Array> {
    const values = await this.values(x);
    return this.isClassifier ? Uint8Array.from(values, (value) => Number(value > 0.5)) : values;
  }

  clone(): LeastSquares {
    return new LeastSquares(this);
  }

  toJSON(): EstimatorJson {
    return { kind: 'least_squares', params: {}, state: null };
  }

  private async values(x: MatrixSource): Promise<Float64Array> {
    const { rows, columns, values } = await readMatrix(x);
    return Float64Array.from({ length: rows }, (_, row) =>
      this.coefficients.reduce((sum, b, column) => sum + b * (values[row * columns + column] as number), 0),
    );
  }
}

function numbers(source: ColumnSource): Float64Array {
  const column = toColumn(source, 'numbers');
  if (column.kind !== 'numeric') throw new TypeError('numbers only');
  return column.values;
}

/**
 * Computes the pseudo-inverse by one-sided Jacobi rotations: it makes the columns of sqrt(w) X orthogonal, one pair
 * at a time.
 */
function solveLeastSquares({ rows, columns, values }: Matrix, y: Float64Array, weights: Float64Array): Float64Array {
  const roots = weights.map(Math.sqrt);
  const left = Array.from({ length: columns }, (_, column) =>
    roots.map((root, row) => root * (values[row * columns + column] as number)),
  );
  const right = left.map((_, column) => Float64Array.from(left, (__, row) => Number(row === column)));
  for (let sweep = 0; sweep < 60; sweep++) {
    const cosines = left.flatMap((_, p) => left.slice(p + 1).map((__, step) => rotate(left, right, p, p + 1 + step)));
    if (Math.max(0, ...cosines) < 1e-16) break;
  }
  const norms = left.map((column) => Math.sqrt(dot(column, column)));
  const smallest = Number.EPSILON * Math.max(...norms);
  const target = y.map((value, row) => (roots[row] as number) * value);
  const solution = new Float64Array(columns);
  assert.equal(roots.length, rows);
  for (const [index, norm] of norms.entries()) {
    if (norm <= smallest) continue;
    const share = dot(left[index] as Float64Array, target) / norm ** 2;
    (right[index] as Float64Array).forEach((value, column) => ((solution[column] as number) += share * value));
  }
  return solution;
}

/** Makes columns p and q orthogonal; returns the cosine that they had. */
function rotate(left: Float64Array[], right: Float64Array[], p: number, q: number): number {
  const [first, second] = [left[p] as Float64Array, left[q] as Float64Array];
  const [a, b, c] = [dot(first, first), dot(second, second), dot(first, second)];
  if (c === 0 || a === 0 || b === 0) return 0;
  const zeta = (b - a) / (2 * c);
  const tangent = (zeta >= 0 ? 1 : -1) / (Math.abs(zeta) + Math.sqrt(1 + zeta * zeta));
  const cosine = 1 / Math.sqrt(1 + tangent * tangent);
  for (const vectors of [left, right]) {
    const [one, other] = [vectors[p] as Float64Array, vectors[q] as Float64Array];
    vectors[p] = one.map((value, index) => cosine * (value - tangent * (other[index] as number)));
    vectors[q] = one.map((value, index) => cosine * (tangent * value + (other[index] as number)));
  }
  return Math.abs(c) / Math.sqrt(a * b);
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] as number), 0);
}
