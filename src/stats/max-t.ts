import type { BulkRandom, Random } from '../internal/random.ts';
import { type BinomialTable, searchTable } from './binomial-sampler.ts';
import { type GapFamily, type GroupTable, normalOfT, tOfNormal, welchDegrees } from './gap-family.ts';

/**
 * Draws the maximum of |t*| for each replicate, over all pairs of groups of all families. |t*| is |d*_ij - d_ij| /
 * se*_ij with newly drawn centres and variances. Takes O(samples x pairs) time.
 * @param random the generator of the families
 */
export function drawMaxT(families: readonly GapFamily[], samples: number, random: Random): Float64Array {
  const tables = families.map((family) => family.tables?.());
  if (tables.every((own) => own !== undefined)) return drawTabled(families, tables, samples, random);
  const drawn = families.map((family) => ({
    family,
    centres: new Float64Array(family.centres.length),
    variances: new Float64Array(family.centres.length),
  }));
  const maxima = new Float64Array(samples);
  for (let sample = 0; sample < samples; sample++) {
    let largest = 0;
    for (const { family, centres, variances } of drawn) {
      family.draw(centres, variances);
      for (let group = 0; group < centres.length; group++) {
        centres[group] = (centres[group] as number) - (family.centres[group] as number);
      }
      largest = Math.max(largest, largestSquare(centres, variances));
    }
    maxima[sample] = Math.sqrt(largest);
  }
  return maxima;
}

/**
 * Draws from tables, with the same results as {@link drawMaxT} for the same random numbers. The random numbers are drawn
 * first, and each family is processed separately, so that the inner loop only reads arrays.
 */
function drawTabled(
  families: readonly GapFamily[],
  tables: readonly (readonly GroupTable[])[],
  samples: number,
  random: Random,
): Float64Array {
  const perSample = tables.reduce((sum, own) => sum + own.length, 0);
  const shares = takeNumbers(random, samples * perSample);
  const squares = new Float64Array(samples);
  let first = 0;
  for (const [index, own] of tables.entries()) {
    // The differences from the estimated centres are computed once per count instead of once per draw.
    const groups = own.map(({ counts, centres, variances }, group): ShiftedTable => {
      const centre = (families[index] as GapFamily).centres[group] as number;
      const shifts = new Float64Array(centres.length);
      for (let count = 0; count < shifts.length; count++) shifts[count] = (centres[count] as number) - centre;
      return { counts, shifts, variances };
    });
    const [a, b] = groups;
    if (groups.length === 2 && a !== undefined && b !== undefined) {
      raiseByPair(a, b, squares, shares, first, perSample);
    } else raiseByGroups(groups, squares, shares, first, perSample);
    first += own.length;
  }
  for (let sample = 0; sample < samples; sample++) squares[sample] = Math.sqrt(squares[sample] as number);
  return squares;
}

function takeNumbers(random: Random | BulkRandom, count: number): Float64Array {
  if ('take' in random) return random.take(count);
  const numbers = new Float64Array(count);
  for (let index = 0; index < count; index++) numbers[index] = random.next();
  return numbers;
}

/** A {@link GroupTable} with the differences of the centres from the estimated centre. */
interface ShiftedTable {
  readonly counts: BinomialTable;
  readonly shifts: Float64Array;
  readonly variances: Float64Array;
}

/** Replaces each square by the square of |t*| of two groups, if that is larger. */
function raiseByPair(
  a: ShiftedTable,
  b: ShiftedTable,
  squares: Float64Array,
  shares: Float64Array,
  first: number,
  step: number,
): void {
  const [cumulatedA, guideA] = [a.counts.cumulated, a.counts.guide];
  const [cumulatedB, guideB] = [b.counts.cumulated, b.counts.guide];
  for (let sample = 0, at = first; sample < squares.length; sample++, at += step) {
    const i = searchTable(cumulatedA, guideA, shares[at] as number);
    const j = searchTable(cumulatedB, guideB, shares[at + 1] as number);
    const difference = (b.shifts[j] as number) - (a.shifts[i] as number);
    if (difference === 0) continue;
    const square = (difference * difference) / ((b.variances[j] as number) + (a.variances[i] as number));
    if (square > (squares[sample] as number)) squares[sample] = square;
  }
}

/** Replaces each square by the largest square of |t*| of all pairs of groups, if that is larger. */
function raiseByGroups(
  groups: readonly ShiftedTable[],
  squares: Float64Array,
  shares: Float64Array,
  first: number,
  step: number,
): void {
  const shifts = new Float64Array(groups.length);
  const variances = new Float64Array(groups.length);
  for (let sample = 0, at = first; sample < squares.length; sample++, at += step) {
    for (let group = 0; group < groups.length; group++) {
      const own = groups[group] as ShiftedTable;
      const index = searchTable(own.counts.cumulated, own.counts.guide, shares[at + group] as number);
      shifts[group] = own.shifts[index] as number;
      variances[group] = own.variances[index] as number;
    }
    squares[sample] = Math.max(squares[sample] as number, largestSquare(shifts, variances));
  }
}

/**
 * Returns max |t| over all pairs, where |t| = |c_i - c_j| / sqrt(v_i + v_j). The result is 0 for equal centres, even if
 * the variances are 0.
 */
export function largestT(centres: Float64Array, variances: Float64Array): number {
  return Math.sqrt(largestSquare(centres, variances));
}

/** Returns the square of {@link largestT}, which needs one square root in total instead of one per pair. */
function largestSquare(centres: Float64Array, variances: Float64Array): number {
  let largest = 0;
  for (let i = 1; i < centres.length; i++) {
    const centre = centres[i] as number;
    const variance = variances[i] as number;
    for (let j = 0; j < i; j++) {
      const difference = centre - (centres[j] as number);
      if (difference === 0) continue;
      const square = (difference * difference) / (variance + (variances[j] as number));
      if (square > largest) largest = square;
    }
  }
  return largest;
}

/**
 * Returns max |t| over all pairs on the scale of the normal distribution. The function uses Welch's t if the family has
 * degrees of freedom.
 */
export function largestNormal({ centres, variances, degrees }: GapFamily): number {
  if (degrees === undefined) return largestT(centres, variances);
  // A pair has at most as many degrees of freedom as its two groups together. With more degrees of freedom, the same t
  // has a smaller tail probability.
  const maxDegrees = 2 * degrees.reduce((most, df) => Math.max(most, df), 0);
  let largest = 0;
  let minToWin = 0;
  for (let i = 1; i < centres.length; i++) {
    for (let j = 0; j < i; j++) {
      const vi = variances[i] as number;
      const vj = variances[j] as number;
      const difference = Math.abs((centres[i] as number) - (centres[j] as number));
      if (difference === 0) continue;
      if (vi + vj === 0) return Infinity;
      const t = difference / Math.sqrt(vi + vj);
      if (t <= minToWin) continue;
      const z = normalOfT(t, welchDegrees(vi, degrees[i] as number, vj, degrees[j] as number));
      if (z <= largest) continue;
      largest = z;
      minToWin = tOfNormal(z, maxDegrees);
    }
  }
  return largest;
}
