import { z } from 'zod';

import { benchmarks, columnName, columnNames, columns, labelText, proportions } from './values.ts';

const sensitive = columns
  .optional()
  .meta({ description: 'The sensitive column, or several to be crossed. Default: those of the file.' });

const features = columnNames.optional().meta({ description: 'The columns to be changed. Default: those of the file.' });

const label = columnName
  .optional()
  .meta({ description: 'The column with the true labels. Default: training.target_column.' });

const positiveLabel = labelText
  .optional()
  .meta({ description: 'The label that counts as 1. Default: training.positive_label.' });

const maxWeight = z.number().gt(0).optional().meta({ description: 'The largest weight of a row. Default: 10.' });

/** Proportions of groups, by label. */
export const proportionsSchema = proportions;

/**
 * The parameters of each transformer as a configuration has them. What is left
 * out of `sensitive`, `benchmarks` and `features` comes from the configuration
 * around the step; every other default is the transformer's own.
 */
export const TRANSFORMER_PARAMS = {
  InstanceReweighting: z.strictObject({
    sensitive,
    benchmarks: benchmarks
      .optional()
      .meta({ description: 'Proportions that the weighted groups shall have, by column. Default: those of the file.' }),
    max_weight: maxWeight,
    min_count: z.int().min(1).optional().meta({ description: 'Groups with fewer rows keep weight 1. Default: 1.' }),
  }),
  ReweighingTransformer: z.strictObject({
    sensitive,
    label,
    positive_label: positiveLabel,
    targets: proportionsSchema
      .optional()
      .meta({ description: 'Where there is no label: the proportions that the groups shall have.' }),
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
      .meta({ description: 'From 0 (nothing changes) to 1 (groups get one distribution). Default: 1.' }),
    min_group_size: z.int().min(1).optional().meta({ description: 'Smaller groups are not changed. Default: 20.' }),
    compat: z.enum(['aif360']).optional().meta({ description: 'Follows another library where it differs.' }),
  }),
  ProxyDropper: z.strictObject({
    sensitive,
    features,
    threshold: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .meta({ description: 'Columns with a stronger association with a sensitive one are dropped. Default: 0.3.' }),
    max_drop: z.int().min(0).optional().meta({ description: 'The most columns dropped. Default: no limit.' }),
  }),
  CorrelationRemover: z.strictObject({
    sensitive,
    features,
    alpha: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .meta({ description: 'The share of the correlation that is removed. Default: 1.' }),
  }),
  LearnedFairRepresentations: z.strictObject({
    sensitive,
    features,
    label,
    positive_label: positiveLabel,
    prototypes: z.int().min(2).optional().meta({ description: 'How many prototypes are learned.' }),
    reconstruction: z.number().min(0).optional().meta({ description: 'The weight of the loss of reconstruction.' }),
    prediction: z.number().min(0).optional().meta({ description: 'The weight of the loss of prediction.' }),
    parity: z.number().min(0).optional().meta({ description: 'The weight of the gap between groups.' }),
    max_iterations: z.int().min(1).optional().meta({ description: 'The most iterations.' }),
    seed: z.int().optional().meta({ description: 'Seeds the start.' }),
  }),
} as const;

/** The name of a transformer. */
export type TransformerKind = keyof typeof TRANSFORMER_PARAMS;

/** The names of all transformers. */
export const TRANSFORMER_KINDS = Object.keys(TRANSFORMER_PARAMS) as readonly TransformerKind[];
