import { z } from 'zod';

/** What `train-regularized` may be asked beside its data. */
export const sweepSchema = z.object({
  etas: z.array(z.number().min(0)).min(1).default([0, 0.2, 0.5, 1]),
  penalty: z.enum(['covariance', 'mean_gap', 'equalized_odds']).default('covariance'),
  epochs: z.number().int().min(1).default(20),
  lr: z.number().gt(0).default(1e-3),
  batchSize: z.number().int().min(1).default(128),
  hidden: z.array(z.number().int().min(1)).default([32]),
  patience: z.number().int().min(1).default(5),
  trainSize: z.number().gt(0).lt(1).default(0.8),
  folds: z.number().int().min(2).optional(),
  minGroupSize: z.number().int().min(1).default(30),
  backend: z.enum(['auto', 'node-gpu', 'webgpu', 'node', 'wasm', 'cpu']).optional(),
  seed: z.number().int().default(42),
});
