import { z } from 'zod';

import { batchSize } from './batch-size.ts';
import { backendName } from './method-names.ts';

/** What `train-regularized` may be asked beside its data; `sweepPareto` fills in what is left out. */
export const sweepSchema = z.object({
  etas: z.union([z.array(z.number().min(0)).min(1), z.literal('auto')]).optional(),
  penalty: z.enum(['covariance', 'mean_gap', 'equalized_odds', 'mmd', 'correlation', 'adversarial']).optional(),
  epochs: z.number().int().min(1).optional(),
  lr: z.number().gt(0).optional(),
  batchSize: batchSize.optional(),
  hidden: z.array(z.number().int().min(1)).optional(),
  patience: z.number().int().min(1).optional(),
  weightDecay: z.number().min(0).optional(),
  schedule: z.enum(['constant', 'linear', 'cosine']).optional(),
  threads: z.number().int().min(1).optional(),
  trainSize: z.number().gt(0).lt(1).optional(),
  folds: z.number().int().min(2).optional(),
  minGroupSize: z.number().int().min(1).optional(),
  backend: backendName.optional(),
  seed: z.number().int().optional(),
});
