import { DataValidationError } from '../../../exceptions/index.ts';
import { type FileFunctions, type LineForm, logQuietly } from './file-functions.ts';
import { LineFile } from './line-file.ts';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'the file is busy',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of the path is a file',
  EIO: 'the disk does not answer as it should',
  EISDIR: 'it is a folder',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENOENT: 'the folder is not there',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
};

/** Faults that pass without anybody changing the path. */
const PASSING = ['EAGAIN', 'EBUSY', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOSPC'];

/** Why something could not be done with a file, in words, with the system's name for it. */
function describeFileProblem(cause: unknown): string {
  const code = codeOf(cause);
  if (code === '') return cause instanceof Error ? cause.message : String(cause);
  return `${REASONS[code] ?? 'the system refuses'} (${code})`;
}

/** Whether a later try may well succeed. */
function isPassing(cause: unknown): boolean {
  return PASSING.includes(codeOf(cause));
}

/** The error for a file that cannot be written from the beginning. */
function cannotOpen(path: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  return new DataValidationError(`Cannot write '${path}': ${describeFileProblem(cause)}.`, {
    context: { path, code: codeOf(cause) },
    suggestion: 'Name a path in a folder that can be written.',
    cause,
  });
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
}

/** How lines are written. */
export interface LineWriterOptions {
  readonly path: string;
  readonly form: LineForm;
  /** A file that would grow longer is put aside; Infinity for never. */
  readonly maxBytes: number;
  /** Files that are kept, the present one counted. */
  readonly maxFiles: number;
  /** Lines that wait while none can be written. */
  readonly mostPending: number;
  /** Whether each write is followed by a wait for the disk. */
  readonly isFlushed: boolean;
  readonly files: FileFunctions;
  /** What lines hold, for messages. */
  readonly what: string;
}

/** What became of the lines. */
export interface LineStatus {
  readonly written: number;
  readonly pending: number;
  readonly dropped: number;
  readonly problem: string | null;
}

/**
 * Adds lines to a file; those that cannot be written wait in memory, and the
 * next append tries again. Logs one warning when writing begins to fail and one
 * line when it works again.
 */
export class LineWriter {
  readonly #options: LineWriterOptions;
  readonly #file: LineFile;
  readonly #headerBytes: number;
  #pending: string[] = [];
  #written = 0;
  #dropped = 0;
  #problem: string | null = null;
  #cannotRotate = false;

  /** @throws {DataValidationError} where the file holds something else, or cannot be written for a reason that does not pass */
  constructor(options: LineWriterOptions) {
    const { path, form, files, maxFiles } = options;
    this.#options = options;
    this.#file = new LineFile(path, form, files, maxFiles);
    this.#headerBytes = form.header === null ? 0 : Buffer.byteLength(form.header) + 1;
    try {
      this.#file.prepare();
    } catch (cause) {
      if (!isPassing(cause)) throw cannotOpen(path, cause);
      this.#noteFailure(cause);
    }
  }

  /** Takes lines without their ends; never throws. */
  append(lines: readonly string[]): void {
    for (const line of lines) this.#pending.push(line);
    this.#writePending();
    const excess = this.#pending.length - this.#options.mostPending;
    if (excess <= 0) return;
    this.#pending.splice(0, excess);
    this.#dropped += excess;
  }

  status(): LineStatus {
    return Object.freeze({
      written: this.#written,
      pending: this.#pending.length,
      dropped: this.#dropped,
      problem: this.#problem,
    });
  }

  /** Writes what is pending, waits for the disk, and lets go of the file; a later append opens it again. */
  close(): void {
    const { path, what } = this.#options;
    this.#writePending();
    if (this.#pending.length > 0) {
      logQuietly('warn', `'${path}' is closed while ${String(this.#pending.length)} ${what} are not written`);
    }
    try {
      this.#file.flush();
      this.#file.close();
    } catch (cause) {
      logQuietly('warn', `'${path}' could not be closed well: ${describeFileProblem(cause)}`);
    }
  }

  #writePending(): void {
    if (this.#pending.length === 0) return;
    try {
      while (this.#pending.length > 0) this.#writeSome();
      if (this.#options.isFlushed) this.#file.flush();
      this.#noteSuccess();
    } catch (cause) {
      this.#noteFailure(cause);
    }
  }

  /** Writes as many lines as the present file has room for. */
  #writeSome(): void {
    const size = this.#file.prepare();
    const count = this.#countFitting(size);
    if (count === 0 && this.#rotate()) return;
    const { written, problem } = this.#file.append(count === 0 ? this.#pending : this.#pending.slice(0, count));
    this.#pending.splice(0, written);
    this.#written += written;
    if (problem === undefined) return;
    this.#tryToMend();
    throw problem as Error;
  }

  /** At once rather than at the next append, so that whoever reads the file meanwhile finds it whole. */
  #tryToMend(): void {
    try {
      this.#file.prepare();
    } catch {
      // Why the write failed is told; the next append mends before it writes.
    }
  }

  /** A line that is too long for any file gets one of its own. */
  #countFitting(size: number): number {
    const { maxBytes } = this.#options;
    if (maxBytes === Infinity) return this.#pending.length;
    let bytes = Math.max(size, this.#headerBytes);
    const fits = (line: string): boolean => (bytes += Buffer.byteLength(line) + 1) <= maxBytes;
    const isFresh = size <= this.#headerBytes;
    const tooMany = this.#pending.findIndex((line) => !fits(line));
    if (tooMany < 0) return this.#pending.length;
    return isFresh ? Math.max(1, tooMany) : tooMany;
  }

  /** A file that cannot be put aside goes on growing, since records matter more than its size. */
  #rotate(): boolean {
    const { path } = this.#options;
    try {
      this.#file.rotate();
      this.#cannotRotate = false;
      return true;
    } catch (cause) {
      if (!this.#cannotRotate) {
        logQuietly('warn', `'${path}' cannot be put aside and goes on growing: ${describeFileProblem(cause)}`);
      }
      this.#cannotRotate = true;
      return false;
    }
  }

  #noteFailure(cause: unknown): void {
    const isNew = this.#problem === null;
    this.#problem = cause instanceof DataValidationError ? cause.message : describeFileProblem(cause);
    if (!isNew) return;
    const { path, what, mostPending } = this.#options;
    const wait = `${what} wait in memory, at most ${String(mostPending)}, and each append tries again`;
    logQuietly('warn', `'${path}' cannot be written: ${this.#problem}; ${wait}`);
  }

  #noteSuccess(): void {
    if (this.#problem === null) return;
    this.#problem = null;
    const { path, what } = this.#options;
    logQuietly('info', `'${path}' is written again; ${String(this.#dropped)} ${what} were dropped in all`);
  }
}
