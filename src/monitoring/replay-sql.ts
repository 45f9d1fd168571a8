import { DataValidationError, ValueError } from '../exceptions/index.ts';
import { formatCount } from '../internal/format.ts';
import { createRandom, type Random } from '../internal/random.ts';
import type { SqlSource } from '../io/sql-source.ts';
import { reduceClassificationSource } from '../metrics/reduce/reduce-source.ts';
import { CELLS_PER_GROUP, type ClassificationStats, decisionOfCell, sum } from '../metrics/statistics/group-stats.ts';
import { requireSeed } from '../stats/parameters.ts';
import { type Column, Table } from '../table/index.ts';
import { openReplay, type ReplayOptions, replayParts, type ReplayResult } from './replay.ts';
import { formatTime } from './records/record-time.ts';
import { requireFields } from './require-kind.ts';
import type { RealTimeFairnessTracker } from './tracker/real-time-fairness-tracker.ts';

/** Options of {@link replaySql}. */
export interface ReplaySqlOptions extends ReplayOptions {
  /**
   * The seed of the order of the events that have the same time.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
  /**
   * Whether the column of predictions holds scores, which the tracker's `decisionThreshold` turns into decisions.
   * @defaultValue false: it holds decisions
   */
  readonly areScores?: boolean | undefined;
}

/** The result of {@link replaySql}. */
export interface ReplaySqlResult extends ReplayResult {
  /** The number of rows that were not counted, because they lack a time, a group or a decision. */
  readonly nDropped: number;
}

/**
 * Runs an alert policy over past decisions where they are stored, and returns the alerts that it would have sent. The
 * rows are counted by time, groups, true label and decision, so that only counts leave a database. The times should be
 * coarse, such as days: `SELECT *, CAST(decided_at AS DATE) AS day FROM loans`.
 *
 * The events of one time are replayed in random order. What needs the order of single events (ids, and estimates of the
 * moment of a change within one time) is therefore not available or not exact. The guarantee on false alarms holds, as
 * far as the events of one time could have come in any order.
 * @param source files, or `{ engine, table }` or `{ engine, query }`
 * @param options the options of {@link replay}; `columns` of the tracker must name a `timestamp`
 * @throws {ValueError} if the tracker has no timestamp, or has ids, weights or errors
 * @throws {DataValidationError} if the source cannot be read, a column is missing, a value is invalid, or there are too
 *   many different times and groups
 * @example
 * ```ts
 * import { openDuckDb } from 'evenhand/io';
 * import { replaySql } from 'evenhand/monitoring';
 *
 * const engine = openDuckDb();
 * const query = `SELECT DATE '2026-01-01' + CAST(i // 1000 AS INT) AS day, CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
 *   CAST(i // 2 * 7 % 10 < CASE WHEN i < 50000 THEN 5 WHEN i % 2 = 0 THEN 3 ELSE 6 END AS INT) AS approved
 *   FROM range(100000) AS t(i)`;
 * const { alerts, nEvents } = await replaySql({ engine, query }, {
 *   tracker: { columns: { yPred: 'approved', protected: ['sex'], timestamp: 'day' } },
 * });
 * console.log(nEvents, alerts[0].timestamp.slice(0, 7), alerts[0].groups);
 * // 100000 2026-02 [ 'm', 'f' ]
 * await engine.close();
 * ```
 */
export async function replaySql(source: SqlSource, options: ReplaySqlOptions): Promise<ReplaySqlResult> {
  requireFields('options', options, "be an object, as in { tracker: { columns: { yPred: 'p', protected: ['sex'] } } }");
  const { seed = 42, areScores = false, ...rest } = options;
  const random = createRandom(requireSeed(seed));
  const task = openReplay('replaySql', rest);
  const names = namesOf(task.tracker);
  const { positiveLabel, yTruePositiveLabel, naValues, decisionThreshold } = task.tracker.stream.options;
  const [counted] = await reduceClassificationSource(source, {
    ...{ yPred: names.yPred, yTrue: names.yTrue, attributes: [[names.timestamp, ...names.groups]], naValues },
    positiveLabel: positiveLabel ?? undefined,
    yTruePositiveLabel: yTruePositiveLabel ?? undefined,
    scoreThreshold: areScores ? decisionThreshold : undefined,
    nanPolicy: 'exclude',
  });
  const { stats, parts } = counted as NonNullable<typeof counted>;
  const moments = momentsOf(parts, stats, (text) =>
    task.tracker.stream.reader.readTime(text, { column: names.timestamp, row: undefined }),
  );
  const result = await replayParts(task, {
    rowCount: moments.reduce((sum, { events }) => sum + events, 0),
    parts: partsOf(moments, stats, names, { truth: labelsOfTruth(task.tracker), random }),
    areDecided: true,
  });
  return Object.freeze({ ...result, nDropped: stats.nDropped });
}

/** The columns that are counted. */
interface CountedColumns {
  readonly yPred: string;
  readonly yTrue: string | undefined;
  readonly timestamp: string;
  readonly groups: readonly string[];
}

