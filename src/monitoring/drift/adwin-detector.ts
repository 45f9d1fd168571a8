import { z } from 'zod';

import { AdaptiveWindow, type AdaptiveWindowSettings, type SavedWindow } from './adaptive-window.ts';
import { count, invalidValue, isInDomain, readState } from './detector-state.ts';
import type { DetectorState, DriftDetector } from './drift-detector.ts';
import { fillParameters, fraction, type Given, type ParameterTable, whole } from './parameter-table.ts';

/** The parameters of {@link AdwinDetector}. */
export interface AdwinParameters extends AdaptiveWindowSettings {
  /**
   * The error probability at one check, in (0, 1). Smaller values cause fewer false alarms and later detections.
   * @defaultValue 0.002
   */
  readonly delta: number;
  /**
   * The number of values between checks.
   * @defaultValue 32
   */
  readonly clock: number;
  /**
   * The number of buckets of each size. More buckets locate a change more precisely, at a higher cost.
   * @defaultValue 5
   */
  readonly maxBuckets: number;
  /**
   * The minimum number of values on either side of a cut.
   * @defaultValue 5
   */
  readonly minWindowLength: number;
  /**
   * The number of initial values during which no check runs.
   * @defaultValue 10
   */
  readonly gracePeriod: number;
}

/** Options of {@link AdwinDetector}: its parameters, all with defaults. */
export type AdwinOptions = Given<AdwinParameters>;

const PARAMETERS: ParameterTable<AdwinParameters> = {
  delta: fraction(0.002),
  clock: whole(32, 1),
  maxBuckets: whole(5, 2),
  minWindowLength: whole(5, 1),
  gracePeriod: whole(10, 0),
};

type SavedAdwin = SavedWindow & {
  /** The number of values since the latest check. */
  readonly sinceCheck: number;
};

function schema({ maxBuckets, clock }: AdwinParameters): z.ZodType<SavedAdwin> {
  const bucket = z.tuple([z.number(), z.number().min(0)]);
  return z
    .strictObject({
      width: count,
      total: z.number(),
      squares: z.number().min(0),
      // One more row would hold 2^53 values, beyond which a double cannot count exactly.
      rows: z.array(z.array(bucket).max(maxBuckets)).min(1).max(53),
      sinceCheck: count.max(clock - 1),
    })
    .refine(({ width, rows }) => width === 0 || rows.every(({ length }) => length > 0), {
      error: 'a row has no buckets',
    })
    .refine(({ width, rows }) => width === rows.reduce((sum, row, index) => sum + row.length * 2 ** index, 0), {
      error: 'the width does not match the buckets',
    });
}

/**
 * Detects changes with ADWIN: a window of the latest values that grows while the stream is stable, and drops its oldest
 * part after a change.
 *
 * Every `clock` values, each border between buckets is tried as a cut into an older part of n0 and a newer part of n1
 * values. There is a change if |mean0 - mean1| > sqrt(2 m v L) + (2/3) m L. Here, v is the variance of the window, L =
 * ln(2 ln(n0 + n1) / delta), and m = 1/(n0 - minWindowLength + 1) + 1/(n1 - minWindowLength + 1). The oldest buckets
 * are dropped one by one until no cut is left, so much of the older part may remain. The start of the change is
 * therefore estimated by the cut with the largest n0 n1 (mean0 - mean1)^2. The size of the buckets limits the
 * precision.
 *
 * The range of the values should be about 1, because the second term of the bound assumes a range of 1. Use 0 and 1, or
 * scale the values. Memory is O(log n); an update costs O(1) on average, and a check O(log n).
 *
 * The bound treats the variance as known and holds for a single check: `delta` gives no guarantee for a complete
 * stream.
 * @see A. Bifet and R. Gavaldà, Learning from time-changing data with adaptive windowing, SDM 2007
 * @example
 * ```ts
 * import { AdwinDetector } from 'evenhand/monitoring';
 *
 * const detector = new AdwinDetector();
 * const selected = Array.from({ length: 2000 }, (_, index) => (index < 1000 ? index % 4 === 0 : index % 4 !== 0));
 * const foundAt = selected.findIndex((isSelected) => detector.update(Number(isSelected)));
 * console.log(foundAt, foundAt - (detector.changeAge ?? 0));
 * // 1055 1000
 * ```
 */
export class AdwinDetector implements DriftDetector {
  // This detector does not use the base class of the other detectors. As the default detector, it receives every
  // event, and code shared between detector classes is not inlined for each class.
  readonly name = 'adwin';
  /** The parameters in use, with defaults filled in. */
  readonly parameters: Readonly<AdwinParameters>;
  readonly #clock: number;
  #window: AdaptiveWindow;
  #sinceCheck = 0;
  #isDetected = false;
  #changeAge: number | null = null;

  /** @throws {ValueError} if a parameter is unknown or out of range */
  constructor(options: AdwinOptions = {}) {
    this.parameters = fillParameters(PARAMETERS, options);
    this.#clock = this.parameters.clock;
    this.#window = new AdaptiveWindow(this.parameters);
  }

  /** The number of values in the window. Immediately after a detection, this is the number of values that remain. */
  get width(): number {
    return this.#window.width;
  }

  /** The mean of the window; NaN if it is empty. */
  get mean(): number {
    return this.#window.total / this.width;
  }

  /** The mean squared deviation from the mean of the window; NaN if it is empty. */
  get variance(): number {
    return this.#window.squares / this.width;
  }

  /**
   * The number of values from the suspected start of the change (the least-squares cut) to the latest detection. Null
   * before the first detection.
   */
  get changeAge(): number | null {
    return this.#changeAge;
  }

  /**
   * Processes the next value.
   * @returns whether a change was detected at this value
   * @throws {DataValidationError} if the value is not a number from -1e100 to 1e100; the detector then stays unchanged
   */
  update(value: number): boolean {
    if (!isInDomain(value, 'number')) throw invalidValue(this.name, value, 'number');
    if (this.#isDetected) this.#restart();
    // Adding 0 turns -0 into 0. JSON.stringify writes -0 as 0, so a state must not depend on -0.
    this.#window.add(value + 0);
    return ++this.#sinceCheck >= this.#clock && this.#check();
  }

  /** Returns the complete state as plain data that JSON can represent. */
  state(): DetectorState {
    return Object.freeze({
      detector: this.name,
      parameters: { ...this.parameters },
      isDetected: this.#isDetected,
      changeAge: this.#changeAge,
      memory: { ...this.#window.save(), sinceCheck: this.#sinceCheck },
    });
  }

  /**
   * Restores a state.
   * @throws {DataValidationError} if `state` is not a state of an ADWIN detector with the same parameters; the detector
   *   then stays unchanged
   */
  restore(state: DetectorState): void {
    const { memory, isDetected, changeAge } = readState(this, schema(this.parameters), state);
    this.#window = AdaptiveWindow.load(memory, this.parameters);
    this.#sinceCheck = memory.sinceCheck;
    this.#isDetected = isDetected;
    this.#changeAge = changeAge;
  }

  #restart(): void {
    this.#window = new AdaptiveWindow(this.parameters);
    this.#sinceCheck = 0;
    this.#isDetected = false;
  }

  #check(): boolean {
    this.#sinceCheck = 0;
    if (this.#window.width <= this.parameters.gracePeriod) return false;
    const newer = this.#window.shrink();
    if (newer === 0) return false;
    this.#isDetected = true;
    this.#changeAge = newer - 1;
    return true;
  }
}
