import { createReadStream } from 'node:fs';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

import { Utf8Stream } from '../internal/decode-utf8.ts';

/** A header longer than this is taken for a file that is no CSV. */
const LONGEST_HEADER_BYTES = 4 * 1024 * 1024;

/** The delimiters that a text table may have, in order of preference. */
const DELIMITERS = [',', '\t', ';', '|'] as const;

/** What the first line of a text table says. */
export interface CsvHeader {
  readonly delimiter: string;
  readonly names: readonly string[];
}

/**
 * Reads the header line. The delimiter is the one that occurs most often
 * outside quotes; it is fixed here, once, since guessing it from the rows would
 * let a ragged file pass as a table with another delimiter.
 */
export async function readCsvHeader(path: string, gzipped: boolean): Promise<CsvHeader> {
  const line = await readFirstLine(path, gzipped);
  const counts = DELIMITERS.map((delimiter) => splitFields(line, delimiter).length);
  const best = counts.indexOf(Math.max(...counts));
  const delimiter = DELIMITERS[best] ?? ',';
  return { delimiter, names: splitFields(line, delimiter) };
}

/**
 * Decompresses a gzip file once, for its checksum alone: a file that was cut
 * off would otherwise read as a shorter one.
 * @throws {Error} where the content is damaged or incomplete
 */
export async function assertWholeGzip(path: string): Promise<void> {
  const discard = new Writable({
    write(_chunk, _encoding, done) {
      done();
    },
  });
  await pipeline(createReadStream(path), createGunzip(), discard);
}

/** The first bytes of the text, at most as many as are asked for. */
export async function readStart(path: string, gzipped: boolean, most: number): Promise<Uint8Array> {
  const file = createReadStream(path, { highWaterMark: 16 * 1024 });
  const stream: AsyncIterable<Buffer> = gzipped ? file.pipe(createGunzip()) : file;
  try {
    for await (const bytes of stream) return bytes.subarray(0, most);
  } finally {
    file.destroy();
  }
  return new Uint8Array();
}

async function readFirstLine(path: string, gzipped: boolean): Promise<string> {
  const file = createReadStream(path, { highWaterMark: 16 * 1024 });
  const stream: AsyncIterable<Buffer> = gzipped ? file.pipe(createGunzip()) : file;
  const decoder = new Utf8Stream(`The first line of '${path}'`);
  let text = '';
  try {
    for await (const bytes of stream) {
      text += decoder.write(bytes);
      const end = endOfLine(text);
      if (end >= 0) return text.slice(0, end);
      if (text.length > LONGEST_HEADER_BYTES) break;
    }
  } finally {
    file.destroy();
  }
  return text;
}

/** Where the first line ends: a newline inside quotes does not end it. */
function endOfLine(text: string): number {
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '\n' || character === '\r')) return i;
  }
  return -1;
}

function splitFields(line: string, delimiter: string): string[] {
  const fields: string[] = [];
  let field = '';
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === delimiter && !quoted) {
      fields.push(field);
      field = '';
    } else field += character;
  }
  return [...fields, field];
}
