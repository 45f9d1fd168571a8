import type { GroupStats } from '../statistics/group-stats.ts';

/** The statistics of one class of a multiclass outcome, counted as that class against the rest. */
export interface ClassStats {
  readonly stats: GroupStats;
  /** The class; undefined for an outcome that is binary or a number. */
  readonly className: string | undefined;
}
