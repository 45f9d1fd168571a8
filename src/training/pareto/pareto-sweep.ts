import { snakeFields } from '../../internal/arguments.ts';
import type { TensorBackend } from '../../tensor/index.ts';
import { numbersToJson } from '../decision-quality.ts';
import type { ModelData } from '../models/model-card.ts';
import type { FairnessPenaltyName } from '../networks/penalties.ts';
import type { EtaRange } from './find-etas.ts';
import type { ParetoPoint } from './pareto-points.ts';

/** The settings and data that produced the points of a sweep. */
export interface SweepInfo extends ModelData {
  /** The area that the points dominate in the plane of accuracy and 1 - dpDiff. A larger area is better. */
  readonly hypervolume: number;
  readonly backend: TensorBackend;
  readonly penalty: FairnessPenaltyName;
  /** The range found by the search for etas; null if the etas were given. */
  readonly etaRange: EtaRange | null;
  readonly seed: number;
  readonly folds: number | null;
  /** The number of rows per step. */
  readonly batchSize: number;
  readonly warnings: readonly string[];
}

/** The points of a sweep, in the order of the etas, with the settings that produced them. */
export type ParetoSweep = readonly ParetoPoint[] & SweepInfo;

/** Converts a sweep to JSON. Keys are in snake_case, and an undefined gap is null. */
export function paretoToJson(points: readonly ParetoPoint[] | ParetoSweep): Record<string, unknown> {
  const body = { points: points.map(pointToJson) };
  if (!('hypervolume' in points)) return body;
  const { hypervolume, backend, seed, penalty, etaRange, folds, batchSize, nTrain, nTest, nDropped } = points;
  const { target, positiveLabel, sensitive, warnings } = points;
  return {
    ...body,
    ...snakeFields({ hypervolume, backend, seed, penalty, etaRange: etaRange && snakeFields(etaRange) }),
    ...snakeFields({ folds, batchSize, nTrain, nTest, nDropped, target, positiveLabel, sensitive, warnings }),
  };
}

/** Converts one point of a sweep to JSON. */
export function pointToJson(point: ParetoPoint): Record<string, unknown> {
  const { eta, accuracy, dpDiff, eoDiff, loss, dominated, accuracyCi, dpDiffCi } = point;
  return numbersToJson({ eta, accuracy, dpDiff, eoDiff, loss, dominated, accuracyCi, dpDiffCi });
}
