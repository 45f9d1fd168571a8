/** The comparisons of groups that both libraries make. */
export const GAPS = [
  'difference between_groups',
  'difference to_overall',
  'ratio between_groups',
  'ratio to_overall',
  'group_min',
  'group_max',
] as const;

/** One of {@link GAPS}. */
export type Gap = (typeof GAPS)[number];

/** The values of a measure within a level of the control features. Undefined values are NaN. */
export interface LevelValues {
  readonly overall: number;
  readonly groups: ReadonlyMap<string, number>;
  readonly gaps: Readonly<Record<Gap, number>>;
}

/** The values of a measure, by level. */
export type MeasureValues = ReadonlyMap<string, LevelValues>;

/** The text of the error with which a library rejects a measure or a metric. */
export interface Rejection {
  readonly error: string;
}

/** Returns whether a library rejected a measure or a metric. */
export function isRejection(value: unknown): value is Rejection {
  return typeof value === 'object' && value !== null && 'error' in value;
}

/** What a library computes for a frame. */
export interface FrameValues {
  readonly measures: ReadonlyMap<string, MeasureValues | Rejection>;
  readonly metrics: readonly (number | Rejection)[];
}

/** What fairlearn computes for a frame. */
export interface PeerValues {
  /** The values of fairlearn's version 0.15 for all rows. */
  readonly raw: FrameValues;
  /** The values for the rows that it accepts for every measure; null if it accepts all rows. */
  readonly kept: FrameValues | null;
  /** The values of version 0.14 for all rows, if some rows have no group; otherwise null. */
  readonly old: FrameValues | null;
}
