import { z } from 'zod';

import { count, fields, model, notes, numberOrNull, RUN_FIELDS, textOrNull } from './answer-fields.ts';

const attribute = z.string().describe('A sensitive column, or several columns joined by `||`.');
/** The fields of a statistical test. */
const TEST = {
  statistic: numberOrNull,
  degrees: z.array(z.number()).describe('Degrees of freedom.'),
  p_value: numberOrNull,
  adjusted_p_value: numberOrNull,
} as const;
const association = z.enum(['cramers_v', 'eta_squared']);
const contrastEnd = z.strictObject({ group: z.string(), value: z.number(), n: count });
const contrast = z
  .strictObject({ level: textOrNull, lowest: contrastEnd, highest: contrastEnd })
  .nullable()
  .describe('The two groups with the largest gap.');

const representation = z.strictObject({
  attribute,
  n: count,
  n_missing: count,
  groups: z.array(z.strictObject({ group: z.string(), n: count, share: numberOrNull, benchmark_share: numberOrNull })),
  ...TEST,
  flagged: z.boolean(),
  reason: textOrNull,
  notes,
});

const disparity = z.strictObject({
  attribute,
  column: z.string(),
  n: count,
  test: z.enum(['chi_square', 'anova']),
  ...TEST,
  effect_size_name: association,
  effect_size: numberOrNull,
  flagged: z.boolean(),
  contrast,
  reason: textOrNull,
  notes,
});

const missingness = z.strictObject({
  attribute,
  column: z.string(),
  n_missing: count,
  ...TEST,
  effect_size: numberOrNull,
  flagged: z.boolean(),
  contrast,
  notes,
});

const cell = { attribute, column: z.string(), measure: association, value: numberOrNull, n: count } as const;

const meta = z.strictObject({
  version: z.string(),
  rows: count,
  attributes: z.array(z.string()),
  target: textOrNull,
  ...fields(z.number(), 'alpha', 'proxy_threshold'),
  columns_tested: z.array(z.string()),
  skipped: z.array(z.strictObject({ column: textOrNull, attribute: textOrNull, reason: z.string() })),
  warnings: notes,
});

const body = z.strictObject({
  summary: z.strictObject({
    ...fields(count, 'representation_flagged', 'disparities_flagged', 'missingness_flagged', 'proxies_found'),
    findings: z.array(z.string()).describe('The findings as sentences, the most severe first.'),
  }),
  representation: z.array(representation),
  disparities: z.array(disparity),
  missingness: z.array(missingness),
  proxies: z.array(z.strictObject({ ...cell, notes })),
  associations: z.array(z.strictObject({ ...cell, reason: textOrNull })),
});

/** The findings of the detectors. */
export const detectorReportSchema = model('DetectorReport', 'The findings of the detectors in the data.', {
  meta,
  body,
});

const columns = z.array(z.string());

/** The effect of one step of a pipeline. */
export const pipelineStepSchema = model('PipelineStep', 'The effect of one step of a pipeline.', {
  name: z.string(),
  transformer: z.string(),
  columns_dropped: columns,
  columns_changed: columns,
  weighs: z.boolean().describe('Whether the step gives weights to rows.'),
  warnings: notes,
});

/** The answer of `POST /pipeline`. */
export const pipelineAnswerSchema = model(
  'PipelineAnswer',
  'Possible sources of unfairness in the data, and how the data were transformed.',
  {
    ...RUN_FIELDS,
    detector_report: detectorReportSchema
      .nullable()
      .describe('The findings of the detectors; null with detectors=false.'),
    transformed_rows: count,
    transformers_applied: z.array(z.string()),
    columns_in: columns,
    columns_out: columns,
    steps: z.array(pipelineStepSchema),
    download: z.string().meta({
      description: 'The path of the transformed rows: Parquet, or CSV with Accept: text/csv.',
      examples: ['/results/0e37df36-f698-4c1f-b1f5-6d9d2bf7ad7b/data'],
    }),
  },
);
