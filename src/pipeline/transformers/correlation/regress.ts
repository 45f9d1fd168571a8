import { sumOf } from '../../../internal/values.ts';
import type { Design } from './sensitive-design.ts';

/**
 * Solves G b = r for a symmetric positive semi-definite G with a diagonal of ones (or zeros), by Cholesky
 * factorisation with pivoting. If columns are linearly dependent, only the columns that are pivoted first get a
 * coefficient, and the others get 0. Takes O(m^3) time and works on a copy of `gram`.
 * @param gram [m, m], row-major
 * @param right [m]
 */
function solveGram(gram: Float64Array, right: Float64Array): Float64Array {
  const size = right.length;
  const at = (row: number, column: number): number => row * size + column;
  const factor = Float64Array.from(gram);
  const order = Array.from({ length: size }, (_, index) => index);
  let rank = 0;
  for (; rank < size; rank++) {
    const pivot = largestDiagonal(factor, order, rank);
    if (!((factor[at(order[pivot] as number, order[pivot] as number)] as number) > DEPENDENT)) break;
    [order[rank], order[pivot]] = [order[pivot] as number, order[rank] as number];
    eliminate(factor, order, rank);
  }
  const solution = new Float64Array(size);
  const used = order.slice(0, rank);
  const middle = forward(factor, used, right);
  for (let index = rank - 1; index >= 0; index--) {
    const row = used[index] as number;
    let value = middle[index] as number;
    for (let later = index + 1; later < rank; later++) {
      const other = used[later] as number;
      value -= (factor[at(other, row)] as number) * (solution[other] as number);
    }
    solution[row] = value / (factor[at(row, row)] as number);
  }
  return solution;
}

function largestDiagonal(factor: Float64Array, order: readonly number[], from: number): number {
  const size = order.length;
  let best = from;
  for (let index = from + 1; index < size; index++) {
    const [own, most] = [order[index] as number, order[best] as number];
    if ((factor[own * size + own] as number) > (factor[most * size + most] as number)) best = index;
  }
  return best;
}

/** Performs one step of the factorisation: computes column `rank` of L and updates the remaining part. */
function eliminate(factor: Float64Array, order: readonly number[], rank: number): void {
  const size = order.length;
  const pivot = order[rank] as number;
  const root = Math.sqrt(factor[pivot * size + pivot] as number);
  factor[pivot * size + pivot] = root;
  for (let index = rank + 1; index < size; index++) {
    const row = order[index] as number;
    factor[row * size + pivot] = (factor[row * size + pivot] as number) / root;
  }
  for (let index = rank + 1; index < size; index++) {
    const row = order[index] as number;
    const own = factor[row * size + pivot] as number;
    for (let other = rank + 1; other < size; other++) {
      const column = order[other] as number;
      const by = own * (factor[column * size + pivot] as number);
      factor[row * size + column] = (factor[row * size + column] as number) - by;
    }
  }
}

function forward(factor: Float64Array, used: readonly number[], right: Float64Array): Float64Array {
  const size = right.length;
  const middle = new Float64Array(used.length);
  used.forEach((row, index) => {
    let value = right[row] as number;
    for (let before = 0; before < index; before++) {
      value -= (factor[row * size + (used[before] as number)] as number) * (middle[before] as number);
    }
    middle[index] = value / (factor[row * size + row] as number);
  });
  return middle;
}

/** The result of a regression of a feature on several columns and on indicators of strata. */
export interface Regression {
  /** One coefficient per column; 0 for linearly dependent columns. */
  readonly coefficients: Float64Array;
  /** The mean of each column. */
  readonly means: Float64Array;
  /** The effect of each stratum, with mean 0 over the rows; NaN for strata without rows. */
  readonly effects: Float64Array;
}

/**
 * If the spread of a column within the strata is below this share of its total spread, the column is treated as a
 * function of the strata.
 */
const DEPENDENT = 1e-10;

/**
 * Fits a least-squares regression of a feature on centred columns and indicators of strata. The means of the strata are
 * first subtracted from the feature and from the columns (Frisch, Waugh and Lovell). One equation per column then
 * remains. A second pass over the residuals corrects rounding errors. Takes O(rows columns^2) time.
 * @param feature [rows]
 * @param weights [rows], above 0; equal weights if omitted
 */
