import { z } from 'zod';

import { count, interval, notes, numberOrNull, openInterval, textOrNull } from './plain.ts';

const measures = z.record(z.string(), numberOrNull);

/** Measures of all rows, of each group, and within each level of a control feature. */
export const metricFrameSchema = z
  .strictObject({
    overall: measures.meta({ description: 'Measures of all rows.' }),
    by_group: z.record(z.string(), measures),
    n_per_group: z.record(z.string(), count),
    difference: measures.meta({ description: 'The largest gap between groups, by measure.' }),
    ratio: measures.meta({ description: 'The smallest ratio between groups, by measure.' }),
    n_dropped: count,
    warnings: notes,
    get by_level() {
      return z
        .record(z.string(), metricFrameSchema)
        .optional()
        .meta({ description: 'The same within each level of the control feature.' });
    },
  })
  .meta({ id: 'MetricFrame', description: 'Measures of all rows and of each group, with their comparisons.' });

/** A group, or one rate of a group, that was excluded. */
export const exclusionSchema = z
  .strictObject({
    n: count.meta({ description: 'The number of rows of the group.' }),
    reason: z.string(),
    numerator: numberOrNull.meta({
      description: 'The weighted numerator of the rate that the reason names.',
    }),
    denominator: numberOrNull.meta({ description: 'The weighted denominator of that rate.' }),
  })
  .meta({ id: 'Exclusion', description: 'The reason why a group, or one rate of it, was excluded.' });

/** Rows with missing values, by group. */
export const missingRowsSchema = z
  .strictObject({
    n: count.meta({ description: 'Rows of all groups. Rows without a group are counted only in n_dropped.' }),
    by_group: z.record(z.string(), count),
    p_value: numberOrNull.meta({
      description:
        'The p-value of the test that the share of missing rows is equal in all groups. Below 0.05 the gate warns, or fails with strict_missing. null if no row is missing.',
    }),
    worst_case: interval.nullable().meta({
      description: 'The smallest and largest value that the metric could have with these rows; null if not known.',
    }),
  })
  .meta({
    id: 'MissingRows',
    description: 'Rows without a value that the metric needs, and how much they could change it.',
  });

/** The fields of every metric. */
export const METRIC_RESULT_FIELDS = {
  metric: z.string().meta({ examples: ['demographic_parity_difference'] }),
  value: numberOrNull.meta({
    description: 'The value of the metric; null if it is undefined (see undefined_reason).',
  }),
  ci: openInterval.nullable().meta({
    description: 'The confidence interval of the value. An infinite end (of a ratio) is null. null without intervals.',
  }),
  ci_level: numberOrNull.meta({ description: 'The confidence level of the interval, from 0 to 1.' }),
  ci_method: textOrNull,
  effect_size: numberOrNull.meta({
    description: "Risk ratio of the extreme groups for rates, Cohen's d for mean errors.",
  }),
  effect_size_name: z.enum(['risk_ratio', 'cohens_d']).nullable(),
  p_value: numberOrNull.meta({ description: 'The probability of a gap at least as large if all groups are alike.' }),
  p_value_method: textOrNull,
  minimum_detectable_gap: numberOrNull.meta({
    description: 'The minimum detectable difference between the extreme groups (80% power).',
  }),
  method: z
    .enum(['between_groups', 'to_overall', 'to_reference'])
    .meta({ description: 'What each group is compared with.' }),
  reference_group: textOrNull,
  agg: z.enum(['worst_case', 'mean']).nullable().meta({ description: 'How several gaps are aggregated.' }),
  compat: z
    .enum(['fairlearn', 'aif360', 'aequitas'])
    .nullable()
    .meta({ description: 'The library whose conventions are used.' }),
  n_per_group: z.record(z.string(), count).meta({ description: 'The number of included rows per group.' }),
  per_group: z
    .record(z.string(), z.record(z.string(), numberOrNull))
    .meta({ description: 'Measures per included group; null if a group does not have the measure.' }),
  per_group_ci: z
    .record(z.string(), z.record(z.string(), interval.nullable()))
    .nullable()
    .meta({ description: 'The intervals of each group.' }),
  excluded: z
    .record(z.string(), exclusionSchema)
    .meta({ description: 'Excluded groups, or excluded rates of groups, with the reason.' }),
  first: textOrNull.meta({
    description:
      'One of the two groups of the gap: the one with the higher value, or the first one in a signed gap. null if the value does not belong to two groups.',
  }),
  second: textOrNull.meta({ description: 'The other group; also null if groups are compared with all rows.' }),
  missing: missingRowsSchema.nullable(),
  n_dropped: count.meta({
    description: 'The number of rows excluded because a value that the metric needs is missing.',
  }),
  undefined_reason: textOrNull,
  warnings: notes.meta({ description: 'Warnings to consider before you quote the value.' }),
  seed: z.number().int().nullable().meta({ description: 'The seed of random computations; null if there are none.' }),
} as const;

/** A metric with all details needed to check it. */
export const metricResultSchema = z
  .strictObject(METRIC_RESULT_FIELDS)
  .meta({ id: 'MetricResult', description: 'A metric with all details needed to check it.' });

/** Metrics by name. */
export const metricResults = z.record(z.string(), metricResultSchema).meta({ description: 'Metrics by name.' });
