import { createRandom } from '../../../src/internal/random.ts';
import { createDriftDetector, type DriftDetectorChoice } from '../../../src/monitoring/drift/index.ts';

/** The number of runs per cell, and the number of values per run. */
export const RUNS = 50;
export const LENGTH = 10_000;
/** Where a stream changes: at a different position in each run, since ADWIN's buckets begin at round numbers. */
const FIRST_CHANGE = 4950;
const SEED = 2026;

/** The distribution of a stream: decisions (0 and 1) at a rate, or scores that are uniform in [0, 1]. */
export type StreamLaw = number | 'scores';

/** The results of a detector on streams without a change. */
export interface QuietFigures {
  /** The share of runs with any alarm. */
  readonly share: number;
  /** The number of alarms in all runs, divided by the number of runs. */
  readonly alarms: number;
}

/** The results of a detector on streams with a change. */
export interface ChangeFigures {
  /** The share of runs with an alarm at or after the change. */
  readonly share: number;
  /** The number of values from the change to that alarm: the median of those runs. */
  readonly delay: number;
  /** The distance of the suspected change from the true one: the median of those runs; NaN if it is not located. */
  readonly error: number;
}

/** Returns a run's stream, which is the same for all detectors. */
function drawStream(before: StreamLaw, after: StreamLaw, run: number): Float64Array {
  const random = createRandom(SEED + run);
  const draw = (law: StreamLaw) => (law === 'scores' ? random.next() : Number(random.next() < law));
  return Float64Array.from({ length: LENGTH }, (_, index) => draw(index < FIRST_CHANGE + run ? before : after));
}

/** Returns the median; for an even number of values, the mean of the middle two. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/** Runs a detector on streams without a change. */
export function simulateQuiet(choice: DriftDetectorChoice, law: StreamLaw): QuietFigures {
  const alarms = Array.from({ length: RUNS }, (_, run) => {
    const detector = createDriftDetector(choice);
    return drawStream(law, law, run).reduce((count, value) => count + Number(detector.update(value)), 0);
  });
  return {
    share: alarms.filter((count) => count > 0).length / RUNS,
    alarms: alarms.reduce((sum, count) => sum + count, 0) / RUNS,
  };
}

/** Runs a detector on streams whose rate changes about halfway. */
export function simulateChange(choice: DriftDetectorChoice, before: StreamLaw, after: StreamLaw): ChangeFigures {
  const found = Array.from({ length: RUNS }, (_, run) => {
    const detector = createDriftDetector(choice);
    const changeAt = FIRST_CHANGE + run;
    const at = drawStream(before, after, run).findIndex((value, index) => detector.update(value) && index >= changeAt);
    return { isFound: at >= 0, delay: at - changeAt, error: Math.abs(at - changeAt - (detector.changeAge ?? NaN)) };
  }).filter(({ isFound }) => isFound);
  return {
    share: found.length / RUNS,
    delay: median(found.map(({ delay }) => delay)),
    error: median(found.map(({ error }) => error)),
  };
}
