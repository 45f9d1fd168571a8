import type { Readable } from 'node:stream';

import { suggestNames } from '../../internal/arguments.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { badPart, tooLarge } from './intake-problems.ts';
import { CURL_FORM } from './media-type.ts';
import { atMost } from './read-unpacked.ts';
import { writeTable, type WrittenTable } from './write-table.ts';

/** The name of the part that holds the table. */
export const FILE_PART = 'file';
/** Names that clients use for the table by mistake. */
const MEANT_AS_FILE = new Set(['csv', 'data', 'dataset', 'parquet', 'table', 'upload']);

/** The allowed parts of a form, and the folder for its table. */
export interface PartOptions {
  /** The folder for the table. */
  readonly folder: string;
  /** The names of the allowed fields. */
  readonly fields: readonly string[];
  readonly uploadBytes: number;
  readonly fieldBytes: number;
}

/** The table and fields of a form. */
export interface FormParts {
  readonly file: WrittenTable<'csv' | 'parquet'>;
  readonly fields: ReadonlyMap<string, string>;
}

const MAX_FIELDS = 20;
const NAME_LENGTH = 200;
/** The next chunk is requested when at most this number of bytes is unread. */
const MAX_WAITING = 64 * 2 ** 10;

/** Reads the parts of one form. */
export class PartReader {
  readonly #options: PartOptions;
  readonly #fields = new Map<string, string>();
  readonly #seen = new Set<string>();
  readonly #work: Promise<void>[] = [];
  readonly #streams: Readable[] = [];
  #file: FormParts['file'] | undefined;
  #wake: () => void = () => undefined;

  constructor(options: PartOptions) {
    this.#options = options;
  }

  /** Reads a part. {@link finish} and {@link abandon} wait for the returned promise. */
  read(name: string | undefined, stream: Readable, fileName: string | undefined): Promise<void> {
    // The reader of the stream reports the error. This listener prevents an uncaught error if there is no reader.
    stream.on('error', () => undefined);
    this.#streams.push(stream);
    const work = this.#readPart(name, this.#reported(stream), fileName);
    this.#work.push(work);
    return work;
  }

  /** Resolves when few unread bytes are left. Never resolves if a part has failed. */
  async hasRoom(): Promise<void> {
    while (this.#streams.some((stream) => stream.readableLength > MAX_WAITING)) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Resolves to all parts when they have been read. */
  async finish(): Promise<FormParts> {
    await Promise.all(this.#work);
    if (this.#file === undefined) throw badPart(FILE_PART, 'is missing', CURL_FORM);
    return { file: this.#file, fields: this.#fields };
  }

  /** Releases all parts. Resolves when no file is open any more. */
  async abandon(): Promise<void> {
    for (const stream of this.#streams) stream.destroy(new Error('Reading of the form was cancelled.'));
    await Promise.allSettled(this.#work);
  }

  /**
   * Yields the chunks of a part. After each chunk, callers that wait for room are notified.
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
    if (name !== FILE_PART) {
      this.#fields.set(name, await readText(name, stream, this.#options.fieldBytes));
      return;
    }
    if (fileName === undefined) throw badPart(name, 'is a text field, not a file', CURL_FORM);
    const { folder, uploadBytes } = this.#options;
    this.#file = await writeTable(stream, {
      folder,
      stem: 'upload',
      maxBytes: uploadBytes,
      name,
      formatOf: (content) => (content === 'parquet' ? 'parquet' : 'csv'),
    });
  }

  /** Returns the name of a part if it is allowed. */
  #admit(name: string | undefined): string {
    if (name === undefined || name === '') throw malformed('has a part without a name');
    if (name.length > NAME_LENGTH) throw malformed(`has a part whose name is longer than ${String(NAME_LENGTH)}`);
    const known = [FILE_PART, ...this.#options.fields];
    if (!known.includes(name)) throw badPart(name, 'is unknown', suggestPart(name, known));
    if (this.#seen.has(name)) throw badPart(name, 'occurs twice', 'Send it once.');
    this.#seen.add(name);
    if (this.#seen.size > MAX_FIELDS + 1) throw malformed(`has more than ${String(MAX_FIELDS)} fields`);
    return name;
  }
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
export function malformed(problem: string, cause?: unknown): ServiceProblem {
  return new ServiceProblem(400, { detail: `The form ${problem}.`, suggestion: CURL_FORM }, cause);
}
