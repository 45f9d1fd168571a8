import { FairnessToolkitError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { findJsonFault } from '../internal/strict-json.ts';
import { requireWhole } from '../stats/parameters.ts';
import type { EngineUpdate, FairnessDriftAndAlertEngine } from './alarms/fairness-drift-and-alert-engine.ts';
import type { RealTimeFairnessTracker } from './tracker/real-time-fairness-tracker.ts';

/**
 * What becomes of checks at a refresh and at the end of a run, which depend on the clock and on where the run stops.
 * `counted`: they are checks as any other. `previewed`: their result is reported and the engine stays as it was, so that
 * a run that stops anywhere and is resumed finds what a run without a break finds.
 * @defaultValue 'counted'
 */
export type ExtraChecks = 'counted' | 'previewed';

/** How lines of events are followed. */
export interface FollowOptions {
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;
  /**
   * Events and late labels between two checks, as the tracker counts them.
   * @defaultValue 100
   */
  readonly lookEvery?: number | undefined;
  readonly extraChecks?: ExtraChecks | undefined;
  /** Called with the result of each check that is previewed. */
  readonly onPreview?: ((update: EngineUpdate) => void) | undefined;
  /** Called with each look that brought an alert or a watch. */
  readonly onUpdate?: ((update: EngineUpdate) => void) | undefined;
  /** Called after each look, with the lines read so far. */
  readonly onLook?: ((lines: number) => Promise<void> | void) | undefined;
  /**
   * Milliseconds after which there is a look in any case, also while no line comes.
   * @defaultValue none: looks go by events alone
   */
  readonly refreshMillis?: number | undefined;
  /** Called after each such look; no line is counted until its promise is kept. */
  readonly onRefresh?: (() => Promise<void> | void) | undefined;
  /** Called with each line that could not be counted, and why; it is passed over. */
  readonly onFault?: ((line: number, reason: string) => void) | undefined;
}

const FOLLOW_OPTION_NAMES: OptionNames<FollowOptions> = {
  tracker: true,
  engine: true,
  lookEvery: true,
  onUpdate: true,
  onLook: true,
  refreshMillis: true,
  onRefresh: true,
  onFault: true,
  extraChecks: true,
  onPreview: true,
};

/** What came of following. */
export interface FollowResult {
  readonly lines: number;
  /** Lines that were events, and labels; the tracker's `faults` say which of them it did not take, and why. */
  readonly events: number;
  readonly labels: number;
  /** Lines that could not be counted. */
  readonly refused: number;
  /** The result of the check at the end. */
  readonly last: EngineUpdate;
}

/**
 * Counts events that come as lines of JSON, one object each, until they end. An
 * object with an id and a true label but no prediction labels an earlier event.
 * A line that is no such object, has a key twice, a group or an id that loses digits as a
 * number, or holds a value that its field cannot hold, is reported and passed over: one bad line must not end the watch over all others.
 */
export async function followLines(lines: AsyncIterable<string>, options: FollowOptions): Promise<FollowResult> {
  assertKnownOptions('followLines', options, FOLLOW_OPTION_NAMES);
  const { tracker, engine, onUpdate, onLook, onFault, onPreview } = options;
  const isPreviewing = options.extraChecks === 'previewed';
  const lookEvery = requireWhole('lookEvery', options.lookEvery ?? 100, 1);
  const counts = { lines: 0, events: 0, labels: 0, refused: 0 };
  const { id, protected: names } = tracker.stream.options.columns;
  const labelKeys = new Set(id === undefined ? names : [...names, id]);
  engine.watch(tracker);
  const look = async (): Promise<EngineUpdate> => {
    const update = engine.update(tracker);
    if (update.alerts.length + update.watches.length > 0) onUpdate?.(update);
    await onLook?.(counts.lines);
    return update;
  };
  const extraCheck = async (): Promise<EngineUpdate> => {
    if (!isPreviewing) return look();
    const update = engine.copy().update(tracker);
    onPreview?.(update);
    return update;
  };
  let isLooking = false;
  const timer = startTimer(options.refreshMillis, async () => {
    // One that falls into the look of a line would count its outcome twice.
    if (isLooking) return;
    await extraCheck();
    await options.onRefresh?.();
  });
  try {
    for await (const line of lines) {
      const pause = timer.settled();
      if (pause !== undefined) await pause;
      counts.lines++;
      if (line.trim() === '') continue;
      const before = positionOf(tracker);
      const reason = countLine(tracker, line, labelKeys, counts);
      if (reason !== undefined) {
        counts.refused++;
        onFault?.(counts.lines, reason);
      } else if (isDue(tracker, before, lookEvery)) {
        isLooking = true;
        await look();
        isLooking = false;
      }
    }
    await timer.settled();
  } finally {
    timer.stop();
  }
  const last = await extraCheck();
  return Object.freeze({ ...counts, last });
}

/** How many events and late labels a tracker has counted. */
export function positionOf({ stream }: RealTimeFairnessTracker): number {
  return stream.events + stream.lateLabels;
}

/** Whether a check is due: by what the tracker counted in all its runs, not by the lines of this one. */
export function isDue(tracker: RealTimeFairnessTracker, before: number, lookEvery: number): boolean {
  const position = positionOf(tracker);
  return position > before && position % lookEvery === 0;
}

/** The longest time that a timer can wait; one of a longer time would not wait at all. */
const MAX_MILLIS = 2 ** 31 - 1;

/** Work that is done from time to time, never twice at once. */
interface RefreshTimer {
  /** Waits for what is being done; throws what it threw. */
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
      // Most lines find nothing to wait for, and are not to pay for a promise.
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

/** Counts a line; why not, where it cannot be. */
function countLine(
  tracker: RealTimeFairnessTracker,
  line: string,
  labelKeys: ReadonlySet<string>,
  counts: { events: number; labels: number },
): string | undefined {
  const { yPred, yTrue, id } = tracker.stream.options.columns;
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return 'it is no JSON object';
    const fault = findJsonFault(line, labelKeys);
    if (fault !== undefined) return `${fault.pointer} ${fault.reason}`;
    const event = parsed as Record<string, unknown>;
    const isLabel =
      id !== undefined && yTrue !== undefined && !Object.hasOwn(event, yPred) && Object.hasOwn(event, yTrue);
    if (!isLabel) {
      tracker.record(event);
      counts.events++;
      return undefined;
    }
    const key = event[id];
    if (typeof key !== 'string' && typeof key !== 'number') return `its '${id}' is no text or number`;
    // One that is not taken is counted by the tracker, with its reason.
    tracker.label(key, event[yTrue]);
    counts.labels++;
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return 'it is no JSON';
    if (error instanceof FairnessToolkitError) return error.message;
    throw error;
  }
}
