import { ValueError } from '../exceptions/index.ts';
import { findMetricDefinition, type MetricDefinition, metricKind } from './metric-definitions.ts';
import type { Compat } from './options.ts';

/** The comparisons that a gate may make: value, comparator, threshold. */
export const COMPARATORS = ['<=', '<', '>=', '>'] as const;

/** One of {@link COMPARATORS}. */
export type Comparator = (typeof COMPARATORS)[number];

/** The values that a gate may see of a metric. */
export interface ValueRange {
  readonly low: number;
  readonly high: number;
}

/** A threshold and how values are compared with it. */
export interface ThresholdGate {
  /** What messages call the metric. */
  readonly metric: string;
  readonly threshold: number;
  readonly comparator: Comparator;
}

/** Why a threshold decides nothing, and what to write instead. */
export interface ThresholdFault {
  /** One clause without a full stop. */
  readonly message: string;
  readonly suggestion: string;
}

/** Any number. */
const UNBOUNDED: ValueRange = { low: -Infinity, high: Infinity };

/** Measures of decisions and scores that may be above 1. */
const UNBOUNDED_MEASURES: readonly string[] = ['count', 'log_loss'];

/** What decides the values that a gate sees. */
export interface RangeOptions {
  /** Whether the gate looks at the size of a difference, and at the smaller of a ratio and its inverse. */
  readonly isSize: boolean;
  /** AIF360's differences have a sign, and its ratios may be above 1. */
  readonly compat?: Compat | null | undefined;
}

/**
 * Returns the values that a metric can have.
 */
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

/** {@link metricRange} by the metric's name; any number for a name that is no metric of groups. */
export function rangeOfName(name: string, options: RangeOptions): ValueRange {
  const definition = findMetricDefinition(name);
  return definition === undefined ? UNBOUNDED : metricRange(definition, options);
}

/**
 * Finds out whether a threshold always or never passes, whatever the data. A threshold equal to the largest possible
 * value is accepted with `<=`: it asks only that the metric is defined.
 * @returns undefined for a threshold that can pass and can fail
 */
export function findThresholdFault(
  { metric, threshold, comparator }: ThresholdGate,
  { low, high }: ValueRange,
): ThresholdFault | undefined {
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
 * Refuses a threshold that always or never passes.
 * @param parameter what the user calls the threshold
 * @throws {ValueError} with the range of the metric and a threshold to write instead
 */
export function assertThreshold(gate: ThresholdGate, range: ValueRange, parameter = 'threshold'): void {
  const fault = findThresholdFault(gate, range);
  if (fault === undefined) return;
  const { metric, threshold: value, comparator } = gate;
  throw new ValueError(`${parameter}: ${fault.message}.`, {
    context: { parameter, metric, value, comparator },
    suggestion: fault.suggestion,
  });
}

/** Percentages are what is written most often; a ratio barely above 1 is none. */
function suggestThreshold({ metric, threshold, comparator }: ThresholdGate, { low, high }: ValueRange): string {
  const isPercentage = threshold > 1 && threshold <= 100 && (!metric.endsWith('_ratio') || threshold >= 10);
  if (high === 1 && isPercentage) {
    return `For ${String(threshold)} percent write ${String(Number((threshold / 100).toPrecision(12)))}.`;
  }
  const example = comparator.startsWith('<') ? '0.1' : '0.8';
  return high === Infinity
    ? `Take a number above ${String(low)}.`
    : `Take a number from ${String(Number.isFinite(low) ? low : 0)} to ${String(high)}, as ${example}.`;
}
