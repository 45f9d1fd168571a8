import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { nextTurn } from '../internal/next-turn.ts';
import type { OnProgress } from '../internal/progress.ts';
import { loadData } from '../io/load-data.ts';
import { requireInteger } from '../stats/parameters.ts';
import { readTable, type Table, type TableSource } from '../table/index.ts';
import type { AlertEvent, AlertHistory } from './alarms/alert-event.ts';
import type { AlertEngineOptions } from './alarms/engine-options.ts';
import { type EngineUpdate, FairnessDriftAndAlertEngine } from './alarms/fairness-drift-and-alert-engine.ts';
import { type ExtraChecks, isDue, positionOf } from './follow-lines.ts';
import { requireFields, requireSource } from './require-kind.ts';
import { readColumn } from './tracker/event-values.ts';
import { RealTimeFairnessTracker } from './tracker/real-time-fairness-tracker.ts';
import type { TrackerOptions } from './tracker/tracker-options.ts';

/** Options of {@link replay}. */
export interface ReplayOptions {
  /** The tracker of the stream: options for a new tracker, or an existing tracker to continue with. */
  readonly tracker: TrackerOptions | RealTimeFairnessTracker;
  /** The alert policy: options for a new engine, or an existing engine to continue with. */
  readonly engine?: AlertEngineOptions | FairnessDriftAndAlertEngine | undefined;
  /**
   * The number of events between two checks, as the tracker counts them. The number of checks does not affect the error
   * budget. With fewer checks, a breach is found slightly later.
   * @defaultValue 100
   */
  readonly lookEvery?: number | undefined;
  readonly extraChecks?: ExtraChecks | undefined;
  /** Called regularly with the number of processed events. */
  readonly onProgress?: OnProgress | undefined;
  /** Cancels the work; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const REPLAY_OPTION_NAMES: OptionNames<ReplayOptions> = {
  tracker: true,
  engine: true,
  lookEvery: true,
  extraChecks: true,
  onProgress: true,
  signal: true,
};

/** The result of {@link replay}. */
export interface ReplayResult {
  readonly nEvents: number;
  /** Alarms as they would have been sent, in order, including repeats. */
  readonly alerts: readonly AlertEvent[];
  /** Watches as they would have been reported. */
  readonly watches: readonly AlertEvent[];
  /** The result of a final check that does not change the engine; null if the final check was an ordinary check. */
  readonly preview: EngineUpdate | null;
  /** The state of every metric at the end of the stream. */
  readonly states: EngineUpdate['states'];
  /** Every alarm with its changes. */
  readonly alertHistory: readonly AlertHistory[];
  /** Whether rows had to be sorted by their timestamps. */
  readonly isSorted: boolean;
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;
}

/** The number of batches between progress reports, and between yields to the event loop. */
const CHUNKS_PER_REPORT = 100;

/**
 * Runs an alert policy over a past stream and returns the alerts that it would have sent. If the data has timestamps,
 * rows are processed in the order of their timestamps, otherwise in file order. True labels are assumed to arrive with
 * their events.
 * @param source a CSV or Parquet file, or anything that can be read as a table
 * @throws {DataValidationError} if a file or column is missing, or a value is invalid
 * @example
 * ```ts
 * import { replay } from 'evenhand/monitoring';
 *
 * const rows = Array.from({ length: 10_000 }, (_, row) => {
 *   const sex = row % 2 === 0 ? 'female' : 'male';
 *   const rate = row < 5000 ? 5 : sex === 'female' ? 3 : 6;
 *   return { day: 86_400_000 * Math.floor(row / 100), sex, approved: Number(((row >> 1) * 7) % 10 < rate) };
 * });
 * const { alerts } = await replay(rows, {
 *   tracker: { columns: { yPred: 'approved', protected: ['sex'], timestamp: 'day' } },
 * });
 * console.log(alerts[0].timestamp.slice(0, 10), alerts[0].changedAt?.slice(0, 10), alerts[0].groups);
 * // 1970-03-03 1970-02-18 [ 'male', 'female' ]
 * ```
 */
export async function replay(source: string | TableSource, options: ReplayOptions): Promise<ReplayResult> {
  const task = openReplay('replay', options);
  const table = await tableOf(source, task.tracker);
  const order = orderOf(table, task.tracker);
  const isSorted = order.some((row, index) => row !== index);
  const parts = [{ table, order }];
  return Object.freeze({ ...(await replayParts(task, { rowCount: table.rowCount, parts })), isSorted });
}

/** A replay that has not begun. */
interface ReplayTask extends Pick<ReplayOptions, 'extraChecks' | 'onProgress' | 'signal'> {
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;
  readonly lookEvery: number;
}

/**
 * Checks the options of a replay, and creates its tracker and its engine.
 * @throws {ValueError} if an option is invalid
 */
export function openReplay(caller: string, options: ReplayOptions): ReplayTask {
  assertKnownOptions(caller, options, REPLAY_OPTION_NAMES);
  requireFields('options', options, "be an object, as in { tracker: { columns: { yPred: 'p', protected: ['sex'] } } }");
  const { extraChecks, onProgress, signal } = options;
  const tracker =
    options.tracker instanceof RealTimeFairnessTracker ? options.tracker : new RealTimeFairnessTracker(options.tracker);
  const engine =
    options.engine instanceof FairnessDriftAndAlertEngine
      ? options.engine
      : new FairnessDriftAndAlertEngine(options.engine);
  const lookEvery = requireInteger('lookEvery', options.lookEvery ?? 100, 1);
  signal?.throwIfAborted();
  engine.watch(tracker);
  return { tracker, engine, lookEvery, extraChecks, onProgress, signal };
}

/** The events of a replay, in their order. */
interface ReplayEvents {
  readonly rowCount: number;
  /** Tables with the order of their rows. */
  readonly parts: Iterable<{ readonly table: Table; readonly order: Int32Array }>;
  /** Whether the predictions are 0 and 1, regardless of the positive label. */
  readonly areDecided?: boolean;
}

/** Counts events and checks the alerts. */
export async function replayParts(
  { tracker, engine, lookEvery, extraChecks, onProgress, signal }: ReplayTask,
  { rowCount, parts, areDecided }: ReplayEvents,
): Promise<ReplayResult> {
  const alerts: AlertEvent[] = [];
  const watches: AlertEvent[] = [];
  signal?.throwIfAborted();
  const isPreviewing = extraChecks === 'previewed';
  const check = (): EngineUpdate => {
    const update = engine.update(tracker);
    alerts.push(...update.alerts);
    watches.push(...update.watches);
    return update;
  };
  if (!isPreviewing) check();
  let [done, chunks] = [0, 0];
  for (const { table, order } of parts) {
    for (let from = 0; from < order.length;) {
      const before = positionOf(tracker);
      const to = Math.min(order.length, from + lookEvery - (before % lookEvery));
      tracker.stream.addBatch(table.take(order.subarray(from, to)), { areDecided });
      done += to - from;
      from = to;
      if (isDue(tracker, before, lookEvery)) check();
      signal?.throwIfAborted();
      if (++chunks % CHUNKS_PER_REPORT > 0) continue;
      onProgress?.({ stage: 'replaying events', done, total: rowCount });
      await nextTurn();
    }
  }
  const end = isPreviewing ? engine.copy().update(tracker) : check();
  if (!isPreviewing) tracker.flush();
  onProgress?.({ stage: 'replaying events', done: rowCount, total: rowCount });
  return Object.freeze({
    nEvents: tracker.nEvents,
    alerts: Object.freeze(alerts),
    watches: Object.freeze(watches),
    states: end.states,
    preview: isPreviewing ? end : null,
    alertHistory: engine.alerts,
    isSorted: false,
    tracker,
    engine,
  });
}

/** Reads the columns that a tracker uses. */
async function tableOf(source: string | TableSource, { stream }: RealTimeFairnessTracker): Promise<Table> {
  if (typeof source !== 'string') {
    requireSource('source', source);
    return readTable(source);
  }
  const { yPred, yTrue, id, timestamp, weight, protected: names } = stream.options.columns;
  const { stratumColumn } = stream.reader;
  const labels = [...names, id, stratumColumn].filter((name) => name !== undefined);
  const columns = [yPred, yTrue, timestamp, weight, ...labels].filter((name) => name !== undefined);
  return loadData(source, { columns: [...new Set(columns)], labels: [...new Set(labels)] });
}

/** Returns the rows in the order of their timestamps. Rows with the same time keep their order. */
function orderOf(table: Table, { stream }: RealTimeFairnessTracker): Int32Array {
  const { timestamp } = stream.options.columns;
  const order = Int32Array.from({ length: table.rowCount }, (_, row) => row);
  if (timestamp === undefined) return order;
  const times = readColumn(table.column(timestamp), timestamp, stream.reader.readTime).slice();
  // A row without a time is assigned the time of the previous row. Rows before the first time stay at the beginning.
  const first = times.find((time) => !Number.isNaN(time)) ?? 0;
  for (let row = 0; row < times.length; row++) if (Number.isNaN(times[row])) times[row] = times[row - 1] ?? first;
  const isAscending = times.every((time, row) => row === 0 || time >= (times[row - 1] as number));
  return isAscending ? order : order.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
}