function namesOf({ stream }: RealTimeFairnessTracker): CountedColumns {
  const { yPred, yTrue, timestamp, id, weight, protected: groups } = stream.options.columns;
  const { hasErrors } = stream.shape;
  if (stream.reader.stratumColumn !== undefined) {
    throw new ValueError('Rows that are counted by time have no column of strata.', {
      context: { parameter: 'within' },
      suggestion: 'Use periods of time, as in { time: 3600 }, or replay the rows themselves from a file.',
    });
  }
  const extra = id !== undefined ? 'ids' : weight !== undefined ? 'weights' : hasErrors ? 'errors' : undefined;
  if (extra !== undefined) {
    throw new ValueError(`Rows that are counted by time have no ${extra}.`, {
      context: { parameter: 'tracker' },
      suggestion: 'Leave them out, or replay the rows themselves from a file.',
    });
  }
  if (timestamp !== undefined) return { yPred, yTrue, timestamp, groups };
  throw new ValueError('Rows in a database have no order, and no column of times is named.', {
    context: { parameter: 'timestamp' },
    suggestion: 'Name a column of times, for example of days: SELECT *, CAST(decided_at AS DATE) AS day FROM loans.',
  });
}

/** The counted rows of one time. */
interface Moment {
  readonly time: number;
  /** The groups of the statistics that have this time, with the labels of each sensitive column. */
  readonly groups: readonly { readonly group: number; readonly labels: readonly string[] }[];
  readonly events: number;
}

/** The maximum number of events of one time, which are in memory together. */
const MAX_EVENTS = 20_000_000;

/** Returns the counted rows by rising time. */
function momentsOf(
  parts: readonly (readonly string[])[],
  { counts }: ClassificationStats,
  readTime: (text: string) => number,
): Moment[] {
  const found = new Map<number, { groups: Moment['groups'][number][]; events: number }>();
  for (const [group, [text = '', ...labels]] of parts.entries()) {
    const time = readTime(text);
    const moment = found.get(time) ?? { groups: [], events: 0 };
    moment.groups.push({ group, labels });
    moment.events += sum(counts.subarray(group * CELLS_PER_GROUP, (group + 1) * CELLS_PER_GROUP));
    found.set(time, moment);
    if (moment.events > MAX_EVENTS) throw tooManyAtOnce(text);
  }
  return Array.from(found, ([time, moment]) => ({ time, ...moment })).sort((a, b) => a.time - b.time);
}

function tooManyAtOnce(text: string): DataValidationError {
  return new DataValidationError(`More than ${formatCount(MAX_EVENTS)} events have the time ${text}.`, {
    code: 'data-too-large',
    context: { time: text },
    suggestion: 'Use finer times, such as hours.',
  });
}

/** Returns the texts by which a tracker reads the true labels 0 and 1; undefined if it reads the numbers. */
function labelsOfTruth({ stream }: RealTimeFairnessTracker): readonly [no: string, yes: string] | undefined {
  const positive = stream.options.yTruePositiveLabel ?? stream.options.positiveLabel ?? undefined;
  return positive === undefined ? undefined : [`not ${positive}`, positive];
}

/**
 * Yields the events of each time as a table, in random order.
 * @yields one table for each time
 */
function* partsOf(
  moments: readonly Moment[],
  { counts }: ClassificationStats,
  { yPred, yTrue, timestamp, groups: names }: CountedColumns,
  { truth, random }: { readonly truth: ReturnType<typeof labelsOfTruth>; readonly random: Random },
): Generator<{ readonly table: Table; readonly order: Int32Array }> {
  for (const { time, groups, events } of moments) {
    // Each event is a number: its place in `groups`, and its cell.
    const order = new Int32Array(events);
    let end = 0;
    for (const [place, { group }] of groups.entries()) {
      for (let cell = 0; cell < CELLS_PER_GROUP; cell++) {
        const begin = end;
        end += counts[group * CELLS_PER_GROUP + cell] as number;
        order.fill(place * CELLS_PER_GROUP + cell, begin, end);
      }
    }
    shuffle(order, random);
    const cellOf = (event: number): number => event % CELLS_PER_GROUP;
    const states = Int32Array.from(order, (event) => (cellOf(event) >> 1 === 2 ? -1 : cellOf(event) >> 1));
    const sensitive = names.map((name, column): [string, Column] => {
      const labels = [...new Set(groups.map((one) => one.labels[column] as string))];
      const codes = groups.map((one) => labels.indexOf(one.labels[column] as string));
      return [
        name,
        {
          kind: 'categorical',
          labels,
          codes: order.map((event) => codes[Math.floor(event / CELLS_PER_GROUP)] as number),
        },
      ];
    });
    const ofTruth: Column =
      truth === undefined
        ? { kind: 'numeric', values: Float64Array.from(states, (state) => (state < 0 ? NaN : state)) }
        : { kind: 'categorical', labels: truth, codes: states };
    const table = Table.ofColumns([
      // A number could be read in another unit.
      [timestamp, { kind: 'categorical', labels: [formatTime(time)], codes: new Int32Array(events) }],
      ...sensitive,
      [yPred, { kind: 'numeric', values: Float64Array.from(order, (event) => decisionOfCell(cellOf(event))) }],
      ...(yTrue === undefined ? [] : [[yTrue, ofTruth] as const]),
    ]);
    yield { table, order: Int32Array.from({ length: events }, (_, row) => row) };
  }
}

/** Puts values into random order, in place (Fisher and Yates). */
function shuffle(values: Int32Array, random: Random): void {
  for (let last = values.length - 1; last > 0; last--) {
    const other = random.integer(last + 1);
    const value = values[last] as number;
    values[last] = values[other] as number;
    values[other] = value;
  }
}
