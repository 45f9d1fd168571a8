import { createReadStream } from 'node:fs';

import { DataValidationError } from '../../exceptions/index.ts';
import { Utf8Stream } from '../../internal/decode-utf8.ts';

/** A line of a file. */
export interface TextLine {
  /** The text without its line ending. */
  readonly text: string;
  /** The line number, from 1. */
  readonly number: number;
  /** The position of the line in the file, in bytes. */
  readonly offset: number;
  /** Whether the line has a line ending. The last line of a file may have none. */
  readonly isEnded: boolean;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Reads the lines of a file in UTF-8. A line ends with a line feed, with or without a carriage return before the line
 * feed. Other line separators of Unicode do not end a line, because JSON may contain them. A byte order mark is
 * removed.
 * @yields the lines in order
 * @throws {DataValidationError} if the file cannot be read or a line is not UTF-8
 */
export async function* readTextLines(path: string): AsyncGenerator<TextLine> {
  // All lines share one decoder, because only the start of the file can have a byte order mark.
  const decoder = new Utf8Stream(path);
  let number = 0;
  let offset = 0;
  for await (const { bytes, isEnded } of readByteLines(path)) {
    number++;
    yield { text: decode(decoder, { bytes, isEnded }, path, number), number, offset, isEnded };
    offset += bytes.length + (isEnded ? 1 : 0);
  }
}

interface ByteLine {
  readonly bytes: Buffer;
  readonly isEnded: boolean;
}

async function* readByteLines(path: string): AsyncGenerator<ByteLine> {
  let pending: Buffer[] = [];
  for await (const chunk of chunksOf(path)) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield { bytes: Buffer.concat([...pending, chunk.subarray(start, end)]), isEnded: true };
      pending = [];
      start = end + 1;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
  if (pending.length > 0) yield { bytes: Buffer.concat(pending), isEnded: false };
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) yield chunk as Buffer;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const reason = { ENOENT: 'there is no such file', EISDIR: 'it is a folder', EACCES: 'permission denied' }[code];
    throw new DataValidationError(`The transcript file '${path}' cannot be read: ${reason ?? code}.`, {
      code: 'unreadable-file',
      context: { path, code },
      suggestion: 'Check the path.',
      cause,
    });
  }
}

function decode(decoder: Utf8Stream, { bytes, isEnded }: ByteLine, path: string, number: number): string {
  const end = bytes.at(-1) === CARRIAGE_RETURN ? -1 : undefined;
  try {
    const text = decoder.write(bytes.subarray(0, end));
    // A truncated line may end within a character. The bytes of an incomplete character are ignored.
    return isEnded ? text + decoder.end() : text;
  } catch (cause) {
    throw lineProblem(path, number, 'it is not UTF-8', cause);
  }
}

/** Returns the error for an invalid line of a transcript file. */
export function lineProblem(path: string, line: number, reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`${path}:${String(line)}: this line is not a record of an answer: ${reason}.`, {
    code: 'unreadable-file',
    context: { path, line },
    suggestion: 'Use a file with one JSON object per line, in the format of evenhand transcripts, or correct the line.',
    cause,
  });
}

/** Returns the error for an empty transcript file. */
export function emptyProblem(path: string): DataValidationError {
  return new DataValidationError(`The transcript file '${path}' is empty.`, {
    code: 'unreadable-file',
    context: { path },
    suggestion: 'Use a file with one JSON object per line, in the format of evenhand transcripts.',
  });
}
