import { z } from 'zod';

import { type DecimalSeparator, decimalSchema } from '../data-source.ts';
import { described, optionalField } from '../fields.ts';
import { TRAINING_METHODS, TRAINING_PARAMS, type TrainingMethod } from './training-params.ts';
import { TRANSFORMER_KINDS, TRANSFORMER_PARAMS, type TransformerKind } from './transformer-params.ts';
import { benchmarks, columnName, columnNames, columns, labelText, ownName } from './values.ts';

export type { TrainingMethod } from './training-params.ts';

/** One step of a pipeline. */
export interface PipelineStepConfig {
  /** The name of the step in errors and reports. */
  readonly name: string;
  readonly transformer: TransformerKind;
  /** The transformer's options, in camelCase. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** The target and the settings for training a model. */
export interface TrainingConfig {
  readonly method: TrainingMethod;
  readonly targetColumn: string;
  /** The positive label of the target, if the target is not 0/1. */
  readonly positiveLabel?: string | undefined;
  /** The method's constructor options, in camelCase. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** A parsed configuration of a pipeline, with every default filled in. Frozen. */
export interface PipelineConfig {
  /** The sensitive attributes, at least one; each is analysed separately. */
  readonly sensitive: readonly string[];
  /** Intersections of attributes that are also analysed. */
  readonly intersections: readonly (readonly string[])[];
  /** Expected proportions of groups, by attribute. */
  readonly benchmarks: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly alpha: number;
  readonly proxyThreshold: number;
  /**
   * The path of the detectors' report, which `evenhand pipeline` writes: a .md, .json or .html file in the current
   * folder or a subfolder.
   */
  readonly reportOut?: string | undefined;
  readonly pipeline: readonly PipelineStepConfig[];
  readonly features?: readonly string[] | undefined;
  /** Texts that are read as missing values in all columns. By default, the same texts as in pandas. */
  readonly naValues?: readonly string[] | undefined;
  readonly decimal?: DecimalSeparator | undefined;
  readonly training?: TrainingConfig | undefined;
  readonly fairnessMetric?: string | undefined;
  readonly validationThreshold?: number | undefined;
  /** Whether the gate fails if the share of missing rows differs significantly between groups. */
  readonly strictMissing?: boolean | undefined;
  /** The column that says which rows belong together. */
  readonly cluster?: string | undefined;
  /** The column of strata, within which clusters were drawn separately. */
  readonly strata?: string | undefined;
}

/** The schemas of a step in a file, one for each transformer with its parameters. */
const stepBranches = TRANSFORMER_KINDS.map((kind) =>
  z.strictObject({
    name: optionalField(ownName, "The name of the step. Default: the transformer's name, with _2 and so on."),
    transformer: described(z.literal(kind), 'The transformer of the step.'),
    params: optionalField(TRANSFORMER_PARAMS[kind], 'Options of the transformer.'),
  }),
);

/** The schemas of the training section, one for each method with its parameters. */
const trainingBranches = TRAINING_METHODS.map((method) =>
  z.strictObject({
    method: described(z.literal(method), 'The training method.'),
    target_column: described(columnName, 'The target column.'),
    positive_label: optionalField(
      labelText,
      'The label that counts as 1. Default: 1 for labels 0 and 1; the less frequent of two texts.',
    ),
    params: optionalField(TRAINING_PARAMS[method], 'Options of the method.'),
  }),
);

type OneOrMore<Item> = readonly [Item, ...Item[]];

/** The schema of a step; `transformer` selects its parameters. */
export const stepSchema = z.discriminatedUnion(
  'transformer',
  stepBranches as unknown as OneOrMore<(typeof stepBranches)[number]>,
);

/** The schema of a training section; `method` selects its parameters. */
export const trainingSchema = z.discriminatedUnion(
  'method',
  trainingBranches as unknown as OneOrMore<(typeof trainingBranches)[number]>,
);

/** The keys of a configuration in a file, except `profiles`: in snake_case, without aliases. */
export const PIPELINE_FIELDS = {
  sensitive: described(
    columns,
    'The sensitive attributes; each is analysed separately. A list, or one name. Required, in a file also in the chosen profile.',
  ),
  intersections: optionalField(
    z.array(z.array(columnName).min(2)),
    'Intersections of sensitive attributes, to analyse in addition to the single attributes.',
    [['sex', 'race']],
  ),
  benchmarks: optionalField(
    benchmarks,
    'Expected proportions of groups, by attribute. The proportions of an attribute must sum to 1.',
  ),
  alpha: described(
    z.number().gt(0).lt(1).default(0.05),
    'The significance level of the detectors: a finding has an adjusted p-value of at most alpha.',
  ),
  proxy_threshold: described(
    z.number().min(0).max(1).default(0.3),
    'Columns with at least this association with a sensitive attribute count as proxies.',
  ),
  report_out: optionalField(
    z.string().regex(/\.(md|json|html)$/),
    "The path to which the command pipeline writes the detectors' report: a .md, .json or .html file below the current folder, as a relative path.",
    'data-report.md',
  ),
  pipeline: optionalField(z.array(stepSchema), 'The steps that change the data before training, in order.'),
  features: optionalField(
    columnNames,
    'The columns used as features. Default: all numeric columns except the target, the sensitive columns, cluster and strata.',
  ),
  na_values: optionalField(
    z.array(z.string()),
    'Texts that are read as missing values, in all columns. Default: the same texts as in pandas (NA, NaN, None, null and others); in sensitive columns, only empty fields.',
    ['NA', 'unknown'],
  ),
  decimal: optionalField(
    decimalSchema,
    'The decimal separator of numbers in text files: . or a comma. Default: the point.',
    ',',
  ),
  training: optionalField(trainingSchema, 'The training of a model. Without this section, only the data are prepared.'),
  fairness_metric: optionalField(
    z.string().regex(/_(difference|ratio)$/),
    'The metric of the gate. Default: demographic_parity_difference.',
    'demographic_parity_difference',
  ),
  validation_threshold: optionalField(
    z.number().min(0),
    'The threshold of the gate: the largest difference, or the smallest ratio, that passes. Default: no verdict.',
  ),
  strict_missing: optionalField(
    z.boolean(),
    'Whether the gate fails if the share of rows without a target or a sensitive attribute differs significantly between groups (p < 0.05). Default: false, which only warns.',
  ),
  cluster: optionalField(
    columnName,
    'The column of units with several rows each, such as persons or schools. Training rows and held-out rows have no unit in common, and intervals count units instead of rows. Default: all rows are independent.',
    'person',
  ),
  strata: optionalField(
    columnName,
    'The column of strata, if the sample was drawn separately in each stratum. Without cluster, each row is a unit.',
    'region',
  ),
} as const;

/** The keys of a step. */
export const STEP_KEYS = ['name', 'transformer', 'params'] as const;

/** The keys of the training section. */
export const TRAINING_KEYS = ['method', 'target_column', 'positive_label', 'params'] as const;

/** Aliases of keys, with their canonical names. */
export const KEY_ALIASES: ReadonlyMap<string, string> = new Map([
  ['steps', 'pipeline'],
  ['kind', 'transformer'],
]);

/** A configuration as written in a file: in snake_case, without aliases or profiles. */
export type PipelineDocument = z.output<z.ZodObject<typeof PIPELINE_FIELDS>>;
