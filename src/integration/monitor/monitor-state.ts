import { existsSync } from 'node:fs';

import { optionChanges } from '../../internal/option-changes.ts';
import { isMapping } from '../../internal/values.ts';
import { DataValidationError } from '../../exceptions/index.ts';
import { parseStrictJson } from '../../internal/strict-json.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { checkJsonText, warnOfNoChecksum, withChecksum } from '../../io/checksum.ts';
import { readTextFile } from '../../io/read-text-file.ts';
import type { EngineSnapshot } from '../../monitoring/alarms/engine-snapshot.ts';
import type { Within } from '../../monitoring/alarms/engine-options.ts';
import type { FairnessDriftAndAlertEngine } from '../../monitoring/alarms/fairness-drift-and-alert-engine.ts';
import type { RealTimeFairnessTracker, TrackerSnapshot } from '../../monitoring/tracker/real-time-fairness-tracker.ts';

/**
 * The maximum size of a state file. A state usually has a few megabytes. A text of the maximum size still fits in one
 * string.
 */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * The options that determine whether an alarm is raised. Other options (cooldown, persistence and sinks) may change
 * between runs.
 */
export interface MonitorPolicy {
  readonly alpha: number;
  /** The limit of each metric. */
  readonly limits: Readonly<Record<string, number>>;
  readonly detectors: readonly string[];
  readonly windows: 'restarted' | 'cumulative';
  /** The strata; absent if there are none. */
  readonly within?: Within | undefined;
}

/** How far a topic of Kafka has been counted. */
interface TopicState {
  readonly topic: string;
  /** The next offset of each partition. */
  readonly positions: Readonly<Record<string, string>>;
}

/** The content of a state file. */
interface SavedState {
  readonly tracker: TrackerSnapshot;
  readonly engine: EngineSnapshot;
  readonly policy: MonitorPolicy;
  /** The positions in the stream, if it was read from Kafka. */
  readonly kafka?: TopicState | undefined;
  /** The SHA-256 of the files that were counted last, the latest one at the end. */
  readonly files?: readonly string[] | undefined;
}

/** The maximum number of files that a state remembers. */
const MAX_FILES = 1000;

/** The saved state of a monitoring run. */
export interface MonitorState extends SavedState {
  /**
   * Checks that a new run has the same tracker options and alarm policy as the saved run.
   * @throws {DataValidationError} if an option differs
   */
  assertSame(tracker: RealTimeFairnessTracker, policy: MonitorPolicy): void;
  /**
   * Checks that the run reads from the same place as the saved run.
   * @param topic the topic of Kafka; undefined if events come from standard input or a file
   * @throws {DataValidationError} if it does not
   */
  assertTopic(topic: string | undefined): void;
}

/**
 * Reads the state of an earlier run; returns undefined if the file does not exist.
 * @throws {DataValidationError} if the file does not contain a state, or was changed after it was written
 */
export async function readState(path: string): Promise<MonitorState | undefined> {
  if (!existsSync(path)) return undefined;
  const file = await readTextFile(path, MAX_BYTES);
  if (file.text === null) {
    throw new DataValidationError(`Cannot read the state '${path}': ${file.problem}.`, {
      code: 'unreadable-file',
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
      const others = optionChanges({ ...saved.tracker.options, ...saved.policy }, now);
      if (others.length === 0) return;
      throw new DataValidationError(
        `The state in '${path}' is from a run with other options, so this run cannot continue it: ${others.join('; ')}.`,
        {
          code: 'invalid-state',
          context: { path, saved: saved.tracker.options, policy: saved.policy },
          suggestion: 'Use the same options as that run, or name another state file.',
        },
      );
    },
    assertTopic: (topic) => {
      if (saved.kafka?.topic === topic) return;
      const [was, is] = [saved.kafka?.topic, topic].map((one) =>
        one === undefined ? 'standard input or a file' : `the topic '${one}'`,
      ) as [string, string];
      throw new DataValidationError(`The state in '${path}' is from a run that read ${was}; this run reads ${is}.`, {
        code: 'invalid-state',
        context: { path, expected: saved.kafka?.topic, received: topic },
        suggestion: 'Continue with the same source, or name another state file.',
      });
    },
  };
}

/** What a state is made of: the parts of {@link SavedState}, before their snapshots are taken. */
interface StateParts extends Omit<SavedState, 'tracker' | 'engine'> {
  readonly tracker: RealTimeFairnessTracker;
  readonly engine: FairnessDriftAndAlertEngine;
}

/** Writes the state of a run atomically: the file is written completely or stays unchanged. */
export async function writeState(path: string, { tracker, engine, files, ...parts }: StateParts): Promise<void> {
  const state: SavedState = {
    tracker: tracker.snapshot(),
    engine: engine.snapshot(),
    ...parts,
    files: files?.slice(-MAX_FILES),
  };
  await writeFileAtomic(path, withChecksum(JSON.stringify(state)));
}

function parse(text: string, path: string): SavedState {
  const state = parseJson(text);
  if (isMapping(state) && PARTS.every((part) => isMapping(state[part]))) {
    const saved = state as unknown as SavedState;
    if (
      isMapping(saved.tracker.options) &&
      isMapping(saved.tracker.options.columns) &&
      isTopicState(saved.kafka) &&
      areSums(saved.files)
    ) {
      return saved;
    }
  }
  throw new DataValidationError(`'${path}' does not hold the state of a monitoring run.`, {
    code: 'invalid-state',
    context: { path },
    suggestion: 'Name a file that an earlier run wrote, or a new file.',
  });
}

function isTopicState(given: unknown): boolean {
  if (given === undefined) return true;
  if (!isMapping(given) || typeof given['topic'] !== 'string' || !isMapping(given['positions'])) return false;
  return Object.values(given['positions']).every((offset) => typeof offset === 'string' && /^\d{1,19}$/.test(offset));
}

function areSums(given: unknown): boolean {
  return given === undefined || (Array.isArray(given) && given.every((one) => /^[\da-f]{64}$/.test(String(one))));
}

const PARTS = ['tracker', 'engine', 'policy'];

function parseJson(text: string): unknown {
  try {
    return parseStrictJson(text);
  } catch {
    return undefined;
  }
}
