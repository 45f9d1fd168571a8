import { z } from 'zod';

import { optionalField } from '../fields.ts';
import { benchmarks, columnName, columnNames, columns, labelText, proportions } from './values.ts';

const sensitive = optionalField(
  columns,
  'The sensitive column, or a list of columns. Default: the key sensitive of the file.',
);

const features = optionalField(
  columnNames,
  'The numeric columns to change. Default: the numeric columns among features.',
);

const label = optionalField(columnName, 'The column with the true labels. Default: training.target_column.');

const positiveLabel = optionalField(labelText, 'The label that counts as 1. Default: training.positive_label.');

const maxWeight = optionalField(z.number().min(1), 'The largest weight of a row; the mean is 1. Default: 10.');

/**
 * The parameters of each transformer in a configuration. If `sensitive`, `benchmarks` or `features` are omitted, they
 * come from the rest of the configuration. The transformers fill in the other defaults.
 */
export const TRANSFORMER_PARAMS = {
  InstanceReweighting: z.strictObject({
    sensitive,
    benchmarks: optionalField(
      benchmarks,
      'The target shares of groups, by column. Default: the key benchmarks of the file, else equal shares.',
    ),
    max_weight: maxWeight,
    min_count: optionalField(z.int().min(1), 'Groups with fewer rows keep weight 1. Default: 1.'),
  }),
  ReweighingTransformer: z.strictObject({
    sensitive,
    label,
    positive_label: positiveLabel,
    targets: optionalField(proportions, 'Without a label: the target shares of groups. Default: equal shares.'),
    max_weight: maxWeight,
  }),
  DisparateImpactRemover: z.strictObject({
    sensitive,
    features,
    repair_level: optionalField(
      z.number().min(0).max(1),
      'How far values move towards the repaired values, from 0 (no change) to 1. Default: 1.',
    ),
    min_group_size: optionalField(
      z.int().min(1),
      'A column is not changed in groups that have fewer values in this column. Default: 20; 1 with compat.',
    ),
    compat: optionalField(z.enum(['aif360']), 'The library whose repaired values are reproduced exactly.'),
  }),
  ProxyDropper: z.strictObject({
    sensitive,
    features: optionalField(columnNames, 'The columns that may be dropped. Default: features.'),
    threshold: optionalField(
      z.number().min(0).max(1),
      'Columns with a stronger association with a sensitive column are dropped. Default: 0.3.',
    ),
    max_drop: optionalField(z.int().min(0), 'The maximum number of dropped columns. Default: no limit.'),
  }),
  CorrelationRemover: z.strictObject({
    sensitive,
    features,
    alpha: optionalField(
      z.number().min(0).max(1),
      'The share of the linear association that is removed, from 0 (no change) to 1. Default: 1.',
    ),
  }),
  LearnedFairRepresentations: z.strictObject({
    sensitive,
    features,
    label,
    positive_label: positiveLabel,
    prototypes: optionalField(z.int().min(2).max(1000), 'The number of prototypes. Default: 5.'),
    reconstruction: optionalField(z.number().min(0), 'The weight of the reconstruction error. Default: 0.01.'),
    prediction: optionalField(z.number().min(0), 'The weight of the prediction error. Default: 1.'),
    parity: optionalField(z.number().min(0), 'The weight of the gap between groups. Default: 50.'),
    max_iterations: optionalField(z.int().min(1).max(1_000_000), 'The maximum number of iterations. Default: 5000.'),
    seed: optionalField(z.int(), 'The seed of the initial prototypes. Default: 42.'),
  }),
} as const;

/** The name of a transformer. */
export type TransformerKind = keyof typeof TRANSFORMER_PARAMS;

/** The names of all transformers. */
export const TRANSFORMER_KINDS = Object.keys(TRANSFORMER_PARAMS) as readonly TransformerKind[];
