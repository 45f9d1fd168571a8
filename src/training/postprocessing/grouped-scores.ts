import type { CategoricalColumn } from '../../table/index.ts';

/** Scores with the group of each; none is missing. */
export interface GroupedScores {
  /** [rows] */
  readonly scores: Float64Array;
  readonly groups: CategoricalColumn;
}
