import { z } from 'zod';

import { dataSourceSchema, decimalSchema } from './data-source.ts';
import { minGroupSize } from './fields.ts';
import { comparator, gatesSchema } from './gates.ts';

/** The default score threshold: scores at or above it are positive decisions. */
export const SCORE_THRESHOLD = 0.5;

/** The validation options that do not depend on the source of the rows, with their value ranges. */
export const VALIDATE_VALUES = {
  scoreThreshold: z.number(),
  minGroupSize,
  minCell: z.number().int().min(2).max(1_000_000),
  nanPolicy: z.enum(['exclude', 'include']),
  ciLevel: z.number().gt(0).lt(1),
  ciMethod: z.enum(['simultaneous', 'percentile', 'bca']),
  ciSamples: z.number().int().min(1),
  method: z.enum(['between_groups', 'to_overall', 'to_reference']),
  agg: z.enum(['worst_case', 'mean']),
  average: z.enum(['macro']),
  compat: z.enum(['fairlearn', 'aif360', 'aequitas']),
  backend: z.enum(['duckdb', 'native', 'danfo']),
  seed: z.number().int(),
  threshold: z.number(),
  comparator,
} as const;

/** The options for metrics and gates, with defaults. Each metric fills in the defaults of its own options. */
const MEASURE_OPTIONS = {
  minGroupSize: VALIDATE_VALUES.minGroupSize.optional(),
  nanPolicy: VALIDATE_VALUES.nanPolicy.default('exclude'),
  withCi: z.boolean().optional(),
  ciLevel: VALIDATE_VALUES.ciLevel.optional(),
  ciMethod: VALIDATE_VALUES.ciMethod.optional(),
  ciSamples: VALIDATE_VALUES.ciSamples.optional(),
  withEffects: z.boolean().default(false),
  withPValue: z.boolean().default(false),
  method: VALIDATE_VALUES.method.optional(),
  referenceGroup: z.string().optional(),
  agg: VALIDATE_VALUES.agg.optional(),
  average: VALIDATE_VALUES.average.optional(),
  compat: VALIDATE_VALUES.compat.optional(),
  seed: VALIDATE_VALUES.seed.optional(),
  threshold: VALIDATE_VALUES.threshold.optional(),
  metric: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
  comparator: VALIDATE_VALUES.comparator.optional(),
  gates: gatesSchema.optional(),
  measures: z.array(z.string().min(1)).min(1).optional(),
  strictMissing: z.boolean().default(false),
  minCell: VALIDATE_VALUES.minCell.optional(),
  positiveLabel: z.string().optional(),
  yTruePositiveLabel: z.string().optional(),
  naValues: z.array(z.string()).optional(),
  scoreThreshold: VALIDATE_VALUES.scoreThreshold.optional(),
} as const;

/** The options for metrics and gates, before defaults are filled in. */
export type MeasureOptionsInput = z.input<z.ZodObject<typeof MEASURE_OPTIONS>>;

/** The schema of the options for rows in arrays. */
export const rowOptionsSchema = z.object({
  ...MEASURE_OPTIONS,
  backend: VALIDATE_VALUES.backend.default('native'),
});

/** The options for metrics and gates, with defaults filled in. */
export type MeasureOptions = z.output<z.ZodObject<typeof MEASURE_OPTIONS>>;

/**
 * The options of `validate`, shared by library, command line and service. The metrics fill in the defaults of their own
 * options, so that each default is defined in one place.
 */
export const validateSchema = z
  .object({
    ...MEASURE_OPTIONS,
    attributes: z.array(z.array(z.string().min(1)).min(1)).min(1),
    yPred: z.string().optional(),
    score: z.string().optional(),
    yTrue: z.string().optional(),
    sampleWeight: z.string().optional(),
    cluster: z.string().optional(),
    strata: z.string().optional(),
    control: z.array(z.string().min(1)).min(1).optional(),
    counts: dataSourceSchema.optional(),
    decimal: decimalSchema.optional(),
    backend: VALIDATE_VALUES.backend.default('duckdb'),
  })
  .refine(
    ({ counts, yPred, score, yTrue, sampleWeight }) =>
      counts === undefined || [yPred, score, yTrue, sampleWeight].every((name) => name === undefined),
    {
      message:
        'Counts have fixed names for decisions, scores, true labels and weights: remove {yPred}, {score}, {yTrue} and {sampleWeight}.',
    },
  )
  .refine(({ counts, cluster, strata }) => counts === undefined || (cluster === undefined && strata === undefined), {
    message: 'Counts do not say which rows belong together: remove {cluster} and {strata}, or read the rows.',
  })
  .refine(({ minCell, cluster, strata }) => minCell === undefined || (cluster === undefined && strata === undefined), {
    message: 'Small counts cannot be left out together with clusters: remove {minCell}, or {cluster} and {strata}.',
  })
  .refine(({ counts, yPred, score }) => counts !== undefined || (yPred === undefined) !== (score === undefined), {
    message: 'Give either decisions ({yPred}) or scores ({score}).',
  })
  .refine(({ yPred, score, yTrue }) => yTrue === undefined || (yTrue !== yPred && yTrue !== score), {
    message:
      'One column is used for the decisions or scores and for the true labels, so no decision could be wrong: change {yTrue}, or {yPred} or {score}.',
  })
  .refine(({ yPred, score, attributes }) => !attributes.flat().some((name) => name === yPred || name === score), {
    message:
      'One column is used for the decisions or scores and as a sensitive attribute, so every group would have its own decision: change {attributes}, or {yPred} or {score}.',
  })
  .refine(({ yTrue, attributes }) => yTrue === undefined || !attributes.flat().includes(yTrue), {
    message:
      'One column is used for the true labels and as a sensitive attribute, so every group would have its own true label: change {attributes} or {yTrue}. To compare decisions by true label, leave out {yTrue}.',
  })
  .refine(({ yPred, score, control = [] }) => !control.some((name) => name === yPred || name === score), {
    message:
      'One column is used for the decisions or scores and as a control feature, so all rows of a level would have the same decision: change {control}, or {yPred} or {score}.',
  })
  .refine(
    ({ counts, score, scoreThreshold }) => counts !== undefined || score !== undefined || scoreThreshold === undefined,
    { message: 'A score threshold needs scores: add {score}.' },
  )
  .refine(
    ({ counts, yTrue, yTruePositiveLabel }) =>
      counts !== undefined || yTrue !== undefined || yTruePositiveLabel === undefined,
    { message: 'A positive label of the truth needs true labels: add {yTrue}.' },
  )
  .refine(({ threshold, comparator }) => threshold !== undefined || comparator === undefined, {
    message: 'A comparator needs a threshold: add {threshold}.',
  })
  .refine(({ threshold, metric }) => threshold === undefined || metric !== undefined, {
    message: 'A threshold needs a metric: add {metric}, for example demographic_parity_difference.',
  });

/** The input of a validation. */
export type ValidateInput = z.input<typeof validateSchema>;

/** A validation request, with defaults filled in. */
export type ValidateRequest = z.output<typeof validateSchema>;
