import path from 'node:path';

import { DataValidationError } from '../../../exceptions/index.ts';
import { Utf8Stream } from '../../../internal/decode-utf8.ts';
import { type FileFunctions, type LineForm, logQuietly } from './file-functions.ts';

/** The number of bytes per read. */
const CHUNK_BYTES = 2 ** 18;

const NEWLINE = 10;
const QUOTE = 34;

/**
 * The maximum length of a truncated last line, in bytes. A longer text at the end of a file cannot be a single line.
 */
const MAX_TAIL_BYTES = 2 ** 20;

/**
 * Returns the end of the last complete line, in bytes from the start of the file. With `isQuoting`, a line feed between
 * quotes is part of a field.
 */
function findCompleteEnd(files: FileFunctions, descriptor: number, size: number, isQuoting: boolean): number {
  const chunk = new Uint8Array(CHUNK_BYTES);
  let end = 0;
  let isQuoted = false;
  for (let position = 0; position < size;) {
    const count = files.read(descriptor, chunk, 0, Math.min(CHUNK_BYTES, size - position), position);
    if (count <= 0) break;
    for (let i = 0; i < count; i++) {
      if (chunk[i] === NEWLINE && !isQuoted) end = position + i + 1;
      else if (chunk[i] === QUOTE && isQuoting) isQuoted = !isQuoted;
    }
    position += count;
  }
  return end;
}

/** Returns the text between two byte offsets; undefined if the text is longer than a line can be. */
function readTail(files: FileFunctions, descriptor: number, from: number, to: number): string | undefined {
  return to - from > MAX_TAIL_BYTES ? undefined : textOf(readBytes(files, descriptor, from, to));
}

/** Returns the first line of a file without its line feed, and whether the line ended with a line feed. */
function readFirstLine(files: FileFunctions, descriptor: number): { text: string; isEnded: boolean } {
  const start = readBytes(files, descriptor, 0, MAX_TAIL_BYTES);
  const end = start.indexOf(NEWLINE);
  return { text: textOf(end < 0 ? start : start.subarray(0, end)), isEnded: end >= 0 };
}

/**
 * Decodes bytes that may end within a character. Bytes that are not UTF-8 become U+FFFD, and no line starts with
 * U+FFFD.
 */
function textOf(bytes: Uint8Array): string {
  try {
    return new Utf8Stream('the file').write(bytes);
  } catch {
    return '\ufffd';
  }
}

function readBytes(files: FileFunctions, descriptor: number, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(to - from);
  let length = 0;
  for (;;) {
    const count = files.read(descriptor, bytes, length, bytes.length - length, from + length);
    if (count <= 0) return bytes.subarray(0, length);
    length += count;
  }
}

/** The result of appending lines. */
interface AppendOutcome {
  /** The number of lines that were written completely. */
  readonly written: number;
  /** The reason why the other lines were not written; undefined if all lines were written. */
  readonly problem: unknown;
}

/**
 * Matches a complete line of unquoted fields. If such a line follows an unclosed quote, the file was damaged before the
 * last write.
 */
