import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { requireInteger } from '../stats/parameters.ts';
import type { EngineUpdate, FairnessDriftAndAlertEngine } from './alarms/fairness-drift-and-alert-engine.ts';
import { LineCounter } from './line-counter.ts';
import type { RealTimeFairnessTracker } from './tracker/real-time-fairness-tracker.ts';

/**
 * Determines whether checks change the engine if they occur at a refresh or at the end of a run. The timing of these
 * checks depends on the clock and on when the run stops. With `counted`, these checks are ordinary checks. With
 * `previewed`, their result is reported, but the engine does not change. A run that is interrupted and resumed then
 * gives the same results as an uninterrupted run.
 * @defaultValue 'counted'
 */
export type ExtraChecks = 'counted' | 'previewed';

/** Options of {@link followLines}. */
export interface FollowOptions {
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;
  /**
   * The number of events and late labels between two checks, as the tracker counts them.
   * @defaultValue 100
   */
  readonly lookEvery?: number | undefined;
  readonly extraChecks?: ExtraChecks | undefined;
  /** Called with the result of each previewed check. */
  readonly onPreview?: ((update: EngineUpdate) => void) | undefined;
  /** Called with the result of each check that found an alert or a watch. */
  readonly onUpdate?: ((update: EngineUpdate) => void) | undefined;
  /** Called after each check, with the number of lines read so far. */
  readonly onCheck?: ((lines: number) => Promise<void> | void) | undefined;
  /**
   * The interval between additional checks in milliseconds. Additional checks also run while no line arrives.
   * @defaultValue none: checks depend only on events
   */
  readonly refreshMillis?: number | undefined;
  /** Called after each additional check. No line is counted until the returned promise resolves. */
  readonly onRefresh?: (() => Promise<void> | void) | undefined;
  /** Called with each line that could not be counted, and the reason. The line is skipped. */
  readonly onInvalidLine?: ((line: number, reason: string) => void) | undefined;
}

const FOLLOW_OPTION_NAMES: OptionNames<FollowOptions> = {
  tracker: true,
  engine: true,
  lookEvery: true,
  onUpdate: true,
  onCheck: true,
  refreshMillis: true,
  onRefresh: true,
  onInvalidLine: true,
  extraChecks: true,
  onPreview: true,
};

/** A line that cannot be read, with the reason. It is reported like an invalid line. */
export interface UnreadableLine {
  readonly problem: string;
}

/** The result of {@link followLines}. */
export interface FollowResult {
  readonly lines: number;
  /**
   * The number of lines with events. `labels` is the number of lines with labels. The tracker's `faults` report how
   * many events and labels were not counted, and why.
   */
  readonly events: number;
  readonly labels: number;
  /** The number of lines that could not be counted. */
  readonly refused: number;
  /** The result of the final check. */
  readonly last: EngineUpdate;
}

/**
 * Counts events that arrive as lines of JSON, one object per line, until the input ends. An object with an id and a
 * true label, but without a prediction, sets the label of an earlier event. An invalid line is reported and skipped,
 * and monitoring continues with the next line. A line is invalid if it is not a JSON object, or has a duplicate key or
 * an invalid value. A line is also invalid if a group or an id is a number with more digits than a double can
 * represent.
 */
export async function followLines(
  lines: AsyncIterable<string | UnreadableLine>,
  options: FollowOptions,
): Promise<FollowResult> {
  assertKnownOptions('followLines', options, FOLLOW_OPTION_NAMES);
  const { tracker, engine, onUpdate, onCheck, onInvalidLine, onPreview } = options;
  const isPreviewing = options.extraChecks === 'previewed';
  const lookEvery = requireInteger('lookEvery', options.lookEvery ?? 100, 1);
  const counts = { lines: 0, refused: 0 };
  const counter = new LineCounter(tracker.stream);
  engine.watch(tracker);
  const checkNow = async (): Promise<EngineUpdate> => {
    const update = engine.update(tracker);
    if (update.alerts.length + update.watches.length > 0) onUpdate?.(update);
    await onCheck?.(counts.lines);
    return update;
  };
  const extraCheck = async (): Promise<EngineUpdate> => {
    if (!isPreviewing) return checkNow();
    const update = engine.copy().update(tracker);
    onPreview?.(update);
    return update;
  };
  let isChecking = false;
  const timer = startTimer(options.refreshMillis, async () => {
    // If a refresh check ran during the check of a line, its result would be counted twice.
    if (isChecking) return;
    await extraCheck();
    await options.onRefresh?.();
  });
  try {
    for await (const line of lines) {
      const pause = timer.settled();
      if (pause !== undefined) await pause;
      counts.lines++;
      if (typeof line === 'string' && line.trim() === '') continue;
      const before = positionOf(tracker);
      const reason = typeof line === 'string' ? counter.count(line) : line.problem;
      if (reason !== undefined) {
        counts.refused++;
        onInvalidLine?.(counts.lines, reason);
      } else if (isDue(tracker, before, lookEvery)) {
        isChecking = true;
        await checkNow();
        isChecking = false;
      }
    }
    await timer.settled();
  } finally {
    timer.stop();
  }
  const last = await extraCheck();
  return Object.freeze({ ...counts, ...counter.counts, last });
}

/** Returns how many events and late labels a tracker has counted. */
export function positionOf({ stream }: RealTimeFairnessTracker): number {
  return stream.events + stream.lateLabels;
}

/**
 * Returns whether a check is due. Only the number of events and labels that the tracker has counted in all runs
 * matters, not the number of lines in this run.
 */
export function isDue(tracker: RealTimeFairnessTracker, before: number, lookEvery: number): boolean {
  const position = positionOf(tracker);
  return position > before && position % lookEvery === 0;
}

/** The longest delay of a timer. A timer with a longer delay would fire immediately. */
const MAX_MILLIS = 2 ** 31 - 1;

/** Runs work at regular intervals, never concurrently. */
interface RefreshTimer {
  /** Waits for running work, and rejects with the error of that work. */
  settled(): Promise<void> | undefined;
  stop(): void;
}

function startTimer(millis: number | undefined, work: () => Promise<void>): RefreshTimer {
  let running: Promise<void> | undefined;
  let failure: { readonly cause: unknown } | undefined;
  const refresh = (): void => {
    if (running !== undefined) return;
    running = work()
      .catch((cause: unknown) => {
        failure ??= { cause };
      })
      .finally(() => {
        running = undefined;
      });
  };
  const timer = millis === undefined ? undefined : setInterval(refresh, Math.min(millis, MAX_MILLIS));
  return {
    settled: () => {
      // For most lines there is nothing to wait for, so no promise is created.
      if (running === undefined && failure === undefined) return undefined;
      return (running ?? Promise.resolve()).then(() => {
        if (failure !== undefined) throw failure.cause;
      });
    },
    stop: () => {
      clearInterval(timer);
    },
  };
}
