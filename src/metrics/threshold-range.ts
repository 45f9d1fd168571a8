import { ValueError } from '../exceptions/index.ts';
import { findMetricDefinition, type MetricDefinition, metricKind } from './metric-definitions.ts';
import type { Compat } from './options.ts';

/** The comparison operators that a gate can use to compare a metric's value with a threshold. */
export const COMPARATORS = ['<=', '<', '>=', '>'] as const;

/** One of {@link COMPARATORS}. */
export type Comparator = (typeof COMPARATORS)[number];

/** The range of values that a metric can have when a gate checks it. */
export interface ValueRange {
  readonly low: number;
  readonly high: number;
}

/** A threshold with its comparison operator. */
export interface ThresholdGate {
  /** The name of the metric in messages. */
  readonly metric: string;
  readonly threshold: number;
  readonly comparator: Comparator;
}

/** Explains why a gate with a threshold always or never passes, and suggests another threshold. */
export interface ThresholdProblem {
  /** A clause that states the problem, without a final period. */
  readonly message: string;
  readonly suggestion: string;
}

/** The range of a metric that can have any value. */
const UNBOUNDED: ValueRange = { low: -Infinity, high: Infinity };

/** Measures of decisions and scores that can exceed 1. */
const UNBOUNDED_MEASURES: readonly string[] = ['count', 'log_loss'];

/** Options that affect which values a metric can have when a gate checks it. */
export interface RangeOptions {
  /**
   * Whether the gate checks only the size of the gap: the absolute value of a difference, or the smaller of a ratio and
   * its inverse.
   */
  readonly isSize: boolean;
  /** The conventions of another library. AIF360's differences are signed, and its ratios can exceed 1. */
  readonly compat?: Compat | null | undefined;
}

/** Returns the range of a metric's possible values. */
export function metricRange(definition: MetricDefinition, { isSize, compat }: RangeOptions): ValueRange {
  const hasSign = compat === 'aif360' && !isSize;
  const isOfNumbers = metricKind(definition) === 'regression';
  if (definition.comparison === 'ratio') {
    // Means of errors and predictions may have different signs.
    return { low: isOfNumbers ? -Infinity : 0, high: hasSign ? Infinity : 1 };
  }
  const isBounded = !isOfNumbers && definition.measures.every((name) => !UNBOUNDED_MEASURES.includes(name));
  const high = isBounded ? 1 : Infinity;
  return { low: hasSign ? -high : 0, high };
}

/**
 * Returns the {@link metricRange} of a metric by its name. The range is unbounded if the name is not a group metric.
 */
export function rangeOfName(name: string, options: RangeOptions): ValueRange {
  const definition = findMetricDefinition(name);
  return definition === undefined ? UNBOUNDED : metricRange(definition, options);
}

/**
 * Checks whether a gate with this threshold always or never passes, regardless of the data. With `<=`, a threshold
 * equal to the largest possible value is accepted, because it requires that the metric is defined.
 * @returns undefined if the gate can both pass and fail
 */
export function findThresholdProblem(
  { metric, threshold, comparator }: ThresholdGate,
  { low, high }: ValueRange,
): ThresholdProblem | undefined {
  const isUpper = comparator === '<=' || comparator === '<';
  const isAbove = threshold > high || (threshold === high && comparator === '>');
  const isBelow = threshold < low || (threshold === low && (comparator === '<' || comparator === '>='));
  if (!isAbove && !isBelow) return undefined;
  const outcome = isUpper === isAbove ? 'always' : 'never';
  const bound = isAbove ? `at most ${String(high)}` : `at least ${String(low)}`;
  return {
    message: `${metric} is ${bound}, so that ${String(threshold)} ${outcome} passes`,
    suggestion: suggestThreshold({ metric, threshold, comparator }, { low, high }),
  };
}

/**
 * Rejects a threshold if the gate would always or never pass.
 * @param parameter the name of the threshold in the error
 * @throws {ValueError} if the gate always or never passes; the error gives the range of the metric and a suggestion
 */
export function assertThreshold(gate: ThresholdGate, range: ValueRange, parameter = 'threshold'): void {
  const problem = findThresholdProblem(gate, range);
  if (problem === undefined) return;
  const { metric, threshold: value, comparator } = gate;
  throw new ValueError(`${parameter}: ${problem.message}.`, {
    context: { parameter, metric, value, comparator },
    suggestion: problem.suggestion,
  });
}

/**
 * Suggests a valid threshold. The most common mistake is a threshold in percent. However, a threshold slightly above 1
 * for a ratio is not treated as a percentage.
 */
function suggestThreshold({ metric, threshold, comparator }: ThresholdGate, { low, high }: ValueRange): string {
  const isPercentage = threshold > 1 && threshold <= 100 && (!metric.endsWith('_ratio') || threshold >= 10);
  if (high === 1 && isPercentage) {
    return `For ${String(threshold)} percent write ${String(Number((threshold / 100).toPrecision(12)))}.`;
  }
  const usual = comparator.startsWith('<') ? 0.1 : 0.8;
  // A mean of scores from 1 to 10, for example, has no usual threshold.
  const example = String(low <= usual && usual <= high ? usual : (low + high) / 2);
  return high === Infinity
    ? `Use a number above ${String(low)}.`
    : `Use a number from ${String(Number.isFinite(low) ? low : 0)} to ${String(high)}, such as ${example}.`;
}
