import { ValueError } from '../exceptions/index.ts';
import { suggestNames } from '../internal/nearest.ts';
import {
  demographicParityDifferenceOf,
  equalizedOddsDifferenceOf,
  maeParityDifferenceOf,
  type MetricResult,
  reduceClassificationFile,
  reduceRegressionFile,
} from '../metrics/index.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';
import { parseBy } from '../schemas/parse.ts';
import { type ValidateInput, type ValidateRequest, validateSchema } from '../schemas/validate.ts';
import { judge, type Verdict } from './assertions.ts';

/** The metrics of one attribute, by name. */
export type AttributeMetrics = Readonly<Record<string, MetricResult>>;

/** What validating a file gives. */
export interface FileValidation {
  /** true or false; null without a threshold. With several attributes, whether all pass. */
  readonly passed: boolean | null;
  readonly threshold: number | null;
  /** The metrics of each attribute, by its label: one column, or several joined by `||`. */
  readonly attributes: Readonly<Record<string, AttributeMetrics>>;
  /** The gate's verdict on each attribute. */
  readonly verdicts: Readonly<Record<string, Verdict>>;
}

/** The metrics that a file can be validated by. */
const VALIDATION_METRICS = [
  'demographic_parity_difference',
  'equalized_odds_difference',
  'mae_parity_difference',
] as const;

/**
 * Measures the decisions (or predictions) in a file for every attribute asked
 * for, without loading the rows, and puts the result before the gate.
 *
 * Demographic parity is always measured; equalized odds too where there are
 * true labels. For `metric: 'mae_parity_difference'` the predictions are taken
 * as numbers and only that metric is computed.
 * @throws {DataValidationError} for an unreadable file or unusable values
 * @throws {ValueError} for an unknown metric, or one that needs true labels without them
 */
export async function validateFile(path: string, input: ValidateInput): Promise<FileValidation> {
  const request = parseBy(validateSchema, input, 'validateFile');
  const { attributes, metric, threshold, comparator } = request;
  assertMetric(request);
  const names = attributes.map((attribute) => attribute.join(INTERSECTION_SEPARATOR));
  const measured = await measure(path, request);
  const verdicts = measured.map((metrics) => {
    const [first] = Object.values(metrics);
    return judge((metric === undefined ? first : metrics[metric]) as MetricResult, threshold, comparator);
  });
  return Object.freeze({
    passed: threshold === undefined ? null : verdicts.every((verdict) => verdict.passed === true),
    threshold: threshold ?? null,
    attributes: Object.fromEntries(names.map((name, index) => [name, measured[index] as AttributeMetrics])),
    verdicts: Object.fromEntries(names.map((name, index) => [name, verdicts[index] as Verdict])),
  });
}

async function measure(path: string, request: ValidateRequest): Promise<AttributeMetrics[]> {
  const { attributes, yTrue, sampleWeight, metric, positiveLabel } = request;
  const yPred = request.yPred ?? request.score ?? '';
  const scoreThreshold = request.score === undefined ? undefined : (request.scoreThreshold ?? 0.5);
  const options = {
    minGroupSize: request.minGroupSize,
    withCi: request.withCi,
    ciLevel: request.ciLevel,
    withEffectSize: request.withEffects,
    seed: request.seed,
  };
  const shared = { attributes, yPred, sampleWeight, nanPolicy: request.nanPolicy };
  if (metric === 'mae_parity_difference' && yTrue !== undefined) {
    const stats = await reduceRegressionFile(path, { ...shared, yTrue });
    return stats.map((one) => ({ mae_parity_difference: maeParityDifferenceOf(one, options) }));
  }
  const stats = await reduceClassificationFile(path, { ...shared, yTrue, positiveLabel, scoreThreshold });
  return stats.map((one) => ({
    demographic_parity_difference: demographicParityDifferenceOf(one, options),
    ...(yTrue === undefined ? {} : { equalized_odds_difference: equalizedOddsDifferenceOf(one, options) }),
  }));
}

function assertMetric({ metric, yTrue }: ValidateRequest): void {
  if (metric === undefined) return;
  if (!VALIDATION_METRICS.some((name) => name === metric)) {
    throw new ValueError(`There is no metric named '${metric}'.`, {
      context: { metric },
      suggestion: suggestNames(metric, VALIDATION_METRICS, 'metrics'),
    });
  }
  if (metric === 'demographic_parity_difference' || yTrue !== undefined) return;
  throw new ValueError(`${metric} needs true labels.`, {
    context: { metric },
    suggestion: 'Name their column (yTrue, --y-true).',
  });
}
