import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

import { Busboy, type BusboyInstance } from '@fastify/busboy';

import { suggestNames } from '../../internal/arguments.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { createDeferred } from '../../internal/deferred.ts';
import { nextTurn } from '../../internal/next-turn.ts';
import type { Service, ServiceLimits } from '../context/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { badPart, tooLarge } from './intake-problems.ts';
import { CURL_FORM, mediaTypeOf, requireMediaType } from './media-type.ts';
import { atMost } from './read-unpacked.ts';
import { readBody } from './receive-body.ts';
import { writeTable, type WrittenTable } from './receive-table.ts';
import { fillSpoolFolder, type SpoolFolder, writeSpoolFile } from './spool-folder.ts';

/** The name of the part that holds the table. */
const FILE_PART = 'file';
/** Incorrect part names that clients often use for the table. */
const MEANT_AS_FILE = new Set(['csv', 'data', 'dataset', 'parquet', 'table', 'upload']);

/** The parts that a form may contain. */
export interface FormShape {
  /** The names of the allowed fields. */
  readonly fields: readonly string[];
  /**
   * The names of the allowed tables.
   * @defaultValue ['file'], which is required
   */
  readonly tables?: readonly string[];
  /**
   * The names of parts that may be a ZIP archive or a field.
   * @defaultValue none
   */
  readonly archives?: readonly string[];
  /**
   * The fields that may be repeated.
   * @defaultValue none
   */
  readonly lists?: readonly string[];
}

/** The allowed parts, and the folder in which files are stored. */
interface PartOptions extends Pick<ServiceLimits, 'uploadBytes' | 'fieldBytes'>, Required<FormShape> {
  readonly folder: string;
  /** The name of a table without which the form is not complete; null if there is none. */
  readonly required: string | null;
}

/** A file of a form on disk. */
type FormFile = WrittenTable<'csv' | 'parquet' | 'zip'>;

/** The files and the fields that a form contains. */
interface FormParts {
  readonly files: ReadonlyMap<string, FormFile>;
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

/** The maximum number of parts of a form. */
const MAX_PARTS = 100;
const NAME_LENGTH = 200;
/** The maximum number of unread bytes of a part. Above it, no further chunk is requested. */
const MAX_WAITING = 64 * 2 ** 10;

/** Reads the parts of one form. */
class PartReader {
  readonly #options: PartOptions;
  readonly #fields = new Map<string, string[]>();
  readonly #files = new Map<string, FormFile>();
  readonly #seen = new Set<string>();
  readonly #work: Promise<void>[] = [];
  readonly #streams: Readable[] = [];
  #count = 0;
  #wake: () => void = () => undefined;

  constructor(options: PartOptions) {
    this.#options = options;
  }

  /** Reads a part. {@link finish} and {@link abandon} wait for the returned promise. */
  read(name: string | undefined, stream: Readable, fileName: string | undefined): Promise<void> {
    // The function that reads the stream reports the error. This listener prevents an uncaught error if the stream is
    // not read.
    stream.on('error', () => undefined);
    this.#streams.push(stream);
    const work = this.#readPart(name, this.#reported(stream), fileName);
    this.#work.push(work);
    return work;
  }

