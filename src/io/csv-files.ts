import { FairnessToolkitError } from '../exceptions/index.ts';
import type { DataFile, DecimalSeparator } from '../schemas/data-source.ts';
import { type CsvHeader, csvProblem, filePattern, findCsvProblem } from './csv-header.ts';
import { FILE_COLUMN, fileList, partitionKinds, withPartitions } from './partitions.ts';
import { describe, describeAll, type Relation, repeatedNames, type StoredKind } from './relation.ts';
import { storageProblem } from './remote-files.ts';
import { agreeOnKinds, assertSameNames } from './same-columns.ts';
import { quoteLiteral, type SqlSession } from './sql-engine.ts';
import { numberOfText } from './value-sql.ts';

/** CSV files that are read as one relation. All files have the same delimiter. */
export interface CsvFiles {
  readonly files: readonly [DataFile, ...DataFile[]];
  readonly headers: readonly [CsvHeader, ...CsvHeader[]];
  readonly gzipped: boolean;
  readonly decimal: DecimalSeparator;
  /**
   * A cache of the inferred columns, by the options of the inference. It avoids reading many files again for their
   * columns.
   */
  readonly inferred: Map<string, CsvColumns>;
}

interface CsvColumns {
  readonly kinds: ReadonlyMap<string, StoredKind>;
  /** Whether all files have the columns in the same order. */
  readonly isSameOrder: boolean;
}

/** The SQL types of the kinds of values in CSV files. */
const SQL_TYPES: Readonly<Partial<Record<StoredKind, string>>> = { integer: 'BIGINT', fraction: 'DOUBLE' };

/**
 * Opens CSV files as one relation.
 * @param sample additional options of `read_csv` for the inference of types
 * @throws {DataValidationError} if a file is not a table, or the columns of the files differ; the error names the file
 */
export async function openCsv(session: SqlSession, csv: CsvFiles, sample: readonly string[] = []): Promise<Relation> {
  const { files, headers, decimal, inferred } = csv;
  const dialect = [...csvDialect(csv), ...sample].join(', ');
  const explain = (cause: unknown): Promise<unknown> => explainCsv(session, csv, dialect, cause);
  const found =
    inferred.get(dialect) ??
    (await inferColumns(session, csv, dialect).catch(async (cause: unknown) => {
      throw await explain(cause);
    }));
  inferred.set(dialect, found);
  const partitions = partitionKinds(files, found.kinds);
  const source = files.length === 1 ? quoteLiteral(filePattern(files[0].path)) : fileList(files);
  const read = (texts: readonly string[]): string =>
    withPartitions(
      partitions,
      texts,
      (more) => `read_csv(${[source, dialect, ...typeOptions(csv, found, texts), ...more].join(', ')})`,
    );
  return {
    title: `'${files[0].name}'`,
    relation: read([]),
    columns: new Map([...found.kinds, ...partitions]),
    ambiguous: repeatedNames(headers[0].names),
    csv: { decimal, withTexts: read, withAllRows: () => openCsv(session, csv, ['sample_size=-1']), explain },
  };
}

/** Returns the complete CSV dialect. Every option is set, because auto-detection fails on ragged files. */
function csvDialect({ headers, gzipped, decimal }: CsvFiles): string[] {
  return [
    `delim=${quoteLiteral(headers[0].delimiter)}`,
    `quote='"'`,
    `escape='"'`,
    `comment=''`,
    'header=true',
    'skip=0',
    'strict_mode=true',
    // With hive partitioning, a folder named s=1 would become a column.
    'hive_partitioning=false',
    // Booleans, dates and times are not inferred, because the labels 'f' and 'yes' would become 'false' and 'true'.
    `auto_type_candidates=['BIGINT', 'DOUBLE', 'VARCHAR']`,
    `decimal_separator=${quoteLiteral(decimal)}`,
    ...(gzipped ? [`compression='gzip'`] : []),
  ];
}

/** Infers the columns of each file, and the common kinds of several files. */
async function inferColumns(session: SqlSession, { files, decimal }: CsvFiles, dialect: string): Promise<CsvColumns> {
  const described = await describeAll(
    session,
    files.map(({ path }) => `read_csv(${quoteLiteral(filePattern(path))}, ${dialect})`),
  );
  const isSameOrder = assertSameNames(files, described);
  const texts = [...(described[0]?.keys() ?? [])].map((name) => `${quoteLiteral(name)}: 'VARCHAR'`).join(', ');
  const all = isSameOrder ? `auto_detect=false, columns={${texts}}` : `union_by_name=true, all_varchar=true`;
  const kinds = await agreeOnKinds(session, files, described, {
    relation: `read_csv(${fileList(files)}, ${dialect}, ${all}, filename=${quoteLiteral(FILE_COLUMN)})`,
    isNumber: (text) => `${numberOfText(text, decimal)} IS NOT NULL`,
  });
  return { kinds, isSameOrder };
}

/**
 * Returns the options that set the types of columns. For a single file, DuckDB infers the types again. For several
 * files, the options set the common types.
 */
function typeOptions({ files }: CsvFiles, { kinds, isSameOrder }: CsvColumns, texts: readonly string[]): string[] {
  const isText = new Set(texts);
  const set = [...kinds].filter(([name]) => files.length > 1 || isText.has(name));
  if (set.length === 0) return [];
  const types = set.map(([name, kind]) => {
    const type = (isText.has(name) ? undefined : SQL_TYPES[kind]) ?? 'VARCHAR';
    return `${quoteLiteral(name)}: '${type}'`;
  });
  const list = `{${types.join(', ')}}`;
  if (files.length === 1) return [`types=${list}`];
  return isSameOrder ? ['auto_detect=false', `columns=${list}`] : ['union_by_name=true', `types=${list}`];
}

/**
 * Returns errors of this package unchanged. For an error of the database driver, finds the file and the line that
 * caused the error.
 */
async function explainCsv(session: SqlSession, csv: CsvFiles, dialect: string, cause: unknown): Promise<unknown> {
  if (FairnessToolkitError.isInstance(cause)) return cause;
  const lost = await storageProblem(csv.files, cause);
  if (lost !== undefined) return lost;
  for (const [index, file] of csv.files.entries()) {
    const header = csv.headers[index] as CsvHeader;
    const problem = await findCsvProblem(session, file, header, dialect);
    if (problem !== undefined) return problem;
  }
  for (const { path, name } of csv.files) {
    const relation = `read_csv(${quoteLiteral(filePattern(path))}, ${dialect})`;
    const problem = await describe(session, relation).then(
      () => undefined,
      (error: unknown) => csvProblem(name, error),
    );
    if (problem !== undefined) return problem;
  }
  return csvProblem(csv.files[0].name, cause);
}
