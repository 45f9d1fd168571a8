import { existsSync } from 'node:fs';

import { isMapping } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { parseStrictJson } from '../../internal/strict-json.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { checkJsonText, warnOfNoChecksum, withChecksum } from '../../io/checksum.ts';
import { readTextFile } from '../../io/read-text-file.ts';
import type { EngineSnapshot } from '../../monitoring/alarms/engine-snapshot.ts';
import type { FairnessDriftAndAlertEngine } from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import type { RealTimeFairnessTracker, TrackerSnapshot } from '../../monitoring/tracker/real-time-fairness-tracker.ts';

/** A state has some megabytes; a text of this size can still be held in one piece. */
const MAX_BYTES = 512 * 1024 * 1024;

/** What decides whether an alarm is raised; what tells of it (cooldown, persistence, sinks) may change between runs. */
export interface MonitorPolicy {
  readonly alpha: number;
  /** By metric. */
  readonly limits: Readonly<Record<string, number>>;
  readonly detectors: readonly string[];
  readonly windows: 'restarted' | 'cumulative';
}

/** What the file of a state holds. */
interface SavedState {
  readonly tracker: TrackerSnapshot;
  readonly engine: EngineSnapshot;
  readonly policy: MonitorPolicy;
}

/** A monitoring run as it was when it stopped. */
export interface MonitorState extends SavedState {
  /**
   * Checks that a run as it is asked for now counts what the saved one counted, and decides as it did.
   * @throws {DataValidationError} where it does not
   */
  assertSame(tracker: RealTimeFairnessTracker, policy: MonitorPolicy): void;
}

/**
 * Reads the state of an earlier run; undefined where there is none yet.
 * @throws {DataValidationError} for a file that holds something else, or was changed after it was written
 */
export async function readState(path: string): Promise<MonitorState | undefined> {
  if (!existsSync(path)) return undefined;
  const file = await readTextFile(path, MAX_BYTES);
  if (file.text === null) {
    throw new DataValidationError(`Cannot read the state '${path}': ${file.problem}.`, {
      context: { path },
      suggestion: file.suggestion,
      cause: file.cause,
    });
  }
  const checked = checkJsonText(file.text, path);
  const saved = parse(checked.text, path);
  if (!checked.hasChecksum) warnOfNoChecksum(path);
  return {
    ...saved,
    assertSame: (tracker, policy) => {
      const now = { ...tracker.snapshot().options, ...policy };
      const others = differences({ ...saved.tracker.options, ...saved.policy }, now);
      if (others.length === 0) return;
      throw new DataValidationError(
        `The state in '${path}' is of a run with other options, so it cannot go on here: ${others.join('; ')}.`,
        {
          context: { path, saved: saved.tracker.options, policy: saved.policy },
          suggestion: 'Ask for the same as that run did, or name another state file.',
        },
      );
    },
  };
}

/** "alpha was 0.05 and is 0.01", for each option that is another; parts of an option apart. */
function differences(before: object, now: object): string[] {
  const [old, present] = [before, now].map(plainOf) as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(old), ...Object.keys(present)])].flatMap((name) => {
    const [was, is] = [old[name], present[name]];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    if (isMapping(was) && isMapping(is)) return differences(was, is);
    return [`${name} was ${textOf(was)} and is ${textOf(is)}`];
  });
}

function textOf(value: unknown): string {
  return value === undefined ? 'not given' : JSON.stringify(value);
}

/** As it looks once it has been written and read: without what is undefined. */
function plainOf(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Writes the state of a run; whole, or as it was before. */
export async function writeState(
  path: string,
  tracker: RealTimeFairnessTracker,
  engine: FairnessDriftAndAlertEngine,
  policy: MonitorPolicy,
): Promise<void> {
  const state: SavedState = { tracker: tracker.snapshot(), engine: engine.snapshot(), policy };
  await writeFileAtomic(path, withChecksum(JSON.stringify(state)));
}

function parse(text: string, path: string): SavedState {
  const state = parseJson(text);
  if (isMapping(state) && PARTS.every((part) => isMapping(state[part]))) {
    const saved = state as unknown as SavedState;
    if (isMapping(saved.tracker.options) && isMapping(saved.tracker.options.columns)) return saved;
  }
  throw new DataValidationError(`'${path}' holds no state of a monitoring run.`, {
    context: { path },
    suggestion: 'Name the file that an earlier run wrote, or one that is not there yet.',
  });
}

const PARTS = ['tracker', 'engine', 'policy'];

function parseJson(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch {
    return undefined;
  }
}
