import { DataValidationError } from '../../exceptions/index.ts';
import { formatCount } from '../../internal/format.ts';
import type { CountingRequest } from '../../schemas/counting.ts';
import { Table } from '../../table/index.ts';
import { COUNT_COLUMNS, type CountedRows, countedRows } from '../counted-rows.ts';
import { countingStatement, rowStatements } from '../counting-sql.ts';
import type { EngineResult, EngineValue } from '../sql-engine.ts';
import type { QuerySource } from '../sql-source.ts';

/** What to count. */
export interface EngineRequest extends Partial<Omit<CountingRequest, 'dialect' | 'table' | 'query' | 'attributes'>> {
  readonly attributes: readonly (readonly string[])[];
}

/** A column of a source on an engine. */
export interface EngineColumn {
  readonly name: string;
  /** Whether the column is a column of numbers in the engine. */
  readonly isNumber: boolean;
}

/** Returns the columns of a source. */
export async function columnsOnEngine({ engine, table, query, signal }: QuerySource): Promise<readonly EngineColumn[]> {
  const { example } = rowStatements(engine.dialect, { table, query });
  const { columns, areNumbers, rows } = await engine.query(example, { signal });
  return columns.map((name, index) => {
    const value = rows[0]?.[index];
    return { name, isNumber: areNumbers?.[index] ?? (typeof value === 'number' || typeof value === 'bigint') };
  });
}

/** Counts of some attributes. */
export interface EngineCounts {
  readonly attributes: EngineRequest['attributes'];
  readonly counts: CountedRows;
}

/** The largest result in which all attributes are crossed. Beyond it, each attribute is counted by itself. */
const MAX_CROSSED_ROWS = 20_000;

/** The largest result of one attribute. */
const MAX_ROWS = 1_000_000;

/** The results of each source. With `average: 'macro'`, one result serves all classes. */
const results = new WeakMap<QuerySource, Map<string, Promise<CountedRows | undefined>>>();

/**
 * Counts the rows of a source on its engine: once for all attributes together, or once for each attribute if the result
 * would be large.
 * @throws {DataValidationError} if the engine does not return a result, or a result that is too large
 */
export async function countOnEngine(source: QuerySource, request: EngineRequest): Promise<readonly EngineCounts[]> {
  const { attributes, score, decisionsOnly, minCell } = request;
  // The bins of scores are many rows for one attribute.
  const isSmall = score === undefined || decisionsOnly === true;
  // Crossed counts are smaller than those of each attribute.
  if (attributes.length <= 1 || (isSmall && minCell === undefined)) {
    const limit = attributes.length <= 1 ? MAX_ROWS : MAX_CROSSED_ROWS;
    const counts = await counted(source, request, limit);
    if (counts !== undefined) return [{ attributes, counts }];
    if (attributes.length <= 1) throw tooLarge(source, attributes.flat());
  }
  const apart: EngineCounts[] = [];
  for (const attribute of attributes)
    apart.push(...(await countOnEngine(source, { ...request, attributes: [attribute] })));
  return apart;
}

/** Returns the labels of columns. */
export async function labelsOnEngine(source: QuerySource, columns: readonly string[]): Promise<CountedRows[]> {
  const found: CountedRows[] = [];
  for (const yPred of columns) {
    const counts = await counted(source, { attributes: [], yPred }, MAX_ROWS);
    if (counts === undefined) throw tooLarge(source, [yPred]);
    found.push(counts);
  }
  return found;
}

/** Returns the name of a source in messages and reports. */
export function titleOf({ engine, table }: QuerySource): string {
  return `${table === undefined ? 'the query' : `'${table}'`} in ${engine.name}`;
}

/** Returns counts; undefined if there are more rows of counts than the limit. */
function counted(source: QuerySource, request: EngineRequest, limit: number): Promise<CountedRows | undefined> {
  const { engine, table, query } = source;
  const statement = countingStatement({
    ...{ exactScores: false, decisionsOnly: false, regression: false },
    ...request,
    ...{ attributes: request.attributes.map((attribute) => [...attribute]), dialect: engine.dialect, table, query },
  });
  const own = results.get(source) ?? new Map<string, Promise<CountedRows | undefined>>();
  results.set(source, own);
  // The result of the same statement depends on the limit too.
  const limited = `${statement}\nLIMIT ${String(limit + 1)}`;
  const known = own.get(limited);
  if (known !== undefined) return known;
  const result = count(source, request, limited, limit);
  own.set(limited, result);
  // After an error, the next call may succeed.
  result.catch(() => own.delete(limited));
  return result;
}

async function count(
  source: QuerySource,
  request: EngineRequest,
  statement: string,
  limit: number,
): Promise<CountedRows | undefined> {
  const { engine, signal } = source;
  const result = await engine.query(statement, { signal });
  if (result.rows.length > limit) return undefined;
  const names = { decision: request.yPred ?? request.score, truth: request.yTrue };
  return countedRows({ title: titleOf(source), names, counted: tableOf(engine.name, result) });
}

/** Returns a result as a table: labels as texts, and counts and sums as numbers. */
function tableOf(engine: string, { columns, rows }: EngineResult): Table {
  return Table.from(
    Object.fromEntries(
      columns.map((name, index) => {
        const isLabel = !Object.hasOwn(COUNT_COLUMNS, name) || name === 'truth' || name === 'decision';
        const valueOf = isLabel ? labelOf : numberOf;
        return [name, rows.map((row) => valueOf(engine, name, row[index]))];
      }),
    ),
  );
}

/** Two labels whose bytes are not UTF-8 could become the same text, so such a label is an error. */
function labelOf(engine: string, column: string, value: EngineValue | undefined): string | null {
  if (value === null || value === undefined) return null;
  const label = String(value);
  if (!label.includes('\uFFFD')) return label;
  throw new DataValidationError(`${engine} has a label in column '${column}' that is not valid UTF-8: '${label}'.`, {
    code: 'invalid-value',
    context: { engine, column, received: label },
    suggestion: 'Convert the column to UTF-8, or give a query that replaces the label.',
  });
}

/**
 * Returns a number of a result. Engines return large integers and decimals as texts or bigint.
 * @throws {DataValidationError} if the value is not a number
 */
export function numberOf(engine: string, column: string, value: EngineValue | undefined): number | null {
  if (value === null || value === undefined) return null;
  const text = String(value).trim();
  // A sum that is not finite is an error later, but NaN would mean that there is no sum.
  const number = /^[-+]?(inf(inity)?|nan)$/i.test(text) ? Infinity : Number(text === '' ? NaN : text);
  if (!Number.isNaN(number)) return number;
  throw new DataValidationError(`${engine} returned '${text}' where a number was expected, in column '${column}'.`, {
    code: 'engine-failed',
    context: { engine, column, received: text },
    suggestion: 'Report this as a defect, with the version of the engine.',
  });
}

function tooLarge(source: QuerySource, attribute: readonly string[]): DataValidationError {
  return new DataValidationError(
    `The counts of '${attribute.join("', '")}' in ${titleOf(source)} have more than ${formatCount(MAX_ROWS)} rows.`,
    {
      code: 'too-many-groups',
      context: { columns: attribute },
      suggestion:
        'Choose attributes with fewer values, cross fewer attributes, or count only decisions. A column of numbers with many values is not a column of labels.',
    },
  );
}
