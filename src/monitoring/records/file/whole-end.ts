import { Utf8Stream } from '../../../internal/decode-utf8.ts';
import type { FileFunctions } from './file-functions.ts';

/** Bytes that are read at once. */
const CHUNK_BYTES = 2 ** 18;

const NEWLINE = 10;
const QUOTE = 34;

/** The longest text that may be taken for one line that was cut short. */
const LONGEST_TAIL_BYTES = 2 ** 20;

/**
 * Where the last line that is whole ends, in bytes from the start. With
 * `isQuoting`, a line end between quotes is part of a field.
 */
export function findWholeEnd(files: FileFunctions, descriptor: number, size: number, isQuoting: boolean): number {
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
export function readTail(files: FileFunctions, descriptor: number, from: number, to: number): string | undefined {
  return to - from > LONGEST_TAIL_BYTES ? undefined : textOf(readBytes(files, descriptor, from, to));
}

/** A file's first line without its end, and whether its end is there. */
export function readFirstLine(files: FileFunctions, descriptor: number): { text: string; isWhole: boolean } {
  const start = readBytes(files, descriptor, 0, LONGEST_TAIL_BYTES);
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
