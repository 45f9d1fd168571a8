import { z } from 'zod';

/**
 * What `validate` may be asked; the same for library, command line and service. Options that metrics have are filled in
 * there, so that each default stands in one place.
 */
export const validateSchema = z
  .object({
    attributes: z.array(z.array(z.string().min(1)).min(1)).min(1),
    yPred: z.string().optional(),
    score: z.string().optional(),
    scoreThreshold: z.number().optional(),
    yTrue: z.string().optional(),
    sampleWeight: z.string().optional(),
    positiveLabel: z.string().optional(),
    minGroupSize: z.number().int().min(1).optional(),
    nanPolicy: z.enum(['exclude', 'include']).default('exclude'),
    withCi: z.boolean().default(false),
    ciLevel: z.number().gt(0).lt(1).optional(),
    ciMethod: z.enum(['simultaneous', 'percentile', 'bca']).optional(),
    ciSamples: z.number().int().min(1).optional(),
    withEffects: z.boolean().default(false),
    withPValue: z.boolean().default(false),
    control: z.array(z.string().min(1)).min(1).optional(),
    method: z.enum(['between_groups', 'to_overall', 'to_reference']).optional(),
    referenceGroup: z.string().optional(),
    agg: z.enum(['worst_case', 'mean']).optional(),
    compat: z.enum(['fairlearn', 'aif360', 'aequitas']).optional(),
    backend: z.enum(['duckdb', 'native', 'danfo']).default('duckdb'),
    seed: z.number().int().optional(),
    threshold: z.number().optional(),
    metric: z.string().optional(),
    comparator: z.enum(['<=', '<', '>=', '>']).optional(),
  })
  .refine(({ yPred, score }) => (yPred === undefined) !== (score === undefined), {
    message: 'Give either decisions (--y-pred) or scores (--score).',
  })
  .refine(({ score, scoreThreshold }) => score !== undefined || scoreThreshold === undefined, {
    message: 'A score threshold needs scores: add --score.',
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
