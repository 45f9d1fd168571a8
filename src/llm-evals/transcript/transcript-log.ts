import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import { requireWhole } from '../../stats/parameters.ts';
import { cannotWrite, LineLog } from './line-log.ts';
import { mergeAnswers } from './merge-answers.ts';
import { recordToLine } from './record-json.ts';
import { resumeLog } from './resume-log.ts';
import type { AnswerRecord } from './transcript.ts';

/** Options of {@link openTranscriptLog}. */
export interface TranscriptLogOptions {
  /**
   * Whether an existing file is continued; otherwise one that holds something is refused.
   * @defaultValue false
   */
  readonly resume?: boolean | undefined;
  /**
   * Records after which the disk is waited for.
   * @defaultValue 100
   */
  readonly flushEvery?: number | undefined;
}

const TRANSCRIPT_LOG_OPTION_NAMES: OptionNames<TranscriptLogOptions> = { resume: true, flushEvery: true };

/** A file that answers are added to. */
export interface TranscriptLog {
  readonly path: string;
  /** What was there when it was opened: one record for each key, the last answer before any error. */
  readonly records: readonly AnswerRecord[];
  /**
   * Adds a record as one line, after those before it; kept when the line is written.
   * @throws {DataValidationError} for a record that could not be read back, of which nothing is written; where it cannot be written, the file then ends with the last whole line, and takes no more
   */
  append(record: AnswerRecord): Promise<void>;
  /** Waits for the disk and lets go of the file; a second time does nothing. */
  close(): Promise<void>;
}

/**
 * Opens a file of answers as they come: one JSON object a line, in snake_case,
 * only ever added to, for the owner's eyes only (mode 0600, where it is new).
 * Missing folders are made. What `append` has written outlives the death of the
 * process; against a loss of power the disk is waited for at the end and after
 * every `flushEvery` records.
 *
 * An existing file that holds something is refused, unless `resume` is true: its
 * answers were paid for. With `resume` they are in `records`, so that only the
 * rest need be asked; a last line that was cut short is removed, with a line in
 * the log. Give each run that goes on at the same time a file of its own.
 * @throws {DataValidationError} where the file holds something and `resume` is not true, holds a line that is no record (with its number), or cannot be written
 * @throws {ValueError} for an option out of range
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import path from 'node:path';
 * import { openTranscriptLog, requestKey } from 'evenhand/llm-evals';
 *
 * const file = path.join(mkdtempSync(path.join(tmpdir(), 'run-')), 'transcript.ndjson');
 * const asked = { prompt: 'Why?', repeat: 0 };
 * const log = await openTranscriptLog(file);
 * await log.append({
 *   ...asked,
 *   key: requestKey({ ...asked, provider: 'local', baseUrl: null, model: 'stub', params: {} }),
 *   model: 'local/stub',
 *   text: 'So.',
 *   error: null,
 *   finishReason: 'stop',
 *   isRefusal: null,
 *   inputTokens: 2,
 *   outputTokens: 2,
 *   cached: false,
 *   latencyMillis: 8,
 *   attempts: 1,
 * });
 * await log.close();
 * const resumed = await openTranscriptLog(file, { resume: true });
 * console.log(resumed.records[0].prompt, resumed.records[0].text);
 * await resumed.close();
 * // Why? So.
 * ```
 */
export async function openTranscriptLog(file: string, options: TranscriptLogOptions = {}): Promise<TranscriptLog> {
  assertKnownOptions('openTranscriptLog', options, TRANSCRIPT_LOG_OPTION_NAMES);
  const flushEvery = requireWhole('flushEvery', options.flushEvery ?? 100, 1);
  const handle = await openFile(file);
  try {
    if (options.resume !== true) await requireEmpty(file, handle);
    const { records, size } = await resumeLog(file, handle);
    const writer = new LineLog(file, handle, size, flushEvery);
    return Object.freeze({
      path: file,
      records: Object.freeze(mergeAnswers(records)),
      append: async (record) => writer.append(recordToLine(record)),
      close: () => writer.close(),
    } satisfies TranscriptLog);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    await mkdir(path.dirname(path.resolve(file)), { recursive: true });
    return await open(file, 'a+', 0o600);
  } catch (cause) {
    throw cannotWrite(file, cause);
  }
}

async function requireEmpty(file: string, handle: FileHandle): Promise<void> {
  if ((await handle.stat()).size === 0) return;
  throw new DataValidationError(`The transcript file '${file}' holds something already, and is not overwritten.`, {
    context: { path: file },
    suggestion: 'Continue it with --resume (resume: true), or name another path.',
  });
}
