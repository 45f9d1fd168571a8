import { z } from 'zod';

import { described, optionalField } from './fields.ts';
import { camelFields } from '../internal/arguments.ts';
import { type BrokenRule, brokenRules } from './problems-of.ts';
import { DEFAULT_MIN_GROUP_SIZE, MIN_GROUP_SIZE_DEFAULT } from './min-group-size.ts';
import { gateSchema } from './gates.ts';
import { type MeasureOptionsInput, VALIDATE_VALUES } from './validate-values.ts';

/** The maximum number of replicates that a request can ask for. Computing replicates occupies a thread. */
const MAX_SAMPLES = 100_000;

/** The maximum number of texts that a request can declare as missing values. */
const MAX_NA_VALUES = 1000;
/** The maximum number of metrics in a request. */
const MAX_METRICS = 50;
/** The maximum number of gates in a request. */
const MAX_GATES = 100;

const metricName = z.string().min(1).max(200);

/** The options for metrics and gates in requests, in snake_case. */
export const CLUSTER_DESCRIPTION =
  'The cluster of each row, such as a person or a school. Rows of a cluster may depend on each other: intervals and p-values then count clusters instead of rows.';

export const STRATA_DESCRIPTION =
  'The stratum of each row, for a sample that was drawn separately in each stratum. Without clusters, each row is a cluster.';

export const MEASURE_WIRE_FIELDS = {
  score_threshold: optionalField(
    VALIDATE_VALUES.scoreThreshold,
    'The decision threshold: a score of at least this value is a positive decision. Default: 0.5.',
    0.5,
  ),
  positive_label: optionalField(
    z.union([z.string(), z.number(), z.boolean()], { error: 'positive_label must be a text, a number or a boolean.' }),
    'The label that counts as 1, if labels are not 0 and 1.',
    'yes',
  ),
  y_true_positive_label: optionalField(
    z.union([z.string(), z.number(), z.boolean()], {
      error: 'y_true_positive_label must be a text, a number or a boolean.',
    }),
    'The label of y_true that counts as 1, if it differs from the positive label of the decisions. Default: positive_label.',
    'repaid',
  ),
  na_values: optionalField(
    z.array(z.string()).max(MAX_NA_VALUES),
    'Texts that are read as missing values, in all columns. Default: the same texts as in pandas (NA, N/A, NaN, None, null and others) in y_pred, y_true, y_score and sample_weight; only the empty text in sensitive and control.',
    ['NA', 'unknown'],
  ),
  threshold: optionalField(
    VALIDATE_VALUES.threshold,
    'The threshold of the gate: `passed` is true if the metric satisfies the threshold. Without a threshold there is no verdict.',
    0.1,
  ),
  metric: optionalField(
    z.union([metricName, z.array(metricName).min(1).max(MAX_METRICS)]),
    'A metric to report and to judge, or a measure with the suffix _difference or _ratio; several as a list. Each may have a gate: NAME<=VALUE, with <=, <, >= or >. All gates must pass, and threshold applies to metrics without a gate. Default: demographic_parity_difference.',
    'demographic_parity_difference',
    'precision_ratio',
    ['demographic_parity_difference<=0.1', 'demographic_parity_ratio>=0.8'],
  ),
  comparator: optionalField(
    VALIDATE_VALUES.comparator,
    'The comparison of the gate. Default: <= for the absolute value; >= for a ratio.',
    '<=',
  ),
  gates: optionalField(
    z.array(gateSchema).min(1).max(MAX_GATES),
    'Gates in addition to the gates in `metric`, each with the attributes to which it applies. All gates must pass. An attribute without a gate has no verdict.',
    [{ metric: 'demographic_parity_difference', threshold: 0.1, attributes: ['sex'] }],
  ),
  measures: optionalField(
    z.array(metricName).min(1).max(MAX_METRICS),
    'Measures to report for every group, such as selection_rate, precision or count: a table of groups by measures, with the values of all rows, differences and ratios.',
    ['selection_rate', 'precision'],
  ),
  strict_missing: described(
    z.boolean().default(false),
    'Whether the gate fails if the share of rows with missing values differs significantly between groups (p < 0.05). Default: false, which only warns.',
    true,
  ),
  min_group_size: optionalField(
    VALIDATE_VALUES.minGroupSize,
    `The minimum number of rows of a group. Smaller groups are excluded and listed. ${MIN_GROUP_SIZE_DEFAULT}`,
    DEFAULT_MIN_GROUP_SIZE,
  ),
  min_cell: optionalField(
    VALIDATE_VALUES.minCell,
    'Leaves out counts below this number: no result shows them, and metrics have bounds instead of values and intervals. Only for metrics of decisions, without weights and control features.',
    10,
  ),
  with_ci: optionalField(
    z.boolean(),
    'Whether metrics have confidence intervals. Default: yes, unless replicates times groups exceed the limit of the service; a warning then says so. With true, such a request is rejected.',
    false,
  ),
  ci_level: optionalField(VALIDATE_VALUES.ciLevel, 'The confidence level of intervals. Default: 0.95.', 0.95),
  ci_method: optionalField(VALIDATE_VALUES.ciMethod, 'The method of intervals. Default: simultaneous.', 'simultaneous'),
  ci_samples: optionalField(
    VALIDATE_VALUES.ciSamples.max(MAX_SAMPLES),
    'Replicates of intervals and p-values. Default: 1000.',
    1000,
  ),
  with_effects: described(z.boolean().default(false), 'Adds effect sizes.', true),
  with_p_value: described(z.boolean().default(false), 'Adds p-values.', true),
  method: optionalField(VALIDATE_VALUES.method, 'The reference of comparisons. Default: between_groups.', 'to_overall'),
  reference_group: optionalField(z.string(), 'For to_reference: the reference group. Default: the largest.', 'm'),
  agg: optionalField(
    VALIDATE_VALUES.agg,
    'Equalized odds: the larger gap, or the mean of both. Default: worst_case.',
    'mean',
  ),
  average: optionalField(
    VALIDATE_VALUES.average,
    'For decisions of more than two classes: macro computes each metric for each class against the rest, and averages over the classes. Default: decisions are binary.',
    'macro',
  ),
  compat: optionalField(VALIDATE_VALUES.compat, 'Follows the conventions of another library.', 'fairlearn'),
  nan_policy: described(
    VALIDATE_VALUES.nanPolicy.default('exclude'),
    'Rows without a group: excluded and counted, or a separate group (missing).',
    'include',
  ),
  seed: optionalField(VALIDATE_VALUES.seed, 'The seed of intervals and p-values. Default: 42.', 42),
  backend: described(
    VALIDATE_VALUES.backend.default('native'),
    'The engine that counts the rows; the results are the same.',
    'native',
  ),
} as const;

