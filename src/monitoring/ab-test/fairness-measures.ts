import { oneOf } from '../../internal/arguments.ts';

/** A measure that is computed for each group in both arms. */
export interface ABMeasure {
  /** The name in snake_case, such as `selection_rate`. */
  readonly name: string;
  readonly kind: 'rate' | 'mean';
  /** The rows that are included: all rows, or the rows with a positive or a negative true label. */
  readonly rows: 'all' | 'positives' | 'negatives';
  /** The values of rows whose mean is the measure. */
  readonly of: 'decision' | 'correct' | 'value' | 'absolute_error';
}

const SELECTION: ABMeasure = { name: 'selection_rate', kind: 'rate', rows: 'all', of: 'decision' };
const TRUE_POSITIVES: ABMeasure = { name: 'true_positive_rate', kind: 'rate', rows: 'positives', of: 'decision' };
const FALSE_POSITIVES: ABMeasure = { name: 'false_positive_rate', kind: 'rate', rows: 'negatives', of: 'decision' };
const ACCURACY: ABMeasure = { name: 'accuracy', kind: 'rate', rows: 'all', of: 'correct' };
const MEAN: ABMeasure = { name: 'mean_prediction', kind: 'mean', rows: 'all', of: 'value' };
const ERROR: ABMeasure = { name: 'mean_absolute_error', kind: 'mean', rows: 'all', of: 'absolute_error' };

/** The measure of a business metric: the mean of its column. */
export const BUSINESS_MEASURE: ABMeasure = { name: 'mean', kind: 'mean', rows: 'all', of: 'value' };

/** For each fairness metric, the measures that it compares between groups. */
const MEASURES = {
  demographic_parity_difference: [SELECTION],
  equal_opportunity_difference: [TRUE_POSITIVES],
  equalized_odds_difference: [TRUE_POSITIVES, FALSE_POSITIVES],
  false_positive_rate_difference: [FALSE_POSITIVES],
  accuracy_parity_difference: [ACCURACY],
  mean_prediction_difference: [MEAN],
  mae_parity_difference: [ERROR],
} as const satisfies Readonly<Record<string, readonly ABMeasure[]>>;

/** A fairness metric of an A/B test. */
export type ABMetric = keyof typeof MEASURES;

/** Every {@link ABMetric}. */
export const AB_METRICS = Object.keys(MEASURES) as readonly ABMetric[];

/**
 * Returns a name as an {@link ABMetric}.
 * @throws {ValueError} if the name is not an {@link ABMetric}
 */
export function abMetric(name: string): ABMetric {
  return oneOf('fairness', name, AB_METRICS);
}

/** Returns the measures that a metric compares between groups. */
export function measuresOf(metric: ABMetric): readonly ABMeasure[] {
  return MEASURES[metric];
}

/** Returns whether a measure needs true labels or values. */
export function needsTruth({ rows, of }: ABMeasure): boolean {
  return rows !== 'all' || of === 'correct' || of === 'absolute_error';
}
