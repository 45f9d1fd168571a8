import { stat } from 'node:fs/promises';

import { FairnessToolkitError } from '../exceptions/index.ts';
import { getLogger } from '../internal/logger.ts';
import {
  type DataFile,
  type DataPaths,
  type DecimalSeparator,
  type FileSource,
  type FoundFiles,
  isRemote,
} from '../schemas/data-source.ts';
import { type CsvFiles, openCsv } from './csv-files.ts';
import {
  assertCompleteGzip,
  cannotRead,
  type CsvHeader,
  csvHeaderOf,
  filePattern,
  readCsvHeader,
  readStart,
} from './csv-header.ts';
import { type DataFormat, formatOf } from './data-format.ts';
import { findFiles } from './find-files.ts';
import { explainNdjson, openNdjson } from './ndjson-file.ts';
import { FILE_COLUMN, fileList, partitionKinds, withPartitions } from './partitions.ts';
import { describe, describeAll, type Relation } from './relation.ts';
import { assertRemoteFile, openRemote, readRemoteLines, storageProblem } from './remote-files.ts';
import { agreeOnKinds, assertSameNames } from './same-columns.ts';
import { quoteLiteral, type SqlSession } from './sql-engine.ts';
import { findEncodingProblem } from '../table/index.ts';

/** The number of bytes at the start of a file that are checked for the encoding. */
const START_BYTES = 64;

/** The byte of a double quote. */
const QUOTE = 0x22;

/** The description of each format in messages. */
const FORMAT_NAMES: Readonly<Record<DataFormat, string>> = {
  csv: 'a text file',
  parquet: 'a Parquet file',
  ndjson: 'a file of JSON lines',
};

/**
 * Opens files and runs a query over their rows. Column types are inferred from the first rows. If a later row does not
 * fit, they are inferred from all rows, and the query runs again.
 * @param run builds and runs the query from the columns of the files
 * @throws {DataValidationError} if a file is missing, empty, ragged or unreadable, or the columns of the files differ
 */
export async function queryDataFile<T>(
  session: SqlSession,
  source: DataPaths | FileSource,
  format: DataFormat | undefined,
  run: (data: Relation) => Promise<T>,
): Promise<T> {
  const found = await findFiles(source);
  if (found.files.some(({ path }) => isRemote(path))) await openRemote(session);
  const data = await openFiles(session, found, format);
  try {
    return await run(data);
  } catch (cause) {
    if (!isConversionError(cause) || data.csv === undefined) throw await explain(found, data, cause);
    try {
      return await run(await data.csv.withAllRows());
    } catch (again) {
      throw await explain(found, data, again);
    }
  }
}

/** Properties of a file that were detected from its first bytes. */
interface Inspected {
  readonly file: DataFile;
  readonly format: DataFormat;
  readonly gzipped: boolean;
  /** The header of a text file. */
  readonly header?: CsvHeader;
}

/** A cache of opened CSV files, by source. A command opens its source several times. */
const openedCsv = new WeakMap<FoundFiles, CsvFiles>();

/** Opens files: detects the format by content, then by extension, and reads the columns and their kinds. */
async function openFiles(session: SqlSession, found: FoundFiles, format?: DataFormat): Promise<Relation> {
  const { files, decimal = '.' } = found;
  const known = openedCsv.get(found);
  if (known !== undefined) return openCsv(session, known);
  const inspected: Inspected[] = [];
  for (const file of files) {
    const next = isRemote(file.path)
      ? await inspectRemote(session, file, format, decimal)
      : await inspect(file, format, decimal);
    if (inspected[0] !== undefined) assertSameForm(inspected[0], next);
    inspected.push(next);
  }
  const [first] = inspected as [Inspected, ...Inspected[]];
  if (decimal !== '.' && first.format !== 'csv') {
    throw cannotRead(
      first.file.name,
      `it is ${FORMAT_NAMES[first.format]}, and a decimal separator is only for text files`,
      'Leave out the decimal separator.',
    );
  }
  if (first.format === 'parquet') return openParquet(session, inspected.map(({ file }) => file) as [DataFile]);
  if (first.format === 'ndjson') return openNdjson(session, first.file);
  const csv: CsvFiles = {
    files: files as [DataFile],
    headers: inspected.map(({ header }) => header) as [CsvHeader],
    gzipped: first.gzipped,
    decimal,
    inferred: new Map(),
  };
  if (decimal === ',') await warnIfNoComma(found, first);
  const relation = await openCsv(session, csv);
  if (files.length > 1) openedCsv.set(found, csv);
  return relation;
}

