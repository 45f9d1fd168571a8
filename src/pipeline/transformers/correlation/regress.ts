import type { Design } from './sensitive-design.ts';
import { solveGram } from './solve-gram.ts';

/** What a feature owes to the columns of a design. */
export interface Regression {
  /** One per column; 0 for columns without a spread of their own. */
  readonly coefficients: Float64Array;
  /** The mean of each column. */
  readonly means: Float64Array;
  /** What each stratum adds, of mean 0 over the rows; NaN for strata without rows. */
  readonly effects: Float64Array;
}

/** A column with a smaller share of its spread inside the strata is made up by them, but for rounding. */
const DEPENDENT = 1e-10;

/**
 * Least squares of a feature on centred columns and indicators of strata. Means
 * of strata are taken out of both sides first (Frisch, Waugh and Lovell), which
 * leaves one equation per column; a second pass over the residuals takes back
 * what rounding cost. O(rows columns^2).
 * @param feature [rows]
 * @param weights [rows], above 0; the same for all where left out
 */
export function regress(feature: Float64Array, design: Design, weights: Float64Array | undefined): Regression {
  const target = inOwnUnit(feature);
  const columns = design.columns.map(({ values }) => inOwnUnit(values));
  const within = columns.map(({ values }) => inUnits(values, design, weights));
  const fitted = solveTwice(within, centre(target.values, design, weights).inside, weights);
  const rest = Float64Array.from(target.values);
  const means = columns.map(({ values }) => centre(values, design, weights).mean);
  columns.forEach(({ values }, place) => {
    const mean = means[place] as number;
    // About its mean, so that a column far from 0 takes no digits of the feature.
    const about = values.map((value) => value - mean);
    subtract(rest, about, (fitted[place] as number) / (within[place] as Within).unit);
  });
  const { means: stratumMeans, mean } = centre(rest, design, weights);
  return {
    coefficients: fitted.map(
      (by, place) => by / (within[place] as Within).unit / ((columns[place] as InOwnUnit).unit / target.unit),
    ),
    means: Float64Array.from(means, (each, place) => each * (columns[place] as InOwnUnit).unit),
    effects: stratumMeans.map((each) => (each - mean) * target.unit),
  };
}

/** Coefficients of columns in units of their spread: least squares, then once more of what it left. */
function solveTwice(within: readonly Within[], target: Float64Array, weights: Float64Array | undefined): Float64Array {
  const gram = gramOf(within, weights);
  const solution = new Float64Array(within.length);
  const residual = Float64Array.from(target);
  for (let pass = 0; pass < 2; pass++) {
    const right = Float64Array.from(within, ({ values }) => product(values, residual, weights));
    solveGram(gram, right).forEach((by, place) => {
      solution[place] = (solution[place] as number) + by;
      subtract(residual, (within[place] as Within).values, by);
    });
  }
  return solution;
}

interface InOwnUnit {
  readonly values: Float64Array;
  readonly unit: number;
}

/** Values over a power of two near the largest, which rounds nothing and keeps squares finite. */
function inOwnUnit(values: Float64Array): InOwnUnit {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const unit = largest > 0 ? 2 ** Math.max(-1021, Math.min(1022, Math.floor(Math.log2(largest)))) : 1;
  return { values: values.map((value) => value / unit), unit };
}

interface Centred {
  readonly inside: Float64Array;
  /** One per stratum; NaN without rows. */
  readonly means: Float64Array;
  readonly mean: number;
}

/** Values less the means of their strata. */
function centre(values: Float64Array, { strata, strataCount }: Design, weights: Float64Array | undefined): Centred {
  const sums = new Float64Array(strataCount);
  const masses = new Float64Array(strataCount);
  strata.forEach((stratum, row) => {
    const weight = weights?.[row] ?? 1;
    masses[stratum] = (masses[stratum] as number) + weight;
    sums[stratum] = (sums[stratum] as number) + weight * (values[row] as number);
  });
  const means = sums.map((sum, stratum) => sum / (masses[stratum] as number));
  const mean = total(sums) / total(masses);
  return { inside: values.map((value, row) => value - (means[strata[row] as number] as number)), means, mean };
}

interface Within {
  readonly values: Float64Array;
  readonly unit: number;
}

/** A column inside the strata in units of its own spread; all 0 where it has none there. */
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

function total(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}
