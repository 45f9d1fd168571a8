import { z } from 'zod';

/** Rows of a step of training: so many, or as many as suit the rows and where they are. */
export const batchSize = z.union([z.int().min(1).max(1_000_000), z.literal('auto')]);

/** What tensors may be computed on. */
export const backendName = z.enum(['auto', 'node-gpu', 'webgpu', 'node', 'wasm', 'cpu']);

/** What the reductions may constrain. */
export const reductionConstraint = z.enum([
  'demographic_parity',
  'equalized_odds',
  'true_positive_rate_parity',
  'false_positive_rate_parity',
  'error_rate_parity',
  'bounded_group_loss',
]);

/** What multipliers may constrain. */
export const lagrangianFairness = z.enum(['demographic_parity', 'equal_opportunity', 'equalized_odds']);
