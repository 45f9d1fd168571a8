import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

import type { BusboyInstance } from '@fastify/busboy';

import { loadBusboy } from '../packages.ts';
import { type FormParts, malformed, type PartOptions, PartReader } from './part-reader.ts';

/** How a form is read. */
export interface FormOptions extends PartOptions {
  /** With the boundary. */
  readonly contentType: string;
}

const HEADER_BYTES = 16 * 2 ** 10;
const HEADER_LINES = 32;
const NEVER_FULL = 2 ** 40;

/**
 * Reads a form from chunks. Every part is a stream, whether it has a file name or not, so that it can be refused when it
 * begins.
 * @throws {ServiceProblem} as {@link receiveForm} does
 */
export async function readForm(chunks: AsyncIterable<Buffer>, options: FormOptions): Promise<FormParts> {
  const { Busboy } = loadBusboy();
  const parser = new Busboy({
    headers: { 'content-type': options.contentType },
    isPartAFile: () => true,
    limits: { headerSize: HEADER_BYTES, headerPairs: HEADER_LINES },
    // It never pauses by itself, see `feed`.
    highWaterMark: NEVER_FULL,
    fileHwm: NEVER_FULL,
  });
  const reader = new PartReader(options);
  try {
    await parse(chunks, parser, reader);
    return await reader.finish();
  } catch (error) {
    await reader.abandon();
    throw isOfParser(error) ? malformed('ends too early', error) : error;
  }
}

function parse(chunks: AsyncIterable<Buffer>, parser: BusboyInstance, reader: PartReader): Promise<void> {
  return new Promise((resolve, reject) => {
    const finished = new Promise((done) => parser.once('finish', done));
    // It stays: parts may fail when the parser is done already.
    parser.on('error', reject);
    // Typed by what arrives: a part without a name has none, whatever the types say.
    parser.on('file', (name: string | undefined, stream: Readable, fileName: string | undefined) => {
      reader.read(name, stream, fileName).catch(reject);
    });
    feed(chunks, parser, reader)
      .then(() => finished)
      .then(() => {
        resolve();
      }, reject);
  });
}

/**
 * Hands each chunk to the parser when the parts before it are read.
 *
 * The parser's own pauses are not used: where the form ends, or a part is skipped, during one of them, the parser never
 * asks for more and never says that it is done; and some malformed forms make it say so too early, which a pipeline does
 * not survive. Without pauses every write is taken at once.
 */
async function feed(chunks: AsyncIterable<Buffer>, parser: Writable, reader: PartReader): Promise<void> {
  for await (const chunk of chunks) {
    parser.write(chunk);
    // The parser hands on what it has found in the next turn.
    await setImmediate();
    await reader.hasRoom();
  }
  parser.end();
}

function isOfParser(error: unknown): boolean {
  return error instanceof Error && /unexpected end of multipart data|terminated early/i.test(error.message);
}
