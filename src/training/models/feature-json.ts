import { z } from 'zod';

import type { FeatureSpec } from '../data/feature-encoder.ts';

/** How a column becomes inputs, as a card has it. */
export const featureSchema = z.discriminatedUnion('kind', [
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
export type FeatureJson = z.infer<typeof featureSchema>;

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
