import { z } from 'zod';

import { count, interval, notes, numberOrNull, openInterval, textOrNull } from './plain.ts';

const measures = z.record(z.string(), numberOrNull);

/** Measures of all rows and of each group, and inside the levels of a control feature. */
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
        .meta({ description: 'The same inside each level of the control feature.' });
    },
  })
  .meta({ id: 'MetricFrame', description: 'Measures of all rows and of each group, with their comparisons.' });

/** A group, or one rate of it, that took no part. */
export const exclusionSchema = z
  .strictObject({
    n: count.meta({ description: 'Rows of the group.' }),
    reason: z.string(),
    numerator: numberOrNull.meta({
      description: 'Weighted rows above the line of the rate that the reason speaks of.',
    }),
    denominator: numberOrNull.meta({ description: 'Weighted rows below that line.' }),
  })
  .meta({ id: 'Exclusion', description: 'Why a group, or one rate of it, took no part.' });

/** Rows that lack a value, by group. */
export const missingRowsSchema = z
  .strictObject({
    n: count.meta({ description: 'Rows of all groups; rows without a group are counted by n_dropped alone.' }),
    by_group: z.record(z.string(), count),
    p_value: numberOrNull.meta({
      description:
        'The probability of shares of missing rows that differ as much, if all groups lack the same share; below 0.05 the gate warns, or fails with strict_missing. null where none is missing.',
    }),
    worst_case: interval.nullable().meta({
      description: 'The smallest and largest value that the metric could have with these rows; null where not known.',
    }),
  })
  .meta({
    id: 'MissingRows',
    description: 'Rows that lack a value which the metric needs, and what they could change.',
  });

/** The fields that every metric has. */
export const METRIC_RESULT_FIELDS = {
  metric: z.string().meta({ examples: ['demographic_parity_difference'] }),
  value: numberOrNull.meta({
    description: 'The metric; null where it is undefined, and then undefined_reason says why.',
  }),
  ci: openInterval.nullable().meta({
    description: 'The interval around the value; an infinite end (of a ratio) is null. null without intervals.',
  }),
  ci_level: numberOrNull.meta({ description: 'Its confidence level, from 0 to 1.' }),
  ci_method: textOrNull,
  effect_size: numberOrNull.meta({
    description: "Risk ratio of the extreme groups for rates, Cohen's d for mean errors.",
  }),
  effect_size_name: z.enum(['risk_ratio', 'cohens_d']).nullable(),
  p_value: numberOrNull.meta({ description: 'The probability of a gap at least as large where all groups are alike.' }),
  p_value_method: textOrNull,
  minimum_detectable_gap: numberOrNull.meta({
    description: 'The smallest gap of the extreme groups that data of this size show with probability 0.8.',
  }),
  method: z
    .enum(['between_groups', 'to_overall', 'to_reference'])
    .meta({ description: 'What groups are compared with.' }),
  reference_group: textOrNull,
  agg: z.enum(['worst_case', 'mean']).nullable().meta({ description: 'How several gaps became one.' }),
  compat: z
    .enum(['fairlearn', 'aif360', 'aequitas'])
    .nullable()
    .meta({ description: 'The library whose conventions were followed.' }),
  n_per_group: z.record(z.string(), count).meta({ description: 'Rows per group that took part.' }),
  per_group: z
    .record(z.string(), z.record(z.string(), numberOrNull))
    .meta({ description: 'Measures per group that took part; null for one that a group does not have.' }),
  per_group_ci: z
    .record(z.string(), z.record(z.string(), interval.nullable()))
    .nullable()
    .meta({ description: "Each group's own intervals." }),
  excluded: z
    .record(z.string(), exclusionSchema)
    .meta({ description: 'Groups, or single rates of groups, that took no part, with the reason.' }),
  first: textOrNull.meta({
    description:
      'One of the two groups of the gap: the one with the higher value, or the one that comes first in a gap with a sign. null where no two groups stand for the value.',
  }),
  second: textOrNull.meta({ description: 'The other group; null too where groups are compared with all rows.' }),
  missing: missingRowsSchema.nullable(),
  n_dropped: count.meta({ description: 'Rows left out because a value that the metric needs is missing.' }),
  undefined_reason: textOrNull,
  warnings: notes.meta({ description: 'What a careful reader should know before quoting the value.' }),
  seed: z.number().int().nullable().meta({ description: 'Of what is random in it; null where nothing is.' }),
} as const;

/** A metric with all that is needed to question it. */
export const metricResultSchema = z
  .strictObject(METRIC_RESULT_FIELDS)
  .meta({ id: 'MetricResult', description: 'A metric with all that is needed to question it.' });

/** Metrics by their names. */
export const metricResults = z.record(z.string(), metricResultSchema).meta({ description: 'Metrics by their names.' });