/** The number of bytes at the start of a file that are searched for quotes. */
const SEARCHED_BYTES = 64 * 1024;

/** The sources for which {@link warnIfNoComma} has warned. */
const warned = new WeakSet<FoundFiles>();

/**
 * Warns once if columns are separated by commas and the file starts without quotes. A decimal comma would then separate
 * columns, so that the option has no effect.
 */
async function warnIfNoComma(found: FoundFiles, { file, gzipped, header }: Inspected): Promise<void> {
  if (header?.delimiter !== ',' || header.names.length < 2 || isRemote(file.path) || warned.has(found)) return;
  const start = await readStart(file.path, gzipped, SEARCHED_BYTES);
  if (start.includes(QUOTE)) return;
  warned.add(found);
  getLogger().warn(
    `The decimal separator ',' has no effect on '${file.name}': commas separate its columns, and its values are not quoted.`,
  );
}

/** Reads the start of a file. */
async function inspect(file: DataFile, format: DataFormat | undefined, decimal: DecimalSeparator): Promise<Inspected> {
  const { path, name } = file;
  const found = await stat(path).catch((cause: unknown) => {
    throw cannotRead(name, 'there is no such file', 'Check the path.', cause);
  });
  if (!found.isFile()) throw cannotRead(name, 'it is not a regular file', 'Write the data to a file first.');
  if (found.size === 0) throw cannotRead(name, 'the file is empty', 'Export it again, with a header line.');
  const start = await readStart(path, false, START_BYTES).catch((cause: unknown) => {
    throw cannotRead(name, 'it cannot be opened', 'Check its permissions.', cause);
  });
  const magic = Buffer.from(start.subarray(0, 4)).toString('latin1');
  const form = format ?? formatOf(path, magic);
  if (form !== 'csv') return { file, format: form, gzipped: false };
  const gzipped = magic.startsWith('\x1f\x8b');
  return { file, format: form, gzipped, header: await inspectCsv(file, gzipped ? undefined : start, decimal) };
}

/** Reads the start of a file on S3. Its format is determined by the extension. */
async function inspectRemote(
  session: SqlSession,
  file: DataFile,
  format: DataFormat | undefined,
  decimal: DecimalSeparator,
): Promise<Inspected> {
  const { path, name } = file;
  await assertRemoteFile(session, file);
  const form = format ?? formatOf(path, '');
  if (form !== 'csv') return { file, format: form, gzipped: false };
  if (/\.gz$/i.test(path)) {
    // DuckDB reads a compressed file that is cut off as a shorter one.
    throw cannotRead(
      name,
      'compressed text on S3 cannot be checked for completeness',
      'Copy the file to this computer, or store it as Parquet or without compression.',
    );
  }
  const start = await readRemoteLines(session, file);
  const problem = findEncodingProblem(Buffer.from(start.slice(0, START_BYTES)));
  if (problem !== undefined) throw cannotRead(name, problem.reason, problem.suggestion);
  return { file, format: form, gzipped: false, header: checkedHeader(name, csvHeaderOf(name, start, decimal)) };
}

/**
 * Reads the header of a CSV file and checks its encoding.
 * @param start the first bytes; undefined if the file is compressed
 */
async function inspectCsv(
  file: DataFile,
  start: Uint8Array | undefined,
  decimal: DecimalSeparator,
): Promise<CsvHeader> {
  const { path, name } = file;
  const gzipped = start === undefined;
  if (gzipped) {
    await assertCompleteGzip(path).catch((cause: unknown) => {
      throw cannotRead(name, 'its compressed content is damaged or cut off', 'Compress or export it again.', cause);
    });
  }
  const problem = findEncodingProblem(start ?? (await readStart(path, true, START_BYTES)));
  if (problem !== undefined) throw cannotRead(name, problem.reason, problem.suggestion);
  return checkedHeader(name, await readCsvHeader(file, gzipped, decimal));
}

