import { z } from 'zod';

import { benchmarks, columnName, columnNames, columns, labelText, proportions } from './values.ts';

const sensitive = columns
  .optional()
  .meta({ description: 'The sensitive column, or several. Default: those of the file.' });

const features = columnNames
  .optional()
  .meta({ description: 'The numeric columns to change. Default: the numeric ones among features.' });

const label = columnName
  .optional()
  .meta({ description: 'The column with the true labels. Default: training.target_column.' });

const positiveLabel = labelText
  .optional()
  .meta({ description: 'The label that counts as 1. Default: training.positive_label.' });

const maxWeight = z
  .number()
  .min(1)
  .optional()
  .meta({ description: 'The largest weight of a row; the mean is 1. Default: 10.' });

/**
 * The parameters of each transformer in a configuration. If `sensitive`, `benchmarks` or `features` are omitted, they
 * come from the rest of the configuration. The transformers fill in the other defaults.
 */
export const TRANSFORMER_PARAMS = {
  InstanceReweighting: z.strictObject({
    sensitive,
    benchmarks: benchmarks.optional().meta({
      description: 'The target shares of groups, by column. Default: those of the file, else equal ones.',
    }),
    max_weight: maxWeight,
    min_count: z.int().min(1).optional().meta({ description: 'Groups with fewer rows keep weight 1. Default: 1.' }),
  }),
  ReweighingTransformer: z.strictObject({
    sensitive,
    label,
    positive_label: positiveLabel,
    targets: proportions
      .optional()
      .meta({ description: 'Without a label: the target shares of groups. Default: equal ones.' }),
    max_weight: maxWeight,
  }),
  DisparateImpactRemover: z.strictObject({
    sensitive,
    features,
    repair_level: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .meta({ description: 'How far values move towards the repaired ones, from 0 (no change) to 1. Default: 1.' }),
    min_group_size: z.int().min(1).optional().meta({
      description:
        'The values of a column are not changed in groups with fewer values of it. Default: 20; 1 with compat.',
    }),
    compat: z.enum(['aif360']).optional().meta({ description: 'Repairs like this library, value for value.' }),
  }),
  ProxyDropper: z.strictObject({
    sensitive,
    features: columnNames.optional().meta({ description: 'The columns that may be dropped. Default: features.' }),
    threshold: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .meta({ description: 'Columns with a stronger association with a sensitive one are dropped. Default: 0.3.' }),
    max_drop: z
      .int()
      .min(0)
      .optional()
      .meta({ description: 'The maximum number of dropped columns. Default: no limit.' }),
  }),
  CorrelationRemover: z.strictObject({
    sensitive,
    features,
    alpha: z.number().min(0).max(1).optional().meta({
      description: 'The share of the linear association that is removed, from 0 (no change) to 1. Default: 1.',
    }),
  }),
  LearnedFairRepresentations: z.strictObject({
    sensitive,
    features,
    label,
    positive_label: positiveLabel,
    prototypes: z.int().min(2).max(1000).optional().meta({ description: 'The number of prototypes. Default: 5.' }),
    reconstruction: z
      .number()
      .min(0)
      .optional()
      .meta({ description: 'The weight of the reconstruction error. Default: 0.01.' }),
    prediction: z.number().min(0).optional().meta({ description: 'The weight of the prediction error. Default: 1.' }),
    parity: z.number().min(0).optional().meta({ description: 'The weight of the gap between groups. Default: 50.' }),
    max_iterations: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .meta({ description: 'The maximum number of iterations. Default: 5000.' }),
    seed: z.int().optional().meta({ description: 'The seed of the initial prototypes. Default: 42.' }),
  }),
} as const;

/** The name of a transformer. */
export type TransformerKind = keyof typeof TRANSFORMER_PARAMS;

/** The names of all transformers. */
export const TRANSFORMER_KINDS = Object.keys(TRANSFORMER_PARAMS) as readonly TransformerKind[];
