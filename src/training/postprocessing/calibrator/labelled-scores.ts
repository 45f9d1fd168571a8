import type { CalibrationMap } from './calibration-map.ts';

/** Rows of one group, or of all. */
export interface LabelledScores {
  /** [n], from 0 to 1. */
  readonly scores: Float64Array;
  /** [n], 0 or 1; both occur. */
  readonly y: Uint8Array;
  /** [n], above 0. */
  readonly weights: Float64Array;
}

/** A map with what a reader should know of how it came out. */
export interface FittedMap {
  readonly map: CalibrationMap;
  readonly warning: string | null;
}
