import { z } from 'zod';

/** The number of rows per training step, or `auto`. */
export const batchSize = z.union([z.int().min(1).max(1_000_000), z.literal('auto')]);

/** The minimum number of rows of a group. Metrics and trackers fill in the default. */
export const minGroupSize = z.number().int().min(1);

/** The names of tensor backends. */
export const backendName = z.enum(['auto', 'node-gpu', 'webgpu', 'node', 'wasm', 'cpu']);

/** The constraints of the reductions. */
export const reductionConstraint = z.enum([
  'demographic_parity',
  'equalized_odds',
  'true_positive_rate_parity',
  'false_positive_rate_parity',
  'error_rate_parity',
  'bounded_group_loss',
]);

/** The constraints of the Lagrangian trainer. */
export const lagrangianFairness = z.enum(['demographic_parity', 'equal_opportunity', 'equalized_odds']);

/** Adds a description and examples to the schema of a field. */
export function described<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  ...examples: readonly unknown[]
): Schema {
  return schema.meta(examples.length === 0 ? { description } : { description, examples: [...examples] });
}

/** Returns the schema of a field that may be omitted, with a description and examples. */
export function optionalField<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  ...examples: readonly unknown[]
): z.ZodOptional<Schema> {
  return described(schema.optional(), description, ...examples);
}
