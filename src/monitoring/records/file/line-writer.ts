import { DataValidationError } from '../../../exceptions/index.ts';
import { fileProblemOf } from '../../../io/file-problem.ts';
import { type FileFunctions, type LineForm, logQuietly, type StoreStatus } from './file-functions.ts';
import { LineFile } from './line-file.ts';

/** Error codes of problems that may be temporary. A retry with the same path may then succeed. */
const TRANSIENT = ['EAGAIN', 'EBUSY', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOSPC'];

/** Returns the reason why an operation on a file failed, with the error code of the system. */
function describeFileProblem(cause: unknown): string {
  const { code, reason } = fileProblemOf(cause);
  if (code === '') return cause instanceof Error ? cause.message : String(cause);
  return `${reason ?? 'the operating system rejected the operation'} (${code})`;
}

/** Returns whether a retry may succeed. */
function isTransient(cause: unknown): boolean {
  return TRANSIENT.includes(fileProblemOf(cause).code);
}

/** Returns the error for a file that cannot be opened for writing. */
function cannotOpen(path: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  return new DataValidationError(`Cannot write '${path}': ${describeFileProblem(cause)}.`, {
    code: 'unwritable-file',
    context: { path, code: fileProblemOf(cause).code },
    suggestion: 'Use a path in a writable folder.',
    cause,
  });
}

/** Options of a {@link LineWriter}. */
export interface LineWriterOptions {
  readonly path: string;
  readonly form: LineForm;
  /** The maximum size of a file in bytes before it is rotated; Infinity to never rotate. */
  readonly maxBytes: number;
  /** The maximum number of files, including the current file. */
  readonly maxFiles: number;
  /** The maximum number of lines that wait in memory while the file cannot be written. */
  readonly mostPending: number;
  /** Whether each write is flushed to the disk. */
  readonly isFlushed: boolean;
  readonly files: FileFunctions;
  /** A plural noun, such as 'alerts', that messages use for the lines. */
  readonly what: string;
}

/**
 * Appends lines to a file. Lines that cannot be written wait in memory until the next append, which tries again. A
 * warning is logged when writing starts to fail, and a message when writing works again.
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

  /** @throws {DataValidationError} if the file has unexpected content, or cannot be written for a permanent reason */
  constructor(options: LineWriterOptions) {
    const { path, form, files, maxFiles } = options;
    this.#options = options;
    this.#file = new LineFile(path, form, files, maxFiles);
    this.#headerBytes = form.header === null ? 0 : Buffer.byteLength(form.header) + 1;
    try {
      this.#file.prepare();
    } catch (cause) {
      if (!isTransient(cause)) throw cannotOpen(path, cause);
      this.#noteFailure(cause);
    }
  }

  /** Appends lines, given without their line feeds; never throws. */
  append(lines: readonly string[]): void {
    for (const line of lines) this.#pending.push(line);
    this.#writePending();
    const excess = this.#pending.length - this.#options.mostPending;
    if (excess <= 0) return;
    this.#pending.splice(0, excess);
    this.#dropped += excess;
  }

  status(): StoreStatus {
    return Object.freeze({
      written: this.#written,
      pending: this.#pending.length,
      dropped: this.#dropped,
      problem: this.#problem,
    });
  }

  /** Writes pending lines, flushes the file and closes it. A later append opens the file again. */
  close(): void {
    const { path, what } = this.#options;
    this.#writePending();
    if (this.#pending.length > 0) {
      logQuietly('warn', `'${path}' was closed before ${String(this.#pending.length)} ${what} were written`);
    }
    try {
      this.#file.flush();
      this.#file.close();
    } catch (cause) {
      logQuietly('warn', `'${path}' could not be closed: ${describeFileProblem(cause)}`);
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

  /** Writes as many lines as the current file has room for. */
  #writeSome(): void {
    const size = this.#file.prepare();
    const count = this.#countFitting(size);
    if (count === 0 && this.#rotate()) return;
    const { written, problem } = this.#file.append(count === 0 ? this.#pending : this.#pending.slice(0, count));
    this.#pending.splice(0, written);
    this.#written += written;
    if (problem === undefined) return;
    this.#tryToRepair();
    throw problem as Error;
  }

  /** Repairs the file now instead of at the next append, so that readers find only complete lines. */
  #tryToRepair(): void {
    try {
      this.#file.prepare();
    } catch {
      // The failed write is reported; the next append repairs the file before it writes.
    }
  }

  /**
   * Returns the number of lines that fit into the current file. A line that is too long for any file is written to a
   * separate file.
   */
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

  /**
   * Tries to rotate the file, and returns whether it was rotated. If the file cannot be rotated, it grows beyond its
   * size limit, because keeping records is more important than the limit.
   */
  #rotate(): boolean {
    const { path } = this.#options;
    try {
      this.#file.rotate();
      this.#cannotRotate = false;
      return true;
    } catch (cause) {
      if (!this.#cannotRotate) {
        logQuietly('warn', `'${path}' cannot be rotated and keeps growing: ${describeFileProblem(cause)}`);
      }
      this.#cannotRotate = true;
      return false;
    }
  }

  #noteFailure(cause: unknown): void {
    const isNew = this.#problem === null;
    this.#problem = cause instanceof DataValidationError ? cause.message : describeFileProblem(cause);
    if (!isNew) return;
    const { path, what, mostPending: maxPending } = this.#options;
    const wait = `${what} wait in memory, at most ${String(maxPending)}, and each append tries again`;
    logQuietly('warn', `'${path}' cannot be written: ${this.#problem}; ${wait}`);
  }

  #noteSuccess(): void {
    if (this.#problem === null) return;
    this.#problem = null;
    const { path, what } = this.#options;
    logQuietly('info', `'${path}' can be written again; ${String(this.#dropped)} ${what} were dropped in total`);
  }
}
