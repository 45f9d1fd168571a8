import path from 'node:path';

import { DataValidationError } from '../../../exceptions/index.ts';
import { Utf8Stream } from '../../../internal/decode-utf8.ts';
import { type FileFunctions, type LineForm, logQuietly } from './file-functions.ts';

/** Bytes that are read at once. */
const CHUNK_BYTES = 2 ** 18;

const NEWLINE = 10;
const QUOTE = 34;

/** The longest text that may be taken for one line that was cut short. */
const MAX_TAIL_BYTES = 2 ** 20;

/**
 * Where the last line that is whole ends, in bytes from the start. With
 * `isQuoting`, a line end between quotes is part of a field.
 */
function findWholeEnd(files: FileFunctions, descriptor: number, size: number, isQuoting: boolean): number {
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

/** The bytes from one place to another as text; undefined where they are more than one line may have. */
function readTail(files: FileFunctions, descriptor: number, from: number, to: number): string | undefined {
  return to - from > MAX_TAIL_BYTES ? undefined : textOf(readBytes(files, descriptor, from, to));
}

/** A file's first line without its end, and whether its end is there. */
function readFirstLine(files: FileFunctions, descriptor: number): { text: string; isWhole: boolean } {
  const start = readBytes(files, descriptor, 0, MAX_TAIL_BYTES);
  const end = start.indexOf(NEWLINE);
  return { text: textOf(end < 0 ? start : start.subarray(0, end)), isWhole: end >= 0 };
}

/** The text of bytes that may end within a character. What is not UTF-8 is a text that no line of ours has. */
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

/** How an attempt to append ended. */
interface AppendOutcome {
  /** Lines that are wholly in the file. */
  readonly written: number;
  /** Why the rest is not; undefined where all are. */
  readonly problem: unknown;
}

/** Another line of unquoted fields: where it follows, a quote was left open long before, and not by the last write. */
const LIKE_A_LINE = /\n(?:[^\n"]*,){4}/;

/**
 * A file of lines that is only ever added to, and that ends with a whole line
 * whatever happens to a write. All methods throw what the system throws.
 */
export class LineFile {
  readonly #path: string;
  readonly #form: LineForm;
  readonly #files: FileFunctions;
  readonly #maxFiles: number;
  #descriptor: number | undefined;
  #ino = 0;
  #size = 0;
  /** What the file has of a line that could not be written whole. */
  #partial: { readonly from: number; readonly to: number } | undefined;

  constructor(filePath: string, form: LineForm, files: FileFunctions, maxFiles: number) {
    this.#path = filePath;
    this.#form = form;
    this.#files = files;
    this.#maxFiles = maxFiles;
  }

  /**
   * Opens the file where it is not open or is no longer the one at its path,
   * and takes away what is there of an unfinished line.
   * @returns the file's size
   * @throws {DataValidationError} where it holds something else; it is left as it was
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
   * Adds lines, and before them the header where the file is empty, as one
   * write; more follow only where the system took a part. Call {@link LineFile.prepare} first.
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
      const { whole, count } = wholeTexts(texts, done);
      if (done > whole) this.#partial = { from: this.#size + whole, to: this.#size + done };
      return { written: Math.max(0, count - header.length), problem };
    }
    this.#size += done;
    return { written: lines.length, problem: undefined };
  }

  /** Puts the present file aside under a number, so that the next lines begin a new one. */
  rotate(): void {
    rotateFiles(this.#path, this.#maxFiles, this.#files);
    this.close();
  }

  /** Waits until what was written has reached the disk. */
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
      const mended = size === 0 ? 0 : this.#mend(descriptor, size);
      if (mended === undefined) {
        rotateFiles(this.#path, this.#maxFiles, this.#files);
      } else {
        this.#descriptor = descriptor;
        this.#ino = ino;
        return mended;
      }
    } finally {
      if (this.#descriptor !== descriptor) this.#files.close(descriptor);
    }
    return this.#open();
  }

  /** Makes a file end with a whole line; gives its size, or undefined where it must be put aside. */
  #mend(descriptor: number, size: number): number | undefined {
    const first = readFirstLine(this.#files, descriptor);
    if (!first.isWhole && !this.#isBeginning(first.text)) throw this.#otherContent();
    if (first.isWhole && this.#form.examine(first.text, this.#path) === 'older') {
      logQuietly('warn', `'${this.#path}' has an older layout; it is kept as '${this.#path}.1', and a new file begun`);
      return undefined;
    }
    const end = findWholeEnd(this.#files, descriptor, size, this.#form.isQuoting);
    return end === size ? size : this.#mendTail(descriptor, end, size);
  }

  #mendTail(descriptor: number, end: number, size: number): number | undefined {
    const tail = readTail(this.#files, descriptor, end, size);
    if (tail === undefined || LIKE_A_LINE.test(tail)) {
      const kept = `it is kept as '${this.#path}.1', and a new file begun`;
      logQuietly('warn', `'${this.#path}' is broken from byte ${String(end)} on (a quote that does not end?); ${kept}`);
      return undefined;
    }
    if (this.#form.isComplete(tail)) return size + this.#files.write(descriptor, Buffer.from('\n'), 0, 1);
    this.#files.ftruncate(descriptor, end);
    logQuietly('warn', `the last line of '${this.#path}' was cut short; its ${String(size - end)} bytes are removed`);
    return end;
  }

  /** Whether a text without line end may be all that there is of the first line. */
  #isBeginning(text: string): boolean {
    const { opening, header } = this.#form;
    return opening.startsWith(text) || (header === null && text.startsWith(opening));
  }

  #otherContent(): DataValidationError {
    return new DataValidationError(`'${this.#path}' holds something else, so nothing is added to it.`, {
      context: { path: this.#path },
      suggestion: 'Name a new file.',
    });
  }

  /** Cuts an unfinished line off, unless another process has written behind it. */
  #withoutPartial(descriptor: number, size: number): number {
    const partial = this.#partial;
    if (partial === undefined) return size;
    if (size === partial.to) this.#files.ftruncate(descriptor, partial.from);
    this.#partial = undefined;
    return size === partial.to ? partial.from : size;
  }
}

/** How many texts lie wholly within so many bytes, and how many bytes those are. */
function wholeTexts(texts: readonly string[], bytes: number): { whole: number; count: number } {
  let whole = 0;
  for (const [count, text] of texts.entries()) {
    const next = whole + Buffer.byteLength(text);
    if (next > bytes) return { whole, count };
    whole = next;
  }
  return { whole, count: texts.length };
}

/**
 * Puts a file aside: `path` becomes `path.1`, what was that becomes `path.2`,
 * and so on up to the first number that is free. With `maxFiles` files, the
 * present one counted, what would come after them is removed.
 * @param maxFiles at least 2
 */
function rotateFiles(path: string, maxFiles: number, files: FileFunctions): void {
  const nameOf = (age: number): string => (age === 0 ? path : `${path}.${String(age)}`);
  const oldest = maxFiles - 1;
  // Left from when more were kept.
  for (let age = maxFiles; files.stat(nameOf(age)) !== undefined; age++) files.remove(nameOf(age));
  let free = 1;
  while (free < oldest && files.stat(nameOf(free)) !== undefined) free++;
  // From the oldest on, so that whenever this is cut short each file still has a name of its own.
  for (let age = free; age >= 1; age--) files.rename(nameOf(age - 1), nameOf(age));
}
