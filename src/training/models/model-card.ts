import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { z } from 'zod';

import { camelFields, snakeFields } from '../../internal/arguments.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import type { FeatureSpec } from '../data/feature-encoder.ts';
import { NETWORK_TASKS } from '../networks/network-task.ts';

/** The encoding of a column in a card. */
const featureSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('numeric'),
    name: z.string(),
    mean: z.number(),
    scale: z.number().gt(0),
    marks_missing: z.boolean(),
  }),
  z.object({ kind: z.literal('categorical'), name: z.string(), levels: z.array(z.string()).min(1) }),
]);

/** {@link featureSchema} as a type. */
type FeatureJson = z.infer<typeof featureSchema>;

/** Converts a feature's encoding to the snake_case form of a card. */
export function featureToJson(spec: FeatureSpec): FeatureJson {
  return snakeFields(spec.kind === 'categorical' ? { ...spec, levels: [...spec.levels] } : spec) as FeatureJson;
}

/** Restores a feature's encoding from the output of {@link featureToJson}. */
export function featureFromJson(json: FeatureJson): FeatureSpec {
  return camelFields(json) as FeatureSpec;
}

/** Returns the feature specifications of columns that a model uses without encoding. */
export function plainFeatures(names: readonly string[]): FeatureSpec[] {
  return names.map((name) => ({ kind: 'numeric', name, mean: 0, scale: 1, marksMissing: false }));
}

/** Returns whether a column is used without encoding. */
export function isPlainFeature(spec: FeatureSpec): boolean {
  return spec.kind === 'numeric' && spec.mean === 0 && spec.scale === 1 && !spec.marksMissing;
}

/** The data that a model was trained and tested on. */
export interface ModelData {
  readonly target: string;
  /** The label that is mapped to 1; null if the target is 0/1 or a number. */
  readonly positiveLabel: string | null;
  readonly sensitive: readonly string[];
  /** The texts that meant a missing value; null or omitted for the default texts. */
  readonly naValues?: readonly string[] | null | undefined;
  readonly nTrain: number;
  readonly nTest: number;
  readonly nDropped: number;
}

/** Converts the description of a model's data to the snake_case form of a card. */
export function dataToJson({
  target,
  positiveLabel,
  sensitive,
  naValues = null,
  nTrain,
  nTest,
  nDropped,
}: ModelData): NonNullable<ModelCard['data']> {
  return {
    ...snakeFields({ target, positiveLabel, sensitive: [...sensitive], nTrain, nTest, nDropped }),
    na_values: naValues && [...naValues],
  };
}

/** The file that marks a folder as an evenhand model. */
export const CARD_FILE = 'card.json';

/** The `kind` in the card of a single model. */
export const MODEL_KIND = 'evenhand model';

/** The `kind` in the card of a sweep's folder. Each sub-folder of a sweep has the card of a single model. */
export const SWEEP_KIND = 'evenhand sweep';

/** The methods that produce models. */
export const MODEL_METHODS = [
  'regularized',
  'lagrangian',
  'reductions',
  'grid_search',
  'logistic_regression',
  'ml_logistic_regression',
  'linear_regression',
  'constant_classifier',
  'estimator',
  'layers_model',
] as const;

/** One of {@link MODEL_METHODS}. */
export type ModelMethod = (typeof MODEL_METHODS)[number];

/** The possible meanings of the number that a model computes for a row. */
const MODEL_OUTPUTS = [
  'probability of the positive label',
  'probability of a positive randomised decision',
  'score, positive from 0.5',
  'value',
] as const;

/** One of {@link MODEL_OUTPUTS}. */
export type ModelOutput = (typeof MODEL_OUTPUTS)[number];

/** Counts by group. Group labels may be any text, including `__proto__`, which `z.record` would drop. */
const counts = z.custom<Readonly<Record<string, number>>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((count) => Number.isInteger(count) && count >= 0),
  'counts of rows by group are expected',
);

const record = z.record(z.string(), z.unknown());

/** The card of a single model. */
export const cardSchema = z.object({
  kind: z.literal(MODEL_KIND),
  method: z.enum(MODEL_METHODS),
  task: z.enum(NETWORK_TASKS),
  output: z.enum(MODEL_OUTPUTS),
  files: z.array(z.string()).min(1),
  /** The SHA-256 checksum of each file in `files`; null in models that earlier versions saved. */
  checksums: z
    .record(z.string(), z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256'))
    .nullable()
    .default(null),
  versions: z.object({ evenhand: z.string(), tfjs: z.string() }),
  data: z
    .object({
      target: z.string(),
      positive_label: z.string().nullable(),
      sensitive: z.array(z.string()),
      na_values: z.array(z.string()).nullable().default(null),
      n_train: z.int().min(0),
      n_test: z.int().min(0),
      n_dropped: z.int().min(0),
    })
    .nullable(),
  groups: counts.nullable(),
  constraint: record.nullable(),
  metrics: z.array(record),
  features: z.array(featureSchema).min(1),
  /** The decision threshold with which the model was evaluated; null if the model's own decision rule was used. */
  decision_threshold: z.number().nullable().default(null),
  seed: z.number().nullable(),
  backend: z.string().nullable(),
  notes: z.array(z.string()),
});

/**
 * The description of a saved model in its `card.json`: plain data in snake_case. `groups` counts the training rows by
 * group. `metrics` has one entry per set of rows; the first entry is about the held-out rows. Unknown values are null.
 */
export type ModelCard = z.infer<typeof cardSchema>;

/**
 * Returns whether a folder is empty or contains only files that `saveModel` wrote. `saveModel` replaces only such
 * folders.
 */
export function holdsOnlyModel(folder: string): boolean {
  return holdsOnly(folder, MODEL_KIND, 'files');
}

/**
 * Returns whether a folder is empty or contains only the networks of a sweep. A sweep replaces only such folders.
 */
export function holdsOnlyNetworks(folder: string): boolean {
  return holdsOnly(folder, SWEEP_KIND, 'networks');
}

/** Returns whether a folder has a card of the given kind and contains only entries that the card lists. */
function holdsOnly(folder: string, kind: string, list: string): boolean {
  try {
    const names = readdirSync(folder);
    if (names.length === 0) return true;
    const card = JSON.parse(decodeUtf8(readFileSync(path.join(folder, CARD_FILE)), 'The card')) as Record<
      string,
      unknown
    >;
    const listed = card[list];
    const expected: unknown[] = [CARD_FILE].concat(Array.isArray(listed) ? listed : []);
    return card['kind'] === kind && names.every((name) => expected.includes(name));
  } catch {
    return false;
  }
}
