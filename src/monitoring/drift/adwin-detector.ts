import { z } from 'zod';

import { AdaptiveWindow, type AdaptiveWindowSettings, type SavedWindow } from './adaptive-window.ts';
import { count, invalidValue, isInDomain, readState } from './detector-state.ts';
import type { DetectorState, DriftDetector } from './drift-detector.ts';
import { fillParameters, fraction, type Given, type ParameterTable, whole } from './parameter-table.ts';

/** The parameters of {@link AdwinDetector}. */
export interface AdwinParameters extends AdaptiveWindowSettings {
  /**
   * What may go wrong at one check, in (0, 1): the smaller, the fewer false alarms and the later true ones.
   * @defaultValue 0.002
   */
  readonly delta: number;
  /**
   * Values from one check to the next.
   * @defaultValue 32
   */
  readonly clock: number;
  /**
   * Buckets of each size: more of them locate a change more finely, and cost more.
   * @defaultValue 5
   */
  readonly maxBuckets: number;
  /**
   * The fewest values on either side of a cut.
   * @defaultValue 5
   */
  readonly minWindowLength: number;
  /**
   * No check happens until more values than this have come.
   * @defaultValue 10
   */
  readonly gracePeriod: number;
}

/** Options of {@link AdwinDetector}: its parameters, all of which have defaults. */
export type AdwinOptions = Given<AdwinParameters>;

const PARAMETERS: ParameterTable<AdwinParameters> = {
  delta: fraction(0.002),
  clock: whole(32, 1),
  maxBuckets: whole(5, 2),
  minWindowLength: whole(5, 1),
  gracePeriod: whole(10, 0),
};

type SavedAdwin = SavedWindow & {
  /** Values since the latest check. */
  readonly sinceCheck: number;
};

function schema({ maxBuckets, clock }: AdwinParameters): z.ZodType<SavedAdwin> {
  const bucket = z.tuple([z.number(), z.number().min(0)]);
  return z
    .strictObject({
      width: count,
      total: z.number(),
      squares: z.number().min(0),
      // 2^53 values, which a double no longer counts, would need one row more.
      rows: z.array(z.array(bucket).max(maxBuckets)).min(1).max(53),
      sinceCheck: count.max(clock - 1),
    })
    .refine(({ width, rows }) => width === 0 || rows.every(({ length }) => length > 0), {
      error: 'a row has no buckets',
    })
    .refine(({ width, rows }) => width === rows.reduce((sum, row, index) => sum + row.length * 2 ** index, 0), {
      error: 'the width is not what the buckets hold',
    });
}

/**
 * ADWIN: a window of the latest values that grows while the stream stays the
 * same, and drops its oldest part when the stream has changed.
 *
 * Every `clock` values each border between buckets is tried as a cut into an
 * older part of n0 and a newer part of n1 values. There is a change where
 * |mean0 - mean1| > sqrt(2 m v L) + (2/3) m L, with v the variance of the
 * window, L = ln(2 ln(n0 + n1) / delta) and
 * m = 1/(n0 - minWindowLength + 1) + 1/(n1 - minWindowLength + 1). The oldest
 * bucket is dropped until no cut is left, which may leave much of the older
 * part: the change is dated by the cut with the largest
 * n0 n1 (mean0 - mean1)^2, as precisely as buckets allow.
 *
 * Values are numbers of about unit range: the bound's second term supposes it.
 * Feed 0 and 1, or scale. Memory is O(log n); an update costs O(1) on average,
 * and a check O(log n).
 *
 * The bound takes the variance as known, and is for one check alone: `delta`
 * promises nothing about a whole stream.
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
  // The other detectors share a class. This one is fed every event, and code that kinds share is not inlined for each.
  readonly name = 'adwin';
  /** The parameters in force, defaults filled in. */
  readonly parameters: Readonly<AdwinParameters>;
  readonly #clock: number;
  #window: AdaptiveWindow;
  #sinceCheck = 0;
  #isDetected = false;
  #changeAge: number | null = null;

  /** @throws {ValueError} for a parameter that is unknown or out of range */
  constructor(options: AdwinOptions = {}) {
    this.parameters = fillParameters(PARAMETERS, options);
    this.#clock = this.parameters.clock;
    this.#window = new AdaptiveWindow(this.parameters);
  }

  /** Values in the window; at a detection those that are left. */
  get width(): number {
    return this.#window.width;
  }

  /** The mean of the window; NaN while it is empty. */
  get mean(): number {
    return this.#window.total / this.width;
  }

  /** The mean squared deviation from the mean of the window; NaN while it is empty. */
  get variance(): number {
    return this.#window.squares / this.width;
  }

  /** At the latest detection: how many values back the newer part began that leaves the least squares; null before it. */
  get changeAge(): number | null {
    return this.#changeAge;
  }

  /**
   * Takes the next value.
   * @returns whether a change was detected at this value
   * @throws {DataValidationError} for what is no number from -1e100 to 1e100; nothing changes then
   */
  update(value: number): boolean {
    if (!isInDomain(value, 'number')) throw invalidValue(this.name, value, 'number');
    if (this.#isDetected) this.#startAnew();
    // JSON has no -0, which a state must not differ by.
    this.#window.add(value + 0);
    return ++this.#sinceCheck >= this.#clock && this.#check();
  }

  /** Everything it knows as plain data, which survives JSON. */
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
   * Goes on from a state.
   * @throws {DataValidationError} where it is no state of an ADWIN detector with these parameters; nothing changes then
   */
  restore(state: DetectorState): void {
    const { memory, isDetected, changeAge } = readState(this, schema(this.parameters), state);
    this.#window = AdaptiveWindow.load(memory, this.parameters);
    this.#sinceCheck = memory.sinceCheck;
    this.#isDetected = isDetected;
    this.#changeAge = changeAge;
  }

  #startAnew(): void {
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
