import { existsSync } from 'node:fs';

import { DataValidationError } from '../../exceptions/index.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { readTextFile } from '../../io/read-text-file.ts';
import type {
  EngineSnapshot,
  FairnessDriftAndAlertEngine,
} from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import type { RealTimeFairnessTracker, TrackerSnapshot } from '../../monitoring/tracker/real-time-fairness-tracker.ts';

/** A state has some megabytes; a text of this size can still be held in one piece. */
const MOST_BYTES = 512 * 1024 * 1024;

/** A monitoring run as it was when it stopped. */
export interface MonitorState {
  readonly tracker: TrackerSnapshot;
  readonly engine: EngineSnapshot;
  /**
   * Checks that a tracker as it is asked for now counts what the saved one counted.
   * @throws {DataValidationError} where it does not
   */
  assertSame(tracker: RealTimeFairnessTracker): void;
}

/**
 * Reads the state of an earlier run; undefined where there is none yet.
 * @throws {DataValidationError} for a file that holds something else
 */
export async function readState(path: string): Promise<MonitorState | undefined> {
  if (!existsSync(path)) return undefined;
  const file = await readTextFile(path, MOST_BYTES);
  if (file.text === null) {
    throw new DataValidationError(`Cannot read the state '${path}': ${file.problem}.`, {
      context: { path },
      suggestion: file.suggestion,
      cause: file.cause,
    });
  }
  const saved = parse(file.text, path);
  return {
    ...saved,
    assertSame: (tracker) => {
      if (JSON.stringify(tracker.snapshot().options) === JSON.stringify(saved.tracker.options)) return;
      throw new DataValidationError(`The state in '${path}' is of a run with other options, so it cannot go on here.`, {
        context: { path, saved: saved.tracker.options },
        suggestion: 'Ask for the same columns, metrics and sizes, or name another state file.',
      });
    },
  };
}

/** Writes the state of a run; whole, or as it was before. */
export async function writeState(
  path: string,
  tracker: RealTimeFairnessTracker,
  engine: FairnessDriftAndAlertEngine,
): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify({ tracker: tracker.snapshot(), engine: engine.snapshot() })}\n`);
}

function parse(text: string, path: string): Pick<MonitorState, 'tracker' | 'engine'> {
  const state = parseJson(text);
  if (typeof state === 'object' && state !== null && 'tracker' in state && 'engine' in state) {
    return state as Pick<MonitorState, 'tracker' | 'engine'>;
  }
  throw new DataValidationError(`'${path}' holds no state of a monitoring run.`, {
    context: { path },
    suggestion: 'Name the file that an earlier run wrote, or one that is not there yet.',
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