  /** Resolves when no part has more than {@link MAX_WAITING} unread bytes. Never resolves if a part has failed. */
  async hasRoom(): Promise<void> {
    while (this.#streams.some((stream) => stream.readableLength > MAX_WAITING)) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Returns all parts when they have been read. */
  async finish(): Promise<FormParts> {
    await Promise.all(this.#work);
    const { required } = this.#options;
    if (required !== null && !this.#files.has(required)) throw badPart(required, 'is missing', CURL_FORM);
    return { files: this.#files, fields: this.#fields };
  }

  /** Releases all parts. Resolves when all files are closed. */
  async abandon(): Promise<void> {
    for (const stream of this.#streams) stream.destroy(new Error('Reading the form was cancelled.'));
    await Promise.allSettled(this.#work);
  }

  /**
   * Yields the chunks of a part. Before each chunk, a caller that waits in {@link hasRoom} is notified.
   * @yields each chunk
   */
  async *#reported(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of stream) {
      this.#wake();
      yield chunk;
    }
  }

  async #readPart(
    given: string | undefined,
    stream: AsyncIterable<Buffer>,
    fileName: string | undefined,
  ): Promise<void> {
    const name = this.#admit(given);
    const { folder, uploadBytes, tables, archives } = this.#options;
    if (archives.includes(name) && fileName !== undefined) {
      this.#files.set(name, await writeArchive(stream, path.join(folder, `${name}.zip`), uploadBytes, name));
      return;
    }
    if (!tables.includes(name)) {
      const text = await readText(name, stream, this.#options.fieldBytes);
      this.#fields.set(name, [...(this.#fields.get(name) ?? []), text]);
      return;
    }
    if (fileName === undefined) throw badPart(name, 'is a text field, not a file', CURL_FORM);
    const table = await writeTable(stream, {
      folder,
      stem: name === FILE_PART ? 'upload' : name,
      maxBytes: uploadBytes,
      name,
      formatOf: (content) => (content === 'parquet' ? 'parquet' : 'csv'),
    });
    this.#files.set(name, table);
  }

  /** Returns the name of a part if it is allowed. */
  #admit(name: string | undefined): string {
    if (name === undefined || name === '') throw malformed('has a part without a name');
    if (name.length > NAME_LENGTH) throw malformed(`has a part whose name is longer than ${String(NAME_LENGTH)}`);
    const { tables, archives, fields, lists } = this.#options;
    const known = [...tables, ...archives, ...fields];
    if (!known.includes(name)) throw badPart(name, 'is unknown', suggestPart(name, known));
    if (this.#seen.has(name) && !lists.includes(name)) throw badPart(name, 'occurs twice', 'Send it once.');
    this.#seen.add(name);
    this.#count += 1;
    if (this.#count > MAX_PARTS) throw malformed(`has more than ${String(MAX_PARTS)} parts`);
    return name;
  }
}

/** Writes a ZIP archive to disk. Its content is checked by the job that reads it. */
async function writeArchive(
  stream: AsyncIterable<Buffer>,
  file: string,
  maxBytes: number,
  name: string,
): Promise<FormFile> {
  const hash = createHash('sha256');
  await writeSpoolFile(
    file,
    atMost(stream, maxBytes, () => tooLarge(maxBytes, name)),
    hash,
  );
  return { path: file, format: 'zip', hash: hash.digest() };
}

function suggestPart(name: string, known: readonly string[]): string {
  if (MEANT_AS_FILE.has(name.toLowerCase())) return `Did you mean '${FILE_PART}'? ${CURL_FORM}`;
  return suggestNames(name, known, 'parts');
}

async function readText(name: string, stream: AsyncIterable<Buffer>, fieldBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of atMost(stream, fieldBytes, () => tooLarge(fieldBytes, name))) chunks.push(chunk);
  let text: string;
  try {
    text = decodeUtf8(Buffer.concat(chunks), name);
  } catch {
    throw badPart(name, 'is not UTF-8 text', 'Save it as UTF-8.');
  }
  if (text.includes('\0')) throw badPart(name, 'contains a null byte', 'Send text.');
  return text;
}

/** Returns a 400 problem for a malformed form. */
function malformed(problem: string, cause?: unknown): ServiceProblem {
  return new ServiceProblem(400, { detail: `The form ${problem}.`, suggestion: CURL_FORM }, cause);
}

const HEADER_BYTES = 16 * 2 ** 10;
const HEADER_LINES = 32;
const NEVER_FULL = 2 ** 40;

/**
 * Reads a form from chunks. Every part is read as a stream, with or without a file name, so that it can be rejected as
 * soon as it begins.
 * @param contentType the content type with its boundary
 * @throws {ServiceProblem} like {@link receiveForm}
 */
async function readForm(chunks: AsyncIterable<Buffer>, contentType: string, options: PartOptions): Promise<FormParts> {
  const parser = new Busboy({
    headers: { 'content-type': contentType },
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

async function parse(chunks: AsyncIterable<Buffer>, parser: BusboyInstance, reader: PartReader): Promise<void> {
  const finished = new Promise((done) => parser.once('finish', done));
  const failed = createDeferred<never>();
  // This listener is not removed, because parts may fail after the parser has finished.
  parser.on('error', failed.reject);
  // The types of the parser are wrong here: a part may arrive without a name.
  parser.on('file', (name: string | undefined, stream: Readable, fileName: string | undefined) => {
    reader.read(name, stream, fileName).catch(failed.reject);
  });
  await Promise.race([feed(chunks, parser, reader).then(() => finished), failed.promise]);
}

/**
 * Passes each chunk to the parser when the parts in earlier chunks have been read.
 *
 * The parser's own pauses are not used. If the form ends or a part is skipped during a pause, the parser never requests
 * more data and never reports the end of the form. For some malformed forms, the parser reports the end of the form too
 * early. This would break a stream pipeline. Without pauses, every write is accepted immediately.
 */
async function feed(chunks: AsyncIterable<Buffer>, parser: Writable, reader: PartReader): Promise<void> {
  for await (const chunk of chunks) {
    parser.write(chunk);
    // The parser emits the parts that it has found in the next turn of the event loop.
    await nextTurn();
    await reader.hasRoom();
  }
  parser.end();
}

function isOfParser(error: unknown): boolean {
  return error instanceof Error && /unexpected end of multipart data|terminated early/i.test(error.message);
}

/** The content of a received form: the fields and the files by name. */
export interface ReceivedForm {
  /** The last value of each field. */
  readonly fields: Readonly<Record<string, string>>;
  /** The fields that were repeated, with all their values. */
  readonly repeated: Readonly<Record<string, readonly string[]>>;
  /**
   * The paths of the files by the names of their parts. Their names in `folder` are fixed: the part `file` is
   * `upload.csv` or `upload.parquet`.
   */
  readonly files: Readonly<Record<string, string>>;
  readonly folder: SpoolFolder;
  /** SHA-256 of the files' bytes and the fields, hexadecimal. */
  readonly digest: string;
}

/**
 * The maximum length of a boundary in RFC 2046. Busboy's search accepts at most 256 bytes, including four that it adds.
 */
const BOUNDARY_LENGTH = 70;
/** The maximum number of bytes that boundaries and headers of all parts may take. */
const FRAME_BYTES = 2 ** 20;

/**
 * Receives a form (multipart/form-data) with files and fields. A field may be sent as text or as a file. A table may be
 * CSV, CSV compressed with gzip, or Parquet. The first bytes of a table determine its format; its file name is ignored.
 * The files are decompressed and streamed to a new folder. After a failure nothing is left on disk.
 * @param shape the parts that the form may contain
 * @throws {ServiceProblem} the problems of `receiveBody`; 400 if the form is malformed, 413 if a part is too large, 415
 *   for another type, 422 if a part is unknown, repeated, missing or empty
 */
export async function receiveForm(
  request: IncomingMessage,
  { limits, spoolFolder }: Pick<Service, 'limits' | 'spoolFolder'>,
  shape: FormShape,
): Promise<ReceivedForm> {
  const { uploadBytes, fieldBytes, idleMillis } = limits;
  const contentType = requireForm(request.headers['content-type']);
  const { fields: allowed, tables = [FILE_PART], archives = [], lists = [] } = shape;
  const files = tables.length + archives.length;
  const maxBytes = files * uploadBytes + (allowed.length + lists.length) * fieldBytes + FRAME_BYTES;
  const required = shape.tables === undefined ? FILE_PART : null;
  return fillSpoolFolder(spoolFolder, async (folder) => {
    const options = {
      fields: allowed,
      tables,
      archives,
      lists,
      uploadBytes,
      fieldBytes,
      required,
      folder: folder.path,
    };
    const parts = await readBody(request, { maxBytes, idleMillis }, (chunks) => readForm(chunks, contentType, options));
    const fields = [...parts.fields];
    return Object.freeze({
      fields: Object.freeze(Object.fromEntries(fields.map(([name, values]) => [name, values.at(-1) ?? '']))),
      repeated: Object.freeze(Object.fromEntries(fields.filter(([, values]) => values.length > 1))),
      files: Object.freeze(Object.fromEntries([...parts.files].map(([name, file]) => [name, file.path]))),
      folder,
      digest: digestOf(parts),
    });
  });
}

/** Returns a digest that is independent of the boundary and of the order of the parts. */
function digestOf({ fields, files }: FormParts): string {
  const byName = <Value>(entries: Iterable<readonly [string, Value]>): (readonly [string, Value])[] =>
    [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const named = byName([...files].map(([name, file]) => [name, file.hash.toString('hex')] as const));
  return createHash('sha256')
    .update(JSON.stringify([byName(fields), named]))
    .digest('hex');
}

/**
 * Returns the Content-Type header in the notation that the parser expects. Throws if the header is not sufficient to
 * read the form.
 */
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
