import { createDriftDetector, type DriftDetectorChoice } from '../drift/create-drift-detector.ts';
import type { DriftDetector } from '../drift/drift-detector.ts';
import type { EventBlock, EventObserver } from '../tracker/event-block.ts';
import type { EventStream } from '../tracker/event-stream.ts';
import { emptySums, measureValue, sumMeasure } from '../tracker/measure-intervals.ts';
import { badSnapshot } from '../tracker/snapshot-schema.ts';
import type { WatchedMeasure } from '../tracker/watched-metric.ts';

/** A suspected change in the values of a group. */
export interface SuspectedChange {
  /** The time of the change, in milliseconds since 1970. */
  readonly time: number;
  /** The number of events of the group that the measure counted before the change, and the sum of their values. */
  readonly n: number;
  readonly sum: number;
}

/** The detectors of one measure of one attribute. Every group has one detector of each kind. */
interface Watched {
  readonly attribute: number;
  readonly measure: WatchedMeasure;
  /** The detectors, first by kind of detector and then by group. */
  readonly detectors: DriftDetector[][];
  /** The latest suspected change of each group. */
  readonly changes: (SuspectedChange | undefined)[];
}

/** The state of all detectors, as plain JSON. */
export type DetectorBankState = readonly {
  readonly detectors: readonly (readonly Readonly<Record<string, unknown>>[])[];
  readonly changes: readonly (SuspectedChange | null)[];
}[];

/**
 * Passes every event to the change detectors, and stores the latest change that each of them found. Each group of each
 * monitored measure has its own set of detectors.
 */
export class DetectorBank implements EventObserver {
  readonly #stream: EventStream;
  readonly #choices: readonly DriftDetectorChoice[];
  readonly #watched: readonly Watched[];
  /** A buffer for the values of a block. */
  #values = new Float64Array(1);

