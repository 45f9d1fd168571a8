import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';

import type { Service } from '../context/service-context.ts';
import { fieldProblem } from '../problem/service-problem.ts';
import { badPart, tooLarge } from './intake-problems.ts';
import { requireMediaType } from './media-type.ts';
import { atMost, type Beginning, beginningOf, readUnpacked } from './read-unpacked.ts';
import { readBody } from './receive-body.ts';
import { fillSpoolFolder, type SpoolFolder, writeSpoolFile } from './spool-folder.ts';

/** The folder and file name under which a table is stored, and the limits of the table. */
export interface TableTarget<Format extends string> {
  readonly folder: string;
  /** The file name without its extension. */
  readonly stem: string;
  /** The maximum number of bytes after decompression. */
  readonly maxBytes: number;
  /** The name of the form part that contains the table; '' if the table is the body. */
  readonly name: string;
  /** Returns the format of the table for the detected content, or throws if this content is not allowed. */
  readonly formatOf: (content: 'text' | 'parquet') => Format;
}

/** A table on disk. */
export interface WrittenTable<Format extends string> {
  readonly path: string;
  readonly format: Format;
  /** SHA-256 of the decompressed bytes. */
  readonly hash: Buffer;
}

type Content = 'text' | 'parquet' | 'gzip' | 'zip';

/** The first bytes that identify the type of a file. */
const MAGIC: readonly (readonly [Content, Buffer])[] = [
  ['parquet', Buffer.from('PAR1')],
  ['gzip', Buffer.from([0x1f, 0x8b])],
  ['zip', Buffer.from([0x50, 0x4b, 0x03, 0x04])],
];
const MAGIC_BYTES = 4;

/**
 * Writes a table to disk as it arrives. Gzip data is decompressed.
 * @throws {ServiceProblem} 413 if it is too large, 422 if it is empty or of an unknown format
 */
export async function writeTable<Format extends string>(
  chunks: AsyncIterable<Buffer>,
  target: TableTarget<Format>,
): Promise<WrittenTable<Format>> {
  const { maxBytes, name } = target;
  const within = (some: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
    atMost(some, maxBytes, () => tooLarge(maxBytes, name));
  const beginning = await beginningOf(within(chunks), MAGIC_BYTES);
  if (contentOf(beginning) !== 'gzip') return writeAs(beginning, target);
  return readUnpacked(beginning.all, async (unpacked) =>
    writeAs(await beginningOf(within(unpacked), MAGIC_BYTES), target),
  );
}

async function writeAs<Format extends string>(
  beginning: Beginning,
  { folder, stem, name, formatOf }: TableTarget<Format>,
): Promise<WrittenTable<Format>> {
  const format = formatOf(knownContent(beginning, name));
  const file = path.join(folder, `${stem}.${format}`);
  const hash = createHash('sha256');
  await writeSpoolFile(file, beginning.all, hash);
  return { path: file, format, hash: hash.digest() };
}

function contentOf({ head }: Beginning): Content {
  return MAGIC.find(([, magic]) => head.subarray(0, magic.length).equals(magic))?.[0] ?? 'text';
}

function knownContent(beginning: Beginning, name: string): 'text' | 'parquet' {
  if (beginning.head.length === 0) throw badPart(name, 'is empty', 'Send a CSV file with a header, or Parquet.');
  const content = contentOf(beginning);
  if (content === 'text' || content === 'parquet') return content;
  const problem = content === 'zip' ? 'is a ZIP archive or a spreadsheet' : 'is compressed twice';
  throw badPart(name, problem, 'Send CSV, CSV compressed with gzip, or Parquet.');
}

const FORMATS = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'application/vnd.apache.parquet': 'parquet',
} as const;

/** The content types that a table may have. */
export type TableType = keyof typeof FORMATS;

/** The list of content types of tables. */
export const TABLE_TYPES = Object.freeze(Object.keys(FORMATS)) as readonly TableType[];

/** A received table. */
export interface ReceivedTable extends Omit<WrittenTable<'csv' | 'ndjson' | 'parquet'>, 'hash'> {
  readonly folder: SpoolFolder;
  /** SHA-256 of the decompressed bytes, hexadecimal. */
  readonly digest: string;
}

/**
 * Receives a table that is the body of a request, and writes it to a new folder. The Content-Type determines its
 * format. Text may be compressed with gzip. Compression is detected from Content-Encoding or from the first bytes.
 * After a failure nothing is left on disk.
 * @throws {ServiceProblem} the problems of `receiveBody`; 415 for an unsupported type, 422 if the table is empty or its
 *   content does not match the type
 */
export async function receiveTable(
  request: IncomingMessage,
  { limits, spoolFolder }: Pick<Service, 'limits' | 'spoolFolder'>,
): Promise<ReceivedTable> {
  const { uploadBytes: maxBytes, idleMillis } = limits;
  const type = requireMediaType(request.headers['content-type'], TABLE_TYPES);
  return fillSpoolFolder(spoolFolder, async (folder) => {
    const formatOf = (content: 'text' | 'parquet'): ReceivedTable['format'] => assertFormat(type, content);
    const target = { folder: folder.path, stem: 'table', maxBytes, name: '', formatOf };
    const { path, format, hash } = await readBody(request, { maxBytes, idleMillis }, (chunks) =>
      writeTable(chunks, target),
    );
    return Object.freeze({ path, format, folder, digest: hash.toString('hex') });
  });
}

function assertFormat(type: TableType, content: 'text' | 'parquet'): ReceivedTable['format'] {
  const format = FORMATS[type];
  if ((format === 'parquet') === (content === 'parquet')) return format;
  const detail = `The body is ${content === 'parquet' ? 'a Parquet file' : 'not a Parquet file'}, but the Content-Type is ${type}.`;
  const suggestion =
    'Set the Content-Type to the type of the body: text/csv, application/x-ndjson or application/vnd.apache.parquet.';
  throw fieldProblem(422, '', detail, suggestion);
}
