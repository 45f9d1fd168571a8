import { DataValidationError } from '../exceptions/index.ts';

/**
 * Decodes bytes as UTF-8 text and removes a byte order mark at the start. All external bytes must be decoded with this
 * module. A lint rule forbids decoders that replace invalid bytes with U+FFFD. Such a decoder would turn é and è in
 * Latin-1 into the same label.
 * @param what the name of the source with which the error message starts: `The body`
 * @throws {DataValidationError} if a byte is invalid; `context.offset` is the index of this byte
 */
export function decodeUtf8(bytes: Uint8Array, what: string): string {
  const decoder = new Utf8Stream(what);
  return decoder.write(bytes) + decoder.end();
}

const completeTexts = new TextDecoder('utf-8', { fatal: true });

/** Decodes bytes as {@link decodeUtf8} does. Returns undefined if a byte is invalid. */
export function tryDecodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return completeTexts.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Decodes UTF-8 in chunks. A chunk may end within the bytes of a character. */
export class Utf8Stream {
  readonly #what: string | ((line: number) => string);
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The first bytes of an incomplete sequence, at most 3. */
  #rest: Uint8Array = new Uint8Array();
  #decoded = 0;
  #lineFeeds = 0;

  /**
   * @param what the name of the source with which error messages start: `The input`; or a function that returns it for
   * the number of the line, from 1
   */
  constructor(what: string | ((line: number) => string)) {
    this.#what = what;
  }

  /**
   * Decodes a chunk and returns all characters that are complete after this chunk.
   * @throws {DataValidationError} if a byte is invalid; the offset counts from the start of the stream
   */
  write(chunk: Uint8Array): string {
    const bytes = this.#rest.length === 0 ? chunk : joined(this.#rest, chunk);
    const end = bytes.length - openLength(bytes);
    const text = this.#decode(bytes.subarray(0, end));
    this.#rest = bytes.slice(end);
    return text;
  }

  /**
   * Ends the stream, or a part of the stream that must not end inside a character, such as a line.
   * @returns an empty text, so that results can be concatenated
   * @throws {DataValidationError} if the last sequence is incomplete
   */
  end(): string {
    const rest = this.#rest;
    this.#rest = new Uint8Array();
    return this.#decode(rest);
  }

  #decode(bytes: Uint8Array): string {
    if (bytes.length === 0) return '';
    let text: string;
    try {
      text = this.#decoder.decode(bytes);
    } catch {
      const offset = findInvalid(bytes);
      const line = 1 + this.#lineFeeds + countLineFeeds(bytes.subarray(0, offset));
      throw invalidUtf8(
        typeof this.#what === 'string' ? this.#what : this.#what(line),
        bytes[offset] ?? 0,
        this.#decoded + offset,
      );
    }
    const isStart = this.#decoded === 0;
    this.#decoded += bytes.length;
    if (typeof this.#what !== 'string') this.#lineFeeds += countLineFeeds(bytes);
    return isStart && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}

function countLineFeeds(bytes: Uint8Array): number {
  return bytes.reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 0);
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/**
 * Splits UTF-8 bytes into lines. A line ends with a line feed, or with a carriage return and a line feed. Unicode line
 * separators do not end a line, because they may occur in JSON.
 * @yields each line without its line ending, including a last line that has no line ending
 * @throws {DataValidationError} if a chunk has an invalid byte
 */
export async function* utf8Lines(chunks: AsyncIterable<Uint8Array>, what: string): AsyncGenerator<string, void, void> {
  const decoder = new Utf8Stream(what);
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
  rest += decoder.end();
  if (rest !== '') yield rest;
}

function invalidUtf8(what: string, byte: number, offset: number): DataValidationError {
  return new DataValidationError(
    `${what} is not UTF-8: byte 0x${byte.toString(16).padStart(2, '0')} at offset ${String(offset)}.`,
    { code: 'invalid-encoding', context: { offset, byte }, suggestion: 'Save or send the text as UTF-8.' },
  );
}

/**
 * Returns the length of the incomplete UTF-8 sequence at the end of the bytes; 0 if the bytes end with a complete
 * sequence.
 */
function openLength(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length] as number;
    if (byte >= 0xc0) return sequenceLength(byte) > length ? length : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** Returns the length of the UTF-8 sequence that starts with a byte; 0 if the byte cannot start a sequence. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/**
 * The allowed range of the second byte for each first byte that restricts this range. A second byte outside this range
 * would make the sequence overlong, a surrogate, or larger than U+10FFFF (RFC 3629, section 4).
 */
const SECOND_BYTES: Readonly<Record<number, readonly [least: number, most: number]>> = {
  0xe0: [0xa0, 0xbf],
  0xed: [0x80, 0x9f],
  0xf0: [0x90, 0xbf],
  0xf4: [0x80, 0x8f],
};

/** Returns the index of the first invalid sequence, or the number of bytes if all sequences are valid. */
function findInvalid(bytes: Uint8Array): number {
  for (let start = 0; start < bytes.length;) {
    const first = bytes[start] as number;
    const length = sequenceLength(first);
    if (length === 0) return start;
    for (let index = 1; index < length; index++) {
      const byte = bytes[start + index] ?? 0;
      const [min, most] = (index === 1 ? SECOND_BYTES[first] : undefined) ?? [0x80, 0xbf];
      if (byte < min || byte > most) return start;
    }
    start += length;
  }
  return bytes.length;
}
