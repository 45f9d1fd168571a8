import { z } from 'zod';

import {
  comparator,
  count,
  fields,
  interval,
  metricResults,
  model,
  notes,
  numberOrNull,
  RUN_FIELDS,
  textOrNull,
} from './answer-fields.ts';

/** The verdict on a workflow's final model. */
export const workflowValidationSchema = model(
  'WorkflowValidation',
  'The verdict on the final model, compared with the baseline.',
  {
    passed: z.boolean().nullable(),
    status: z.enum(['pass', 'fail', 'undefined']).nullable(),
    metric: z.string(),
    attribute: z.string().describe('The attribute with the worst final value, which determines the verdict.'),
    baseline_metric_value: numberOrNull,
    baseline_undefined_reason: textOrNull,
    final_metric_value: numberOrNull,
    final_undefined_reason: textOrNull,
    threshold: numberOrNull,
    comparator: comparator.nullable(),
    improvement_percent: numberOrNull.describe('100 (final - baseline) / |baseline|: negative if the gap shrinks.'),
    message: z.string(),
    straddles: z.boolean(),
    unevenly_missing: z.boolean().describe('Whether the share of excluded rows differs significantly between groups.'),
  },
);

/** The metrics of predictions on the held-out rows. */
export const workflowMetricsSchema = model('WorkflowMetrics', 'The metrics of predictions on the held-out rows.', {
  n: count.describe('The number of evaluated rows.'),
  accuracy: numberOrNull,
  accuracy_ci: interval
    .nullable()
    .optional()
    .describe('The 95% interval of the accuracy, if the rows come in clusters; null if all are in one cluster.'),
  mean_absolute_error: numberOrNull,
  metrics: metricResults,
  attributes: z.record(z.string(), metricResults).describe('The metrics of each attribute.'),
});

const tradeOff = z.strictObject({
  label: z.string(),
  kind: z.enum(['baseline', 'final', 'candidate']),
  accuracy: numberOrNull,
  unfairness: numberOrNull,
});

const split = z.strictObject({
  ...fields(count, 'n_train', 'n_test', 'n_dropped'),
  train_size: z.number(),
  seed: z.number().int(),
});

const freeForm = z.record(z.string(), z.unknown());

/** The answer of `POST /workflow`. */
export const workflowAnswerSchema = model(
  'WorkflowAnswer',
  'A model trained without and with a fairness constraint, and the effect on held-out rows.',
  {
    ...RUN_FIELDS,
    validation: workflowValidationSchema,
    baseline_metrics: workflowMetricsSchema,
    final_metrics: workflowMetricsSchema,
    config: freeForm.describe('The parsed configuration.'),
    seed: z.number().int(),
    transformers_applied: z.array(z.string()),
    task: z.enum(['binary', 'regression']),
    ...fields(textOrNull, 'method', 'target', 'positive_label'),
    constraint: freeForm.nullable().describe('The constraint, with the parameter names of the method.'),
    class_weight: z
      .union([z.literal('balanced'), z.record(z.string(), z.number())])
      .nullable()
      .describe('The weights of classes in training.'),
    decision_threshold: numberOrNull,
    min_group_size: count,
    split,
    features: z.strictObject({ baseline: z.array(z.string()), final: z.array(z.string()) }),
    trade_off: z.array(tradeOff),
    warnings: notes,
  },
);
