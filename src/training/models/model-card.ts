import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { z } from 'zod';

import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import type { FeatureSpec } from '../data/feature-encoder.ts';
import { NETWORK_TASKS } from '../networks/network-task.ts';

/** How a column becomes inputs, as a card has it. */
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

/** A feature's encoding as a card has it: snake_case. */
export function featureToJson(spec: FeatureSpec): FeatureJson {
  if (spec.kind === 'categorical') return { kind: spec.kind, name: spec.name, levels: [...spec.levels] };
  const { kind, name, mean, scale, marksMissing } = spec;
  return { kind, name, mean, scale, marks_missing: marksMissing };
}

/** The inverse of {@link featureToJson}. */
export function featureFromJson(json: FeatureJson): FeatureSpec {
  if (json.kind === 'categorical') return json;
  const { kind, name, mean, scale, marks_missing: marksMissing } = json;
  return { kind, name, mean, scale, marksMissing };
}

/** Columns that a model takes as they are. */
export function plainFeatures(names: readonly string[]): FeatureSpec[] {
  return names.map((name) => ({ kind: 'numeric', name, mean: 0, scale: 1, marksMissing: false }));
}

/** Whether a column is taken as it is. */
export function isPlainFeature(spec: FeatureSpec): boolean {
  return spec.kind === 'numeric' && spec.mean === 0 && spec.scale === 1 && !spec.marksMissing;
}

/** The file that tells an evenhand model folder from any other. */
export const CARD_FILE = 'card.json';

/** What the card of a single model says it is. */
export const MODEL_KIND = 'evenhand model';

/** What the card of a sweep's folder says it is; the folders in it have cards of single models. */
export const SWEEP_KIND = 'evenhand sweep';

/** What made a model. */
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
] as const;

/** One of {@link MODEL_METHODS}. */
export type ModelMethod = (typeof MODEL_METHODS)[number];

/** What a model gives a row. */
const MODEL_OUTPUTS = [
  'probability of the positive label',
  'probability of a positive randomised decision',
  'score, positive from 0.5',
  'value',
] as const;

/** One of {@link MODEL_OUTPUTS}. */
export type ModelOutput = (typeof MODEL_OUTPUTS)[number];

/** Group labels may be any text, `__proto__` too, which a schema of records would drop. */
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
  /** The SHA-256 of each of `files`; null in models of earlier versions. */
  checksums: z
    .record(z.string(), z.string().regex(/^[0-9a-f]{64}$/, 'it should be a SHA-256'))
    .nullable()
    .default(null),
  versions: z.object({ evenhand: z.string(), tfjs: z.string() }),
  data: z
    .object({
      target: z.string(),
      positive_label: z.string().nullable(),
      sensitive: z.array(z.string()),
      n_train: z.int().min(0),
      n_test: z.int().min(0),
      n_dropped: z.int().min(0),
    })
    .nullable(),
  groups: counts.nullable(),
  constraint: record.nullable(),
  metrics: z.array(record),
  features: z.array(featureSchema).min(1),
  /** The score from which a decision is 1, where another than the model's own rule was judged. */
  decision_threshold: z.number().nullable().default(null),
  seed: z.number().nullable(),
  backend: z.string().nullable(),
  notes: z.array(z.string()),
});

/**
 * What is known of a saved model, as its `card.json` has it: plain data in
 * snake_case. `groups` are the rows trained on, by group; `metrics` one entry
 * per set of rows, the held-out ones first; what is unknown is null.
 */
export type ModelCard = z.infer<typeof cardSchema>;

/**
 * Whether a folder is empty, or was written by `saveModel` and holds nothing
 * else: only then may it be replaced.
 */
export function holdsOnlyModel(folder: string): boolean {
  return holdsOnly(folder, MODEL_KIND, 'files');
}

/**
 * Whether a folder is empty, or holds the networks of a sweep and nothing else:
 * only then may it be replaced.
 */
export function holdsOnlyNetworks(folder: string): boolean {
  return holdsOnly(folder, SWEEP_KIND, 'networks');
}

/** Whether a folder has a card of a kind, and nothing beside what that card lists. */
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
