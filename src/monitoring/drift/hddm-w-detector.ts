import { z } from 'zod';

import { count, noteWarning, share, WARNING_FIELDS, warningAge } from './detector-state.ts';
import { HDDM_PARAMETERS, type HddmParameters, requireWarningFirst } from './hddm-a-detector.ts';
import { type DetectorKernel, WarningDetector } from './kernel-detector.ts';
import { type Given, weight } from './parameter-table.ts';

/** The parameters of {@link HddmWDetector}. */
export interface HddmWParameters extends HddmParameters {
  /**
   * The weight of the newest value, above 0 and at most 1.
   * @defaultValue 0.05
   */
  readonly lambda: number;
}

/** Options of {@link HddmWDetector}: its parameters, all with defaults. */
export type HddmWOptions = Given<HddmWParameters>;

/** An exponentially weighted mean of n values, and the sum of its squared weights. */
const weightedMean = z.strictObject({ n: count, mean: share, squaredWeights: share });

const SCHEMA = z.strictObject({
  all: weightedMean,
  /** The mean at the time when its upper bound was lowest. `sinceLowest` is the mean of the values after that time. */
  lowest: weightedMean,
  sinceLowest: weightedMean,
  /**
   * The mean at the time when its lower bound was highest. `sinceHighest` is the mean of the values after that time.
   */
  highest: weightedMean,
  sinceHighest: weightedMean,
  ...WARNING_FIELDS,
});

type WeightedMean = z.output<typeof weightedMean>;
type HddmWMemory = z.output<typeof SCHEMA>;

const KERNEL: DetectorKernel<HddmWParameters, HddmWMemory> = {
  name: 'hddm_w',
  domain: 'share',
  parameters: { ...HDDM_PARAMETERS, lambda: weight(0.05) },
  check: requireWarningFirst,
  start: () => ({
    all: none(),
    lowest: none(),
    sinceLowest: none(),
    highest: none(),
    sinceHighest: none(),
    isWarning: false,
    warnedAt: null,
  }),
  step,
  schema: () => SCHEMA,
  changeAge: (at) => warningAge(at, at.all.n),
};

function none(): WeightedMean {
  return { n: 0, mean: 0, squaredWeights: 1 };
}

function step(at: HddmWMemory, value: number, parameters: HddmWParameters): boolean {
  const { all, lowest, sinceLowest, highest, sinceHighest } = at;
  const { driftConfidence, warningConfidence, lambda } = parameters;
  add(all, value, lambda);
  const bound = mcDiarmidBound(all.squaredWeights, driftConfidence);
  const lowestBound = lowest.mean + mcDiarmidBound(lowest.squaredWeights, driftConfidence);
  if (lowest.n === 0 || all.mean + bound < lowestBound) startFrom(all, lowest, sinceLowest);
  else add(sinceLowest, value, lambda);
  const highestBound = highest.mean - mcDiarmidBound(highest.squaredWeights, driftConfidence);
  if (highest.n === 0 || all.mean - bound > highestBound) startFrom(all, highest, sinceHighest);
  else add(sinceHighest, value, lambda);
  const isChange = hasChanged(at, driftConfidence, parameters);
  const isWarning = isChange || hasChanged(at, warningConfidence, parameters);
  return noteWarning(at, all.n, isWarning, isChange);
}

function add(to: WeightedMean, value: number, lambda: number): void {
  to.mean = to.n === 0 ? value : lambda * value + (1 - lambda) * to.mean;
  to.squaredWeights = lambda * lambda + (1 - lambda) * (1 - lambda) * to.squaredWeights;
  to.n++;
}

/** Stores the current mean of all values as the new extreme, and resets the mean of the values after it. */
function startFrom(all: WeightedMean, extreme: WeightedMean, since: WeightedMean): void {
  Object.assign(extreme, all);
  Object.assign(since, none());
}

/**
 * Returns McDiarmid's bound b: a weighted mean of values in [0, 1] exceeds its expectation by more than b with
 * probability at most `confidence`.
 */
function mcDiarmidBound(squaredWeights: number, confidence: number): number {
  return Math.sqrt((squaredWeights * Math.log(1 / confidence)) / 2);
}

function hasChanged(at: HddmWMemory, confidence: number, { twoSidedTest }: HddmWParameters): boolean {
  return (
    isAbove(at.sinceLowest, at.lowest, confidence) || (twoSidedTest && isAbove(at.highest, at.sinceHighest, confidence))
  );
}

/** Returns whether the first mean is significantly above the second; false if one of the means has no values. */
function isAbove(upper: WeightedMean, lower: WeightedMean, confidence: number): boolean {
  if (upper.n === 0 || lower.n === 0) return false;
  return upper.mean - lower.mean > mcDiarmidBound(upper.squaredWeights + lower.squaredWeights, confidence);
}

/**
 * Detects changes with HDDM for weighted averages: it compares an exponentially weighted mean of the values since the
 * lowest point with the mean at that point.
 *
 * Each mean is lambda x + (1 - lambda) mean, with the sum of squared weights w = lambda^2 + (1 - lambda)^2 w. There is
 * a change if the difference is above sqrt((w1 + w2) ln(1 / driftConfidence) / 2) (McDiarmid's bound). The limit for a
 * warning has `warningConfidence` instead. The change is suspected to begin at the first of the consecutive warnings
 * before it. With `twoSidedTest`, decreases are detected in the same way.
 *
 * Values are in [0, 1]: errors, decisions or shares. The detector finds gradual and late changes faster than HDDM for
 * averages, because old values lose weight. The confidence holds for a single value, not for the complete stream.
 * @see I. Frías-Blanco et al., Online and non-parametric drift detection methods based on Hoeffding's bounds, IEEE TKDE
 *   27 (2015)
 * @example
 * ```ts
 * import { HddmWDetector } from 'evenhand/monitoring';
 *
 * const detector = new HddmWDetector();
 * const errors = Array.from({ length: 2000 }, (_, index) => (index < 1000 ? index % 4 === 0 : index % 4 !== 0));
 * const foundAt = errors.findIndex((isError) => detector.update(Number(isError)));
 * console.log(foundAt, foundAt - (detector.changeAge ?? 0));
 * // 1030 1025
 * ```
 */
export class HddmWDetector extends WarningDetector<HddmWParameters, HddmWMemory> {
  /** @throws {ValueError} if a parameter is unknown or out of range */
  constructor(options: HddmWOptions = {}) {
    super(KERNEL, options);
  }
}
