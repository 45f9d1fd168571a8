import { z } from 'zod';

/** A number, or null if the number is undefined, because JSON has no NaN. */
export const numberOrNull = z.number().nullable();

/** A text, or null if there is none. */
export const textOrNull = z.string().nullable();

/** A count of items. */
export const count = z.number().int().min(0);

/** A point in time, with its time zone. */
export const moment = z.iso.datetime();

/** Notes and warnings. */
export const notes = z.array(z.string());

/**
 * The lower and upper end of an interval. The interval is an array of length two, because few client generators support
 * tuples.
 */
export const interval = z.array(z.number()).length(2);

/** The lower and upper end of an interval, as in {@link interval}, but each end may be infinite. */
const openInterval = z.array(numberOrNull).length(2);

/** The operators that compare a value with a threshold. */
export const comparator = z.enum(['<=', '<', '>=', '>']);

/** The ID of a run. */
export const runId = z
  .string()
  .min(1)
  .meta({
    description: 'The ID of the run, for GET /results/{run_id}.',
    examples: ['0e37df36-f698-4c1f-b1f5-6d9d2bf7ad7b'],
  });

/** Returns fields that all have the same schema. */
export function fields<Name extends string, Schema extends z.ZodType>(
  schema: Schema,
  ...names: readonly Name[]
): Readonly<Record<Name, Schema>> {
  return Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>;
}

/** The fields of every answer of a run. */
export const RUN_FIELDS = {
  run_id: runId,
  status: z.literal('success'),
  timestamp: moment.describe('The time at which the run ended.'),
} as const;

/** Returns the schema of an object that allows no other fields, with its name in the document. */
export function model<Shape extends z.ZodRawShape>(
  id: string,
  description: string,
  shape: Shape,
  ...examples: readonly unknown[]
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape).meta({ id, description, ...(examples.length === 0 ? {} : { examples: [...examples] }) });
}

const measures = z.record(z.string(), numberOrNull);

/** The values of measures for all rows, for each group, and for each level of a control feature. */
export const metricFrameSchema = z
  .strictObject({
    overall: measures.describe('Measures of all rows.'),
    by_group: z.record(z.string(), measures),
    n_per_group: z.record(z.string(), count),
    difference: measures.describe('The largest gap between groups, by measure.'),
    ratio: measures.describe('The smallest ratio between groups, by measure.'),
    n_dropped: count,
    warnings: notes,
    get by_level() {
      return z
        .record(z.string(), metricFrameSchema)
        .optional()
        .describe('The measures within each level of the control feature.');
    },
  })
  .meta({ id: 'MetricFrame', description: 'Measures of all rows and of each group, with their comparisons.' });

/** A group that was excluded from a metric, completely or for one rate. */
export const exclusionSchema = model('Exclusion', 'The reason why a group, or one rate of it, was excluded.', {
  n: count.describe('The number of rows of the group.'),
  reason: z.string(),
  numerator: numberOrNull.describe('The weighted numerator of the rate that the reason names.'),
  denominator: numberOrNull.describe('The weighted denominator of the rate that the reason names.'),
});

/** Rows with missing values, by group. */
export const missingRowsSchema = model(
  'MissingRows',
  'Rows without a value that the metric needs, and how much they could change it.',
  {
    n: count.describe('Rows of all groups. Rows without a group are counted only in n_dropped.'),
    by_group: z.record(z.string(), count),
    p_value: numberOrNull.describe(
      'The p-value of the test that the share of missing rows is equal in all groups. Below 0.05 the gate warns, or fails with strict_missing. null if no row is missing.',
    ),
    worst_case: interval
      .nullable()
      .describe(
        'The smallest and largest value that the metric could have if no value were missing; null if not known.',
      ),
  },
);

/** The fields of every metric. */
export const METRIC_RESULT_FIELDS = {
  metric: z.string().meta({ examples: ['demographic_parity_difference'] }),
  value: numberOrNull.describe('The value of the metric; null if it is undefined (see undefined_reason).'),
  ci: openInterval
    .nullable()
    .describe('The confidence interval of the value. An infinite end (of a ratio) is null. null without intervals.'),
  ci_level: numberOrNull.describe('The confidence level of the interval, from 0 to 1.'),
  ci_method: textOrNull,
  effect_size: numberOrNull.describe("Risk ratio of the extreme groups for rates, Cohen's d for mean errors."),
  effect_size_name: z.enum(['risk_ratio', 'cohens_d']).nullable(),
  p_value: numberOrNull.describe(
    'The p-value: the probability of a gap at least this large if the groups do not differ.',
  ),
  p_value_method: textOrNull,
  minimum_detectable_gap: numberOrNull.describe(
    'The minimum detectable difference between the extreme groups (80% power).',
  ),
  method: z.enum(['between_groups', 'to_overall', 'to_reference']).describe('What each group is compared with.'),
  reference_group: textOrNull,
  agg: z.enum(['worst_case', 'mean']).nullable().describe('How several gaps are aggregated.'),
  compat: z.enum(['fairlearn', 'aif360', 'aequitas']).nullable().describe('The library whose conventions are used.'),
  n_per_group: z.record(z.string(), count).describe('The number of included rows per group.'),
  per_group: z
    .record(z.string(), z.record(z.string(), numberOrNull))
    .describe('Measures per included group; null if a group does not have the measure.'),
  per_group_ci: z
    .record(z.string(), z.record(z.string(), interval.nullable()))
    .nullable()
    .describe('The intervals of each group.'),
  excluded: z
    .record(z.string(), exclusionSchema)
    .describe('Excluded groups, or excluded rates of groups, with the reason.'),
  first: textOrNull.describe(
    'One of the two groups of the gap: the group with the higher value, or the first group of a signed gap. null if the value does not belong to two groups.',
  ),
  second: textOrNull.describe('The other group of the gap; also null if groups are compared with all rows.'),
  missing: missingRowsSchema.nullable(),
  n_dropped: count.describe('The number of rows excluded because a value that the metric needs is missing.'),
  undefined_reason: textOrNull,
  bounds: interval
    .optional()
    .describe(
      'The smallest and largest value that the metric can have; only if small counts were left out (min_cell).',
    ),
  per_group_bounds: z
    .record(z.string(), z.record(z.string(), interval.nullable()))
    .optional()
    .describe('The smallest and largest value of each measure of each group; only if small counts were left out.'),
  n_clusters: z
    .record(z.string(), count)
    .optional()
    .describe('The number of clusters of each group; only if rows come in clusters.'),
  warnings: notes.describe('Warnings to consider before you quote the value.'),
  seed: z.number().int().nullable().describe('The seed of random computations; null if there are none.'),
} as const;

/** A metric with all details that a reader needs to verify its value. */
export const metricResultSchema = model(
  'MetricResult',
  'A metric with all details needed to check it.',
  METRIC_RESULT_FIELDS,
);

/** Metrics by name. */
export const metricResults = z.record(z.string(), metricResultSchema).describe('Metrics by name.');
