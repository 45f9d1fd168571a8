import { z } from 'zod';

import { CHANGE_DIRECTIONS, type ChangeDirection, count } from './detector-state.ts';
import { type DetectorKernel, KernelDetector } from './kernel-detector.ts';
import { atLeastZero, choice, type Given, positive, weight, whole } from './parameter-table.ts';

/** The parameters of {@link PageHinkleyDetector}. */
export interface PageHinkleyParameters {
  /**
   * The minimum number of values before a change can be detected.
   * @defaultValue 30
   */
  readonly minInstances: number;
  /**
   * The deviation that is tolerated at each value, in the unit of the values.
   * @defaultValue 0.005
   */
  readonly delta: number;
  /**
   * The sum of deviations above which a change is detected, in the unit of the values.
   * @defaultValue 50
   */
  readonly threshold: number;
  /**
   * The factor by which the sum is reduced at each value, above 0 and at most 1.
   * @defaultValue 0.9999
   */
  readonly alpha: number;
  /** @defaultValue 'both' */
  readonly mode: ChangeDirection;
}

/** Options of {@link PageHinkleyDetector}: its parameters, all with defaults. */
export type PageHinkleyOptions = Given<PageHinkleyParameters>;

const SCHEMA = z.strictObject({
  n: count,
  mean: z.number(),
  rise: z.number(),
  fall: z.number(),
  lowestRise: z.number(),
  highestFall: z.number(),
  /**
   * The number of values up to the minimum of the rise; `highestAt` is the number of values up to the maximum of the
   * fall.
   */
  lowestAt: count,
  highestAt: count,
});

type PageHinkleyMemory = z.output<typeof SCHEMA>;

const KERNEL: DetectorKernel<PageHinkleyParameters, PageHinkleyMemory> = {
  name: 'page_hinkley',
  domain: 'number',
  parameters: {
    minInstances: whole(30, 1),
    delta: atLeastZero(0.005),
    threshold: positive(50),
    alpha: weight(0.9999),
    mode: choice('both', CHANGE_DIRECTIONS),
  },
  // The first deviation is 0, so the initial extremes of 0 are replaced at the first value.
  start: () => ({ n: 0, mean: 0, rise: 0, fall: 0, lowestRise: 0, highestFall: 0, lowestAt: 0, highestAt: 0 }),
  step,
  schema: () => SCHEMA,
  changeAge: (at, parameters) => at.n - 1 - (hasRisen(at, parameters) ? at.lowestAt : at.highestAt),
};

function step(at: PageHinkleyMemory, value: number, parameters: PageHinkleyParameters): boolean {
  const { alpha, delta, minInstances } = parameters;
  at.n++;
  at.mean += (value - at.mean) / at.n;
  const deviation = value - at.mean;
  at.rise = alpha * at.rise + deviation - delta;
  at.fall = alpha * at.fall + deviation + delta;
  if (at.rise < at.lowestRise) {
    at.lowestRise = at.rise;
    at.lowestAt = at.n;
  }
  if (at.fall > at.highestFall) {
    at.highestFall = at.fall;
    at.highestAt = at.n;
  }
  return at.n >= minInstances && (hasRisen(at, parameters) || hasFallen(at, parameters));
}

function hasRisen({ rise, lowestRise }: PageHinkleyMemory, { mode, threshold }: PageHinkleyParameters): boolean {
  return mode !== 'down' && rise - lowestRise > threshold;
}

function hasFallen({ fall, highestFall }: PageHinkleyMemory, { mode, threshold }: PageHinkleyParameters): boolean {
  return mode !== 'up' && highestFall - fall > threshold;
}

/**
 * Detects changes with the test of Page and Hinkley: it sums the deviations of values from the mean so far. There is a
 * change if a sum is far from its earlier minimum or maximum.
 *
 * Let d_i = x_i - mean_i be the deviation of value x_i from the mean so far. The two sums are rise = alpha rise + d_i -
 * delta and fall = alpha fall + d_i + delta. There is a change if `rise` is more than `threshold` above its minimum, or
 * `fall` is more than `threshold` below its maximum. The change is suspected to begin right after that minimum or
 * maximum.
 *
 * The threshold is in the unit of the values. A threshold of 50 is suitable for decisions (0 and 1) in long streams,
 * but detects changes in small groups slowly. A mean over all past values moves after a change, so a change whose
 * deviations sum to less than `threshold` is never found.
 * @see E. S. Page, Continuous inspection schemes, Biometrika 41 (1954)
 * @example
 * ```ts
 * import { PageHinkleyDetector } from 'evenhand/monitoring';
 *
 * const detector = new PageHinkleyDetector({ threshold: 10 });
 * const selected = Array.from({ length: 2000 }, (_, index) => (index < 1000 ? index % 4 === 0 : index % 4 !== 0));
 * const foundAt = selected.findIndex((isSelected) => detector.update(Number(isSelected)));
 * console.log(foundAt, foundAt - (detector.changeAge ?? 0));
 * // 1019 1001
 * ```
 */
export class PageHinkleyDetector extends KernelDetector<PageHinkleyParameters, PageHinkleyMemory> {
  /** @throws {ValueError} if a parameter is unknown or out of range */
  constructor(options: PageHinkleyOptions = {}) {
    super(KERNEL, options);
  }
}
