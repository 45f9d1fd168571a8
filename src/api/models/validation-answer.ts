import { z } from 'zod';

import { metricFrameSchema, metricResults } from './metric-result.ts';
import { numberOrNull, RUN_FIELDS } from './plain.ts';

/** The gate's verdict on one metric. */
export const verdictSchema = z
  .strictObject({
    status: z.enum(['pass', 'fail', 'undefined']),
    message: z.string().meta({ description: 'The verdict in one sentence.' }),
    straddles: z.boolean().meta({
      description: 'Whether the interval contains the threshold, so that another sample could change the verdict.',
    }),
    unevenly_missing: z.boolean().meta({
      description: 'Whether the share of rows with missing values differs significantly between groups.',
    }),
  })
  .meta({
    id: 'Verdict',
    description:
      'The verdict of the gate. An undefined metric fails, and is distinguished from one above the threshold.',
  });

/** The verdict of one gate on one attribute. */
export const gateVerdictSchema = z
  .strictObject({
    attribute: z.string(),
    metric: z.string(),
    passed: z.boolean().nullable(),
    threshold: numberOrNull,
    comparator: z.enum(['<=', '<', '>=', '>']).nullable(),
    ...verdictSchema.shape,
  })
  .meta({ id: 'GateVerdict', description: 'The verdict of one gate on one attribute.' });

const gates = z.array(gateVerdictSchema).meta({
  description: 'The verdict of every gate on every attribute; empty without a threshold. All verdicts must pass.',
});

const ATTRIBUTE_FIELDS = {
  passed: z.boolean().nullable().meta({ description: 'true or false; null without a threshold.' }),
  verdict: verdictSchema.nullable(),
  metrics: metricResults,
  control: metricFrameSchema.optional(),
} as const;

const threshold = numberOrNull.meta({
  description: 'The threshold of all gates; null without a threshold, or if gates have different ones.',
});

const labelCounts = z.record(z.string(), z.number().int());

const columnLabels = z.strictObject({
  positive: labelCounts.meta({ description: 'The number of rows by label, for labels that were read as 1.' }),
  negative: labelCounts.meta({ description: 'The number of rows by label, for labels that were read as 0.' }),
  missing: labelCounts.meta({
    description: 'The number of rows by text that was read as a missing value. null is not counted here.',
  }),
});

/** How labels were read. */
export const readLabelsSchema = z
  .strictObject({ y_pred: columnLabels.optional(), y_true: columnLabels.optional() })
  .meta({
    id: 'ReadLabels',
    description:
      'How the labels of predictions and truth were read. Present only if a positive label was given, or a text was read as missing.',
  });

/** The metrics of one attribute among several. */
export const attributeValidationSchema = z
  .strictObject(ATTRIBUTE_FIELDS)
  .meta({ id: 'AttributeValidation', description: 'The metrics of one attribute among several.' });

/** A validation by one attribute. */
export const singleValidationSchema = z
  .strictObject({ ...RUN_FIELDS, threshold, gates, labels: readLabelsSchema.optional(), ...ATTRIBUTE_FIELDS })
  .meta({ id: 'SingleValidation', description: 'A validation by one attribute.' });

/** A validation by several attributes, each analysed separately. */
export const severalValidationSchema = z
  .strictObject({
    ...RUN_FIELDS,
    threshold,
    labels: readLabelsSchema.optional(),
    gates,
    passed: ATTRIBUTE_FIELDS.passed,
    attributes: z.record(z.string(), attributeValidationSchema),
  })
  .meta({ id: 'SeveralValidation', description: 'A validation by several attributes, each analysed separately.' });

/** `POST /validate` */
export const validationAnswerSchema = z.union([singleValidationSchema, severalValidationSchema]).meta({
  id: 'ValidationAnswer',
  description: 'A validation. `passed: false` is a normal answer with status 200.',
});
