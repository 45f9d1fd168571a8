import { z } from 'zod';

import { count, fields, interval, model, notes, numberOrNull, RUN_FIELDS, textOrNull } from './answer-fields.ts';

const dataPath = z.string().meta({
  description: 'The path of the rows: CSV, or Parquet with Accept: application/vnd.apache.parquet.',
  examples: ['/results/0e37df36-f698-4c1f-b1f5-6d9d2bf7ad7b/data'],
});

/** The answer of `POST /predict`. */
export const predictAnswerSchema = model('PredictAnswer', 'Scores and predictions of a model for rows.', {
  ...RUN_FIELDS,
  n: count.describe('The number of rows.'),
  n_positive: numberOrNull.describe('The number of predictions of 1; null for a model of numbers.'),
  mean_score: numberOrNull,
  score_column: z.string().describe('The name of the column of scores in the rows of `download`.'),
  prediction_column: z.string(),
  method: z.string().describe('The method that trained the model.'),
  task: z.enum(['binary', 'regression']),
  output: z.string().describe('The meaning of the scores.'),
  warnings: notes,
  scores: z.array(z.number()).optional().describe('The score of each row, if the rows came in a JSON body.'),
  predictions: z.array(z.number()).optional().describe('The prediction of each row, if the rows came in a JSON body.'),
  download: dataPath,
});

const calibrationQuality = z.strictObject({
  mean_score: numberOrNull,
  ece: numberOrNull.describe('The expected calibration error.'),
  brier_score: numberOrNull,
  log_loss: numberOrNull,
});

const calibrationComparison = {
  n: count,
  positive_rate: numberOrNull,
  before: calibrationQuality,
  after: calibrationQuality,
};

/** The answer of `POST /calibrate`. */
export const calibrateAnswerSchema = model(
  'CalibrateAnswer',
  'Scores calibrated by group. GET /results/{run_id}/model returns the calibrator.',
  {
    ...RUN_FIELDS,
    method: z.enum(['platt', 'isotonic', 'temperature']),
    input: z.enum(['logit', 'score']).nullable(),
    min_samples: count,
    ...fields(z.string(), 'score', 'target'),
    positive_label: textOrNull,
    group: z.array(z.string()).describe('The columns of groups.'),
    folds: count.nullable(),
    train_size: numberOrNull,
    seed: z.number(),
    measured_on: z.enum(['cross_fitted_rows', 'held_out_rows', 'fitted_rows']),
    ...fields(count, 'n', 'n_measured', 'n_dropped'),
    overall: z.strictObject(calibrationComparison),
    groups: z.array(
      z.strictObject({ group: z.string(), calibrator: z.enum(['own', 'pooled']), ...calibrationComparison }),
    ),
    fallbacks: z
      .record(z.string(), z.strictObject({ n: count, reason: z.string() }))
      .describe('Groups that use the pooled calibrator, with the reason.'),
    warnings: notes,
    download: dataPath,
  },
);

const perArm = <Schema extends z.ZodType>(schema: Schema): z.ZodObject<{ control: Schema; treatment: Schema }> =>
  z.strictObject({ control: schema, treatment: schema });
const optionalInterval = interval.nullable();

/** The effect of the treatment on some rows. */
export const abEffectSchema = model('ABEffect', 'The effect of the treatment on some rows: treatment minus control.', {
  n: perArm(count),
  effective: perArm(numberOrNull).describe('The effective number of rows, with weights.'),
  ...fields(numberOrNull, 'control', 'treatment', 'value', 'standard_error'),
  interval: optionalInterval,
  p_value: numberOrNull,
});

/** The effect on one group. */
export const abGroupEffectSchema = model('ABGroupEffect', 'The effect of the treatment on one group.', {
  group: z.string(),
  ...abEffectSchema.shape,
  excluded: textOrNull.describe('The reason why the group is not compared; null if it is compared.'),
});

const finding = z.enum(['worse', 'better', 'changed', 'no_change_shown', 'cannot_tell']);

/** The comparison of two groups. */
export const abRowSchema = model('ABRow', 'The change of the disparity between two groups.', {
  ...fields(z.string(), 'attribute', 'metric', 'measure', 'group', 'reference'),
  n: perArm(z.strictObject({ group: count, reference: count })),
  effect: z.strictObject({ overall: abEffectSchema, group: abGroupEffectSchema, reference: abGroupEffectSchema }),
  disparity: perArm(numberOrNull),
  fairness_change: numberOrNull.describe('The disparity under treatment minus the disparity under control.'),
  standard_error: numberOrNull,
  interval: optionalInterval,
  ...fields(numberOrNull, 'p_value', 'adjusted_p_value'),
  size_change: z.strictObject({
    value: numberOrNull,
    interval: optionalInterval,
    ...fields(numberOrNull, 'p_value', 'adjusted_p_value'),
  }),
  logit_interaction: z.strictObject(fields(numberOrNull, 'estimate', 'standard_error', 'p_value')).nullable(),
  ...fields(numberOrNull, 'minimum_effect', 'power', 'detectable'),
  finding,
  verdict: z.string(),
});

