/** A value with its interval. */
export interface ComparedValue {
  readonly value: number;
  readonly ci: readonly [low: number, high: number] | null;
}

/** A group before and after a change; null where it has no value. */
export interface ComparedGroup {
  readonly label: string;
  readonly n: number;
  readonly before: ComparedValue | null;
  readonly after: ComparedValue | null;
}

/** One number of every group before and after a change. */
export interface ComparedMeasure {
  readonly title: string;
  /** Shares are drawn in per cent. */
  readonly unit: 'share' | 'number';
  readonly groups: readonly ComparedGroup[];
}
