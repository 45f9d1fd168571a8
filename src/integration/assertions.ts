import { FairnessAssertionError, ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/known-options.ts';
import { oneOf } from '../internal/one-of.ts';
import type { MetricResult } from '../metrics/index.ts';
import { isExcess, isHigherBetter } from './is-higher-better.ts';

/** The comparisons that a gate may make: value, comparator, threshold. */
export const COMPARATORS = ['<=', '<', '>=', '>'] as const;

/** One of {@link COMPARATORS}. */
export type Comparator = (typeof COMPARATORS)[number];

/** What the gate found. */
export interface Verdict {
  /** true or false; null where there is no threshold. An undefined metric is false. */
  readonly passed: boolean | null;
  /** The same in three values, so that an undefined metric is told from one on the wrong side; null without a threshold. */
  readonly status: 'pass' | 'fail' | 'undefined' | null;
  readonly threshold: number | null;
  readonly comparator: Comparator | null;
  /** The verdict in one sentence. */
  readonly message: string;
  /** Whether the interval has the threshold inside, so that another sample could turn the verdict. */
  readonly straddles: boolean;
}

/** What the gate needs to know of a metric. */
export interface JudgedMetric extends Pick<MetricResult, 'metric' | 'value' | 'ci' | 'undefinedReason'> {
  /** What the sentence calls it, where several results are of one metric. */
  readonly key?: string | undefined;
}

const HOLDS: Readonly<Record<Comparator, (value: number, threshold: number) => boolean>> = {
  '<=': (value, threshold) => value <= threshold,
  '<': (value, threshold) => value < threshold,
  '>=': (value, threshold) => value >= threshold,
  '>': (value, threshold) => value > threshold,
};

/**
 * The one gate of library, command line and service.
 *
 * Without a comparator a difference passes when |value| <= threshold, an excess
 * (`…_excess`: beyond noise) when value <= threshold, so that one below noise passes, and a
 * ratio or an accuracy when value >= threshold; a ratio above 1, which only AIF360's
 * conventions give, counts as far from 1 as its inverse. The point estimate decides; where the interval
 * straddles the threshold the verdict says so. An undefined metric fails with
 * its reason. Without a threshold there is no verdict.
 * @throws {ValueError} for an unknown comparator or a threshold that is not a number
 */
export function judge(result: JudgedMetric, threshold: number | undefined, comparator?: string): Verdict {
  const given = comparator === undefined ? undefined : oneOf('comparator', comparator, COMPARATORS);
  if (threshold === undefined) {
    const message = 'No threshold, no verdict.';
    return { passed: null, status: null, threshold: null, comparator: null, message, straddles: false };
  }
  if (!Number.isFinite(threshold)) {
    throw new ValueError(`The threshold parameter must be a number. Got ${String(threshold)} instead.`, {
      context: { parameter: 'threshold', value: threshold },
    });
  }
  const isRatio = result.metric.endsWith('_ratio');
  const used = given ?? (isHigherBetter(result.metric) ? '>=' : '<=');
  const name = result.key ?? result.metric;
  const verdict = { threshold, comparator: used, straddles: false };
  if (result.undefinedReason !== null || Number.isNaN(result.value)) {
    const reason = result.undefinedReason ?? 'the value is not a number';
    return {
      ...verdict,
      passed: false,
      status: 'undefined',
      message: `FAIL: ${name} is undefined (${reason}).`,
    };
  }
  const { value, ci } = given === undefined && !isExcess(result.metric) ? sizeOf(result, isRatio) : result;
  const passed = HOLDS[used](value, threshold);
  const straddles = ci !== null && ci[0] <= threshold && threshold <= ci[1];
  const holds = passed ? 'PASS' : 'FAIL';
  const caution = straddles ? ' The interval straddles the threshold: another sample could turn this verdict.' : '';
  return {
    ...verdict,
    passed,
    status: passed ? 'pass' : 'fail',
    straddles,
    message: `${holds}: ${name} ${value.toFixed(4)} ${passed ? used : NEGATED[used]} ${String(threshold)}.${caution}`,
  };
}

/** How far a value is from evenness, whichever group is ahead: its size, or for a ratio that or its inverse. */
function sizeOf({ value, ci }: JudgedMetric, isRatio: boolean): Pick<JudgedMetric, 'value' | 'ci'> {
  const size = isRatio ? (ratio: number): number => Math.min(ratio, 1 / ratio) : Math.abs;
  if (ci === null) return { value: size(value), ci };
  const [a, b] = [size(ci[0]), size(ci[1])];
  const even = isRatio ? 1 : 0;
  // An interval on both sides of evenness holds it, and with it every size up to its farther end.
  const ends = ci[0] <= even && even <= ci[1] ? [a, b, even] : [a, b];
  return { value: size(value), ci: [Math.min(...ends), Math.max(...ends)] };
}

const NEGATED: Readonly<Record<Comparator, string>> = { '<=': '>', '<': '>=', '>=': '<', '>': '<=' };

/** Options of {@link assertFairness}. */
export interface AssertFairnessOptions {
  /**
   * For a number `<=`; for a result the gate's own, so that a ratio must be at least its threshold.
   * @defaultValue '<='
   */
  readonly comparator?: string | undefined;
  /**
   * Whether an undefined metric passes.
   * @defaultValue false
   */
  readonly allowUndefined?: boolean | undefined;
}

const ASSERT_FAIRNESS_OPTION_NAMES: OptionNames<AssertFairnessOptions> = { comparator: true, allowUndefined: true };

/**
 * Throws unless a metric meets its threshold; for tests and CI gates.
 * @param metric a number, or a result, whose undefined value fails with its reason
 * @throws {FairnessAssertionError} where the comparison does not hold
 * @throws {ValueError} for a comparator other than `<=`, `<`, `>=`, `>`
 * @example
 * ```ts
 * import { assertFairness, demographicParityDifference } from 'evenhand';
 *
 * const result = demographicParityDifference([1, 0, 1, 0], ['a', 'a', 'b', 'b'], { minGroupSize: 2 });
 * assertFairness(result, 0.1);
 * ```
 */
export function assertFairness(
  metric: number | JudgedMetric,
  threshold: number,
  options: AssertFairnessOptions = {},
): void {
  assertKnownOptions('assertFairness', options, ASSERT_FAIRNESS_OPTION_NAMES);
  const isNumber = typeof metric === 'number';
  const result: JudgedMetric = isNumber ? { metric: 'metric', value: metric, ci: null, undefinedReason: null } : metric;
  const verdict = judge(result, threshold, options.comparator ?? (isNumber ? '<=' : undefined));
  if (verdict.passed === true) return;
  const isUndefined = result.undefinedReason !== null || Number.isNaN(result.value);
  if (isUndefined && options.allowUndefined === true) return;
  throw new FairnessAssertionError(verdict.message, {
    context: { metric: result.metric, value: result.value, threshold, comparator: verdict.comparator },
    suggestion: 'Mend the model or the data; if the threshold is wrong, change it where it is agreed.',
    actual: result.value,
    expected: threshold,
    operator: verdict.comparator ?? '<=',
  });
}
