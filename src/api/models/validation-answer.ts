import { z } from 'zod';

import { comparator, metricFrameSchema, metricResults, model, numberOrNull, RUN_FIELDS } from './answer-fields.ts';

/** The gate's verdict on one metric. */
export const verdictSchema = model(
  'Verdict',
  'The verdict of the gate. An undefined metric fails, and is distinguished from one above the threshold.',
  {
    status: z.enum(['pass', 'fail', 'undefined']),
    message: z.string().describe('The verdict in one sentence.'),
    straddles: z
      .boolean()
      .describe('Whether the interval contains the threshold, so that another sample could change the verdict.'),
    unevenly_missing: z
      .boolean()
      .describe('Whether the share of rows with missing values differs significantly between groups.'),
  },
);

/** The verdict of one gate on one attribute. */
export const gateVerdictSchema = model('GateVerdict', 'The verdict of one gate on one attribute.', {
  attribute: z.string(),
  metric: z.string(),
  passed: z.boolean().nullable(),
  threshold: numberOrNull,
  comparator: comparator.nullable(),
  ...verdictSchema.shape,
});

const gates = z
  .array(gateVerdictSchema)
  .describe('The verdict of every gate on every attribute; empty without a threshold. All verdicts must pass.');

const ATTRIBUTE_FIELDS = {
  passed: z.boolean().nullable().describe('true or false; null without a threshold.'),
  verdict: verdictSchema.nullable(),
  metrics: metricResults,
  measures: metricFrameSchema.optional().describe('The requested measures of every group.'),
  control: metricFrameSchema.optional().describe('Measures of every group within each level of the control feature.'),
} as const;

const threshold = numberOrNull.describe(
  'The threshold of all gates; null without a threshold, or if the gates have different thresholds.',
);

const labelCounts = z.record(z.string(), z.number().int());

const columnLabels = z.strictObject({
  positive: labelCounts.describe('The number of rows by label, for labels that were read as 1.'),
  negative: labelCounts.describe('The number of rows by label, for labels that were read as 0.'),
  missing: labelCounts.describe(
    'The number of rows by text that was read as a missing value. null is not counted here.',
  ),
});

/** How the labels were interpreted. */
export const readLabelsSchema = model(
  'ReadLabels',
  'How the labels of predictions and truth were read. Present only if a positive label was given, or a text was read as missing.',
  { y_pred: columnLabels.optional(), y_true: columnLabels.optional() },
);

/** The results of one attribute. */
export const attributeValidationSchema = model(
  'AttributeValidation',
  'The results of one attribute.',
  ATTRIBUTE_FIELDS,
);

const COMMON_FIELDS = {
  ...RUN_FIELDS,
  passed: ATTRIBUTE_FIELDS.passed,
  threshold,
  gates,
  labels: readLabelsSchema.optional(),
  notes: z
    .array(z.string())
    .optional()
    .describe(
      'What to consider about the data, such as a column of people with several rows each; only if there is something.',
    ),
  attributes: z
    .record(z.string(), attributeValidationSchema)
    .describe('The results of each attribute by its name; the names of an intersection are joined by ||.'),
} as const;

/** The result of a validation with one attribute. */
export const singleValidationSchema = model(
  'SingleValidation',
  'A validation by one attribute. Its results are in `attributes`, and also at the top level.',
  { ...COMMON_FIELDS, ...ATTRIBUTE_FIELDS },
);

/** The result of a validation with several attributes, each of which is analysed separately. */
export const severalValidationSchema = model(
  'SeveralValidation',
  'A validation by several attributes, each analysed separately.',
  COMMON_FIELDS,
);

/** The answer of `POST /validate`. */
export const validationAnswerSchema = z.union([singleValidationSchema, severalValidationSchema]).meta({
  id: 'ValidationAnswer',
  description: 'A validation. `passed: false` is a normal answer with status 200.',
});
