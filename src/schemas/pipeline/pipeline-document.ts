import { z } from 'zod';

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
  readonly training?: TrainingConfig | undefined;
  readonly fairnessMetric?: string | undefined;
  readonly validationThreshold?: number | undefined;
  /** Whether the gate fails if the share of missing rows differs significantly between groups. */
  readonly strictMissing?: boolean | undefined;
}

/** The schemas of a step in a file, one for each transformer with its parameters. */
const stepBranches = TRANSFORMER_KINDS.map((kind) =>
  z.strictObject({
    name: ownName
      .optional()
      .meta({ description: "The name of the step. Default: the transformer's name, with _2 and so on." }),
    transformer: z.literal(kind).meta({ description: 'The transformer of the step.' }),
    params: TRANSFORMER_PARAMS[kind].optional().meta({ description: 'Options of the transformer.' }),
  }),
);

/** The schemas of the training section, one for each method with its parameters. */
const trainingBranches = TRAINING_METHODS.map((method) =>
  z.strictObject({
    method: z.literal(method).meta({ description: 'The training method.' }),
    target_column: columnName.meta({ description: 'The target column.' }),
    positive_label: labelText.optional().meta({
      description: 'The label that counts as 1. Default: 1 for labels 0 and 1; the less frequent of two texts.',
    }),
    params: TRAINING_PARAMS[method].optional().meta({ description: 'Options of the method.' }),
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
  sensitive: columns.meta({
    description: 'The sensitive attributes; each is analysed separately. A list, or one name.',
  }),
  intersections: z
    .array(z.array(columnName).min(2))
    .optional()
    .meta({
      description: 'Intersections of sensitive attributes that are analysed too.',
      examples: [[['sex', 'race']]],
    }),
  benchmarks: benchmarks
    .optional()
    .meta({ description: 'Expected proportions of groups, by attribute; those of an attribute sum to 1.' }),
  alpha: z
    .number()
    .gt(0)
    .lt(1)
    .default(0.05)
    .meta({ description: 'The level of the detectors: findings have an adjusted p-value of at most this.' }),
  proxy_threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.3)
    .meta({ description: 'Columns with at least this association with a sensitive attribute count as proxies.' }),
  report_out: z
    .string()
    .regex(/\.(md|json|html)$/)
    .optional()
    .meta({
      description:
        "The path to which the command pipeline writes the detectors' report: a .md, .json or .html file below the current folder, as a relative path.",
      examples: ['data-report.md'],
    }),
  pipeline: z
    .array(stepSchema)
    .optional()
    .meta({ description: 'The steps that change the data before training, in order.' }),
  features: columnNames.optional().meta({
    description: 'The columns used as features. Default: the numeric columns without target and sensitive ones.',
  }),
  na_values: z
    .array(z.string())
    .optional()
    .meta({
      description:
        'Texts that are read as missing values, in all columns. Default: those of pandas (NA, NaN, None, null and others); in sensitive columns, only empty fields.',
      examples: [['NA', 'unknown']],
    }),
  training: trainingSchema
    .optional()
    .meta({ description: 'The training of a model; without it, only the data are prepared.' }),
  fairness_metric: z
    .string()
    .regex(/_(difference|ratio)$/)
    .optional()
    .meta({
      description: 'The metric of the gate. Default: demographic_parity_difference.',
      examples: ['demographic_parity_difference'],
    }),
  validation_threshold: z.number().min(0).optional().meta({
    description:
      'The threshold of the gate: the largest difference, or the smallest ratio, that passes. Default: no verdict.',
  }),
  strict_missing: z.boolean().optional().meta({
    description:
      'Whether the gate fails if rows without a target are significantly more common in some groups than in others (p < 0.05). Default: false, which only warns.',
  }),
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
