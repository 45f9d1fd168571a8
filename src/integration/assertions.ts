import { FairnessAssertionError, ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, oneOf, type OptionNames } from '../internal/arguments.ts';
import { capital, counted, firstNames } from '../internal/format.ts';
import { getLogger } from '../internal/logger.ts';
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

/** The largest number of excluded groups that a message names. */
const MAX_NAMES = 3;

/** Matches the names of metrics for which a higher value is better. For all other metrics, a lower value is better. */
const HIGHER_IS_BETTER = /_ratio$|^(?:bbq|winobias|winogender)_accuracy/;

/** Returns whether the gate for a metric name requires a value of at least the threshold. */
export function isHigherBetter(metric: string): boolean {
  return HIGHER_IS_BETTER.test(metric);
}

/**
 * Returns whether a metric is an excess: the distance between answers minus the noise. A negative excess is not a
 * difference between groups, so the gate compares the value and not its absolute value. The same holds for the
 * difference of two sizes, which is below 0 if a gap became smaller.
 */
function isExcess(metric: string): boolean {
  return /_(?:excess|size)$/.test(metric);
}

/** Matches the names of metrics that are 0 at parity. They have a sign for language models and by the conventions of AIF360. */
const GAP = /_(?:gap|difference)$/;

/**
 * Returns whether a gate judges the size of a value, without its direction. A gap of -0.9 is as large as one of 0.9, so
 * the usual limit of a gap (an upper one) and of a ratio (a lower one) bounds the size, also if it has a comparator.
 * Every other comparator judges the value with its sign.
 */
export function judgesSize(
  { metric, isDifference }: Pick<JudgedMetric, 'metric' | 'isDifference'>,
  comparator: Comparator | undefined,
  threshold: number,
): boolean {
  if (isExcess(metric) || (isDifference === true && isHigherBetter(metric))) return false;
  if (comparator === undefined) return true;
  if (metric.endsWith('_ratio')) return isDifference !== true && comparator.startsWith('>') && threshold <= 1;
  return GAP.test(metric) && (comparator === '<=' ? threshold >= 0 : comparator === '<' && threshold > 0); // prettier-ignore
}

/** Returns a warning for a gate that is rarely meant, because very different groups pass it; otherwise ''. */
export function gateWarning(metric: string, comparator: Comparator | undefined, threshold: number): string {
  const isRatio = metric.endsWith('_ratio');
  const isReversed = isRatio
    ? comparator?.startsWith('<') === true && threshold <= 1
    : GAP.test(metric) && comparator?.startsWith('>') === true && threshold > 0;
  if (isReversed) return ' Warning: this gate passes if the groups differ more, not if they differ less.';
  if (GAP.test(metric) && comparator?.startsWith('<') === true && threshold < 0) {
    return ' Warning: this gate passes if the groups differ more in one direction, not if they differ less.';
  }
  const values = lenientValues(metric, comparator, threshold);
  return values === undefined ? '' : ` Warning: very different groups pass this gate, such as values of ${values}.`;
}

/** Returns the values of two very different groups that pass a gate; undefined if there are none. */
export function lenientValues(
  metric: string,
  comparator: Comparator | undefined,
  threshold: number,
): string | undefined {
  const isRatio = metric.endsWith('_ratio');
  const { high } = rangeOfName(metric, { isSize: true });
  // A threshold of the other kind: 0.8 is usual for ratios, and 0.1 for differences.
  const isLenient = high === 1 && (isRatio ? threshold < 0.5 : threshold >= 0.5);
  if (!isLenient || comparator?.startsWith(isRatio ? '<' : '>') === true) return undefined;
  const ends = isRatio ? [threshold / 2, 0.5] : [(1 - threshold) / 2, (1 + threshold) / 2];
  return ends.map((end) => String(Number(end.toPrecision(3)))).join(' and ');
}

export { COMPARATORS, type Comparator } from '../metrics/threshold-range.ts';

