import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

import type { BusboyInstance } from '@fastify/busboy';

import type { ServiceLimits } from '../context/service-context.ts';
import { loadBusboy } from '../packages.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { mediaTypeOf, requireMediaType } from './media-type.ts';
import { FILE_PART, type FormParts, malformed, type PartOptions, PartReader } from './part-reader.ts';
import { readBody, refusing } from './read-body.ts';
import { newSpoolFolder, type ReceivedForm } from './spool-folder.ts';

/** How a form is read. */
interface FormOptions extends PartOptions {
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
async function readForm(chunks: AsyncIterable<Buffer>, options: FormOptions): Promise<FormParts> {
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

/** Options of {@link receiveForm}. */
export interface ReceiveFormOptions {
  /** `uploadBytes` of the file, `fieldBytes` of each field, and `idleMillis` count. */
  readonly limits: ServiceLimits;
  /** Where the form's folder is made. */
  readonly spoolRoot: string;
  /** The fields that the form may have beside its file. */
  readonly allowed: { readonly fields: readonly string[] };
}

/** The longest that busboy's search takes is 256, with four bytes of its own; RFC 2046 allows 70. */
const BOUNDARY_LENGTH = 70;
/** For boundaries and headers of parts. */
const FRAME_BYTES = 2 ** 20;

/**
 * Receives a form (multipart/form-data): one file part named `file`, told to be CSV, CSV packed with gzip or Parquet by
 * its first bytes whatever it is called, and the fields that are allowed, as text or as a file. The table is unpacked and
 * streams to a folder of its own. After a failure nothing is left on disk.
 * @throws {ServiceProblem} what `receiveBody` throws; 400 for a form that is malformed, 413 for a part that is too large,
 *   415 for another type, 422 for a part that is unknown, repeated, missing or empty
 */
export async function receiveForm(request: IncomingMessage, options: ReceiveFormOptions): Promise<ReceivedForm> {
  const { limits, spoolRoot, allowed } = options;
  const { uploadBytes, fieldBytes, idleMillis } = limits;
  return refusing(request, async () => {
    const contentType = requireForm(request.headers['content-type']);
    const mostBytes = uploadBytes + allowed.fields.length * fieldBytes + FRAME_BYTES;
    const folder = await newSpoolFolder(spoolRoot);
    try {
      const form = { contentType, folder: folder.path, fields: allowed.fields, uploadBytes, fieldBytes };
      const { file, fields } = await readBody(request, { mostBytes, idleMillis }, (chunks) => readForm(chunks, form));
      const digest = digestOf({ file, fields });
      const { path, format } = file;
      return Object.freeze({
        fields: Object.freeze(Object.fromEntries(fields)),
        file: { path, format },
        folder,
        digest,
      });
    } catch (error) {
      await folder.remove();
      throw error;
    }
  });
}

/** Of what was meant, so that neither the boundary nor the order of the parts matters. */
function digestOf({ file, fields }: FormParts): string {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).update(file.hash).digest('hex');
}

/** The header, where it is one that the form can be read by. */
function requireForm(header: string | undefined): string {
  requireMediaType(header, ['multipart/form-data']);
  const boundary = mediaTypeOf(header)?.parameters.get('boundary') ?? '';
  if (boundary !== '' && boundary.length <= BOUNDARY_LENGTH) {
    // Written anew, so that the parser reads it as it was read here.
    return `multipart/form-data; boundary="${boundary.replaceAll(/["\\]/g, '\\$&')}"`;
  }
  throw new ServiceProblem(400, {
    detail: `The Content-Type of the form has ${boundary === '' ? 'no boundary' : 'too long a boundary'}.`,
    suggestion: `Let the HTTP client write the header: curl -F '${FILE_PART}=@data.csv' …`,
  });
}
