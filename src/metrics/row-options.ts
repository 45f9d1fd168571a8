import type { ColumnSource, NanPolicy } from '../table/index.ts';

/** Options on the rows that a metric is computed from. */
export interface RowOptions {
  /** Weights of rows, [n], 0 or more. */
  readonly sampleWeight?: ColumnSource | undefined;
  /** The label that counts as 1; every other label is 0. */
  readonly positiveLabel?: string | undefined;
  /**
   * Rows without a group: left out, or a group `(missing)` of their own.
   * @defaultValue 'exclude'
   */
  readonly nanPolicy?: NanPolicy | undefined;
}
