import { z } from 'zod';

import { metricFrameSchema, metricResults } from './metric-result.ts';
import { numberOrNull, RUN_FIELDS } from './plain.ts';

/** What the gate found on one metric. */
export const verdictSchema = z
  .strictObject({
    status: z.enum(['pass', 'fail', 'undefined']),
    message: z.string().meta({ description: 'The verdict in one sentence.' }),
    straddles: z.boolean().meta({
      description: 'Whether the interval has the threshold inside, so that another sample could turn the verdict.',
    }),
    unevenly_missing: z.boolean().meta({
      description: 'Whether rows with missing values are more common in some groups than in others, beyond chance.',
    }),
  })
  .meta({
    id: 'Verdict',
    description: 'What the gate found. An undefined metric fails, and is told from one too large.',
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
  description: 'The verdict of every gate on every attribute; empty without a threshold. All must pass.',
});

const ATTRIBUTE_FIELDS = {
  passed: z.boolean().nullable().meta({ description: 'true or false; null without a threshold.' }),
  verdict: verdictSchema.nullable(),
  metrics: metricResults,
  control: metricFrameSchema.optional(),
} as const;

const threshold = numberOrNull.meta({
  description: 'The threshold of all gates; null without one, and where gates have different ones.',
});

const labelCounts = z.record(z.string(), z.number().int());

const columnLabels = z.strictObject({
  positive: labelCounts.meta({ description: 'Rows by label that count as 1.' }),
  negative: labelCounts.meta({ description: 'Rows by label that count as 0.' }),
  missing: labelCounts.meta({
    description: 'Rows by text that was read as a missing value; null is not counted here.',
  }),
});

/** What labels were read as. */
export const readLabelsSchema = z
  .strictObject({ y_pred: columnLabels.optional(), y_true: columnLabels.optional() })
  .meta({
    id: 'ReadLabels',
    description:
      'What the labels of predictions and truth were read as. Only there where a positive label was named, or a text was read as missing.',
  });

/** The metrics of one attribute among several. */
export const attributeValidationSchema = z
  .strictObject(ATTRIBUTE_FIELDS)
  .meta({ id: 'AttributeValidation', description: 'The metrics of one attribute among several.' });

/** A validation by one attribute. */
export const singleValidationSchema = z
  .strictObject({ ...RUN_FIELDS, threshold, gates, labels: readLabelsSchema.optional(), ...ATTRIBUTE_FIELDS })
  .meta({ id: 'SingleValidation', description: 'A validation by one attribute.' });

/** A validation by several attributes, each apart. */
export const severalValidationSchema = z
  .strictObject({
    ...RUN_FIELDS,
    threshold,
    labels: readLabelsSchema.optional(),
    gates,
    passed: ATTRIBUTE_FIELDS.passed,
    attributes: z.record(z.string(), attributeValidationSchema),
  })
  .meta({ id: 'SeveralValidation', description: 'A validation by several attributes, each apart.' });

/** `POST /validate` */
export const validationAnswerSchema = z.union([singleValidationSchema, severalValidationSchema]).meta({
  id: 'ValidationAnswer',
  description: 'A validation. `passed: false` is an ordinary answer with status 200.',
});
