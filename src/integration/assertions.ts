import { FairnessAssertionError, ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, oneOf, type OptionNames } from '../internal/arguments.ts';
import { llmMetricRange } from '../llm-evals/scoring/llm-metric-range.ts';
import { isUnevenlyMissing } from '../metrics/compare/missing-rows.ts';
import type { MetricResult } from '../metrics/index.ts';
import {
  assertThreshold,
  type Comparator,
  COMPARATORS,
  rangeOfName,
  type ValueRange,
} from '../metrics/threshold-range.ts';

/** Endings and beginnings of the names of metrics of which more is better; of all others less is. */
const HIGHER_IS_BETTER = /_ratio$|^bbq_accuracy/;

/** Whether a gate asks a metric to be at least its threshold, going by its name without a dimension. */
export function isHigherBetter(metric: string): boolean {
  return HIGHER_IS_BETTER.test(metric);
}

/**
 * Whether a metric is below evenness where it is negative, so that its size says nothing: an excess is how much further
 * apart answers are than noise, and answers that are nearer than that are no difference.
 */
function isExcess(metric: string): boolean {
  return metric.endsWith('_excess');
}

export { COMPARATORS, type Comparator } from '../metrics/threshold-range.ts';

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
  /** Whether rows with missing values are more common in some groups than in others, beyond chance. */
  readonly unevenlyMissing: boolean;
}

/** What the gate needs to know of a metric. */
export interface JudgedMetric
  extends
    Pick<MetricResult, 'metric' | 'value' | 'ci' | 'undefinedReason'>,
    Partial<Pick<MetricResult, 'missing' | 'compat'>> {
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
 *
 * Where rows with missing values are more common in some groups than in others, beyond chance, the verdict says so;
 * with `strictMissing` it is a failure.
 * @throws {ValueError} for an unknown comparator, a threshold that is not a number, or one that always or never passes
 */
export function judge(
  result: JudgedMetric,
  threshold: number | undefined,
  comparator?: string,
  options: JudgeOptions = {},
): Verdict {
  assertKnownOptions('judge', options, JUDGE_OPTION_NAMES);
  const { strictMissing = false } = options;
  const given = comparator === undefined ? undefined : oneOf('comparator', comparator, COMPARATORS);
  if (threshold === undefined) {
    const message = 'No threshold, no verdict.';
    return { ...NO_GATE, message };
  }
  if (!Number.isFinite(threshold)) {
    throw new ValueError(`The threshold parameter must be a number. Got ${String(threshold)} instead.`, {
      context: { parameter: 'threshold', value: threshold },
    });
  }
  const isRatio = result.metric.endsWith('_ratio');
  const used = given ?? (isHigherBetter(result.metric) ? '>=' : '<=');
  const name = result.key ?? result.metric;
  assertThreshold({ metric: name, threshold, comparator: used }, gateRange(result, given === undefined));
  const unevenlyMissing = isUnevenlyMissing(result.missing);
  const verdict = { threshold, comparator: used, straddles: false, unevenlyMissing };
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
  const isWithin = HOLDS[used](value, threshold);
  const passed = isWithin && !(strictMissing && unevenlyMissing);
  const straddles = ci !== null && ci[0] <= threshold && threshold <= ci[1];
  const holds = passed ? 'PASS' : 'FAIL';
  const caution = straddles ? ' The interval straddles the threshold: another sample could turn this verdict.' : '';
  return {
    ...verdict,
    passed,
    status: passed ? 'pass' : 'fail',
    straddles,
    message: `${holds}: ${name} ${value.toFixed(4)} ${isWithin ? used : NEGATED[used]} ${String(threshold)}.${caution}${missingWords(result, unevenlyMissing, passed !== isWithin)}`,
  };
}

const NO_GATE = {
  passed: null,
  status: null,
  threshold: null,
  comparator: null,
  straddles: false,
  unevenlyMissing: false,
} as const;

/**
 * Joins the verdicts of several gates: all must pass.
 * @param verdicts at least one
 */
export function joinVerdicts(verdicts: readonly Verdict[]): Verdict {
  const [only] = verdicts;
  if (only !== undefined && verdicts.length === 1) return only;
  const statuses = verdicts.map(({ status }) => status);
  const status = statuses.includes('fail') ? 'fail' : statuses.includes('undefined') ? 'undefined' : 'pass';
  return {
    ...NO_GATE,
    passed: status === 'pass',
    status,
    message: verdicts.map(({ message }) => message).join(' '),
    straddles: verdicts.some(({ straddles }) => straddles),
    unevenlyMissing: verdicts.some(({ unevenlyMissing }) => unevenlyMissing),
  };
}

/** The values that the gate may see: sizes, unless a comparator is given or the metric is an excess. */
function gateRange({ metric, compat }: JudgedMetric, bySize: boolean): ValueRange {
  const ofAnswers = llmMetricRange(metric);
  if (ofAnswers === undefined) return rangeOfName(metric, { isSize: bySize, compat });
  const { low, high } = ofAnswers;
  return bySize && !isExcess(metric) ? { low: Math.max(0, low), high: Math.max(Math.abs(low), high) } : ofAnswers;
}

/** What to say of rows that are unevenly missing. */
function missingWords({ missing }: JudgedMetric, unevenlyMissing: boolean, decides: boolean): string {
  if (!unevenlyMissing || missing === undefined || missing === null) return '';
  const { n, worstCase } = missing;
  const range =
    worstCase === null
      ? ''
      : `; with them the value could be from ${worstCase[0].toFixed(4)} to ${worstCase[1].toFixed(4)}`;
  const rule = decides ? ' This fails the gate, which is strict about missing values.' : '';
  return ` Warning: ${String(n)} rows with missing values are not equally common in all groups${range}.${rule}`;
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

/** Options of {@link judge}. */
export interface JudgeOptions {
  /**
   * Whether missing values that are more common in some groups than in others, beyond chance, fail the gate.
   * @defaultValue false
   */
  readonly strictMissing?: boolean | undefined;
}

const JUDGE_OPTION_NAMES: OptionNames<JudgeOptions> = { strictMissing: true };

/** Options of {@link assertFairness}. */
export interface AssertFairnessOptions extends JudgeOptions {
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

const ASSERT_FAIRNESS_OPTION_NAMES: OptionNames<AssertFairnessOptions> = {
  ...JUDGE_OPTION_NAMES,
  comparator: true,
  allowUndefined: true,
};

/**
 * Throws unless a metric meets its threshold; for tests and CI gates.
 * @param metric a number, or a result, whose undefined value fails with its reason
 * @throws {FairnessAssertionError} where the comparison does not hold
 * @throws {ValueError} for a comparator other than `<=`, `<`, `>=`, `>`, or a threshold that always or never passes
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
  const verdict = judge(result, threshold, options.comparator ?? (isNumber ? '<=' : undefined), {
    strictMissing: options.strictMissing,
  });
  if (verdict.passed === true) return;
  const isUndefined = result.undefinedReason !== null || Number.isNaN(result.value);
  if (isUndefined && options.allowUndefined === true) return;
  throw new FairnessAssertionError(verdict.message, {
    context: { metric: result.metric, value: result.value, threshold, comparator: verdict.comparator },
    suggestion: 'Fix the model or the data; if the threshold is wrong, change it where it is agreed.',
    actual: result.value,
    expected: threshold,
    operator: verdict.comparator ?? '<=',
  });
}