/** The parsed values of {@link MEASURE_WIRE_FIELDS}. */
export type MeasureWire = z.output<z.ZodObject<typeof MEASURE_WIRE_FIELDS>>;

/** The fields that provide the decisions of a request. */
interface DecisionFields {
  readonly predictions: string;
  readonly scores: string;
  /** Whether a request may contain both scores and decisions. Some metrics need scores. */
  readonly takesBoth: boolean;
  /** The error message if a request has neither predictions nor scores. */
  readonly missing: string;
  readonly suggestion: string;
}

/** Checks requirements that involve several fields. */
export function measureRules(
  body: Readonly<Record<string, unknown>>,
  { predictions, scores, takesBoth, missing, suggestion }: DecisionFields,
): BrokenRule[] {
  const hasPredictions = body[predictions] !== undefined;
  const hasScores = body[scores] !== undefined;
  const isUndecided = !hasScores || hasPredictions;
  return brokenRules([
    [!hasPredictions && !hasScores, predictions, missing, suggestion],
    [
      hasPredictions && hasScores && !takesBoth,
      scores,
      `Give either decisions (${predictions}) or scores (${scores}), not both.`,
      `Leave out ${scores} or ${predictions}.`,
    ],
    [
      body['score_threshold'] !== undefined && isUndecided,
      'score_threshold',
      `A score_threshold applies to scores: send ${scores} without ${predictions}, or omit score_threshold.`,
      'Leave score_threshold out, or send scores alone.',
    ],
    [
      body['y_true_positive_label'] !== undefined && body['y_true'] === undefined,
      'y_true_positive_label',
      'y_true_positive_label needs true labels: add y_true.',
      'Send y_true too, or leave y_true_positive_label out.',
    ],
    [
      body['comparator'] !== undefined && body['threshold'] === undefined,
      'comparator',
      'A comparator needs a threshold: add threshold.',
      'Send threshold too, or leave comparator out.',
    ],
  ]);
}

function textOf(label: string | number | boolean | undefined): string | undefined {
  return label === undefined ? undefined : String(label);
}

/** Converts a request's fields to the options of the library. */
export function measureOptionsOf(
  wire: Omit<MeasureWire, 'gates'> & Partial<Pick<MeasureWire, 'gates'>>,
): MeasureOptionsInput & { readonly backend: MeasureWire['backend'] } {
  const fields = Object.fromEntries(
    Object.keys(MEASURE_WIRE_FIELDS).map((name) => [name, wire[name as keyof MeasureWire]]),
  ) as unknown as MeasureWire;
  return {
    ...camelFields(fields),
    positiveLabel: textOf(wire.positive_label),
    yTruePositiveLabel: textOf(wire.y_true_positive_label),
    // A threshold without a metric applies to demographic parity.
    metric: wire.metric ?? (wire.threshold === undefined ? undefined : 'demographic_parity_difference'),
  };
}
