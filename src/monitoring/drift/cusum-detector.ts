import { z } from 'zod';

import { CHANGE_DIRECTIONS, type ChangeDirection, count } from './detector-state.ts';
import { type DetectorKernel, KernelDetector } from './kernel-detector.ts';
import { atLeastZero, choice, type Given, positive, whole } from './parameter-table.ts';

/** The parameters of {@link CusumDetector}. */
export interface CusumParameters {
  /**
   * The number of values used to estimate the reference mean and standard deviation; at least 2.
   * @defaultValue 30
   */
  readonly minInstances: number;
  /**
   * The deviation that is tolerated at each value, in reference standard deviations.
   * @defaultValue 0.5
   */
  readonly slack: number;
  /**
   * The sum of deviations above which a change is detected, in reference standard deviations.
   * @defaultValue 5
   */
  readonly threshold: number;
  /** @defaultValue 'both' */
  readonly mode: ChangeDirection;
}

/** Options of {@link CusumDetector}: its parameters, all with defaults. */
export type CusumOptions = Given<CusumParameters>;

const SCHEMA = z.strictObject({
  n: count,
  /** The mean of the first `minInstances` values, which does not change afterwards. */
  mean: z.number(),
  squares: z.number().min(0),
  up: z.number().min(0),
  down: z.number().min(0),
  /** For each sum, the number of values up to the point at which the sum was last 0. */
  upSince: count,
  downSince: count,
});

type CusumMemory = z.output<typeof SCHEMA>;

const KERNEL: DetectorKernel<CusumParameters, CusumMemory> = {
  name: 'cusum',
  domain: 'number',
  parameters: {
    minInstances: whole(30, 2),
    slack: atLeastZero(0.5),
    threshold: positive(5),
    mode: choice('both', CHANGE_DIRECTIONS),
  },
  start: () => ({ n: 0, mean: 0, squares: 0, up: 0, down: 0, upSince: 0, downSince: 0 }),
  step,
  schema: () => SCHEMA,
  changeAge: (at, parameters) =>
    at.n - 1 - (hasRisen(at, deviationOf(at, parameters), parameters) ? at.upSince : at.downSince),
};

function step(at: CusumMemory, value: number, parameters: CusumParameters): boolean {
  const { minInstances, slack, mode, threshold } = parameters;
  at.n++;
  // If the reference continued to learn, it would adapt to the change that the detector should find.
  if (at.n <= minInstances) learn(at, value);
  if (at.n < minInstances) return false;
  const sigma = deviationOf(at, parameters);
  const deviation = value - at.mean;
  at.up = Math.max(0, at.up + deviation - slack * sigma);
  at.down = Math.max(0, at.down - deviation - slack * sigma);
  if (at.up === 0) at.upSince = at.n;
  if (at.down === 0) at.downSince = at.n;
  return hasRisen(at, sigma, parameters) || (mode !== 'up' && at.down > threshold * sigma);
}

/** Updates the mean and the sum of squared deviations (Welford). */
function learn(at: CusumMemory, value: number): void {
  const before = value - at.mean;
  at.mean += before / at.n;
  at.squares += before * (value - at.mean);
}

/** Returns the sample standard deviation of the reference values. */
function deviationOf({ squares }: CusumMemory, { minInstances }: CusumParameters): number {
  return Math.sqrt(squares / (minInstances - 1));
}

function hasRisen({ up }: CusumMemory, sigma: number, { mode, threshold }: CusumParameters): boolean {
  return mode !== 'down' && up > threshold * sigma;
}

/**
 * Detects changes with a tabular CUSUM: two sums of deviations from a reference mean. A sum restarts from 0 if it would
 * become negative.
 *
 * Let m be the mean and s the sample standard deviation of the first `minInstances` values. For each value x, up =
 * max(0, up + (x - m) - slack s) and down = max(0, down - (x - m) - slack s). A sum above `threshold` times s indicates
 * a change. The change is suspected to begin right after that sum was last 0.
 *
 * With slack 0.5 and threshold 5, a stable stream of normally distributed values has a false alarm every few hundred
 * values. A stream of rare decisions has false alarms more often. Increase the threshold for long streams. If all
 * reference values are equal, the first different value is a change.
 * @see E. S. Page, Continuous inspection schemes, Biometrika 41 (1954)
 * @example
 * ```ts
 * import { CusumDetector } from 'evenhand/monitoring';
 *
 * const detector = new CusumDetector();
 * const selected = Array.from({ length: 2000 }, (_, index) => (index < 1000 ? index % 4 === 0 : index % 4 !== 0));
 * const foundAt = selected.findIndex((isSelected) => detector.update(Number(isSelected)));
 * console.log(foundAt, foundAt - (detector.changeAge ?? 0));
 * // 1007 1001
 * ```
 */
export class CusumDetector extends KernelDetector<CusumParameters, CusumMemory> {
  /** @throws {ValueError} if a parameter is unknown or out of range */
  constructor(options: CusumOptions = {}) {
    super(KERNEL, options);
  }
}
