import { z } from 'zod';

/** The options of a validation that are the same whatever the rows come from, each as its values may be. */
export const VALIDATE_VALUES = {
  scoreThreshold: z.number(),
  minGroupSize: z.number().int().min(1),
  nanPolicy: z.enum(['exclude', 'include']),
  ciLevel: z.number().gt(0).lt(1),
  ciMethod: z.enum(['simultaneous', 'percentile', 'bca']),
  ciSamples: z.number().int().min(1),
  method: z.enum(['between_groups', 'to_overall', 'to_reference']),
  agg: z.enum(['worst_case', 'mean']),
  compat: z.enum(['fairlearn', 'aif360', 'aequitas']),
  backend: z.enum(['duckdb', 'native', 'danfo']),
  seed: z.number().int(),
  threshold: z.number(),
  comparator: z.enum(['<=', '<', '>=', '>']),
} as const;

/** How rows are measured and judged, with defaults; options that metrics have are filled in there. */
export const MEASURE_OPTIONS = {
  minGroupSize: VALIDATE_VALUES.minGroupSize.optional(),
  nanPolicy: VALIDATE_VALUES.nanPolicy.default('exclude'),
  withCi: z.boolean().default(false),
  ciLevel: VALIDATE_VALUES.ciLevel.optional(),
  ciMethod: VALIDATE_VALUES.ciMethod.optional(),
  ciSamples: VALIDATE_VALUES.ciSamples.optional(),
  withEffects: z.boolean().default(false),
  withPValue: z.boolean().default(false),
  method: VALIDATE_VALUES.method.optional(),
  referenceGroup: z.string().optional(),
  agg: VALIDATE_VALUES.agg.optional(),
  compat: VALIDATE_VALUES.compat.optional(),
  seed: VALIDATE_VALUES.seed.optional(),
  threshold: VALIDATE_VALUES.threshold.optional(),
  metric: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
  comparator: VALIDATE_VALUES.comparator.optional(),
  strictMissing: z.boolean().default(false),
  positiveLabel: z.string().optional(),
  yTruePositiveLabel: z.string().optional(),
  naValues: z.array(z.string()).optional(),
  scoreThreshold: VALIDATE_VALUES.scoreThreshold.optional(),
} as const;

/** How rows are measured and judged, as it may be given. */
export type MeasureOptionsInput = z.input<z.ZodObject<typeof MEASURE_OPTIONS>>;

/** How rows of arrays are measured and judged. */
export const rowOptionsSchema = z.object({
  ...MEASURE_OPTIONS,
  backend: VALIDATE_VALUES.backend.default('native'),
});

/** How rows are measured and judged, with its defaults filled in. */
export type MeasureOptions = z.output<z.ZodObject<typeof MEASURE_OPTIONS>>;
