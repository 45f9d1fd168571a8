import { z } from 'zod';

import { metricResults } from './metric-result.ts';
import { comparator, count, notes, numberOrNull, RUN_FIELDS, textOrNull } from './plain.ts';

/** The verdict on a workflow's final model. */
export const workflowValidationSchema = z
  .strictObject({
    passed: z.boolean().nullable(),
    status: z.enum(['pass', 'fail', 'undefined']).nullable(),
    metric: z.string(),
    attribute: z.string().meta({ description: 'The attribute whose final value is the worst, and decides.' }),
    baseline_metric_value: numberOrNull,
    baseline_undefined_reason: textOrNull,
    final_metric_value: numberOrNull,
    final_undefined_reason: textOrNull,
    threshold: numberOrNull,
    comparator: comparator.nullable(),
    improvement_percent: numberOrNull.meta({
      description: '100 (final - baseline) / |baseline|: negative when unfairness falls.',
    }),
    message: z.string(),
    straddles: z.boolean(),
    unevenly_missing: z.boolean().meta({
      description: 'Whether rows were left out more often in some groups than in others, beyond chance.',
    }),
  })
  .meta({ id: 'WorkflowValidation', description: 'The verdict on the final model, beside the baseline.' });

/** What predictions on the held-out rows come to. */
export const workflowMetricsSchema = z
  .strictObject({
    n: count.meta({ description: 'Rows judged.' }),
    accuracy: numberOrNull,
    mean_absolute_error: numberOrNull,
    metrics: metricResults,
    attributes: z.record(z.string(), metricResults).meta({ description: 'The metrics of each attribute.' }),
  })
  .meta({ id: 'WorkflowMetrics', description: 'What predictions on the held-out rows come to.' });

const tradeOff = z.strictObject({
  label: z.string(),
  kind: z.enum(['baseline', 'final', 'candidate']),
  accuracy: numberOrNull,
  unfairness: numberOrNull,
});

const split = z.strictObject({
  n_train: count,
  n_test: count,
  n_dropped: count,
  train_size: z.number(),
  seed: z.number().int(),
});

const freeForm = z.record(z.string(), z.unknown());

/** `POST /workflow` */
export const workflowAnswerSchema = z
  .strictObject({
    ...RUN_FIELDS,
    validation: workflowValidationSchema,
    baseline_metrics: workflowMetricsSchema,
    final_metrics: workflowMetricsSchema,
    config: freeForm.meta({ description: 'The configuration as it was understood.' }),
    seed: z.number().int(),
    transformers_applied: z.array(z.string()),
    task: z.enum(['binary', 'regression']),
    method: textOrNull,
    target: textOrNull,
    positive_label: textOrNull,
    constraint: freeForm.nullable().meta({ description: 'What the method constrained, in its own terms.' }),
    class_weight: z
      .union([z.literal('balanced'), z.record(z.string(), z.number())])
      .nullable()
      .meta({ description: 'How classes were weighed in training.' }),
    decision_threshold: numberOrNull,
    min_group_size: count,
    split,
    features: z.strictObject({ baseline: z.array(z.string()), final: z.array(z.string()) }),
    trade_off: z.array(tradeOff),
    warnings: notes,
  })
  .meta({
    id: 'WorkflowAnswer',
    description: 'A model trained without and with a fairness constraint, and what that changed on held-out rows.',
  });
