import { ValueError } from '../exceptions/index.ts';
import { assertKnownOptions } from '../internal/arguments.ts';
import type { CountedRows, CountsSource } from '../io/counted-rows.ts';
import { findFiles, sameContentNotes } from '../io/find-files.ts';
import type { QuerySource } from '../io/sql-source.ts';
import type { DataPaths, FileSource, FoundFiles } from '../schemas/data-source.ts';
import { parseBy } from '../schemas/parse.ts';
import { type ValidateInput, type ValidateRequest, validateSchema } from '../schemas/validate-values.ts';
import type { FirstRows } from '../table/index.ts';
import {
  type FileValidation,
  type KindStatistics,
  measureAttributes,
  neededStatistics,
  withCounted,
  withNotes,
  withoutSmall,
} from './measure-attributes.ts';
import { smallFileStatistics } from './small-file-statistics.ts';
import { measureRequestOf } from './validate-table.ts';
import { inTurns, VALIDATE_BOUNDS_NAMES, type ValidateBounds } from './validate-bounds.ts';

export type { GateVerdict } from './gates.ts';
export type { AttributeMetrics, FileValidation } from './measure-attributes.ts';
export { gateRequestOf } from './validate-table.ts';

/**
 * Measures the decisions (or predictions, or scores) in one or several files for every requested attribute and applies
 * the gate. The rows are not loaded into memory.
 *
 * For decisions, demographic parity is always measured. If there are true labels, equalized odds is measured too.
 * `metric` adds other metrics. If a regression metric (such as `mae_parity_difference`) is named, predictions are read
 * as numbers, and only the named metrics are measured. With `control`, groups are also compared within each level of a
 * feature. If the mean gap within the levels has the opposite sign, there is a warning.
 * @param bounds limits on the cost, and a signal that stops the work; by default there are none
 * @throws {DataValidationError} if a file or its values cannot be read, or it has more groups than the bounds allow
 * @throws {ValueError} if a metric is unknown, or its columns were not named
 */
export async function validateFile(
  source: DataPaths | FileSource,
  input: ValidateInput,
  bounds: ValidateBounds = {},
): Promise<FileValidation> {
  assertKnownOptions('validateFile', bounds, VALIDATE_BOUNDS_NAMES);
  const request = parseBy(validateSchema, input, 'validateFile');
  return measureSource(request, () => findFiles(source, request.decimal), bounds);
}

/** The options of {@link validateCounts}. The names of the columns of counts are fixed. */
export type ValidateCountsInput = Omit<
  ValidateInput,
  'yPred' | 'score' | 'yTrue' | 'sampleWeight' | 'cluster' | 'strata' | 'counts' | 'decimal' | 'backend'
>;

/**
 * Measures rows that somebody has counted already, for example with the statement that `evenhand sql` prints, and
 * applies the gate. The result equals that of {@link validateFile} for the rows, except that the scores of bins are
 * rounded.
 *
 * Each sensitive attribute and control feature has a column with its own name. `n` is the number of rows with the same
 * values in all other columns. `decision` and `truth` are labels; `weight` and `weight_squared` are sums. Rows of several
 * files are added, so that each part of the data can be counted on its own.
 * @param source files with counts, or counts as a table
 * @throws {DataValidationError} if counts are missing or impossible, or a label is not 0 or 1
 * @throws {ValueError} if a metric is unknown, or needs a column that the counts do not have
 * @example
 * ```ts
 * import { validateCounts } from 'evenhand';
 *
 * const counts = { sex: ['f', 'f', 'm', 'm'], decision: [0, 1, 0, 1], n: [600, 400, 500, 500] };
 * const { attributes } = await validateCounts(counts, { attributes: [['sex']] });
 * console.log(attributes.sex?.demographic_parity_difference?.value.toFixed(2));
 * // 0.10
 * ```
 */
export async function validateCounts(
  source: CountsSource,
  input: ValidateCountsInput,
  bounds: ValidateBounds = {},
): Promise<FileValidation> {
  assertKnownOptions('validateCounts', bounds, VALIDATE_BOUNDS_NAMES);
  const request = parseBy(validateSchema, { ...input, counts: '' }, 'validateCounts');
  const { readCounts } = await import('../io/counted-rows.ts');
  const counts = await readCounts(source);
  if (bounds.maxGroups !== undefined) await assertFewCounted(counts, countedAttributes(request), bounds.maxGroups);
  return measureSource(requestOfCounts(request, counts), () => Promise.resolve(counts), bounds);
}

/** The options of {@link validateSql}. */
export type ValidateSqlInput = Omit<ValidateInput, 'counts' | 'decimal' | 'backend'>;

/**
 * Measures rows in a database, and applies the gate. The database counts the rows: once for each kind of statistics,
 * and once for each class with `average: 'macro'` on DuckDB. Only counts and sums leave it, never rows. The result
 * equals that of {@link validateFile} for the same rows, except that other engines than DuckDB round scores to bins of
 * 2^-14 for ROC AUC.
 * @param source an engine (`createSqlEngine`, `openDuckDb`) and a table or a query
 * @throws {DataValidationError} if the database does not return a result, a column is unknown, or a label is not 0 or 1
 * @throws {ValueError} if a metric is unknown, or its columns were not named
 * @example
 * ```ts
 * import { openDuckDb, validateSql } from 'evenhand';
 *
 * const engine = openDuckDb();
 * const query = "SELECT i % 2 AS hired, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex FROM range(600) AS t(i)";
 * const { attributes } = await validateSql({ engine, query }, { yPred: 'hired', attributes: [['sex']] });
 * console.log(attributes.sex?.demographic_parity_difference?.value);
 * // 0
 * await engine.close();
 * ```
 */
