import type { TensorBackend } from '../../tensor/index.ts';
import type { FairnessPenaltyName } from '../networks/penalties.ts';
import type { EtaRange } from './find-etas.ts';
import type { ParetoPoint } from './pareto-points.ts';

/** The settings and data that produced the points of a sweep. */
export interface SweepInfo {
  /** The area that the points dominate; larger is better. */
  readonly hypervolume: number;
  readonly backend: TensorBackend;
  readonly penalty: FairnessPenaltyName;
  /** The range of etas that was found; null if the etas were given. */
  readonly etaRange: EtaRange | null;
  readonly seed: number;
  readonly folds: number | null;
  /** Rows per step. */
  readonly batchSize: number;
  /** The numbers of training rows (per fold) and held-out rows. */
  readonly nTrain: number;
  readonly nTest: number;
  /** Rows excluded because the target or the group is missing. */
  readonly nDropped: number;
  readonly target: string;
  readonly sensitive: readonly string[];
  /** The label counted as 1, if the target is text. */
  readonly positiveLabel: string | null;
  readonly warnings: readonly string[];
}

/** The points of a sweep, in the order of the etas, with the settings that produced them. */
export type ParetoSweep = readonly ParetoPoint[] & SweepInfo;

/** Converts a sweep to JSON: snake_case, with null for an undefined gap. */
export function paretoToJson(points: readonly ParetoPoint[] | ParetoSweep): Record<string, unknown> {
  const body = { points: points.map(pointToJson) };
  if (!('hypervolume' in points)) return body;
  return {
    ...body,
    hypervolume: points.hypervolume,
    backend: points.backend,
    seed: points.seed,
    penalty: points.penalty,
    eta_range: points.etaRange === null ? null : rangeToJson(points.etaRange),
    folds: points.folds,
    batch_size: points.batchSize,
    n_train: points.nTrain,
    n_test: points.nTest,
    n_dropped: points.nDropped,
    target: points.target,
    positive_label: points.positiveLabel,
    sensitive: points.sensitive,
    warnings: points.warnings,
  };
}

function rangeToJson({ from, to, endsAt, hasEffect, tried }: EtaRange): Record<string, unknown> {
  return { from, to, ends_at: endsAt, has_effect: hasEffect, tried };
}

/** Converts one point of a sweep to JSON. */
export function pointToJson(point: ParetoPoint): Record<string, unknown> {
  return {
    eta: point.eta,
    accuracy: point.accuracy,
    dp_diff: Number.isNaN(point.dpDiff) ? null : point.dpDiff,
    eo_diff: Number.isNaN(point.eoDiff) ? null : point.eoDiff,
    loss: point.loss,
    dominated: point.dominated,
    accuracy_ci: point.accuracyCi,
    dp_diff_ci: point.dpDiffCi,
  };
}