  constructor(stream: EventStream, choices: readonly DriftDetectorChoice[]) {
    this.#stream = stream;
    this.#choices = choices;
    const measures = [
      ...new Map(stream.options.metrics.flatMap((metric) => metric.measures).map((one) => [one.name, one])).values(),
    ];
    this.#watched = stream.options.attributes.flatMap((_, attribute) =>
      measures.map((measure) => ({ attribute, measure, detectors: choices.map(() => []), changes: [] })),
    );
  }

  events(block: EventBlock, from: number, to: number): void {
    for (const watched of this.#watched) {
      this.#takeValues(watched.measure, block, from, to);
      const codes = block.codes[watched.attribute] as Int32Array;
      for (let kind = 0; kind < watched.detectors.length; kind++) this.#feed(watched, kind, codes, from, to);
    }
  }

  label(codes: readonly number[], cell: number, error: number): void {
    for (const watched of this.#watched) {
      // Measures that need no true label have already received the event.
      if (!watched.measure.needsTruth) continue;
      this.#values[0] = this.#valueOf(watched.measure, cell, error);
      const code = Int32Array.of(codes[watched.attribute] as number);
      for (let kind = 0; kind < watched.detectors.length; kind++) this.#feed(watched, kind, code, 0, 1);
    }
  }

  /** Returns the latest suspected change in a group's measure. */
  changeOf(attribute: number, measure: WatchedMeasure, group: number): SuspectedChange | undefined {
    return this.#watched.find((one) => one.attribute === attribute && one.measure.name === measure.name)?.changes[
      group
    ];
  }

  state(): DetectorBankState {
    return this.#watched.map(({ detectors, changes }) => ({
      detectors: detectors.map((kind) => Array.from(kind, (detector) => detector.state())),
      changes: Array.from(changes, (change) => change ?? null),
    }));
  }

  /**
   * Restores a state.
   * @throws {DataValidationError} if the state belongs to other detectors or groups
   */
  restore(state: DetectorBankState): void {
    if (state.length !== this.#watched.length) throw badSnapshot('its detectors belong to other measures');
    this.#watched.forEach(({ attribute, detectors, changes }, position) => {
      const saved = state[position] as DetectorBankState[number];
      const groups = this.#stream.reader.groups[attribute]?.labels.length ?? 0;
      if (saved.detectors.length !== detectors.length)
        throw badSnapshot('its detectors differ from those in the options');
      if ([...saved.detectors, saved.changes].some(({ length }) => length > groups)) {
        throw badSnapshot('it has detectors for groups that the tracker does not know');
      }
      saved.detectors.forEach((kind, index) => {
        kind.forEach((one, group) => {
          this.#detector(detectors[index] as DriftDetector[], index, group).restore(one);
        });
      });
      saved.changes.forEach((change, group) => (changes[group] = change ?? undefined));
    });
  }

  /** Passes the buffered values to the detectors of their groups. */
  #feed(watched: Watched, kind: number, codes: Int32Array, from: number, to: number): void {
    const detectors = watched.detectors[kind] as DriftDetector[];
    const values = this.#values;
    for (let row = from; row < to; row++) {
      const value = values[row - from] as number;
      const code = codes[row] as number;
      if (code < 0 || Number.isNaN(value)) continue;
      const detector = detectors[code] ?? this.#detector(detectors, kind, code);
      if (!detector.update(value)) continue;
      let later = 0;
      for (let next = row + 1; next < to; next++) {
        later += Number(codes[next] === code && !Number.isNaN(values[next - from]));
      }
      this.#note(watched, detector, code, later);
    }
  }

  /**
   * Fills the buffer with the values of a measure's events. An event that is not part of the measure has the value NaN.
   */
  #takeValues(measure: WatchedMeasure, { cells, errors }: EventBlock, from: number, to: number): void {
    if (this.#values.length < to - from) this.#values = new Float64Array(to - from);
    for (let row = from; row < to; row++) {
      const error = errors === null ? NaN : (errors[row] as number);
      this.#values[row - from] = this.#valueOf(measure, cells[row] as number, error);
    }
  }

  /**
   * Returns the value of an event for a detector. Detectors expect values in [0, 1]. For a rate, the value is 1 or 0.
   * For an error, the value is the error divided by the largest possible error.
   */
  #valueOf(measure: WatchedMeasure, cell: number, error: number): number {
    if (measure.kind === 'rate') {
      const value = measure.valueOfCell[cell] as number;
      return value < 0 ? NaN : value;
    }
    const scale = this.#stream.options.errorScale;
    return scale === null ? NaN : Math.min(1, error / scale);
  }

  /**
   * Returns the detector of a group. Detectors are created in the order of group codes, so that a state has no gaps.
   */
  #detector(detectors: DriftDetector[], kind: number, code: number): DriftDetector {
    while (detectors.length <= code) detectors.push(createDriftDetector(this.#choices[kind] as DriftDetectorChoice));
    return detectors[code] as DriftDetector;
  }

  /**
   * Estimates when a detected change began, using the sums that the stream has stored for earlier times.
   * @param later the number of values of the group that came after the detected change but are already in the sums
   */
  #note({ attribute, measure, changes }: Watched, detector: DriftDetector, group: number, later: number): void {
    const stream = this.#stream;
    const table = stream.tables[attribute] as EventStream['tables'][number];
    const sums = emptySums();
    const at = (events: typeof table, time: number): SuspectedChange => {
      if (group >= events.groups) return { time, n: 0, sum: 0 };
      sumMeasure(measure, events, null, group, sums);
      return { time, n: sums.n, sum: measureValue(sums) * sums.n || 0 };
    };
    const now = at(table, stream.time);
    // Starts before the first event have no time. If the events of a stream have no times, no start has a time.
    const firstTime = Number.isNaN(stream.firstTime) ? stream.time : stream.firstTime;
    const marks = stream.starts.kept.map((start) =>
      at(start.tables[attribute] ?? table, Number.isNaN(start.time) ? firstTime : start.time),
    );
    const { changeAge } = detector;
    changes[group] =
      changeAge === null
        ? clearestSplit(marks, now)
        : markAt([...marks, now], Math.max(0, now.n - later - changeAge), firstTime);
  }
}

/**
 * Returns the stored point that best separates the values of a group into two parts: the point with the largest n1 n2
 * (mean1 - mean2)^2. Here, n1 and n2 are the sizes of the two parts, and mean1 and mean2 are their means. The function
 * is used for detectors that do not estimate the time of a change.
 */
function clearestSplit(marks: readonly SuspectedChange[], now: SuspectedChange): SuspectedChange {
  const clarity = ({ n, sum }: SuspectedChange): number =>
    n * (now.n - n) * (sum / n - (now.sum - sum) / (now.n - n)) ** 2;
  const inside = marks.filter(({ n }) => n > 0 && n < now.n);
  return inside.reduce((best, mark) => (best === now || clarity(mark) > clarity(best) ? mark : best), now);
}

/** The point that is used if no points are stored. */
const NEVER: SuspectedChange = { time: NaN, n: 0, sum: 0 };

/**
 * Returns the point at which a given number of values had been counted, by linear interpolation between stored points.
 * @param firstTime the time to use for points without a time
 */
export function markAt(marks: readonly SuspectedChange[], n: number, firstTime: number): SuspectedChange {
  const after = marks.find((mark) => mark.n >= n) ?? marks.at(-1) ?? NEVER;
  const before = marks.findLast((mark) => mark.n < n) ?? after;
  const share = after.n === before.n ? 1 : (n - before.n) / (after.n - before.n);
  const timeOf = ({ time }: SuspectedChange): number => (Number.isNaN(time) ? firstTime : time);
  return {
    time: timeOf(before) + share * (timeOf(after) - timeOf(before)),
    n,
    sum: before.sum + share * (after.sum - before.sum),
  };
}
