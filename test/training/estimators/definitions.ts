/** Rows as plain arrays. */
export interface PlainRows {
  readonly x: readonly (readonly number[])[];
  readonly y: readonly number[];
  readonly weights?: readonly number[];
}

/** A linear score. */
export interface Linear {
  readonly coefficients: ArrayLike<number>;
  readonly intercept: number;
}

function scoreOf(row: readonly number[], { coefficients, intercept }: Linear): number {
  return row.reduce((sum, value, column) => sum + value * (coefficients[column] ?? NaN), intercept);
}

/** Computes the objective of logistic regression, term by term. */
export function objectiveOf({ x, y, weights }: PlainRows, model: Linear, l2: number): number {
  const losses = x.map((row, index) => {
    const score = scoreOf(row, model);
    const margin = y[index] === 1 ? score : -score;
    return (weights?.[index] ?? 1) * (Math.log1p(Math.exp(-Math.abs(margin))) + Math.max(0, -margin));
  });
  const squares = Array.from(model.coefficients).reduce((sum, value) => sum + value * value, 0);
  return losses.reduce((sum, loss) => sum + loss, (l2 / 2) * squares);
}

/** Computes the absolute derivative of the objective by each coefficient and the intercept, per unit of weight. */
export function slopesOf(rows: PlainRows, model: Linear, l2: number): number[] {
  const rests = rows.x.map((row, index) => (rows.y[index] ?? NaN) - 1 / (1 + Math.exp(-scoreOf(row, model))));
  const means = weightedMeans(rows, (row, value) => (rests[row] ?? NaN) * value);
  const total = weightsOf(rows).reduce((sum, weight) => sum + weight, 0);
  return means.map((mean, column) => Math.abs(mean - (l2 * (model.coefficients[column] ?? 0)) / total));
}

/** Computes {@link slopesOf}, each in units of its feature's root mean square. */
export function scaledSlopesOf(rows: PlainRows, model: Linear, l2: number): number[] {
  const squares = weightedMeans(rows, (_, value) => value * value);
  return slopesOf(rows, model, l2).map((slope, column) => slope / Math.sqrt(squares[column] ?? NaN));
}

function weightsOf({ x, weights }: PlainRows): readonly number[] {
  return weights ?? x.map(() => 1);
}

/** Computes, for each feature and for the intercept's 1, the weighted mean of a function of row and value. */
function weightedMeans(rows: PlainRows, of: (row: number, value: number) => number): number[] {
  const weights = weightsOf(rows);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const sums = Array<number>((rows.x[0]?.length ?? 0) + 1).fill(0);
  rows.x.forEach((values, row) => {
    [...values, 1].forEach((value, column) => {
      sums[column] = (sums[column] ?? NaN) + (weights[row] ?? NaN) * of(row, value);
    });
  });
  return sums.map((sum) => sum / total);
}

/** Returns the largest distance between values at the same index. */
export function largestDistance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return NaN;
  return Array.from(a).reduce((most, value, index) => Math.max(most, Math.abs(value - (b[index] ?? NaN))), 0);
}
