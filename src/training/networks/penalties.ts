import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import type { Tf } from '../../tensor/index.ts';
import { createAdversary } from './adversary.ts';
import {
  absoluteCorrelation,
  automaticSlope,
  covariance,
  covarianceSlope,
  equalizedOdds,
  equalizedOddsSlope,
  type FairnessPenalty,
  meanGap,
  meanGapSlope,
  type PenaltyBatch,
  type PenaltyContext,
  type PenaltyInUse,
  type PenaltySlope,
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

/** What a network is penalised for, besides its error. */
export type FairnessPenaltyName = (typeof FAIRNESS_PENALTIES)[number];

/** The penalties that are functions of a batch alone; an adversary has to learn. */
export type PlainPenaltyName = Exclude<FairnessPenaltyName, 'adversarial'>;

/** Every plain penalty by its name. */
export const PLAIN_PENALTIES: Readonly<Record<PlainPenaltyName, FairnessPenalty>> = {
  covariance,
  mean_gap: meanGap,
  equalized_odds: equalizedOdds,
  mmd: mmdOfGroups,
  correlation: absoluteCorrelation,
};

/** The gradients that are written out; those of the others are automatic. */
const PENALTY_SLOPES: Readonly<Partial<Record<PlainPenaltyName, PenaltySlope>>> = {
  covariance: covarianceSlope,
  mean_gap: meanGapSlope,
  equalized_odds: equalizedOddsSlope,
};

/** The most rows that a penalty should see at once, where its cost grows with their square. */
export function mostRowsOf(name: FairnessPenaltyName): number | undefined {
  return name === 'mmd' ? ROWS_OF_KERNEL : undefined;
}

/** Makes a penalty ready for use. */
export function createPenalty(tf: Tf, name: FairnessPenaltyName, context: PenaltyContext): PenaltyInUse {
  if (name === 'adversarial') return createAdversary(tf, context);
  const value = (batch: PenaltyBatch): Tensor1D => PLAIN_PENALTIES[name](tf, batch);
  const mostRows = mostRowsOf(name);
  const written = PENALTY_SLOPES[name];
  const slope = (batch: PenaltyBatch): Tensor2D =>
    written === undefined ? automaticSlope(tf, value, batch) : written(tf, batch);
  return mostRows === undefined ? { value, slope } : { value, slope, mostRows };
}
