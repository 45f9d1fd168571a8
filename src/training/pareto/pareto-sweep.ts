import type { TensorBackend } from '../../tensor/index.ts';
import type { FairnessPenaltyName } from '../networks/penalties.ts';
import type { EtaRange } from './find-etas.ts';
import type { ParetoPoint } from './pareto-points.ts';

/** What produced the points of a sweep. */
export interface SweepInfo {
  /** The area that the points dominate; larger is better. */
  readonly hypervolume: number;
  readonly backend: TensorBackend;
  readonly penalty: FairnessPenaltyName;
  /** The range of etas that was found; null where etas were given. */
  readonly etaRange: EtaRange | null;
  readonly seed: number;
  readonly folds: number | null;
  /** Rows that a step learned from. */
  readonly batchSize: number;
  /** Rows trained on (per fold) and held out. */
  readonly nTrain: number;
  readonly nTest: number;
  /** Rows left out because the target or the group is missing. */
  readonly nDropped: number;
  readonly target: string;
  readonly sensitive: readonly string[];
  /** The label counted as 1, where the target is text. */
  readonly positiveLabel: string | null;
  readonly warnings: readonly string[];
}

/** The points of a sweep, in the order of the etas, with what produced them. */
export type ParetoSweep = readonly ParetoPoint[] & SweepInfo;
