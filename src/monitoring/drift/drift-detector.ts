/** What a detector remembers: plain JSON. */
export type DetectorState = Readonly<Record<string, unknown>>;

/**
 * Watches one stream of numbers for a change, in constant memory. Feed it the
 * events of one group (1 for a positive decision, 0 for a negative one), never
 * a gap per window.
 *
 * After a detection the detector starts anew at the beginning of the next update.
 */
export interface DriftDetector {
  /** Its name in snake_case: `adwin`, `page_hinkley`. */
  readonly name: string;
  /**
   * Takes the next value.
   * @returns whether a change was detected at this value
   */
  update(value: number): boolean;
  /**
   * At a detection: how many values back the change is suspected to lie (0: at this value). Null before the first
   * detection, and for detectors that do not locate changes.
   */
  readonly changeAge: number | null;
  /** Everything it knows, so that {@link DriftDetector.restore} goes on exactly. */
  state(): DetectorState;
  /**
   * Goes on from a state.
   * @throws {DataValidationError} where it is not a state of this kind of detector
   */
  restore(state: DetectorState): void;
}