/** The verdict of the gate. */
export interface Verdict {
  /** Whether the gate passed; null without a threshold, false if the metric is undefined. */
  readonly passed: boolean | null;
  /**
   * The verdict, with a separate value for an undefined metric; null without a threshold.
   */
  readonly status: 'pass' | 'fail' | 'undefined' | null;
  readonly threshold: number | null;
  readonly comparator: Comparator | null;
  /** The verdict in one sentence. */
  readonly message: string;
  /** Whether the interval contains the threshold, so that another sample could change the verdict. */
  readonly straddles: boolean;
  /** Whether the share of rows with missing values differs significantly between groups. */
  readonly unevenlyMissing: boolean;
}

/** The fields of a metric result that the gate reads. */
export interface JudgedMetric
  extends
    Pick<MetricResult, 'metric' | 'value' | 'ci' | 'undefinedReason'>,
    Partial<Pick<MetricResult, 'missing' | 'compat' | 'bounds' | 'excluded' | 'warnings'>> {
  /** The name of the result in the message, if several results have the same metric. */
  readonly key?: string | undefined;
  /**
   * Whether the result is the difference of the metric between two models or prompts. If a higher value of the metric is
   * better, the gate then compares the value and not its absolute value.
   */
  readonly isDifference?: boolean | undefined;
  /**
   * The range of values that the metric can have.
   * @defaultValue the range of metrics of this name
   */
  readonly range?: ValueRange | undefined;
  /**
   * The name of the entries of `missing` in the message.
   * @defaultValue rows with missing values
   */
  readonly missingName?: string | undefined;
  /**
   * The name of one entry of a group in the message.
   * @defaultValue row
   */
  readonly entryName?: string | undefined;
}

const HOLDS: Readonly<Record<Comparator, (value: number, threshold: number) => boolean>> = {
  '<=': (value, threshold) => value <= threshold,
  '<': (value, threshold) => value < threshold,
  '>=': (value, threshold) => value >= threshold,
  '>': (value, threshold) => value > threshold,
};

