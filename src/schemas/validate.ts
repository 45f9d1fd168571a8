import { z } from 'zod';

import { MEASURE_OPTIONS, VALIDATE_VALUES } from './validate-values.ts';

/**
 * What `validate` may be asked; the same for library, command line and service. Options that metrics have are filled in
 * there, so that each default stands in one place.
 */
export const validateSchema = z
  .object({
    ...MEASURE_OPTIONS,
    attributes: z.array(z.array(z.string().min(1)).min(1)).min(1),
    yPred: z.string().optional(),
    score: z.string().optional(),
    yTrue: z.string().optional(),
    sampleWeight: z.string().optional(),
    control: z.array(z.string().min(1)).min(1).optional(),
    backend: VALIDATE_VALUES.backend.default('duckdb'),
  })
  .refine(({ yPred, score }) => (yPred === undefined) !== (score === undefined), {
    message: 'Give either decisions (--y-pred) or scores (--score).',
  })
  .refine(({ score, scoreThreshold }) => score !== undefined || scoreThreshold === undefined, {
    message: 'A score threshold needs scores: add --score.',
  })
  .refine(({ yTrue, yTruePositiveLabel }) => yTrue !== undefined || yTruePositiveLabel === undefined, {
    message: 'A positive label of the truth needs true labels: add --y-true.',
  })
  .refine(({ threshold, comparator }) => threshold !== undefined || comparator === undefined, {
    message: 'A comparator needs a threshold: add --threshold.',
  })
  .refine(({ threshold, metric }) => threshold === undefined || metric !== undefined, {
    message: 'A threshold needs the metric that it is for: add --metric demographic_parity_difference, say.',
  });

/** A validation request as it may be given. */
export type ValidateInput = z.input<typeof validateSchema>;

/** A validation request with its defaults filled in. */
export type ValidateRequest = z.output<typeof validateSchema>;
