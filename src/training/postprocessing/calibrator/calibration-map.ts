import type { z } from 'zod';

import type { calibratorSchema } from '../../../schemas/calibrate.ts';
import { sigmoid } from '../../logistic.ts';
import { countAtMost } from '../grouped-scores.ts';

/** The methods of calibration. */
export const CALIBRATION_METHODS = ['platt', 'isotonic', 'temperature'] as const;

/** One of {@link CALIBRATION_METHODS}. */
export type CalibrationMethod = (typeof CALIBRATION_METHODS)[number];

/** The possible inputs of Platt's method: the log-odds of scores, or the scores themselves. */
export const PLATT_INPUTS = ['logit', 'score'] as const;

/** One of {@link PLATT_INPUTS}. */
export type PlattInput = (typeof PLATT_INPUTS)[number];

/**
 * A map from scores to calibrated probabilities, as plain data:
 *
 * - `platt`: p = sigmoid(slope x + intercept), where x is the logit of the score or the score itself;
 * - `isotonic`: linear interpolation between (score, rate) points, with scores and rates in ascending order. The
 *   function is constant beyond the ends;
 * - `temperature`: p = sigmoid(logit(score) / temperature).
 */
export type CalibrationMap = NonNullable<z.output<typeof calibratorSchema>['state']>['pooled'];

/**
 * Converts a map to a function of one score.
 * @param margin the minimum distance from 0 and 1 to which a score is clipped before its logit is computed
 */
export function calibrationFunction(map: CalibrationMap, margin: number): (score: number) => number {
  switch (map.kind) {
    case 'platt': {
      const { slope, intercept } = map;
      return map.input === 'logit'
        ? (score) => sigmoid(slope * toLogit(score, margin) + intercept)
        : (score) => sigmoid(slope * score + intercept);
    }
    case 'isotonic':
      return (score) => interpolate(map, score);
    case 'temperature':
      return (score) => sigmoid(toLogit(score, margin) / map.temperature);
  }
}

function interpolate({ scores, rates }: CalibrationMap & { kind: 'isotonic' }, score: number): number {
  const above = countAtMost(scores, score);
  const last = scores.length - 1;
  if (above === 0) return rates[0] as number;
  if (above > last) return rates[last] as number;
  const [fromScore, toScore] = [scores[above - 1] as number, scores[above] as number];
  const [fromRate, toRate] = [rates[above - 1] as number, rates[above] as number];
  // The interpolation uses a share of the distance, because the slope between nearly equal scores can overflow.
  const share = (score - fromScore) / (toScore - fromScore);
  // Rounding must not raise the value above the next rate.
  return Math.min(toRate, fromRate + (toRate - fromRate) * share);
}

/** The rows of one group, or of all groups. */
export interface LabelledScores {
  /** The scores, [n], from 0 to 1. */
  readonly scores: Float64Array;
  /** The labels, [n], 0 or 1. Both labels occur. */
  readonly y: Uint8Array;
  /** The weights, [n], above 0. */
  readonly weights: Float64Array;
}

/** A fitted map, with a warning if there is a problem with the fit. */
export interface FittedMap {
  readonly map: CalibrationMap;
  readonly warning: string | null;
}

/** Computes log(s / (1 - s)) of a score s, which is first clipped to a distance of at least `margin` from 0 and 1. */
export function toLogit(score: number, margin: number): number {
  const kept = Math.min(1 - margin, Math.max(margin, score));
  return Math.log(kept / (1 - kept));
}

/**
 * Returns the minimum distance from 0 and 1 to which scores are clipped before their logits are computed.
 *
 * A score of exactly 0 or 1 has an infinite logit. If such a score were moved away from 0 or 1 only by the spacing of
 * floats, its logit would be about ±36, far from all other logits. A few such rows would dominate the fit. If scores of
 * exactly 0 or 1 occur, the margin is therefore half the distance of the nearest other score from 0 or 1. This is
 * similar to replacing a count of 0 by one half. Otherwise the margin is the spacing of floats.
 */
export function endMargin(scores: Float64Array): number {
  const distances = scores.map((score) => Math.min(score, 1 - score));
  if (!distances.includes(0)) return Number.EPSILON;
  const nearest = distances.reduce((min, distance) => (distance > 0 ? Math.min(min, distance) : min), 0.5);
  return Math.max(Number.EPSILON, nearest / 2);
}
