import { z } from 'zod';

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