function checkedHeader(name: string, header: CsvHeader): CsvHeader {
  if (header.names.every((column) => column.trim() === '')) {
    throw cannotRead(name, 'its first line is blank', 'Begin the file with a line of column names.');
  }
  return header;
}

/** Throws if a file cannot be combined with the first file into one table. */
function assertSameForm(first: Inspected, { file, format, gzipped, header }: Inspected): void {
  const refuse = (reason: string, suggestion: string): never => {
    throw cannotRead(file.name, reason, suggestion);
  };
  const other = `'${first.file.name}'`;
  if (format !== first.format)
    refuse(`it is ${FORMAT_NAMES[format]}, but ${other} is ${FORMAT_NAMES[first.format]}`, 'Read files of one format.');
  if (format === 'ndjson')
    throw cannotRead(first.file.name, 'several files must be CSV or Parquet files', 'Join the files of JSON lines.');
  if (gzipped !== first.gzipped)
    refuse(
      `it is ${gzipped ? '' : 'not '}compressed, but ${other} is${gzipped ? ' not' : ''}`,
      'Compress all files or none.',
    );
  if (header?.delimiter !== first.header?.delimiter) {
    refuse(
      `its columns are separated by ${quoted(header?.delimiter)}, but those of ${other} by ${quoted(first.header?.delimiter)}`,
      'Export all files with the same separator.',
    );
  }
}

function quoted(delimiter = ''): string {
  return delimiter === '\t' ? 'tabs' : `'${delimiter}'`;
}

async function openParquet(session: SqlSession, files: readonly [DataFile, ...DataFile[]]): Promise<Relation> {
  const each = files.map(({ path }) => `read_parquet(${quoteLiteral(filePattern(path))}, hive_partitioning=false)`);
  const described = await describeAll(session, each).catch(async (cause: unknown) => {
    const problem = await storageProblem(files, cause);
    if (problem !== undefined) throw problem;
    const damaged = await firstDamaged(session, files, each);
    throw cannotRead(damaged.name, 'it is not a complete Parquet file', 'Export it again.', cause);
  });
  assertSameNames(files, described);
  // Types are unified, so that whole numbers in the first file do not round fractions in the others.
  const all = `${fileList(files)}, hive_partitioning=false, union_by_name=true`;
  const columns = await agreeOnKinds(session, files, described, {
    relation: `read_parquet(${all}, filename=${quoteLiteral(FILE_COLUMN)})`,
  });
  const partitions = partitionKinds(files, columns);
  const relation = withPartitions(partitions, [], (options) =>
    files.length === 1 && options.length === 0 ? (each[0] ?? '') : `read_parquet(${[all, ...options].join(', ')})`,
  );
  const known = files.length === 1 ? columns : await describe(session, `read_parquet(${all})`);
  return {
    title: `'${files[0].name}'`,
    relation,
    columns: new Map([...known, ...partitions]),
    ambiguous: [],
    hasQuickStart: true,
    csv: undefined,
  };
}

async function firstDamaged(
  session: SqlSession,
  files: readonly [DataFile, ...DataFile[]],
  relations: readonly string[],
): Promise<DataFile> {
  for (const [index, relation] of relations.entries()) {
    const isWhole = await describe(session, relation).then(
      () => true,
      () => false,
    );
    if (!isWhole) return files[index] as DataFile;
  }
  return files[0];
}

/** Returns errors of this package unchanged, and describes errors of the driver in one sentence. */
async function explain({ files }: FoundFiles, { csv, jsonLines }: Relation, cause: unknown): Promise<unknown> {
  if (FairnessToolkitError.isInstance(cause)) return cause;
  const [file] = files as readonly [DataFile];
  const problem = await storageProblem(files, cause);
  if (problem !== undefined) return problem;
  if (csv !== undefined) return csv.explain(cause);
  if (jsonLines !== undefined) return explainNdjson(file, cause);
  return cannotRead(file.name, 'its content cannot be read', 'Export it again.', cause);
}

function isConversionError(cause: unknown): boolean {
  return cause instanceof Error && cause.message.startsWith('Conversion Error');
}
