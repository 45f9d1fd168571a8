import { ValueError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import { isDecisionRate, rateCells } from '../../metrics/measures/index.ts';
import { type MetricDefinition, metricDefinition, metricNeedsTruth } from '../../metrics/metric-definitions.ts';
import { CELLS_PER_GROUP } from '../../metrics/statistics/group-stats.ts';

/**
 * A rate. Every group has six cells: `above` lists the cells in the numerator, and `below` lists the cells in the
 * denominator.
 */
interface WatchedRate {
  readonly kind: 'rate';
  readonly name: string;
  readonly above: readonly number[];
  readonly below: readonly number[];
  /** For each cell: 1 if its events are successes, 0 if they are failures, -1 if they are not in the denominator. */
  readonly valueOfCell: Int8Array;
  readonly needsTruth: boolean;
}

/** The mean absolute error of predicted numbers. */
interface WatchedError {
  readonly kind: 'error';
  readonly name: 'mean_absolute_error';
  readonly needsTruth: true;
}

/** A measure of a group: a rate or a mean error. */
export type WatchedMeasure = WatchedRate | WatchedError;

/** A monitored difference between groups. */
export interface WatchedMetric {
  readonly metric: string;
  /** The compared measures. The measures that are compared. The metric is the largest of their gaps. */
  readonly measures: readonly WatchedMeasure[];
  readonly needsTruth: boolean;
}

/**
 * Returns a metric that can be monitored in a stream: the largest difference between groups in a rate or in the mean
 * absolute error.
 * @throws {ValueError} if the metric is unknown, is a ratio or a mean of gaps, or has a measure that is not a decision
 *   rate or mean absolute error
 */
export function watchedMetric(name: string): WatchedMetric {
  const definition = definitionOf(name);
  const { metric, measures, comparison, agg } = definition;
  const measured = measures.map(watchedMeasure);
  if (comparison !== 'difference' || agg === 'mean' || measured.includes(undefined)) throw cannotWatch(name);
  return {
    metric,
    measures: measured.filter((measure) => measure !== undefined),
    needsTruth: metricNeedsTruth(definition),
  };
}

/** The most common metrics. For every rate, there is also a metric for the difference of the rate between groups. */
const USUAL = [
  'demographic_parity_difference',
  'equalized_odds_difference',
  'equal_opportunity_difference',
  'false_positive_rate_difference',
  'predictive_parity_difference',
  'accuracy_parity_difference',
  'mae_parity_difference',
];

function definitionOf(name: string): MetricDefinition {
  try {
    return metricDefinition(name);
  } catch (cause) {
    throw new ValueError(`There is no metric named '${name}'.`, {
      context: { parameter: 'metrics', value: name },
      suggestion: suggestNames(name, USUAL, 'metrics to monitor'),
      cause,
    });
  }
}

function watchedMeasure(name: string): WatchedMeasure | undefined {
  if (name === 'mean_absolute_error') return { kind: 'error', name, needsTruth: true };
  if (!isDecisionRate(name)) return undefined;
  const { above, below } = rateCells(name);
  const valueOfCell = Int8Array.from({ length: CELLS_PER_GROUP }, (_, cell) =>
    below.includes(cell) ? Number(above.includes(cell)) : -1,
  );
  return { kind: 'rate', name, above, below, valueOfCell, needsTruth: name !== 'selection_rate' };
}

function cannotWatch(name: string): ValueError {
  return new ValueError(`The metric '${name}' cannot be watched in a stream.`, {
    context: { parameter: 'metrics', value: name },
    suggestion: `Watch a difference of rates or errors: ${USUAL.join(', ')}.`,
  });
}
