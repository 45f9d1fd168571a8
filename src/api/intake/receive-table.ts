import type { IncomingMessage } from 'node:http';

import type { ServiceLimits } from '../context/service-context.ts';
import { fieldProblem } from '../problem/service-problem.ts';
import { requireMediaType } from './media-type.ts';
import { readBody, refusing } from './read-body.ts';
import { fillSpoolFolder, type SpoolFolder } from './spool-folder.ts';
import { writeTable } from './write-table.ts';

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

/** Options of {@link receiveTable}. */
export interface ReceiveTableOptions {
  /** The limits. Only `uploadBytes` and `idleMillis` are used. */
  readonly limits: ServiceLimits;
  /** The folder in which the folder of the table is created. */
  readonly spoolRoot: string;
}

/** A received table. */
export interface ReceivedTable {
  /** The file, in `folder`: `table.csv`, `table.ndjson` or `table.parquet`. */
  readonly path: string;
  readonly format: 'csv' | 'ndjson' | 'parquet';
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
  { limits, spoolRoot }: ReceiveTableOptions,
): Promise<ReceivedTable> {
  const { uploadBytes: maxBytes, idleMillis } = limits;
  return refusing(request, async () => {
    const type = requireMediaType(request.headers['content-type'], TABLE_TYPES);
    return fillSpoolFolder(spoolRoot, async (folder) => {
      const formatOf = (content: 'text' | 'parquet'): ReceivedTable['format'] => assertFormat(type, content);
      const target = { folder: folder.path, stem: 'table', maxBytes, name: '', formatOf };
      const { path, format, hash } = await readBody(request, { maxBytes, idleMillis }, (chunks) =>
        writeTable(chunks, target),
      );
      return Object.freeze({ path, format, folder, digest: hash.toString('hex') });
    });
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
