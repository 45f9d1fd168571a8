/** What a record's value was computed over. */
export type MonitoringWindow = 'sliding' | 'cumulative';

/**
 * One number of a stream at one time: a group's rate, or the gap between groups.
 * Records are kept by their time, which is their index and none of their columns.
 */
export interface MonitoringRecord {
  /** When, ISO 8601 in UTC: the time of the latest event that had been counted. */
  readonly timestamp: string;
  /** A measure of a group (`selection_rate`), or where `group` is null a metric over groups (`demographic_parity_difference`). */
  readonly metric: string;
  /** A sensitive attribute, or several joined by `||`. */
  readonly attribute: string;
  /** The group's label; null for the gap over all groups. */
  readonly group: string | null;
  /** The last `windowSize` events, or all. */
  readonly window: MonitoringWindow;
  /** The rate or the gap; null where it is undefined (too few events). */
  readonly value: number | null;
  /** Events that it was computed from: those in the denominator of a group's rate, all of them for a gap. */
  readonly n: number;
  /**
   * The ends of its interval; null where there is none. Of the cumulative window they hold at all times together
   * (anytime-valid), of the sliding one at this time alone.
   */
  readonly low: number | null;
  readonly high: number | null;
}