export async function validateSql(
  source: QuerySource,
  input: ValidateSqlInput,
  bounds: ValidateBounds = {},
): Promise<FileValidation> {
  assertKnownOptions('validateSql', bounds, VALIDATE_BOUNDS_NAMES);
  const request = parseBy(validateSchema, input, 'validateSql');
  const { engine, ...rows } = source;
  const { querySource } = await import('../io/sql-source.ts');
  const opened = querySource('validateSql', engine, { ...rows, signal: rows.signal ?? bounds.signal });
  return measureSource({ ...request, backend: 'duckdb' }, () => Promise.resolve(opened), bounds);
}

/** @throws {DataValidationError} if an attribute of counts has more groups than allowed */
async function assertFewCounted(
  { counted }: CountedRows,
  attributes: readonly (readonly string[])[],
  maxGroups: number,
): Promise<void> {
  const { nameOf, tooManyGroups } = await import('../io/group-limits.ts');
  for (const names of attributes.filter((own) => own.every((name) => counted.has(name)))) {
    const columns = names.map((name) => counted.categorical(name).codes);
    const groups = new Set(Array.from({ length: counted.rowCount }, (_, row) => columns.map((codes) => codes[row]).join(' '))); // prettier-ignore
    if (groups.size > maxGroups) throw tooManyGroups(nameOf(names), maxGroups);
  }
}

/**
 * Returns a request with the columns that counts have.
 * @throws {ValueError} if a score threshold is given for counts without scores, whose decisions it cannot change
 */
export function requestOfCounts(request: ValidateRequest, { counted, title }: CountedRows): ValidateRequest {
  const [hasScores, hasNumbers] = [['score', 'score_bin'], ['prediction_sum']].map((names) =>
    names.some((name) => counted.has(name)),
  );
  if (request.scoreThreshold !== undefined && hasScores !== true) {
    throw new ValueError(`scoreThreshold has no effect, because ${title} holds no scores.`, {
      context: { parameter: 'scoreThreshold' },
      suggestion: 'Leave it out, or count scores: use `evenhand sql` with --score.',
    });
  }
  const threshold = counted.has('score_threshold') ? counted.numeric('score_threshold').values[0] : undefined;
  return {
    ...request,
    backend: 'duckdb',
    ...(hasScores === true ? { score: 'score' } : { yPred: hasNumbers === true ? 'prediction' : 'decision' }),
    yTrue: counted.has('truth') || counted.has('truth_sum') ? 'truth' : undefined,
    sampleWeight: counted.has('weight') ? 'weight' : undefined,
    scoreThreshold: request.scoreThreshold ?? threshold,
  };
}

async function measureSource(
  request: ValidateRequest,
  open: () => Promise<FoundFiles | CountedRows | QuerySource>,
  bounds: ValidateBounds,
): Promise<FileValidation> {
  const measured = measureRequestOf(request);
  const byKind: KindStatistics[] = [];
  const kinds = neededStatistics(measured);
  const source = await open();
  const files = 'files' in source ? source : undefined;
  if (files !== undefined && bounds.maxGroups !== undefined) {
    const { assertFewGroups } = await import('../io/assert-few-groups.ts');
    await assertFewGroups(files, countedAttributes(request), bounds.maxGroups);
  }
  for (const needed of kinds) {
    bounds.signal?.throwIfAborted();
    const small = files && (await smallFileStatistics(files, needed, request));
    byKind.push([needed.kind, small ?? (await scan(source, needed, request, bounds))]);
  }
  const rows = files && (await (await import('../io/first-rows.ts')).readFirstRows(files, [request.score]));
  bounds.signal?.throwIfAborted();
  const scores =
    rows === undefined || request.minCell !== undefined
      ? undefined
      : (await import('./column-notes.ts')).scoresOf(rows, request);
  const validation = await inTurns(measureAttributes(measured, byKind, { ...bounds, scores }), bounds.signal);
  const notes = 'counted' in source ? (source.notes ?? []) : await notesOf(files, rows, request);
  return withCounted(withNotes(validation, notes), {
    request,
    statistics: withoutSmall(byKind, request.minCell),
  });
}

/** Returns the notes on the content of files, or on the columns of a database, of which no row is read. */
async function notesOf(
  files: FoundFiles | undefined,
  rows: FirstRows | undefined,
  request: ValidateRequest,
): Promise<readonly string[]> {
  const { columnNotes, headerNotes, nameNotes } = await import('./column-notes.ts');
  const copies = files === undefined ? [] : await sameContentNotes(files);
  if (files === undefined || rows === undefined) return [...copies, ...nameNotes(request)];
  return [...headerNotes(files.title, rows), ...copies, ...columnNotes(request, rows)];
}

/** Computes statistics with DuckDB, which is loaded only if it is needed. */
const scan: typeof import('./file-statistics.ts').fileStatistics = async (...request) =>
  (await import('./file-statistics.ts')).fileStatistics(...request);

/** Lists each attribute twice: by itself, and crossed with the control feature. */
function countedAttributes({ attributes, control = [] }: ValidateRequest): readonly (readonly string[])[] {
  if (control.length === 0) return attributes;
  return [...attributes, ...attributes.map((attribute) => [...new Set([...control, ...attribute])])];
}
