import { z } from 'zod';

import { camelFields } from '../internal/arguments.ts';
import type { BrokenRule } from './problems-of.ts';
import { DEFAULT_MIN_GROUP_SIZE, MIN_GROUP_SIZE_DEFAULT } from './min-group-size.ts';
import { type MeasureOptionsInput, VALIDATE_VALUES } from './validate-values.ts';

/** The maximum number of replicates in a request. Computing them occupies a thread. */
const MAX_SAMPLES = 100_000;

/** The maximum number of missing-value texts in a request. */
const MAX_NA_VALUES = 1000;
/** The maximum number of metrics in a request. */
const MAX_METRICS = 50;

const metricName = z.string().min(1).max(200);

/** The options for metrics and gates in requests, in snake_case. */
export const MEASURE_WIRE_FIELDS = {
  score_threshold: VALIDATE_VALUES.scoreThreshold
    .optional()
    .meta({ description: 'A score of at least this is a positive decision. Default: 0.5.', examples: [0.5] }),
  positive_label: z
    .union([z.string(), z.number(), z.boolean()], { error: 'positive_label must be a text, a number or a boolean.' })
    .optional()
    .meta({ description: 'The label that counts as 1, if labels are not 0 and 1.', examples: ['yes'] }),
  y_true_positive_label: z
    .union([z.string(), z.number(), z.boolean()], {
      error: 'y_true_positive_label must be a text, a number or a boolean.',
    })
    .optional()
    .meta({
      description:
        'The label of y_true that counts as 1, if it differs from that of the decisions. Default: positive_label.',
      examples: ['repaid'],
    }),
  na_values: z
    .array(z.string())
    .max(MAX_NA_VALUES)
    .optional()
    .meta({
      description:
        'Texts that are read as missing values, in all columns. Default: those of pandas (NA, N/A, NaN, None, null and others) in y_pred, y_true, y_score and sample_weight; only the empty text in sensitive and control.',
      examples: [['NA', 'unknown']],
    }),
  threshold: VALIDATE_VALUES.threshold.optional().meta({
    description: 'The threshold of the gate: `passed` is whether the metric meets it. Without it there is no verdict.',
    examples: [0.1],
  }),
  metric: z
    .union([metricName, z.array(metricName).min(1).max(MAX_METRICS)])
    .optional()
    .meta({
      description:
        'A metric to report and to judge, or a measure with the suffix _difference or _ratio; several as a list. Each may have a gate: NAME<=VALUE, with <=, <, >= or >. All gates must pass, and threshold applies to metrics without a gate. Default: demographic_parity_difference.',
      examples: [
        'demographic_parity_difference',
        'precision_ratio',
        ['demographic_parity_difference<=0.1', 'demographic_parity_ratio>=0.8'],
      ],
    }),
  comparator: VALIDATE_VALUES.comparator.optional().meta({
    description: 'The comparison of the gate. Default: <= for the absolute value; >= for a ratio.',
    examples: ['<='],
  }),
  strict_missing: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Whether the gate fails if rows with missing values are significantly more common in some groups than in others (p < 0.05). Default: false, which only warns.',
      examples: [true],
    }),
  min_group_size: VALIDATE_VALUES.minGroupSize.optional().meta({
    description: `Smaller groups are excluded and listed. ${MIN_GROUP_SIZE_DEFAULT}`,
    examples: [DEFAULT_MIN_GROUP_SIZE],
  }),
  with_ci: z
    .boolean()
    .default(false)
    .meta({ description: 'Adds intervals.', examples: [true] }),
  ci_level: VALIDATE_VALUES.ciLevel
    .optional()
    .meta({ description: 'The confidence level of intervals. Default: 0.95.', examples: [0.95] }),
  ci_method: VALIDATE_VALUES.ciMethod
    .optional()
    .meta({ description: 'The method of intervals. Default: simultaneous.', examples: ['simultaneous'] }),
  ci_samples: VALIDATE_VALUES.ciSamples
    .max(MAX_SAMPLES)
    .optional()
    .meta({ description: 'Replicates of intervals and p-values. Default: 1000.', examples: [1000] }),
  with_effects: z
    .boolean()
    .default(false)
    .meta({ description: 'Adds effect sizes.', examples: [true] }),
  with_p_value: z
    .boolean()
    .default(false)
    .meta({ description: 'Adds p-values.', examples: [true] }),
  method: VALIDATE_VALUES.method
    .optional()
    .meta({ description: 'The reference of comparisons. Default: between_groups.', examples: ['to_overall'] }),
  reference_group: z
    .string()
    .optional()
    .meta({
      description: 'For to_reference: the reference group. Default: the largest.',
      examples: ['m'],
    }),
  agg: VALIDATE_VALUES.agg.optional().meta({
    description: 'Equalized odds: the larger gap, or the mean of both. Default: worst_case.',
    examples: ['mean'],
  }),
  compat: VALIDATE_VALUES.compat
    .optional()
    .meta({ description: 'Follows the conventions of another library.', examples: ['fairlearn'] }),
  nan_policy: VALIDATE_VALUES.nanPolicy.default('exclude').meta({
    description: 'Rows without a group: excluded and counted, or a separate group (missing).',
    examples: ['include'],
  }),
  seed: VALIDATE_VALUES.seed
    .optional()
    .meta({ description: 'The seed of intervals and p-values. Default: 42.', examples: [42] }),
  backend: VALIDATE_VALUES.backend
    .default('native')
    .meta({ description: 'The engine that counts the rows; the results are the same.', examples: ['native'] }),
} as const;

/** The parsed values of {@link MEASURE_WIRE_FIELDS}. */
export type MeasureWire = z.output<z.ZodObject<typeof MEASURE_WIRE_FIELDS>>;

/** The fields that provide the decisions of a request. */
interface DecisionFields {
  readonly predictions: string;
  readonly scores: string;
  /** Whether scores may be sent together with decisions. Some metrics need scores. */
  readonly takesBoth: boolean;
  /** The message if both fields are missing. */
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
  const rules: readonly (readonly [isBroken: boolean, field: string, message: string, suggestion: string])[] = [
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
  ];
  return rules.flatMap(([isBroken, field, message, instead]) =>
    isBroken ? [{ path: [field], message, suggestion: instead }] : [],
  );
}

function textOf(label: string | number | boolean | undefined): string | undefined {
  return label === undefined ? undefined : String(label);
}

/** Converts a request's fields to the options of the library. */
export function measureOptionsOf(
  wire: MeasureWire,
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
