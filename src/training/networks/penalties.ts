import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../../tensor/index.ts';
import { createAdversary } from './adversary.ts';
import {
  absoluteCorrelation,
  automaticGradient,
  covariance,
  covarianceGradient,
  equalizedOdds,
  equalizedOddsGradient,
  type FairnessPenalty,
  meanGap,
  meanGapGradient,
  type PenaltyBatch,
  type PenaltyContext,
  type PenaltyInUse,
  type PenaltyGradient,
} from './fairness-penalty.ts';
import { mmdOfGroups, ROWS_OF_KERNEL } from './mmd.ts';

/** The names of the penalties. */
export const FAIRNESS_PENALTIES = [
  'covariance',
  'mean_gap',
  'equalized_odds',
  'mmd',
  'correlation',
  'adversarial',
] as const;

/** The name of a fairness penalty that is added to a network's error. */
export type FairnessPenaltyName = (typeof FAIRNESS_PENALTIES)[number];

/** The penalties without trainable parameters, which depend only on the batch. */
export type PlainPenaltyName = Exclude<FairnessPenaltyName, 'adversarial'>;

/** The plain penalties by name. */
export const PLAIN_PENALTIES: Readonly<Record<PlainPenaltyName, FairnessPenalty>> = {
  covariance,
  mean_gap: meanGap,
  equalized_odds: equalizedOdds,
  mmd: mmdOfGroups,
  correlation: absoluteCorrelation,
};

/** The gradients that have an explicit formula. The other penalties are differentiated automatically. */
const PENALTY_GRADIENTS: Readonly<Partial<Record<PlainPenaltyName, PenaltyGradient>>> = {
  covariance: covarianceGradient,
  mean_gap: meanGapGradient,
  equalized_odds: equalizedOddsGradient,
};

/** Returns the maximum number of rows for a penalty whose cost is quadratic in the number of rows. */
export function maxRowsOf(name: FairnessPenaltyName): number | undefined {
  return name === 'mmd' ? ROWS_OF_KERNEL : undefined;
}

/** Creates a penalty for a group of models. */
export function createPenalty(tf: Tf, name: FairnessPenaltyName, context: PenaltyContext): PenaltyInUse {
  if (name === 'adversarial') return createAdversary(tf, context);
  const value = (batch: PenaltyBatch): Tensor1D => PLAIN_PENALTIES[name](tf, batch);
  const maxRows = maxRowsOf(name);
  const written = PENALTY_GRADIENTS[name];
  const gradient = (batch: PenaltyBatch): Tensor2D =>
    written === undefined ? automaticGradient(tf, value, batch) : written(tf, batch);
  return maxRows === undefined ? { value, slope: gradient } : { value, slope: gradient, maxRows };
}
