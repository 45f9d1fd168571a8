import { assertKnownOptions, invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { CELLS_PER_GROUP, type ClassificationStats, sum } from '../../metrics/statistics/group-stats.ts';
import type { TableSource } from '../../table/index.ts';
import type { MonitoringRecord, MonitoringWindow } from '../records/monitoring-record.ts';
import type { RecordLogState } from '../records/record-log-state.ts';
import { RecordLog } from '../records/record-log.ts';
import { formatTime } from '../records/record-time.ts';
import { requireSource, shownKind } from '../require-kind.ts';
import type { LabelCoverage, StreamFaults } from './event-block.ts';
import type { StreamEvent } from './event-reader.ts';
import { EventStream, type LabelOutcome } from './event-stream.ts';
import { LATEST_TIME } from './event-values.ts';
import { type GroupCodes, UNKNOWN_GROUP } from './group-codes.ts';
import type { GroupTable } from './group-table.ts';
import { mergeStreams } from './merge-streams.ts';
import { badSnapshot, readSnapshot, SNAPSHOT_SCHEMA, whileRestoring } from './snapshot-schema.ts';
import { restoreSnapshot, SNAPSHOT_VERSION, type StreamSnapshot, takeSnapshot } from './stream-snapshot.ts';
import { takeRecords } from './take-records.ts';
import {
  blockOfTail,
  type CountedBatch,
  countTensors,
  isTensorBatch,
  readTensors,
  type TensorBatch,
} from './tensor-batch.ts';
import {
  fillTrackerOptions,
  requirePlaces,
  type TrackedAttribute,
  TRACKER_OPTION_NAMES,
  type TrackerOptions,
} from './tracker-options.ts';

/** Records that the history may hold; beyond, the older half of its times is thinned out. */
const MAX_HISTORY_RECORDS = 200_000;

/** Cells whose events have a true label. */
const LABELLED_CELLS = [0, 1, 2, 3];
const ALL_CELLS = [...LABELLED_CELLS, 4, 5];

/** A tracker as plain JSON, for {@link RealTimeFairnessTracker.restore}. */
export interface TrackerSnapshot extends StreamSnapshot {
  readonly history: RecordLogState;
}

/** What a look at the metrics may be asked. */
export interface LookOptions {
  /**
   * The last `windowSize` events, or all.
   * @defaultValue 'sliding'
   */
  readonly window?: MonitoringWindow | undefined;
}

const RESTORE_OPTION_NAMES: OptionNames<Pick<TrackerOptions, 'store' | 'clock'>> = { store: true, clock: true };

const LOOK_OPTION_NAMES: OptionNames<LookOptions> = { window: true };

/**
 * Group fairness of a stream of decisions, kept up to date event by event.
 *
 * Of every group it keeps sums, never rows: over all events, over the last
 * `windowSize`, and over windows begun afresh every `restartEvery` events, which
 * alarms look at. Work per event and memory are constant, however long the stream;
 * memory grows with groups alone (at most 10,000 of an attribute; later ones
 * are counted under `too_many_groups`), and holds the window and the last
 * `labelHorizon` ids.
 *
 * Events may come one by one, in batches of columns, or from shards that are
 * merged: the sums are the same. True labels may come with the event or later by
 * its id. What cannot be counted is counted in `faults` by reason: an event
 * without a prediction, a group that was not declared, an id that came before, a
 * label for an id that is not known, a clock that went backwards (such an event
 * is counted where it came). A value that its field cannot hold is an error, and
 * then nothing of that call is counted.
 *
 * Every `recordEvery` events the metrics are taken into the history, which is
 * thinned as it grows, and appended to the store where there is one.
 * @example
 * ```ts
 * import { RealTimeFairnessTracker } from 'evenhand/monitoring';
 *
 * const tracker = new RealTimeFairnessTracker({
 *   columns: { yPred: 'approved', protected: ['sex'], id: 'case' },
 *   minGroupSize: 2,
 * });
 * tracker.recordBatch({ case: [1, 2, 3, 4], approved: [1, 0, 1, 1], sex: ['f', 'f', 'm', 'm'] });
 * tracker.record({ case: 5, approved: 0.31, sex: 'm' });
 * tracker.label(1, 1);
 * const gap = tracker.metrics().find((record) => record.group === null);
 * console.log(gap?.metric, gap?.value?.toFixed(3), gap?.n);
 * console.log(tracker.labelCoverage()[0]);
 * // demographic_parity_difference 0.167 5
 * // { attribute: 'sex', group: 'f', n: 2, labelled: 1, share: 0.5 }
 * ```
 */
export class RealTimeFairnessTracker {
  /** The counted state; for this module's own use. */
  readonly stream: EventStream;
  readonly #options: TrackerOptions;
  #history = new RecordLog();
  #lastRecordTime = -Infinity;

  /** @throws {ValueError} naming the option at fault */
  constructor(options: TrackerOptions) {
    assertKnownOptions('RealTimeFairnessTracker', options, TRACKER_OPTION_NAMES);
    const filled = fillTrackerOptions(options);
    this.#options = options;
    this.stream = new EventStream(filled, options.clock ?? machineClock);
    this.stream.onRecord(() => {
      this.#record();
    });
  }

  /** Events counted so far. */
  get nEvents(): number {
    return this.stream.events;
  }

  /** The time of the latest event, ISO 8601; null before the first. */
  get timestamp(): string | null {
    return Number.isNaN(this.stream.latestTime) ? null : formatTime(this.stream.latestTime);
  }

  /** How often something was not counted, by reason; reasons that never came are absent. */
  get faults(): StreamFaults {
    return this.stream.faults.toJSON();
  }

  /** Records taken every `recordEvery` events, by their time, thinned as they grow. */
  get history(): RecordLog {
    return this.#history;
  }

  /**
   * Counts one event.
   * @throws {DataValidationError} for a value that its field cannot hold; nothing is counted then
   */
  record(event: StreamEvent): void {
    this.stream.addEvent(event);
  }

  /**
   * Counts a batch: whatever stands for a table. Gives the same sums as one event after the other.
   *
   * A batch of 1-D tensors is counted where they are, and the promise tells when it
   * is done; until then nothing else may be recorded. Its events are one step:
   * a fresh start or a record that falls within it is taken at its end.
   * @throws {DataValidationError} for a missing column or a value that it cannot hold; nothing is counted then
   */
  recordBatch(batch: TensorBatch): Promise<void>;
  recordBatch(batch: TableSource): void;
  recordBatch(batch: TableSource | TensorBatch): void | Promise<void> {
    requireSource('batch', batch);
    if (isTensorBatch(batch)) return addTensors(this.stream, batch);
    this.stream.addBatch(batch);
  }

  /**
   * Gives an earlier event its true label (or true value).
   * @returns whether it was taken; an id that is unknown or too old, or has its label, is counted in `faults`
   * @throws {DataValidationError} for a label that is neither 0 nor 1 where rates are watched
   */
  label(id: string | number, y: unknown): boolean {
    return this.stream.addLabel(id, y);
  }

  /** Gives many events their labels; as {@link RealTimeFairnessTracker.label} for each. */
  labelBatch(ids: ArrayLike<string | number>, labels: ArrayLike<unknown>): LabelOutcome {
    requireSource('ids', ids);
    requireSource('labels', labels);
    let taken = 0;
    for (let row = 0; row < ids.length; row++) taken += Number(this.label(ids[row] as string | number, labels[row]));
    return { taken, refused: ids.length - taken };
  }

  /**
   * The metrics now: for every attribute the measure of each group and the gap of
   * each metric. Ends of intervals hold at this look alone in the sliding window,
   * and at all looks together in the cumulative one. A value is null where fewer
   * than two groups have `minGroupSize` events in the denominator.
   */
  metrics(options: LookOptions = {}): readonly MonitoringRecord[] {
    assertKnownOptions('RealTimeFairnessTracker.metrics', options, LOOK_OPTION_NAMES);
    const window = oneOf('window', options.window ?? 'sliding', ['sliding', 'cumulative']);
    return takeRecords(this.stream, window, this.stream.time);
  }

  /** For every group how many of its events have a true label. Labels that come late for some groups bias what needs them. */
  labelCoverage(): readonly LabelCoverage[] {
    return Object.freeze(
      this.stream.options.attributes.flatMap(({ name }, place) => {
        const table = this.stream.tables[place] as EventStream['tables'][number];
        const sum = (group: number, cells: readonly number[]): number =>
          cells.reduce((total, cell) => total + (table.data[group * table.stride + cell] as number), 0);
        return (this.stream.reader.groups[place]?.labels ?? []).map((group, code) => {
          const n = sum(code, ALL_CELLS);
          const labelled = sum(code, LABELLED_CELLS);
          return Object.freeze({ attribute: name, group, n, labelled, share: n === 0 ? null : labelled / n });
        });
      }),
    );
  }

  /** Takes a record now, besides those taken every `recordEvery` events: at the end of a stream, say. */
  flush(): void {
    if (this.stream.events > 0) this.#record();
  }

  /** Everything that it knows, as plain JSON; the store and the clock are not part of it. */
  snapshot(): TrackerSnapshot {
    const { store: _, clock: __, ...options } = this.#options;
    return { ...takeSnapshot(this.stream, options), history: this.#history.state() };
  }

  /**
   * Goes on exactly where a snapshot was taken.
   * @throws {DataValidationError} for something that is no snapshot of ours, or one that was changed
   * @throws {ValueError} for a store or a clock that is none
   */
  static restore(
    snapshot: TrackerSnapshot,
    parts: Pick<TrackerOptions, 'store' | 'clock'> = {},
  ): RealTimeFairnessTracker {
    assertKnownOptions('RealTimeFairnessTracker.restore', parts, RESTORE_OPTION_NAMES);
    const version: unknown = (snapshot as Partial<TrackerSnapshot> | null | undefined)?.version;
    if (version !== SNAPSHOT_VERSION) {
      throw badSnapshot(
        version === undefined
          ? 'it is no snapshot of a tracker'
          : `its layout is another than ${String(SNAPSHOT_VERSION)}`,
      );
    }
    requirePlaces(parts);
    return whileRestoring(() => {
      // Options and history are checked by those who take them, below.
      const read = readSnapshot(SNAPSHOT_SCHEMA, snapshot) as unknown as TrackerSnapshot;
      const tracker = new RealTimeFairnessTracker({ ...read.options, ...parts });
      restoreSnapshot(tracker.stream, read);
      tracker.#history = RecordLog.restore(read.history);
      tracker.#lastRecordTime = tracker.#history.length === 0 ? -Infinity : (tracker.#history.index.at(-1) as number);
      return tracker;
    });
  }

  /**
   * Takes in all that another tracker has counted, a shard of the same stream.
   * Sums are those of one tracker that had seen both; the sliding window keeps the
   * newest of both in equal measure.
   * @returns this tracker
   * @throws {ValueError} where the trackers do not count the same
   */
  merge(other: RealTimeFairnessTracker): this {
    if (!((other as unknown) instanceof RealTimeFairnessTracker)) {
      throw invalidParameter('other', 'be a RealTimeFairnessTracker', shownKind(other));
    }
    mergeStreams(this.stream, other.stream);
    this.#history.append(other.history.toRecords());
    this.#lastRecordTime = Math.max(this.#lastRecordTime, other.#lastRecordTime);
    return this;
  }

  #record(): void {
    // Records of different looks have different times, also where a burst shares a millisecond.
    const time = Math.min(Math.max(this.stream.time, this.#lastRecordTime + 1), LATEST_TIME);
    this.#lastRecordTime = time;
    const records = [...takeRecords(this.stream, 'sliding', time), ...takeRecords(this.stream, 'cumulative', time)];
    this.#history.append(records);
    if (this.#history.length > MAX_HISTORY_RECORDS) {
      this.#history.thin(Math.max(2, Math.floor(MAX_HISTORY_RECORDS / records.length / 2)));
    }
    this.#options.store?.append(records);
  }
}

/**
 * Counts a batch of tensors where they are. Its events are one step: a fresh
 * start or a record that falls within it is taken at its end. What needs every
 * row (ids, times, weights, errors, crossings, detectors) reads them all.
 */
async function addTensors(stream: EventStream, batch: TensorBatch): Promise<void> {
  const { columns, attributes } = stream.options;
  const { hasWeights, hasErrors } = stream.shape;
  const needsRows = columns.id !== undefined || columns.timestamp !== undefined || hasWeights || hasErrors;
  if (needsRows || stream.isObserved || attributes.some(({ parts }) => parts.length > 0)) {
    stream.addBatch(await readTensors(batch, stream.options, hasErrors));
    return;
  }
  const counted = await countTensors(batch, stream.options);
  addCounts(stream, counted);
  stream.addCounted(counted.events);
}

/** Adds the counts to the sums of a stream without crossings, and the last rows to its window. */
function addCounts(stream: EventStream, { attributes, events, missingPredictions, tail }: CountedBatch): void {
  if (missingPredictions > 0) stream.faults.add('missing_prediction', missingPredictions);
  attributes.forEach((stats, place) => {
    addAttribute(stream, stats, place);
  });
  stream.grow();
  const block = blockOfTail(tail, stream.options, stream.reader.groups as readonly GroupCodes[]);
  stream.window.skip(events - block.length);
  stream.window.add(block, 0, block.length);
}

function addAttribute(stream: EventStream, stats: ClassificationStats, place: number): void {
  const groups = stream.reader.groups[place] as GroupCodes;
  const table = stream.tables[place] as GroupTable;
  stats.labels.forEach((label, group) => {
    const cells = stats.counts.subarray(group * CELLS_PER_GROUP, (group + 1) * CELLS_PER_GROUP);
    const code = groups.codeOf(label);
    if (code < 0) {
      stream.faults.add(code === UNKNOWN_GROUP ? 'unknown_group' : 'too_many_groups', sum(cells));
      return;
    }
    table.grow(groups.labels.length);
    table.addCells(code, cells);
  });
  const ungrouped = sum(stats.ungrouped.counts);
  if (ungrouped > 0) stream.faults.add('missing_group', ungrouped);
  const isDeclared = (stream.options.attributes[place] as TrackedAttribute).declared !== null;
  if (!isDeclared && !stream.isWarm) stream.early[place] = groups.labels.length;
}
