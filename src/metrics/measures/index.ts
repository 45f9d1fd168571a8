import { MetricComputationError } from '../../exceptions/index.ts';
import { suggestNames } from '../../internal/arguments.ts';
import { DECISION_MEASURES } from './decision-rates.ts';
import { ERROR_MEASURES } from './error-measures.ts';
import type { MeasureDefinition } from './group-measure.ts';
import { SCORE_MEASURES } from './score-measures.ts';

export { decisionRate, type DecisionRateName, isDecisionRate, rateCells } from './decision-rates.ts';
export type { GroupMeasure, MeasureDefinition, MeanSampling, RateSampling, Sampling } from './group-measure.ts';

const MEASURES = { ...DECISION_MEASURES, ...ERROR_MEASURES, ...SCORE_MEASURES };

/** The name of a measure. A measure has one value per group. */
export type MeasureName = keyof typeof MEASURES;

/** The names of all measures. */
export const MEASURE_NAMES = Object.keys(MEASURES) as readonly MeasureName[];

/** Maps the names that other libraries use for measures to the names used here. */
const ALIASES: Readonly<Record<string, MeasureName>> = {
  accuracy_score: 'accuracy',
  balanced_accuracy_score: 'balanced_accuracy',
  f1_score: 'f1',
  mean_absolute_error: 'mean_absolute_error',
  positive_predictive_value: 'precision',
  precision_score: 'precision',
  prevalence: 'base_rate',
  r2_score: 'r2',
  recall: 'true_positive_rate',
  recall_score: 'true_positive_rate',
  roc_auc_score: 'roc_auc',
  specificity: 'true_negative_rate',
  zero_one_loss: 'error_rate',
};

/** Returns the name of a measure from its name or an alias, or undefined if there is none. */
export function findMeasure(name: string): MeasureName | undefined {
  return Object.hasOwn(MEASURES, name)
    ? (name as MeasureName)
    : Object.hasOwn(ALIASES, name)
      ? ALIASES[name]
      : undefined;
}

/** Returns the definition of a measure. */
export function measureDefinition(name: MeasureName): MeasureDefinition {
  // Each definition takes statistics of its own kind; callers check `kind` first.
  return MEASURES[name] as unknown as MeasureDefinition;
}

/**
 * Returns the name of a measure from its name or an alias.
 * @throws {MetricComputationError} if the measure is unknown; the error suggests similar names
 */
export function parseMeasure(name: string): MeasureName {
  const found = findMeasure(name);
  if (found !== undefined) return found;
  throw new MetricComputationError(`There is no measure named '${name}'.`, {
    context: { measure: name },
    suggestion: suggestNames(name, MEASURE_NAMES, 'measures'),
  });
}
