/** The state of a detector, as plain JSON. */
export type DetectorState = Readonly<Record<string, unknown>>;

/**
 * Detects a change in one stream of numbers, with constant memory. Pass it the events of one group (1 for a positive
 * decision, 0 for a negative one), not the gap of each window.
 *
 * After a detection, the detector restarts at the beginning of the next update.
 */
export interface DriftDetector {
  /** The name in snake_case, such as `adwin` or `page_hinkley`. */
  readonly name: string;
  /**
   * Processes the next value.
   * @returns whether a change was detected at this value
   */
  update(value: number): boolean;
  /**
   * After a detection, how many values ago the change probably began; 0 means at the latest value. The number is null
   * before the first detection, and for detectors that do not locate changes.
   */
  readonly changeAge: number | null;
  /**
   * Returns the complete state. A detector that {@link DriftDetector.restore} creates from it continues exactly from
   * this point.
   */
  state(): DetectorState;
  /**
   * Restores a state.
   * @throws {DataValidationError} if `state` is not a state of this kind of detector
   */
  restore(state: DetectorState): void;
}
