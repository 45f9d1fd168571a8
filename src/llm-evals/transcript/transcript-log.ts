import { existsSync } from 'node:fs';
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { fileProblemOf } from '../../io/file-problem.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { AnswerRecord } from '../client/transcript.ts';
import { isTorn, mergeAnswers, readRecord } from './read-transcripts.ts';
import { recordToLine } from './record-json.ts';
import { readTextLines } from './text-lines.ts';
import { lockTranscript, type TranscriptLock } from './transcript-lock.ts';

/** An append-only file of complete lines. If a write fails, all later writes fail too. */
class LineLog {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #flushEvery: number;
  /** The size of the complete lines, in bytes. */
  #size: number;
  #unflushed = 0;
  /** The promise of the last operation. Operations run one after the other. */
  #last: Promise<void> = Promise.resolve();
  #failure: DataValidationError | undefined;
  #closing: Promise<void> | undefined;

  constructor(file: string, handle: FileHandle, size: number, flushEvery: number) {
    this.#path = file;
    this.#handle = handle;
    this.#size = size;
    this.#flushEvery = flushEvery;
  }

  /** Appends a line after all earlier lines. The line must include its line feed. */
  append(line: string): Promise<void> {
    if (this.#closing !== undefined) {
      return Promise.reject(cannotWrite(this.#path, new Error('it was closed before')));
    }
    const written = this.#last.then(() => this.#write(Buffer.from(line)));
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** Flushes and closes the file. If the file is already closed, does nothing. */
  close(): Promise<void> {
    this.#closing ??= this.#last.then(() => this.#end());
    return this.#closing;
  }

  async #write(line: Buffer): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      await writeAll(this.#handle, line);
      this.#size += line.length;
      if (++this.#unflushed >= this.#flushEvery) await this.#flush();
    } catch (cause) {
      // Without this truncation, later lines would be written after an incomplete line.
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

/**
 * Writes all bytes. The operating system may accept only a part of the bytes at once, so several writes may be needed.
 */
async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    offset += (await handle.write(bytes, offset, bytes.length - offset)).bytesWritten;
  }
}

/** Rethrows an error. Ignores an error that only reports that a pipe or a device cannot be flushed. */
function ignoreUnsyncable(cause: unknown): void {
  if (!['EINVAL', 'ENOTSUP'].includes(fileProblemOf(cause).code)) throw cause;
}

/** Returns the error for a file that cannot be written. */
function cannotWrite(file: string, cause: unknown): DataValidationError {
  const { code, reason = cause instanceof Error ? cause.message : String(cause) } = fileProblemOf(cause);
  return new DataValidationError(`The transcript file '${file}' cannot be written: ${reason}.`, {
    code: 'unwritable-file',
    context: { path: file, code },
    suggestion: 'Free disk space or set another path. The answers in the file are complete. Use --resume to continue.',
    cause,
  });
}

/** Options of {@link openTranscriptLog}. */
export interface TranscriptLogOptions {
  /**
   * Whether to continue an existing file. If false, a file that is not empty causes an error.
   * @defaultValue false
   */
  readonly resume?: boolean | undefined;
  /**
   * The number of records after which the file is flushed to the disk.
   * @defaultValue 100
   */
  readonly flushEvery?: number | undefined;
}

const TRANSCRIPT_LOG_OPTION_NAMES: OptionNames<TranscriptLogOptions> = { resume: true, flushEvery: true };

/** A file to which answers are appended. */
export interface TranscriptLog {
  readonly path: string;
  /**
   * The records of the file when it was opened. For each key, the list contains the last answer, or the last error if
   * there is no answer.
   */
  readonly records: readonly AnswerRecord[];
  /**
   * Appends a record as one line, after all earlier records. The promise resolves when the line has been written.
   * @throws {DataValidationError} if the record is invalid, or if the file cannot be written. If the record is invalid,
   * nothing is written. If the file cannot be written, it ends with its last complete line, and accepts no more records
   */
  append(record: AnswerRecord): Promise<void>;
  /** Flushes and closes the file. If the file is already closed, does nothing. */
  close(): Promise<void>;
}

/**
 * Opens an append-only file of answers: one JSON object per line, with keys in snake_case. Only the owner can read a
 * new file (mode 0600). Missing folders are created. Appended records survive a crash of the process. So that records
 * also survive a power failure, the file is flushed to the disk after every `flushEvery` records and at the end.
 *
 * If the file is not empty and `resume` is not true, an error is thrown, because the answers in the file have been paid
 * for. If `resume` is true, `records` contains the answers of the file, and only requests without an answer need to be
 * sent. A truncated last line is removed, and a warning is logged. Only one process can write a file. The file
 * `<transcript>.lock` names this process until the file is closed. The lock of a killed process does not count.
 * @throws {DataValidationError} if another process writes the file (the error names the process), if the file is not
 * empty and `resume` is not true, if a line is not a record (the error contains the line number), or if the file cannot
 * be written
 * @throws {ValueError} if an option is out of range
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
  const flushEvery = requireInteger('flushEvery', options.flushEvery ?? 100, 1);
  const isNew = !existsSync(file);
  const handle = await openFile(file);
  let lock: TranscriptLock | undefined;
  try {
    // A device or a pipe has no lock.
    if ((await handle.stat()).isFile()) lock = await lockTranscript(file);
    if (options.resume !== true) await requireEmpty(file, handle);
    const { records, size } = await resumeLog(file, handle);
    const writer = new LineLog(file, handle, size, flushEvery);
    return Object.freeze({
      path: file,
      records: Object.freeze(mergeAnswers(records)),
      append: async (record) => writer.append(recordToLine(record)),
      close: async () => {
        try {
          await writer.close();
          // A run that is refused leaves no empty file.
          if (isNew && existsSync(file) && (await stat(file)).size === 0) await rm(file);
        } finally {
          await lock?.release();
        }
      },
    } satisfies TranscriptLog);
  } catch (error) {
    await handle.close();
    await lock?.release();
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
  throw new DataValidationError(`The transcript file '${file}' is not empty, and will not be overwritten.`, {
    code: 'unwritable-file',
    context: { path: file },
    suggestion: 'Use resume to continue the file, or set another path.',
  });
}

/**
 * Reads the records of a log and repairs the end of the file. A truncated last line is removed. If the last line is
 * complete but has no line feed, a line feed is added.
 * @returns the records in order, and the size of the file, in bytes
 * @throws {DataValidationError} if a line is not a record; the file is then not changed
 */
async function resumeLog(
  path: string,
  file: FileHandle,
): Promise<{ readonly records: readonly AnswerRecord[]; readonly size: number }> {
  // The size of a device is 0, and reading it may never end.
  if ((await file.stat()).size === 0) return { records: [], size: 0 };
  const records: AnswerRecord[] = [];
  let tornAt: number | undefined;
  let lacksEnd = false;
  for await (const line of readTextLines(path)) {
    if (isTorn(line)) {
      tornAt = line.offset;
    } else if (line.text.trim() !== '') {
      records.push(readRecord(path, line));
      lacksEnd = !line.isEnded;
    }
  }
  if (tornAt !== undefined) {
    await file.truncate(tornAt);
    getLogger().warn(`The last line of '${path}' is truncated and is removed. Its request is sent again.`);
  }
  if (lacksEnd) await file.write('\n');
  return { records, size: (await file.stat()).size };
}