export function regress(feature: Float64Array, design: Design, weights: Float64Array | undefined): Regression {
  const target = inOwnUnit(feature);
  const columns = design.columns.map(({ values }) => inOwnUnit(values));
  const within = columns.map(({ values }) => inUnits(values, design, weights));
  const fitted = solveTwice(within, centre(target.values, design, weights).inside, weights);
  const rest = Float64Array.from(target.values);
  const means = columns.map(({ values }) => centre(values, design, weights).mean);
  columns.forEach(({ values }, index) => {
    const mean = means[index] as number;
    // The column is centred at its mean, because values far from 0 would reduce the precision of the feature.
    const about = values.map((value) => value - mean);
    subtract(rest, about, (fitted[index] as number) / (within[index] as Within).unit);
  });
  const { means: stratumMeans, mean } = centre(rest, design, weights);
  return {
    coefficients: fitted.map(
      (by, index) => by / (within[index] as Within).unit / ((columns[index] as InOwnUnit).unit / target.unit),
    ),
    means: Float64Array.from(means, (each, index) => each * (columns[index] as InOwnUnit).unit),
    effects: stratumMeans.map((each) => (each - mean) * target.unit),
  };
}

/**
 * Computes coefficients for columns that are divided by their spread, by least squares and a second pass over the
 * residuals.
 */
function solveTwice(within: readonly Within[], target: Float64Array, weights: Float64Array | undefined): Float64Array {
  const gram = gramOf(within, weights);
  const solution = new Float64Array(within.length);
  const residual = Float64Array.from(target);
  for (let pass = 0; pass < 2; pass++) {
    const right = Float64Array.from(within, ({ values }) => product(values, residual, weights));
    solveGram(gram, right).forEach((by, index) => {
      solution[index] = (solution[index] as number) + by;
      subtract(residual, (within[index] as Within).values, by);
    });
  }
  return solution;
}

interface InOwnUnit {
  readonly values: Float64Array;
  readonly unit: number;
}

/** Divides values by a power of two that is near the largest value. The division is exact, and squares stay finite. */
function inOwnUnit(values: Float64Array): InOwnUnit {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const unit = largest > 0 ? 2 ** Math.max(-1021, Math.min(1022, Math.floor(Math.log2(largest)))) : 1;
  return { values: values.map((value) => value / unit), unit };
}

interface Centred {
  readonly inside: Float64Array;
  /** The mean of each stratum; NaN for a stratum without rows. */
  readonly means: Float64Array;
  readonly mean: number;
}

/** Subtracts from each value the mean of its stratum. */
function centre(values: Float64Array, { strata, strataCount }: Design, weights: Float64Array | undefined): Centred {
  const sums = new Float64Array(strataCount);
  const masses = new Float64Array(strataCount);
  strata.forEach((stratum, row) => {
    const weight = weights?.[row] ?? 1;
    masses[stratum] = (masses[stratum] as number) + weight;
    sums[stratum] = (sums[stratum] as number) + weight * (values[row] as number);
  });
  const means = sums.map((sum, stratum) => sum / (masses[stratum] as number));
  const mean = sumOf(sums) / sumOf(masses);
  return { inside: values.map((value, row) => value - (means[strata[row] as number] as number)), means, mean };
}

interface Within {
  readonly values: Float64Array;
  readonly unit: number;
}

/**
 * Centres a column within the strata and divides it by its spread within the strata. Returns zeros if there is no
 * spread.
 */
function inUnits(values: Float64Array, design: Design, weights: Float64Array | undefined): Within {
  const { inside, mean } = centre(values, design, weights);
  const about = values.map((value) => value - mean);
  const spread = product(about, about, weights);
  const own = product(inside, inside, weights);
  if (!(own > DEPENDENT * spread)) return { values: inside.fill(0), unit: 1 };
  const unit = Math.sqrt(own);
  return { values: inside.map((value) => value / unit), unit };
}

function gramOf(within: readonly Within[], weights: Float64Array | undefined): Float64Array {
  const gram = new Float64Array(within.length ** 2);
  within.forEach(({ values: a }, row) => {
    within.forEach(({ values: b }, column) => {
      if (column <= row)
        gram[row * within.length + column] = gram[column * within.length + row] = product(a, b, weights);
    });
  });
  return gram;
}

function product(a: Float64Array, b: Float64Array, weights: Float64Array | undefined): number {
  let sum = 0;
  for (let row = 0; row < a.length; row++) sum += (weights?.[row] ?? 1) * (a[row] as number) * (b[row] as number);
  return sum;
}

function subtract(from: Float64Array, values: Float64Array, times: number): void {
  if (times === 0) return;
  for (let row = 0; row < from.length; row++) from[row] = (from[row] as number) - times * (values[row] as number);
}