/** The comparison of one measure between the groups of one attribute. */
export const abComparisonSchema = model('ABComparison', 'One measure of the groups of one attribute.', {
  ...fields(z.string(), 'attribute', 'metric', 'measure'),
  kind: z.enum(['rate', 'mean']),
  reference: textOrNull,
  overall: abEffectSchema,
  groups: z.array(abGroupEffectSchema),
  gap: z
    .strictObject({
      groups: count,
      ...fields(numberOrNull, 'control', 'treatment', 'change'),
      interval: z.array(numberOrNull).length(2),
      method: z.string(),
    })
    .nullable(),
  dropped: perArm(z.record(z.string(), count)).describe('Excluded rows by reason.'),
});

const freeForm = z.record(z.string(), z.unknown());

/** The answer of `POST /ab-test`. */
export const abTestAnswerSchema = model('ABTestAnswer', 'Whether a change made decisions more or less fair.', {
  ...RUN_FIELDS,
  finding,
  verdict: z.string(),
  n: perArm(count),
  warnings: notes,
  rows: z.array(abRowSchema).describe('All pairs of groups, for the fairness metrics.'),
  comparisons: z.array(abComparisonSchema),
  business_rows: z.array(abRowSchema),
  business: z.array(abComparisonSchema),
  n_tests: z.strictObject(fields(count, 'fairness', 'business')),
  checks: z.strictObject({
    sample_ratio: z.strictObject(fields(numberOrNull, 'treatment_share', 'expected', 'p_value')),
    by_attribute: z.array(
      z.strictObject({
        attribute: z.string(),
        groups: z.array(z.strictObject({ group: z.string(), n: perArm(count), treatment_share: numberOrNull })),
        p_value: numberOrNull,
      }),
    ),
    overlap: z.strictObject({ in_both_arms: count, repeated: perArm(count) }).nullable(),
  }),
  settings: freeForm.describe('The settings, with defaults filled in.'),
  version: z.string(),
});

const groupDecisions = z.strictObject({
  group: z.string(),
  n: numberOrNull,
  ...fields(numberOrNull, 'selection_rate', 'true_positive_rate', 'false_positive_rate'),
});

/** The quality of decisions on some rows. */
export const decisionQualitySchema = model('DecisionQuality', 'The quality of decisions on some rows.', {
  n: count,
  ...fields(numberOrNull, 'accuracy', 'dp_diff', 'eo_diff'),
  ...fields(optionalInterval, 'accuracy_ci', 'dp_diff_ci', 'eo_diff_ci'),
  groups: z.array(groupDecisions),
});

const DATA = {
  folds: count.nullable(),
  ...fields(count, 'n_train', 'n_test', 'n_dropped'),
  target: z.string(),
  positive_label: textOrNull,
  sensitive: z.array(z.string()),
  seed: z.number(),
  backend: z.string(),
  warnings: notes,
  seconds: z.number(),
  download: z.string().meta({
    description: 'The path of the model, as a ZIP archive.',
    examples: ['/results/0e37df36-f698-4c1f-b1f5-6d9d2bf7ad7b/model'],
  }),
} as const;

const CONSTRAINED = {
  ...RUN_FIELDS,
  baseline: decisionQualitySchema.describe('The model without the constraint, on held-out rows.'),
  final: decisionQualitySchema.describe('The model with the constraint, on held-out rows.'),
  train: z.strictObject({ baseline: decisionQualitySchema, final: decisionQualitySchema }),
  constraint: freeForm,
  groups: z.record(z.string(), count).describe('The number of training rows by group.'),
  ...DATA,
} as const;

/** The answer of `POST /train` with the method reductions. */
export const reductionsAnswerSchema = model('ReductionsTraining', 'A classifier trained under a constraint.', {
  ...CONSTRAINED,
  ...fields(count, 'oracle_calls', 'iterations', 'predictors'),
  ...fields(numberOrNull, 'best_gap', 'violation'),
});

/** The answer of `POST /train` with the method lagrangian. */
export const lagrangianAnswerSchema = model('LagrangianTraining', 'A network trained under a constraint.', {
  ...CONSTRAINED,
  history: z.array(
    z.strictObject({
      epoch: count,
      ...fields(numberOrNull, 'loss', 'violation_soft', 'violation_hard'),
      lambdas: z.array(z.number()),
    }),
  ),
  ...fields(count, 'best_epoch', 'batch_size'),
});

/** The answer of `POST /train` with the method regularized. */
export const sweepAnswerSchema = model('SweepTraining', 'Networks trained with several weights of a penalty.', {
  ...RUN_FIELDS,
  points: z.array(
    z.strictObject({
      eta: z.number(),
      ...fields(numberOrNull, 'accuracy', 'dp_diff', 'eo_diff', 'loss'),
      dominated: z.boolean(),
      ...fields(optionalInterval, 'accuracy_ci', 'dp_diff_ci'),
    }),
  ),
  hypervolume: numberOrNull,
  penalty: z.string(),
  eta_range: z
    .strictObject({
      ...fields(z.number(), 'from', 'to'),
      ends_at: z.enum(['constant', 'limit']),
      has_effect: z.boolean(),
      tried: z.array(z.number()),
    })
    .nullable(),
  batch_size: count,
  ...DATA,
});

/** The answer of `POST /train`. */
export const trainAnswerSchema = z.union([reductionsAnswerSchema, lagrangianAnswerSchema, sweepAnswerSchema]).meta({
  id: 'TrainAnswer',
  description: 'The quality of the trained models on held-out rows, next to the model without the constraint.',
});