const LIKE_A_LINE = /\n(?:[^\n"]*,){4}/;

/**
 * An append-only file. After a failed write, the file is repaired so that it ends with a complete line. All methods can
 * throw system errors.
 */
export class LineFile {
  readonly #path: string;
  readonly #form: LineForm;
  readonly #files: FileFunctions;
  readonly #maxFiles: number;
  #descriptor: number | undefined;
  #ino = 0;
  #size = 0;
  /** The byte range of a partially written line. */
  #partial: { readonly from: number; readonly to: number } | undefined;

  constructor(filePath: string, form: LineForm, files: FileFunctions, maxFiles: number) {
    this.#path = filePath;
    this.#form = form;
    this.#files = files;
    this.#maxFiles = maxFiles;
  }

  /**
   * Opens the file if it is not open, or if its path now refers to a different file. Removes an incomplete last line.
   * @returns the size of the file, in bytes
   * @throws {DataValidationError} if the file has unexpected content; the file is then left unchanged
   */
  prepare(): number {
    const found = this.#files.stat(this.#path);
    if (this.#descriptor === undefined || found?.ino !== this.#ino) {
      this.#size = this.#open();
    } else {
      this.#size = this.#withoutPartial(this.#descriptor, found.size);
    }
    return this.#size;
  }

  /**
   * Appends lines. In an empty file, the header is written first. All data is written at once, unless the system
   * accepts only a part of the data. Call {@link LineFile.prepare} first.
   */
  append(lines: readonly string[]): AppendOutcome {
    const descriptor = this.#descriptor as number;
    const header = this.#size === 0 && this.#form.header !== null ? [`${this.#form.header}\n`] : [];
    const texts = [...header, ...lines.map((line) => `${line}\n`)];
    const bytes = Buffer.from(texts.join(''));
    let done = 0;
    try {
      while (done < bytes.length) {
        const count = this.#files.write(descriptor, bytes, done, bytes.length - done);
        if (count <= 0) throw new Error('the system wrote nothing');
        done += count;
      }
    } catch (problem) {
      const { end, count } = completeTexts(texts, done);
      if (done > end) this.#partial = { from: this.#size + end, to: this.#size + done };
      return { written: Math.max(0, count - header.length), problem };
    }
    this.#size += done;
    return { written: lines.length, problem: undefined };
  }

  /** Renames the file to a numbered name, so that the next lines start a new file. */
  rotate(): void {
    rotateFiles(this.#path, this.#maxFiles, this.#files);
    this.close();
  }

  /** Flushes the file to the disk. */
  flush(): void {
    if (this.#descriptor !== undefined) this.#files.fsync(this.#descriptor);
  }

  close(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    this.#partial = undefined;
    if (descriptor !== undefined) this.#files.close(descriptor);
  }

  #open(): number {
    this.close();
    this.#files.mkdir(path.dirname(path.resolve(this.#path)));
    const descriptor = this.#files.open(this.#path, 'a+');
    try {
      const { size, ino } = this.#files.fstat(descriptor);
      const repairedSize = size === 0 ? 0 : this.#repair(descriptor, size);
      if (repairedSize === undefined) {
        rotateFiles(this.#path, this.#maxFiles, this.#files);
      } else {
        this.#descriptor = descriptor;
        this.#ino = ino;
        return repairedSize;
      }
    } finally {
      if (this.#descriptor !== descriptor) this.#files.close(descriptor);
    }
    return this.#open();
  }

  /** Makes a file end with a complete line. Returns the size of the file, or undefined if the file must be rotated. */
  #repair(descriptor: number, size: number): number | undefined {
    const first = readFirstLine(this.#files, descriptor);
    if (!first.isEnded && !this.#isBeginning(first.text)) throw this.#otherContent();
    if (first.isEnded && this.#form.examine(first.text, this.#path) === 'older') {
      logQuietly(
        'warn',
        `'${this.#path}' has an older layout; the file is kept as '${this.#path}.1', and a new file is started`,
      );
      return undefined;
    }
    const end = findCompleteEnd(this.#files, descriptor, size, this.#form.isQuoting);
    return end === size ? size : this.#repairTail(descriptor, end, size);
  }

  #repairTail(descriptor: number, end: number, size: number): number | undefined {
    const tail = readTail(this.#files, descriptor, end, size);
    if (tail === undefined || LIKE_A_LINE.test(tail)) {
      const kept = `the file is kept as '${this.#path}.1', and a new file is started`;
      logQuietly('warn', `'${this.#path}' is damaged from byte ${String(end)} on (an unclosed quote?); ${kept}`);
      return undefined;
    }
    if (this.#form.isComplete(tail)) return size + this.#files.write(descriptor, Buffer.from('\n'), 0, 1);
    this.#files.ftruncate(descriptor, end);
    logQuietly('warn', `the last line of '${this.#path}' was incomplete; its ${String(size - end)} bytes were removed`);
    return end;
  }

  /** Returns whether a text without a line feed can be the start of the first line. */
  #isBeginning(text: string): boolean {
    const { opening, header } = this.#form;
    return opening.startsWith(text) || (header === null && text.startsWith(opening));
  }

  #otherContent(): DataValidationError {
    return new DataValidationError(`'${this.#path}' has unexpected content. Nothing was added to the file.`, {
      code: 'unwritable-file',
      context: { path: this.#path },
      suggestion: 'Use a new file.',
    });
  }

  /**
   * Removes an incomplete line, unless another process has appended to the file in the meantime. Returns the size of
   * the file.
   */
  #withoutPartial(descriptor: number, size: number): number {
    const partial = this.#partial;
    if (partial === undefined) return size;
    if (size === partial.to) this.#files.ftruncate(descriptor, partial.from);
    this.#partial = undefined;
    return size === partial.to ? partial.from : size;
  }
}

/**
 * Returns the number of texts that fit completely into a given number of bytes, and the byte offset at which these
 * texts end.
 */
function completeTexts(texts: readonly string[], bytes: number): { end: number; count: number } {
  let end = 0;
  for (const [count, text] of texts.entries()) {
    const next = end + Buffer.byteLength(text);
    if (next > bytes) return { end, count };
    end = next;
  }
  return { end, count: texts.length };
}

/**
 * Rotates a file: `path` becomes `path.1`, the former `path.1` becomes `path.2`, and so on up to the first free number.
 * If there are more than `maxFiles` files, the oldest files are removed.
 * @param maxFiles the maximum number of files, including the current file; at least 2
 */
function rotateFiles(path: string, maxFiles: number, files: FileFunctions): void {
  const nameOf = (age: number): string => (age === 0 ? path : `${path}.${String(age)}`);
  const oldest = maxFiles - 1;
  // These files are from a run with a larger maximum number of files.
  for (let age = maxFiles; files.stat(nameOf(age)) !== undefined; age++) files.remove(nameOf(age));
  let free = 1;
  while (free < oldest && files.stat(nameOf(free)) !== undefined) free++;
  // The oldest file is renamed first, so that every file keeps a distinct name if the rotation is interrupted.
  for (let age = free; age >= 1; age--) files.rename(nameOf(age - 1), nameOf(age));
}
