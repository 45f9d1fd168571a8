import { z } from 'zod';

import { invalidParameter } from '../../internal/arguments.ts';
import { count, noteWarning, share, WARNING_FIELDS, warningAge } from './detector-state.ts';
import { type DetectorKernel, WarningDetector } from './kernel-detector.ts';
import { flag, fraction, type Given, type ParameterTable } from './parameter-table.ts';

/** The parameters of both HDDM detectors. */
export interface HddmParameters {
  /**
   * The error probability of detecting a change at one value, in (0, 1).
   * @defaultValue 0.001
   */
  readonly driftConfidence: number;
  /**
   * The error probability of a warning at one value; at least `driftConfidence`.
   * @defaultValue 0.005
   */
  readonly warningConfidence: number;
  /**
   * Whether decreases are also detected, in addition to increases.
   * @defaultValue false
   */
  readonly twoSidedTest: boolean;
}

/** The defaults and checks of {@link HddmParameters}. */
export const HDDM_PARAMETERS: ParameterTable<HddmParameters> = {
  driftConfidence: fraction(0.001),
  warningConfidence: fraction(0.005),
  twoSidedTest: flag(false),
};

/** Checks that warnings do not come later than changes. */
export function requireWarningFirst({ driftConfidence, warningConfidence }: HddmParameters): void {
  if (warningConfidence >= driftConfidence) return;
  const required = `be at least driftConfidence = ${String(driftConfidence)}`;
  throw invalidParameter('warningConfidence', required, warningConfidence);
}

/** Options of {@link HddmADetector}: its parameters, all with defaults. */
export type HddmAOptions = Given<HddmParameters>;

/** A number n, and the mean of the first n values. */
const headMean = z.strictObject({ n: count, mean: share });

/**
 * `lowest` is the prefix of the stream whose mean has the lowest upper bound. `highest` is the prefix whose mean has
 * the highest lower bound.
 */
const SCHEMA = z.strictObject({ all: headMean, lowest: headMean, highest: headMean, ...WARNING_FIELDS });

type HeadMean = z.output<typeof headMean>;
type HddmAMemory = z.output<typeof SCHEMA>;

const KERNEL: DetectorKernel<HddmParameters, HddmAMemory> = {
  name: 'hddm_a',
  domain: 'share',
  parameters: HDDM_PARAMETERS,
  check: requireWarningFirst,
  start: () => ({ all: none(), lowest: none(), highest: none(), isWarning: false, warnedAt: null }),
  step,
  schema: () => SCHEMA,
  changeAge: (at) => warningAge(at, at.all.n),
};

function none(): HeadMean {
  return { n: 0, mean: 0 };
}

function step(at: HddmAMemory, value: number, parameters: HddmParameters): boolean {
  const { all, lowest, highest } = at;
  const { driftConfidence, warningConfidence } = parameters;
  all.n++;
  all.mean += (value - all.mean) / all.n;
  const bound = hoeffdingBound(all.n, driftConfidence);
  if (lowest.n === 0 || lowest.mean + hoeffdingBound(lowest.n, driftConfidence) >= all.mean + bound) copy(all, lowest);
  if (highest.n === 0 || highest.mean - hoeffdingBound(highest.n, driftConfidence) <= all.mean - bound) {
    copy(all, highest);
  }
  const isChange = hasChanged(at, driftConfidence, parameters);
  const isWarning = isChange || hasChanged(at, warningConfidence, parameters);
  return noteWarning(at, all.n, isWarning, isChange);
}

function copy(from: HeadMean, to: HeadMean): void {
  to.n = from.n;
  to.mean = from.mean;
}

/**
 * Returns Hoeffding's bound b: the mean of n values in [0, 1] exceeds its expectation by more than b with probability
 * at most `confidence`.
 */
function hoeffdingBound(n: number, confidence: number): number {
  return Math.sqrt(Math.log(1 / confidence) / (2 * n));
}

function hasChanged(
  { all, lowest, highest }: HddmAMemory,
  confidence: number,
  { twoSidedTest }: HddmParameters,
): boolean {
  return hasMoved(lowest, all, confidence, 1) || (twoSidedTest && hasMoved(highest, all, confidence, -1));
}

/**
 * Returns whether the mean of all values is significantly above (`direction` 1) or below (`direction` -1) the mean of a
 * prefix.
 */
function hasMoved(head: HeadMean, all: HeadMean, confidence: number, direction: 1 | -1): boolean {
  if (head.n === all.n) return false;
  const bound = Math.sqrt(((1 / head.n - 1 / all.n) * Math.log(2 / confidence)) / 2);
  return direction * (all.mean - head.mean) >= bound;
}

/**
 * Detects changes with HDDM for averages: it compares the mean of all values with the mean of the prefix of the stream
 * that has the lowest Hoeffding bound.
 *
 * Let z be the mean of all n values, and x the mean of a prefix of m values. There is a change if z - x is at least
 * sqrt((1/m - 1/n) ln(2 / driftConfidence) / 2). The limit for a warning has `warningConfidence` instead. The change is
 * suspected to begin at the first of the consecutive warnings before it. With `twoSidedTest`, decreases are detected in
 * the same way.
 *
 * Values are in [0, 1]: errors, decisions or shares. The detector is designed for abrupt changes. Late changes are
 * found slowly, because the detector uses the mean over all past values. The confidence holds for a single value, not
 * for the complete stream.
 * @see I. Frías-Blanco et al., Online and non-parametric drift detection methods based on Hoeffding's bounds, IEEE TKDE
 *   27 (2015)
 * @example
 * ```ts
 * import { HddmADetector } from 'evenhand/monitoring';
 *
 * const detector = new HddmADetector();
 * const errors = Array.from({ length: 2000 }, (_, index) => (index < 1000 ? index % 4 === 0 : index % 4 !== 0));
 * const foundAt = errors.findIndex((isError) => detector.update(Number(isError)));
 * console.log(foundAt, foundAt - (detector.changeAge ?? 0));
 * // 1014 1013
 * ```
 */
export class HddmADetector extends WarningDetector<HddmParameters, HddmAMemory> {
  /** @throws {ValueError} if a parameter is unknown or out of range */
  constructor(options: HddmAOptions = {}) {
    super(KERNEL, options);
  }
}