/**
 * Compares a metric with a threshold. The library, the command line and the service all use this gate.
 *
 * Without a comparator, the rule depends on the metric:
 * - A difference passes if |value| <= threshold.
 * - An excess (a metric named `…_excess`) passes if value <= threshold, so a negative excess passes if the threshold is
 *   0 or more.
 * - A ratio or an accuracy passes if value >= threshold. A ratio above 1 is replaced by its inverse. Only the
 *   conventions of AIF360 give such ratios.
 *
 * A comparator that is the one of the rule does not change it: a gap passes `<= 0.1` if |value| <= 0.1. Other comparators
 * and negative limits compare the value with its sign, so a gap of -0.9 passes `>= -1`.
 *
 * The gate judges the point estimate. If the interval contains the threshold, the message says so. An undefined metric
 * fails, and the message gives the reason. Without a threshold there is no verdict.
 *
 * If the share of rows with missing values differs significantly between groups, the message contains a warning. With
 * `strictMissing` the gate fails.
 *
 * If small counts were left out, the gate judges the bounds of the metric: it passes if both pass.
 * @throws {ValueError} if the comparator is unknown, the threshold is not a number, or the gate always or never passes
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
  const bySize = judgesSize(result, given, threshold);
  assertThreshold({ metric: name, threshold, comparator: used }, gateRange(result, given === undefined || bySize));
  const unevenlyMissing = isUnevenlyMissing(result.missing);
  const verdict = { threshold, comparator: used, straddles: false, unevenlyMissing };
  if (result.bounds !== undefined) return { ...verdict, ...judgeBounds(name, result.bounds, used, threshold) };
  if (result.undefinedReason !== null || Number.isNaN(result.value)) {
    const reason = result.undefinedReason ?? 'the value is not a number';
    return {
      ...verdict,
      passed: false,
      status: 'undefined',
      message: `UNDEFINED: ${name} has no value (${reason}).`,
    };
  }
  const { value, ci } = bySize ? sizeOf(result, isRatio) : result;
  const isWithin = HOLDS[used](value, threshold);
  const passed = isWithin && !(strictMissing && unevenlyMissing);
  const straddles = ci !== null && ci[0] <= threshold && threshold <= ci[1];
  const holds = passed ? 'PASS' : 'FAIL';
  const caution = straddles ? ' The interval straddles the threshold: another sample could change this verdict.' : '';
  return {
    threshold,
    comparator: used,
    straddles,
    unevenlyMissing,
    passed,
    status: passed ? 'pass' : 'fail',
    message: `${holds}: ${name} ${value.toFixed(4)} ${isWithin ? used : NEGATED[used]} ${String(threshold)}.${caution}${gateWarning(result.metric, given, threshold)}${missingWords(result, unevenlyMissing, passed !== isWithin)}${excludedWords(result)}`,
  };
}

/** Judges a metric of which only bounds are known: the verdict is certain if both have the same one. */
function judgeBounds(
  name: string,
  [low, high]: readonly [number, number],
  comparator: Comparator,
  threshold: number,
): Pick<Verdict, 'passed' | 'status' | 'message'> {
  const holds = [low, high].map((end) => HOLDS[comparator](end, threshold));
  const passed = holds.every((one) => one);
  const isCertain = passed || holds.every((one) => !one);
  const range = `${name} is between ${low.toFixed(4)} and ${high.toFixed(4)}`;
  const rule = `${comparator} ${String(threshold)}`;
  if (!isCertain)
    return { passed, status: 'undefined', message: `UNDEFINED: ${range}, so that it is not certain to be ${rule}.` };
  const verb = passed ? `PASS: ${range}, ${rule}` : `FAIL: ${range}, not ${rule}`;
  return { passed, status: passed ? 'pass' : 'fail', message: `${verb}.` };
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
 * Combines the verdicts of several gates. The combined verdict passes only if every gate passes.
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

/**
 * Returns the range of possible values. The range is for absolute values, unless a comparator is given or the metric is
 * an excess.
 */
function gateRange({ metric, compat, isDifference, range }: JudgedMetric, bySize: boolean): ValueRange {
  const ofAnswers = range ?? llmMetricRange(metric);
  if (isDifference === true) {
    // A measure without an upper bound, such as a number of words, has differences of any size.
    const width = ofAnswers === undefined ? Infinity : ofAnswers.high - ofAnswers.low;
    return { low: bySize && !isExcess(metric) && !isHigherBetter(metric) ? 0 : -width, high: width };
  }
  if (ofAnswers === undefined) return rangeOfName(metric, { isSize: bySize, compat });
  const { low, high } = ofAnswers;
  return bySize && !isExcess(metric) ? { low: Math.max(0, low), high: Math.max(Math.abs(low), high) } : ofAnswers;
}

/** Returns the warning that groups have different shares of rows with missing values. */
function missingWords(
  { missing, missingName = 'rows with missing values' }: JudgedMetric,
  unevenlyMissing: boolean,
  decides: boolean,
): string {
  if (!unevenlyMissing || missing === undefined || missing === null) return '';
  const { n, worstCase } = missing;
  const range =
    worstCase === null
      ? ''
      : `; with these rows the value could be from ${worstCase[0].toFixed(4)} to ${worstCase[1].toFixed(4)}`;
  const rule = decides ? ' The gate fails because strict missing values are on.' : '';
  return ` Warning: ${String(n)} ${missingName} are not equally common in all groups${range}.${rule}`;
}

/** Names the groups about which the verdict says nothing. */
function excludedWords({ excluded, entryName = 'row' }: JudgedMetric): string {
  const groups = Object.entries(excluded ?? {});
  if (groups.length === 0) return '';
  const named = groups.map(([label, { n }]) => `${label} (${counted(n, entryName)})`);
  return ` Not compared: ${firstNames(named, MAX_NAMES)}.`;
}

/**
 * Returns the value without its direction. For a difference, this is the absolute value; for a ratio, it is the smaller
 * of the ratio and its inverse.
 */
function sizeOf({ value, ci }: JudgedMetric, isRatio: boolean): Pick<JudgedMetric, 'value' | 'ci'> {
  const size = isRatio ? (ratio: number): number => Math.min(ratio, 1 / ratio) : Math.abs;
  if (ci === null) return { value: size(value), ci };
  const [a, b] = [size(ci[0]), size(ci[1])];
  const even = isRatio ? 1 : 0;
  // If the interval contains parity, the sizes range from parity to the end of the interval farther from parity.
  const ends = ci[0] <= even && even <= ci[1] ? [a, b, even] : [a, b];
  return { value: size(value), ci: [Math.min(...ends), Math.max(...ends)] };
}

const NEGATED: Readonly<Record<Comparator, string>> = { '<=': '>', '<': '>=', '>=': '<', '>': '<=' };

/** Options of {@link judge}. */
export interface JudgeOptions {
  /**
   * Whether the gate fails if the share of rows with missing values differs significantly between groups.
   * @defaultValue false
   */
  readonly strictMissing?: boolean | undefined;
}

const JUDGE_OPTION_NAMES: OptionNames<JudgeOptions> = { strictMissing: true };

/** Options of {@link assertFairness}. */
export interface AssertFairnessOptions extends JudgeOptions {
  /**
   * The comparator between value and threshold.
   * @defaultValue `<=` if `metric` is a number; if it is a result, the rule of the gate for this metric, so a ratio
   * must be at least the threshold
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

const CHANGE_SOMETHING =
  'Fix the model or the data. If the threshold is wrong, agree on a new threshold and set it in this call.';

/** Says how an undefined metric can get a value. The message contains the reason why it has none. */
function whatDefines({ undefinedReason }: JudgedMetric): string {
  const way =
    undefinedReason === null
      ? 'Check how the number was computed.'
      : undefinedReason.includes('with at least')
        ? 'Use more rows, or set a smaller minGroupSize.'
        : 'Use rows in which every group has this rate, or choose a metric that these rows define, such as demographic_parity_difference.';
  return `${way} If the gate should accept an undefined metric, set allowUndefined.`;
}

/**
 * Throws if a metric does not meet its threshold; for tests and CI gates.
 * @param metric a result, or a number, whose size is compared unless there is a comparator; an undefined result fails, and
 *   the error gives the reason
 * @throws {FairnessAssertionError} if the comparison does not hold
 * @throws {ValueError} if the comparator is not `<=`, `<`, `>=` or `>`, or the gate always or never passes
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
  if (!isNumber) assertResult(metric);
  // As for a result, an upper limit without a comparator is a limit of the size.
  const value = isNumber && options.comparator === undefined ? Math.abs(metric) : metric;
  const result: JudgedMetric =
    typeof value === 'number' ? { metric: 'metric', value, ci: null, undefinedReason: null } : value;
  const verdict = judge(result, threshold, options.comparator ?? (isNumber ? '<=' : undefined), {
    strictMissing: options.strictMissing,
  });
  if (verdict.passed === true) {
    const remarks = [excludedWords(result), ...(result.warnings ?? []).map((warning) => ` ${capital(warning)}.`)].join(
      '',
    );
    // What passes silently in a test would look as if all groups had been compared, and all rows were right.
    if (remarks !== '') getLogger().warn(`${result.metric} passes.${remarks}`);
    return;
  }
  const isUndefined = result.undefinedReason !== null || Number.isNaN(result.value);
  if (isUndefined && options.allowUndefined === true) return;
  throw new FairnessAssertionError(verdict.message, {
    context: { metric: result.metric, value: result.value, threshold, comparator: verdict.comparator },
    suggestion: isUndefined ? whatDefines(result) : CHANGE_SOMETHING,
    actual: result.value,
    expected: threshold,
    operator: verdict.comparator ?? '<=',
  });
}

function assertResult(metric: unknown): void {
  if (metric instanceof Promise) {
    throw new ValueError('The metric parameter is a promise, not a MetricResult: await it.', {
      context: { parameter: 'metric' },
      suggestion: 'For example: assertFairness(await promise, 0.1).',
    });
  }
  const isResult = typeof metric === 'object' && metric !== null && 'metric' in metric && 'value' in metric;
  if (!isResult) throw invalidParameter('metric', 'be a number or a MetricResult', metric);
  if ('undefinedReason' in metric) return;
  throw new ValueError('The metric parameter is the JSON form of a MetricResult, whose fields have other names.', {
    context: { parameter: 'metric' },
    suggestion: 'Pass the result itself, or its value: assertFairness(saved.value ?? NaN, 0.1).',
  });
}
