import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { requireWhole } from '../../stats/parameters.ts';
import type { AnswerRecord } from '../client/transcript.ts';
import { isTorn, mergeAnswers, parseFields } from './read-transcripts.ts';
import { recordFromFields, recordToLine } from './record-json.ts';
import { lineFault, readTextLines } from './text-lines.ts';

/** Lines at the end of a file, each of them whole. */
class LineLog {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #flushEvery: number;
  /** Bytes of whole lines. */
  #size: number;
  #unflushed = 0;
  /** What was asked last is done after what was asked before. */
  #last: Promise<void> = Promise.resolve();
  #failure: DataValidationError | undefined;
  #closing: Promise<void> | undefined;

  constructor(file: string, handle: FileHandle, size: number, flushEvery: number) {
    this.#path = file;
    this.#handle = handle;
    this.#size = size;
    this.#flushEvery = flushEvery;
  }

  /** Adds a line, with its end, after those before it. */
  append(line: string): Promise<void> {
    if (this.#closing !== undefined) {
      return Promise.reject(cannotWrite(this.#path, new Error('it was closed before')));
    }
    const written = this.#last.then(() => this.#write(Buffer.from(line)));
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** Waits for the disk and lets go of the file; a second time does nothing. */
  close(): Promise<void> {
    this.#closing ??= this.#last.then(() => this.#end());
    return this.#closing;
  }

  async #write(line: Buffer): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await writeWhole(this.#handle, line);
      this.#size += line.length;
      if (++this.#unflushed >= this.#flushEvery) await this.#flush();
    } catch (cause) {
      // What was written stays whole; a line that is cut short here would be one in the middle later.
      await this.#handle.truncate(this.#size).catch(() => undefined);
      this.#failure = cannotWrite(this.#path, cause);
      throw this.#failure;
    }
  }

  async #flush(): Promise<void> {
    this.#unflushed = 0;
    await this.#handle.datasync().catch(ignoreUnsyncable);
  }

  async #end(): Promise<void> {
    try {
      if (this.#unflushed > 0) await this.#flush();
    } catch (cause) {
      throw cannotWrite(this.#path, cause);
    } finally {
      await this.#handle.close();
    }
  }
}

/** The system may take a part of a line only. */
async function writeWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    offset += (await handle.write(bytes, offset, bytes.length - offset)).bytesWritten;
  }
}

/** Pipes and devices cannot be waited for. */
function ignoreUnsyncable(cause: unknown): void {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code !== 'EINVAL' && code !== 'ENOTSUP') throw cause;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of the path is a file',
  EFBIG: 'the file may not grow any more',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** The error of a file that cannot be written, in words for the reasons that are common. */
function cannotWrite(file: string, cause: unknown): DataValidationError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reason = REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause));
  return new DataValidationError(`The transcript file '${file}' cannot be written: ${reason}.`, {
    context: { path: file, code },
    suggestion: 'Make room or name another path; the answers that are in the file are whole and can be resumed.',
    cause,
  });
}

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
    suggestion: 'Continue it with resume, or name another path.',
  });
}

/**
 * Reads the records of a log that will be added to, and mends its end: a last
 * line that was cut short is cut off, one that only lacks its end gets it.
 * @returns the records in their order, and the size of the file, in bytes
 * @throws {DataValidationError} for a line that is no record; the file is left as it was
 */
async function resumeLog(
  path: string,
  file: FileHandle,
): Promise<{ readonly records: readonly AnswerRecord[]; readonly size: number }> {
  // A device has no size, and may have no end.
  if ((await file.stat()).size === 0) return { records: [], size: 0 };
  const records: AnswerRecord[] = [];
  let tornAt: number | undefined;
  let lacksEnd = false;
  for await (const line of readTextLines(path)) {
    if (isTorn(line)) {
      tornAt = line.offset;
    } else if (line.text.trim() !== '') {
      const fields = parseFields(line.text);
      const record = typeof fields === 'string' ? fields : recordFromFields(fields);
      if (typeof record === 'string') throw lineFault(path, line.number, record);
      records.push(record);
      lacksEnd = !line.isEnded;
    }
  }
  if (tornAt !== undefined) {
    await file.truncate(tornAt);
    getLogger().warn(`The last line of '${path}' was cut short and is removed; its request is sent again.`);
  }
  if (lacksEnd) await file.write('\n');
  return { records, size: (await file.stat()).size };
}
