import { DataValidationError } from '../../exceptions/index.ts';
import { createRandom, shuffle } from '../../internal/random.ts';

/**
 * Splits rows into parts, dividing every stratum in the given proportions.
 *
 * Each stratum is shuffled and cut at the cumulative shares. Fractions of rows that remain after a cut are carried over
 * to the next stratum. The total sizes of the parts are therefore correct even if strata are small.
 * @param strata the stratum of each row, 0 or more
 * @param shares the shares of the parts; they sum to 1
 * @returns the rows of each part, ascending
 */
export function stratifiedSplit(strata: ArrayLike<number>, shares: readonly number[], seed: number): Int32Array[] {
  const random = createRandom(seed);
  const parts: number[][] = shares.map(() => []);
  const carried = shares.map(() => 0);
  for (const rows of rowsOfStrata(strata)) {
    shuffle(rows, random);
    let start = 0;
    shares.forEach((share, part) => {
      const isLast = part === shares.length - 1;
      const wanted = share * rows.length + (carried[part] as number);
      const take = isLast ? rows.length - start : Math.max(0, Math.min(rows.length - start, Math.round(wanted)));
      carried[part] = wanted - take;
      for (const row of rows.subarray(start, start + take)) (parts[part] as number[]).push(row);
      start += take;
    });
  }
  return parts.map((part) => Int32Array.from(part).sort());
}

function rowsOfStrata(strata: ArrayLike<number>): Int32Array[] {
  const rows = new Map<number, number[]>();
  for (let row = 0; row < strata.length; row++) {
    const stratum = strata[row] as number;
    const known = rows.get(stratum);
    if (known === undefined) rows.set(stratum, [row]);
    else known.push(row);
  }
  return [...rows].sort(([a], [b]) => a - b).map(([, members]) => Int32Array.from(members));
}

/** The share of the training rows that is used for early stopping. */
const VALIDATION_SHARE = 0.1;

/**
 * Holds out a tenth of the rows of each stratum for early stopping.
 * @param strata the stratum of each row
 * @throws {DataValidationError} if no row is left in one of the parts
 */
export function holdOut(strata: ArrayLike<number>, seed: number): [fitting: Int32Array, validation: Int32Array] {
  const [fitting, validation] = stratifiedSplit(strata, [1 - VALIDATION_SHARE, VALIDATION_SHARE], seed) as [
    Int32Array,
    Int32Array,
  ];
  if (fitting.length > 0 && validation.length > 0) return [fitting, validation];
  throw new DataValidationError(`There are too few rows to train on: ${String(strata.length)}.`, {
    code: 'too-few-rows',
    context: { rows: strata.length },
    suggestion: 'Training, early stopping and testing each need rows; provide at least a few dozen.',
  });
}
