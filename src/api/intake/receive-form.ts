import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

import type { BusboyInstance } from '@fastify/busboy';

import type { ServiceLimits } from '../context/service-context.ts';
import { loadPackage } from '../packages.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { mediaTypeOf, requireMediaType } from './media-type.ts';
import { FILE_PART, type FormParts, malformed, type PartOptions, PartReader } from './part-reader.ts';
import { readBody, refusing } from './read-body.ts';
import { fillSpoolFolder, type ReceivedForm } from './spool-folder.ts';

/** Options for reading a form. */
interface FormOptions extends PartOptions {
  /** The content type with its boundary. */
  readonly contentType: string;
}

const HEADER_BYTES = 16 * 2 ** 10;
const HEADER_LINES = 32;
const NEVER_FULL = 2 ** 40;

/**
 * Reads a form from chunks. Every part is a stream, with or without a file name, so that it can be rejected as soon as
 * it begins.
 * @throws {ServiceProblem} like {@link receiveForm}
 */
async function readForm(chunks: AsyncIterable<Buffer>, options: FormOptions): Promise<FormParts> {
  const { Busboy } = loadPackage('@fastify/busboy');
  const parser = new Busboy({
    headers: { 'content-type': options.contentType },
    isPartAFile: () => true,
    limits: { headerSize: HEADER_BYTES, headerPairs: HEADER_LINES },
    // The parser never pauses by itself, see `feed`.
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
    // This listener is not removed, because parts may fail after the parser has finished.
    parser.on('error', reject);
    // The types are wrong here: a part may arrive without a name.
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
 * Passes each chunk to the parser once the parts in earlier chunks have been read.
 *
 * The parser's own pauses are not used. If the form ends or a part is skipped during a pause, the parser never requests
 * more data and never reports its end. Some malformed forms make it report the end too early, which breaks a pipeline.
 * Without pauses, every write is accepted immediately.
 */
async function feed(chunks: AsyncIterable<Buffer>, parser: Writable, reader: PartReader): Promise<void> {
  for await (const chunk of chunks) {
    parser.write(chunk);
    // The parser emits the parts that it has found in the next turn of the event loop.
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
  /** The limits. Only `uploadBytes` (file), `fieldBytes` (each field) and `idleMillis` are used. */
  readonly limits: ServiceLimits;
  /** The folder in which the folder of the form is created. */
  readonly spoolRoot: string;
  /** The fields that the form may contain besides its file. */
  readonly allowed: { readonly fields: readonly string[] };
}

/**
 * The maximum length of a boundary in RFC 2046. Busboy's search accepts at most 256 bytes, including four that it adds.
 */
const BOUNDARY_LENGTH = 70;
/** The number of bytes allowed for boundaries and headers of parts. */
const FRAME_BYTES = 2 ** 20;

/**
 * Receives a form (multipart/form-data) with one file part named `file` and the allowed fields, as text or as files.
 * The table may be CSV, CSV compressed with gzip, or Parquet. Its first bytes determine the format; its file name is
 * ignored. The table is decompressed and streamed to a new folder. After a failure nothing is left on disk.
 * @throws {ServiceProblem} the problems of `receiveBody`; 400 if the form is malformed, 413 if a part is too large, 415
 *   for another type, 422 if a part is unknown, repeated, missing or empty
 */
export async function receiveForm(request: IncomingMessage, options: ReceiveFormOptions): Promise<ReceivedForm> {
  const { limits, spoolRoot, allowed } = options;
  const { uploadBytes, fieldBytes, idleMillis } = limits;
  return refusing(request, async () => {
    const contentType = requireForm(request.headers['content-type']);
    const maxBytes = uploadBytes + allowed.fields.length * fieldBytes + FRAME_BYTES;
    return fillSpoolFolder(spoolRoot, async (folder) => {
      const form = { contentType, folder: folder.path, fields: allowed.fields, uploadBytes, fieldBytes };
      const { file, fields } = await readBody(request, { maxBytes, idleMillis }, (chunks) => readForm(chunks, form));
      return Object.freeze({
        fields: Object.freeze(Object.fromEntries(fields)),
        file: { path: file.path, format: file.format },
        folder,
        digest: digestOf({ file, fields }),
      });
    });
  });
}

/** Returns a digest of the content. It is independent of the boundary and of the order of the parts. */
function digestOf({ file, fields }: FormParts): string {
  const sorted = [...fields].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).update(file.hash).digest('hex');
}

/** Returns the Content-Type header in normal form. Throws if the form cannot be read with it. */
function requireForm(header: string | undefined): string {
  requireMediaType(header, ['multipart/form-data']);
  const boundary = mediaTypeOf(header)?.parameters.get('boundary') ?? '';
  if (boundary !== '' && boundary.length <= BOUNDARY_LENGTH) {
    // The header is rewritten, so that the parser interprets it in the same way as this module.
    return `multipart/form-data; boundary="${boundary.replaceAll(/["\\]/g, '\\$&')}"`;
  }
  throw new ServiceProblem(400, {
    detail: `The Content-Type of the form has ${boundary === '' ? 'no boundary' : 'a boundary that is too long'}.`,
    suggestion: `Let the HTTP client set the header: curl -F '${FILE_PART}=@data.csv' …`,
  });
}
