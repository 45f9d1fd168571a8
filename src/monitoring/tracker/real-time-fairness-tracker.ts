import { assertKnownOptions, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import {
  ALL_CELLS,
  CELLS_PER_GROUP,
  type ClassificationStats,
  LABELLED_CELLS,
  sum,
} from '../../metrics/statistics/group-stats.ts';
import { columnToArray } from '../../table/column.ts';
import { isColumn } from '../../table/column-source.ts';
import { type ColumnSource, onHost, type TableSource, unwrap } from '../../table/index.ts';
import type { MonitoringRecord, MonitoringWindow } from '../records/monitoring-record.ts';
import type { RecordLogState } from '../records/record-log-state.ts';
import { RecordLog } from '../records/record-log.ts';
import { formatTime } from '../records/record-time.ts';
import { requireInstance, requireSource } from '../require-kind.ts';
import type { LabelCoverage, StreamProblems } from './event-block.ts';
import { GROUP_PROBLEMS, type StreamEvent } from './event-reader.ts';
import { EventStream, type LabelOutcome } from './event-stream.ts';
import { LATEST_TIME } from './event-values.ts';
import { type GroupCodes, NO_GROUP } from './group-codes.ts';
import type { GroupTable } from './group-table.ts';
import { mergeStreams } from './merge-streams.ts';
import {
  badSnapshot,
  readSnapshot,
  SNAPSHOT_SCHEMA,
  SNAPSHOT_VERSION,
  type StreamSnapshot,
  whileRestoring,
} from './snapshot-schema.ts';
import { restoreSnapshot, takeSnapshot } from './stream-snapshot.ts';
import { takeRecords } from './take-records.ts';
import {
  assertNumberLabels,
  blockOfTail,
  type CountedBatch,
  countTensors,
  isTensorBatch,
  readDecisions,
  type TensorBatch,
} from './tensor-batch.ts';
import {
  fillTrackerOptions,
  requirePositions,
  type TrackedAttribute,
  TRACKER_OPTION_NAMES,
  type TrackerOptions,
} from './tracker-options.ts';

/** The maximum number of records in the history. If there are more, the records of some timestamps are dropped. */
const MAX_HISTORY_RECORDS = 200_000;

/** The state of a tracker as plain JSON, for {@link RealTimeFairnessTracker.restore}. */
export interface TrackerSnapshot extends StreamSnapshot {
  readonly history: RecordLogState;
}

/** Options of {@link RealTimeFairnessTracker.metrics}. */
export interface CheckOptions {
  /**
   * The window that the metrics cover: the last `windowSize` events, or all events.
   * @defaultValue 'sliding'
   */
  readonly window?: MonitoringWindow | undefined;
}

const RESTORE_OPTION_NAMES: OptionNames<Pick<TrackerOptions, 'store' | 'clock'>> = { store: true, clock: true };

const CHECK_OPTION_NAMES: OptionNames<CheckOptions> = { window: true };

/**
 * Tracks the group fairness of a stream of decisions, event by event.
 *
 * The tracker keeps sums for every group, but no rows. There are sums over all events, over the last `windowSize`
 * events, and over windows that restart every `restartEvery` events. Alarms use the restarted windows. Work per event
 * and memory do not grow with the length of the stream. Memory grows only with the number of groups. An attribute has
 * at most 10,000 groups; events of further groups are counted under `too_many_groups`. The tracker also stores the
 * events of the window and the last `labelHorizon` ids.
 *
 * You can add events one by one, in batches of columns, or by merging the trackers of several shards. The sums are the
 * same in each case. A true label may arrive with its event, or later with the event's id. Problems are counted in
 * `faults` by reason. Examples are an event without a prediction, an undeclared group, a duplicate id, a label for an
 * unknown id, and a clock that went backwards. Events with an earlier time than the event before them are counted in
 * the order of arrival. An invalid value raises an error, and nothing from that call is counted.
 *
 * The metrics are added to the history every `recordEvery` events, and appended to the store if there is one. When the
 * history is full, the records of some timestamps are dropped.
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
  /** The state of the stream. Internal to this module. */
  readonly stream: EventStream;
  readonly #options: TrackerOptions;
  #history = new RecordLog();
  #lastRecordTime = -Infinity;

  /** @throws {ValueError} if an option is invalid; the error names the option */
  constructor(options: TrackerOptions) {
    assertKnownOptions('RealTimeFairnessTracker', options, TRACKER_OPTION_NAMES);
    const filled = fillTrackerOptions(options);
    this.#options = options;
    this.stream = new EventStream(filled, options.clock ?? machineClock);
    this.stream.onRecord(() => {
      this.#record();
    });
  }

  /**
   * Creates a tracker whose stream is filled by a function. Internal to this module.
   * @param history the records so far; the tracker adds records only with {@link RealTimeFairnessTracker.flush}
   */
  static filled(
    options: TrackerOptions,
    history: RecordLog,
    fill: (stream: EventStream) => void,
  ): RealTimeFairnessTracker {
    const tracker = new RealTimeFairnessTracker(options);
    fill(tracker.stream);
    tracker.#restoreHistory(history);
    return tracker;
  }

  /** The number of events counted so far. */
  get nEvents(): number {
    return this.stream.events;
  }

  /** The time of the latest event, ISO 8601; null before the first event. */
  get timestamp(): string | null {
    return Number.isNaN(this.stream.latestTime) ? null : formatTime(this.stream.latestTime);
  }

  /** The number of problems by reason. Reasons that never occurred are absent. */
  get faults(): StreamProblems {
    return this.stream.faults.toJSON();
  }

  /**
   * The records taken every `recordEvery` events, in order of time. When there are too many, the records of some
   * timestamps are dropped.
   */
  get history(): RecordLog {
    return this.#history;
  }

  /**
   * Counts one event.
   * @throws {DataValidationError} if a field has an invalid value; the event is then not counted
   */
  record(event: StreamEvent): void {
    this.stream.addEvent(event);
  }

  /**
   * Counts a batch: a `Table` or anything that can be read as one. The sums are the same as if the events were counted
   * one by one.
   *
   * A batch of 1-D tensors is counted on the device of the tensors, and the returned promise resolves when the batch
   * has been counted. Do not record anything else until then. The batch counts as one step: a restart or record that is
   * due within the batch happens at its end.
   * @throws {DataValidationError} if a column is missing or has an invalid value; nothing is then counted
   */
  recordBatch(batch: TensorBatch): Promise<void>;
  recordBatch(batch: TableSource): void;
  recordBatch(batch: TableSource | TensorBatch): void | Promise<void> {
    requireSource('batch', batch);
    if (isTensorBatch(batch)) return addTensors(this.stream, batch);
    this.stream.addBatch(batch);
  }

  /**
   * Sets the true label (or true value) of an earlier event.
   * @returns whether the label was accepted; a label for an id that is unknown, too old or already labelled is counted
   *   in `faults`
   * @throws {DataValidationError} if rates are monitored and the label is neither 0 nor 1
   */
  label(id: string | number, y: unknown): boolean {
    return this.stream.addLabel(id, y);
  }

  /**
   * Sets the true labels of many events, as {@link RealTimeFairnessTracker.label} does for each. Tensors are read.
   * @throws {DataValidationError} under the conditions of `label`, or if a tensor cannot be read synchronously
   */
  labelBatch(ids: ColumnSource, labels: ColumnSource): LabelOutcome {
    const [ofEvents, truths] = [valuesOf('ids', ids), valuesOf('labels', labels)];
    let taken = 0;
    for (let row = 0; row < ofEvents.length; row++) {
      taken += Number(this.label(ofEvents[row] as string | number, truths[row]));
    }
    return { taken, refused: ofEvents.length - taken };
  }

  /**
   * Returns the current metrics: for every attribute, the measure of each group and the gap of each metric. The
   * intervals of the sliding window hold for a single check. The intervals of the cumulative window hold over all
   * checks simultaneously. A value is null if fewer than two groups have `minGroupSize` events in the denominator.
   */
  metrics(options: CheckOptions = {}): readonly MonitoringRecord[] {
    assertKnownOptions('RealTimeFairnessTracker.metrics', options, CHECK_OPTION_NAMES);
    const window = oneOf('window', options.window ?? 'sliding', ['sliding', 'cumulative']);
    return takeRecords(this.stream, window, this.stream.time);
  }

  /**
   * Returns, for every group, the number of events that have a true label. Metrics that need labels are biased if the
   * labels of some groups arrive late.
   */
  labelCoverage(): readonly LabelCoverage[] {
    return Object.freeze(
      this.stream.options.attributes.flatMap(({ name }, index) => {
        const table = this.stream.tables[index] as EventStream['tables'][number];
        const sum = (group: number, cells: readonly number[]): number =>
          cells.reduce((total, cell) => total + (table.data[group * table.stride + cell] as number), 0);
        return (this.stream.reader.groups[index]?.labels ?? []).map((group, code) => {
          const n = sum(code, ALL_CELLS);
          const labelled = sum(code, LABELLED_CELLS);
          return Object.freeze({ attribute: name, group, n, labelled, share: n === 0 ? null : labelled / n });
        });
      }),
    );
  }

  /**
   * Takes an additional record now, for example at the end of a stream. Without this call, records are taken every
   * `recordEvery` events.
   */
  flush(): void {
    if (this.stream.events > 0) this.#record();
  }

  /** Returns the complete state as plain JSON, except the store and the clock. */
  snapshot(): TrackerSnapshot {
    const { store: _, clock: __, ...options } = this.#options;
    return { ...takeSnapshot(this.stream, options), history: this.#history.state() };
  }

  /**
   * Creates a tracker that continues exactly where a snapshot was taken.
   * @throws {DataValidationError} if the argument is not a snapshot of a tracker, or the snapshot was changed
   * @throws {ValueError} if the store or the clock is invalid
   */
  static restore(
    snapshot: TrackerSnapshot,
    parts: Pick<TrackerOptions, 'store' | 'clock'> = {},
  ): RealTimeFairnessTracker {
    assertKnownOptions('RealTimeFairnessTracker.restore', parts, RESTORE_OPTION_NAMES);
    const version: unknown = (snapshot as Partial<TrackerSnapshot> | null | undefined)?.version;
    if (version !== SNAPSHOT_VERSION) {
      throw badSnapshot(
        version === undefined ? 'it is not a snapshot of a tracker' : `its version is not ${String(SNAPSHOT_VERSION)}`,
      );
    }
    requirePositions(parts);
    return whileRestoring(() => {
      // The constructor and RecordLog.restore check the options and the history.
      const read = readSnapshot(SNAPSHOT_SCHEMA, snapshot);
      const tracker = new RealTimeFairnessTracker({ ...read.options, ...parts });
      restoreSnapshot(tracker.stream, read);
      tracker.#restoreHistory(RecordLog.restore(read.history));
      return tracker;
    });
  }

  /**
   * Adds all counts of another tracker, which has tracked another shard of the same stream. The result has the same
   * sums as a single tracker that tracks both shards. The sliding window keeps the newest events of both trackers, in
   * proportion to their numbers of events.
   * @returns this tracker
   * @throws {ValueError} if the trackers have different options
   */
  merge(other: RealTimeFairnessTracker): this {
    requireInstance('other', other, RealTimeFairnessTracker);
    mergeStreams(this.stream, other.stream);
    this.#history.append(other.history.toRecords());
    this.#lastRecordTime = Math.max(this.#lastRecordTime, other.#lastRecordTime);
    return this;
  }

  #restoreHistory(history: RecordLog): void {
    this.#history = history;
    this.#lastRecordTime = history.length === 0 ? -Infinity : (history.index.at(-1) as number);
  }

  #record(): void {
    // Records of different checks need different times, even if many events have the same millisecond.
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
 * Counts a batch of tensors on their device. The batch counts as one step: a restart or record that is due within the
 * batch happens at its end. All rows are read back to the host if ids, times, weights, errors, intersections or
 * detectors need them.
 */
async function addTensors(stream: EventStream, batch: TensorBatch): Promise<void> {
  const { columns, attributes } = stream.options;
  const { hasWeights, hasErrors } = stream.shape;
  assertNumberLabels(stream.options);
  const needsRows = columns.id !== undefined || columns.timestamp !== undefined || hasWeights || hasErrors;
  if (needsRows || stream.isObserved || attributes.some(({ parts }) => parts.length > 0)) {
    // Errors need the predicted numbers, and a column of strata has labels.
    if (hasErrors || stream.reader.stratumColumn !== undefined) stream.addBatch(await onHost(batch));
    else stream.addBatch(await readDecisions(batch, stream.options), { areDecided: true });
    return;
  }
  const counted = await countTensors(batch, stream.options);
  addCounts(stream, counted);
  stream.addCounted(counted.events);
}

/** Adds the counts to the sums of a stream without intersections, and the last rows to its window. */
function addCounts(stream: EventStream, { attributes, events, missingPredictions, tail }: CountedBatch): void {
  if (missingPredictions > 0) stream.faults.add('missing_prediction', missingPredictions);
  attributes.forEach((stats, index) => {
    addAttribute(stream, stats, index);
  });
  stream.grow();
  const block = blockOfTail(tail, stream.options, stream.reader);
  stream.window.skip(events - block.length);
  stream.window.add(block, 0, block.length);
}

function addAttribute(stream: EventStream, stats: ClassificationStats, index: number): void {
  const groups = stream.reader.groups[index] as GroupCodes;
  const table = stream.tables[index] as GroupTable;
  const { name, declared } = stream.options.attributes[index] as TrackedAttribute;
  stats.labels.forEach((label, group) => {
    const cells = stats.counts.subarray(group * CELLS_PER_GROUP, (group + 1) * CELLS_PER_GROUP);
    // The labels of tensors are numbers.
    const isMissing = stream.reader.readGroup(Number(label), { column: name, row: undefined }) === undefined;
    const code = isMissing ? NO_GROUP : groups.codeOf(label);
    if (code < 0) {
      stream.faults.add(GROUP_PROBLEMS.get(code) ?? 'missing_group', sum(cells));
      return;
    }
    table.grow(groups.labels.length);
    table.addCells(code, cells);
  });
  const ungrouped = sum(stats.ungrouped.counts);
  if (ungrouped > 0) stream.faults.add('missing_group', ungrouped);
  if (declared === null && !stream.isWarm) stream.early[index] = groups.labels.length;
}

/** Returns the values of a column, of any kind. */
function valuesOf(argument: string, given: ColumnSource): ArrayLike<unknown> {
  requireSource(argument, given);
  const values = unwrap(given, argument);
  return isColumn(values) ? columnToArray(values) : values;
}
