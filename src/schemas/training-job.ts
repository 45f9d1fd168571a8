import { z } from 'zod';

import { backendName, batchSize, lagrangianFairness, minGroupSize, reductionConstraint } from './fields.ts';
import { DEFAULT_MIN_GROUP_SIZE } from './min-group-size.ts';

/** The defaults that trainers share. */
export const TRAINING_DEFAULTS = { trainSize: 0.8, minGroupSize: DEFAULT_MIN_GROUP_SIZE, seed: 42 } as const;

/** The options of `train-regularized`, except its data. `sweepPareto` fills in the defaults. */
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
  queue: z.string().min(1).optional(),
  trainSize: z.number().gt(0).lt(1).optional(),
  folds: z.number().int().min(2).optional(),
  minGroupSize: minGroupSize.optional(),
  backend: backendName.optional(),
  seed: z.number().int().optional(),
});

/** The options of `train-regularized`, except its data. `queue` is the URL of a queue. */
export type SweepRequest = z.output<typeof sweepSchema>;

/** The options shared by all training jobs on a table, except its data. */
const trainingJobSchema = z.object({
  trainSize: z.number().gt(0).lt(1).optional(),
  folds: z.number().int().min(2).optional(),
  minGroupSize: minGroupSize.optional(),
  seed: z.number().int().optional(),
  backend: backendName.optional(),
});

/** The options of `train-reductions`. `trainReductions` fills in the defaults. */
export const trainReductionsSchema = trainingJobSchema.extend({
  constraint: reductionConstraint.optional(),
  eps: z.number().gt(0).optional(),
  differenceBound: z.number().min(0).optional(),
  ratioBound: z.number().gt(0).max(1).optional(),
  upperBound: z.number().min(0).optional(),
  bound: z.enum(['overall', 'pairwise']).optional(),
  T: z.number().int().min(1).optional(),
  nu: z.number().min(0).optional(),
});

/** The options of `train-lagrangian`. `trainLagrangian` fills in the defaults. */
export const trainLagrangianSchema = trainingJobSchema.extend({
  fairness: lagrangianFairness.optional(),
  dpTol: z.number().min(0).optional(),
  eoTol: z.number().min(0).optional(),
  modelLr: z.number().gt(0).optional(),
  lambdaLr: z.number().gt(0).optional(),
  epochs: z.number().int().min(1).optional(),
  batchSize: batchSize.optional(),
  hidden: z.array(z.number().int().min(1)).optional(),
  patience: z.number().int().min(1).optional(),
});

/** The options of `predict`. */
export const predictSchema = z.object({
  eta: z.number().min(0).optional(),
  naValues: z.array(z.string()).optional(),
  threshold: z.number().optional(),
  seed: z.number().int().optional(),
  randomization: z.enum(['draw', 'row']).optional(),
  backend: backendName.optional(),
});
