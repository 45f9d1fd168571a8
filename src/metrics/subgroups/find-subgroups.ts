import { ConfigValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import { formatCount } from '../../internal/format.ts';
import { freezeDeep, isPlainObject } from '../../internal/values.ts';
import { type CodedSource, type CodingRequest, withCodedSource } from '../../io/code-rows.ts';
import { isOnEngine, type SqlSource } from '../../io/sql-source.ts';
import type { SubgroupColumn } from '../../io/subgroup-columns.ts';
import { type Column, type ColumnReading, readingWarnings, readTable, type TableSource } from '../../table/index.ts';
import { groupReadings, outcomeReadings } from '../reduce/row-readings.ts';
import { countDropped } from '../reduce/row-arguments.ts';
import { codeTable } from './code-table.ts';
import { readCodedRows, type ReadRows } from './coded-rows.ts';
import { confirmSubgroups, type Finding } from './confirm.ts';
import { fillSubgroupOptions, type FilledSubgroupOptions, type FindSubgroupsOptions, SUBGROUP_OPTION_NAMES, type SubgroupMethod, type SubgroupMetric } from './options.ts'; // prettier-ignore

/** A subgroup that differs from the other rows. */
export interface Subgroup {
  /** The value of each column of the conditions. */
  readonly columns: Readonly<Record<string, string>>;
  /** The conditions as text: `sex = female and age 26 to 37`. */
  readonly label: string;
  /** The number of rows of the subgroup. */
  readonly n: number;
  /** The number of these rows from which the numbers below come. */
  readonly nTested: number;
  readonly value: number;
  /** The value in all other rows. */
  readonly rest: number;
  readonly difference: number;
  /** The interval of the difference. All intervals of a report hold together with probability 1 - alpha. */
  readonly ci: readonly [low: number, high: number];
  /** The p-value, adjusted for the whole search. */
  readonly pAdjusted: number;
  /** The subgroups of the first condition, the first two conditions and so on, ending with this subgroup. */
  readonly path: readonly SubgroupStep[];
}

/** A subgroup on the path to a reported one. It is not tested. */
export interface SubgroupStep {
  readonly label: string;
  /** The condition that this step adds. */
  readonly condition: string;
  readonly nTested: number;
  readonly difference: number;
}

/** The result of {@link findSubgroups}. */
export interface SubgroupSearch {
  readonly subgroups: readonly Subgroup[];
  /** The number of conjunctions of conditions that the search covers. */
  readonly searched: number;
  /** The number of these that have enough rows and were compared. */
  readonly measured: number;
  /** The number of candidates that were tested. With `max-t`, all that were compared. */
  readonly tested: number;
  /** Subgroups that differ too, but share their rows or their difference with a reported one. */
  readonly leftOut: readonly { readonly label: string; readonly explainedBy: string }[];
  /** About the minimum detectable difference (80% power) of a subgroup of n rows, if it is tested. */
  readonly detectable: readonly { readonly n: number; readonly difference: number }[];
  readonly metric: SubgroupMetric;
  /** The value over all rows. */
  readonly overall: number;
  /** The number of rows that were compared. */
  readonly n: number;
  /** The number of rows without an outcome or a cluster, which were left out. */
  readonly nDropped: number;
  /** The number of clusters; null without the option. */
  readonly nClusters: number | null;
  readonly columns: readonly SubgroupColumn[];
  readonly method: SubgroupMethod;
  readonly alpha: number;
  readonly maxDepth: number;
  readonly minGroupSize: number;
  readonly candidates: number;
  /** The number of replicates; null with the method `split`. */
  readonly samples: number | null;
  readonly seed: number;
  readonly warnings: readonly string[];
}

/** Rows in memory, in files, or in DuckDB. */
export type SubgroupSource = TableSource | SqlSource;

/**
 * Searches all conjunctions of conditions, such as `sex = female and age 26 to 37`, for subgroups whose rate or mean
 * score differs most from that of all other rows, and tests the largest differences so that the probability of any false
 * finding in the report is at most `alpha`.
 *
 * With the method `split`, a random half of the rows is searched, and up to `candidates` subgroups are tested on the other
 * half: Fisher's exact test for rates (Student's t with scores or clusters), adjusted by Holm's method with the weights 1 /
 * rank in the search. Values, differences and intervals are those of the second half, so the search does not inflate
 * them; the intervals are adjusted by Bonferroni with the same weights. The halves depend on the order of the rows, or on the labels of clusters.
 *
 * Rows of files stay in DuckDB. A difference is not a cause, and a subgroup that is not reported may differ too.
 * @param source a table, columns, records or a danfojs DataFrame; paths of files; or a query on a DuckDB engine
 * @returns the subgroups, with the smallest p-value first; none if nothing is distinguishable from chance
 * @throws {DataValidationError} if a column is unknown, an identifier or has too many values, or no row can be used
 * @throws {ValueError | ConfigValidationError} if an option is unknown, out of range, or contradicts another one
 * @see Y. Chung et al., Slice Finder: Automated Data Slicing for Model Validation (2019)
 * @see S. Sagadeeva, M. Boehm, SliceLine: Fast, Linear-Algebra-based Slice Finding for ML Model Debugging (2021)
 * @example
 * ```ts
 * import { findSubgroups } from 'evenhand/metrics';
 *
 * const rows = Array.from({ length: 4000 }, (_, row) => {
 *   const [sex, site] = [row % 2 === 0 ? 'f' : 'm', row % 3 === 0 ? 'north' : 'south'];
 *   return { sex, site, hired: sex === 'f' && site === 'north' ? Number(row % 5 === 0) : Number(row % 7 < 4) };
 * });
 * const { subgroups, searched } = await findSubgroups(rows, { columns: ['sex', 'site'], yPred: 'hired' });
 * console.log(searched, subgroups.map(({ label, difference }) => `${label}: ${difference.toFixed(1)}`));
 * // 8 [ 'sex = f and site = north: -0.4' ]
 * ```
 */
export async function findSubgroups(source: SubgroupSource, options: FindSubgroupsOptions): Promise<SubgroupSearch> {
  assertKnownOptions('findSubgroups', options, SUBGROUP_OPTION_NAMES);
  const filled = fillSubgroupOptions(options);
  const request: CodingRequest = { ...filled, columns: filled.columns };
  if (!isSqlSource(source)) {
    const table = await readTable(source);
    const coded = codeTable(table, request);
    const search = await searchCoded(coded, filled, true);
    const column = (name: string | undefined): Column | undefined =>
      name === undefined ? undefined : table.column(name);
    const rows = { ...filled, yPred: column(filled.yPred), yTrue: column(filled.yTrue), yScore: column(filled.yScore) };
    const readings = outcomeReadings(filled.yScore === undefined ? 'classification' : 'scores', rows);
    const labelled = [
      ...coded.columns.filter(({ kind }) => kind === 'values').map(({ name }) => name),
      filled.cluster,
    ].filter((name) => name !== undefined);
    const groups = Object.fromEntries(labelled.map((name) => [name, table.column(name)]));
    return withReadings(search, [
      ...readings,
      ...(labelled.length === 0 ? [] : groupReadings(groups, filled.naValues)),
    ]);
  }
  if (isOnEngine(source)) throw notInDuckDb();
  const { value, readings } = await withCodedSource(source, request, (coded) => searchCoded(coded, filled, false));
  return withReadings(value, readings);
}

function isSqlSource(source: SubgroupSource): source is SqlSource {
  if (typeof source === 'string') return true;
  if (Array.isArray(source)) return source.length > 0 && source.every((path) => typeof path === 'string');
  if (!isPlainObject(source)) return false;
  const names = Object.keys(source);
  const isOnly = (...known: readonly string[]): boolean => names.every((name) => known.includes(name));
  return (
    ('engine' in source && isOnly('engine', 'table', 'query', 'signal')) ||
    ('paths' in source && isOnly('paths', 'decimal', 'files', 'title'))
  );
}

function notInDuckDb(): ConfigValidationError {
  return new ConfigValidationError('Subgroups are searched in memory and in DuckDB, not in other engines.', {
    context: { parameter: 'source' },
    suggestion: 'Write the columns to a Parquet file, and search that.',
  });
}

function withReadings(search: SubgroupSearch, readings: readonly ColumnReading[]): SubgroupSearch {
  return freezeDeep({ ...search, warnings: [...readingWarnings(readings), ...search.warnings] });
}

async function searchCoded(
  source: CodedSource,
  options: FilledSubgroupOptions,
  keeps: boolean,
): Promise<SubgroupSearch> {
  const { metric, seed, method, alpha, maxDepth, minGroupSize, candidates, samples } = options;
  const rate = metric === 'mean_score' ? undefined : metric;
  const rows = readCodedRows(source, { rate, seed, keeps });
  const found = await confirmSubgroups(rows, { ...options, hasClusters: options.cluster !== undefined });
  const n = found.n;
  countDropped([n], source.rowCount);
  const labelOf = (own: Finding['conjunction']): string => labelOfConjunction(source.columns, own);
  return {
    subgroups: found.findings.map((own) => subgroupOf(source.columns, own, rows)),
    searched: found.searched,
    measured: found.measured,
    tested: found.tested,
    leftOut: found.leftOut.map(([one, other]) => ({ label: labelOf(one), explainedBy: labelOf(other) })),
    detectable: found.detectable,
    metric,
    overall: found.mean + rows.offset(),
    n,
    nDropped: rows.dropped(),
    nClusters: found.nClusters,
    columns: source.columns,
    method,
    alpha,
    maxDepth,
    minGroupSize,
    candidates,
    samples: method === 'max-t' ? samples : null,
    seed,
    warnings: warningsOf(source, options, found, rows),
  };
}

function subgroupOf(columns: readonly SubgroupColumn[], finding: Finding, rows: ReadRows): Subgroup {
  const { conjunction, difference, path } = finding;
  return {
    columns: Object.fromEntries(
      conjunction.columns.map((column, index) => {
        const { name, labels } = columns[column] as SubgroupColumn;
        return [name, labels[conjunction.codes[index] as number] as string];
      }),
    ),
    label: labelOfConjunction(columns, conjunction),
    n: finding.n,
    nTested: finding.nTested,
    value: difference.value + rows.offset(),
    rest: difference.rest + rows.offset(),
    difference: difference.difference,
    ci: finding.ci,
    pAdjusted: finding.pAdjusted,
    path: path.map((step, index) => ({
      label: labelOfConjunction(columns, step.conjunction),
      condition: labelOfConjunction(columns, addedBy(step.conjunction, path[index - 1]?.conjunction)),
      nTested: step.nTested,
      difference: step.difference,
    })),
  };
}

/** Returns the conditions of a conjunction without those of the step before. */
function addedBy(
  { columns, codes }: Finding['conjunction'],
  before: Finding['conjunction'] | undefined,
): Finding['conjunction'] {
  const isNew = columns.map((column) => before?.columns.includes(column) !== true);
  return { columns: columns.filter((_, index) => isNew[index]), codes: codes.filter((_, index) => isNew[index]) };
}

/** Matches names that may be read together with the words around them. */
const UNCLEAR = /^$|^\s|\s$|[="']|\p{Cc}|\s(and|to)\s/u;

/** Returns the conditions as text. Names and values that could be misread are quoted as in JSON. */
function labelOfConjunction(
  columns: readonly SubgroupColumn[],
  { columns: own, codes }: Finding['conjunction'],
): string {
  const quoted = (text: string): string => (UNCLEAR.test(text) ? JSON.stringify(text) : text);
  return own
    .map((column, index) => {
      const { name, kind, labels } = columns[column] as SubgroupColumn;
      const label = labels[codes[index] as number] as string;
      return kind === 'bins' ? `${quoted(name)} ${label}` : `${quoted(name)} = ${quoted(label)}`;
    })
    .join(' and ');
}

function warningsOf(
  { columns }: CodedSource,
  { minGroupSize, cluster }: FilledSubgroupOptions,
  found: Awaited<ReturnType<typeof confirmSubgroups>>,
  rows: ReadRows,
): string[] {
  const constant = columns.filter(({ labels }) => labels.length < 2).map(({ name }) => `'${name}'`);
  const missing = columns.filter(({ missing: count }) => count > 0);
  const dropped = rows.dropped();
  const without = cluster === undefined ? 'an outcome' : 'an outcome or a cluster';
  return [
    ...(dropped > 0 ? [`${formatCount(dropped)} rows without ${without} are left out`] : []),
    ...(constant.length > 0 ? [`these columns have fewer than two values, so they divide no rows: ${constant.join(', ')}`] : []), // prettier-ignore
    ...missing.map(({ name, missing: count }) => `${formatCount(count)} rows have no value in column '${name}'`),
    ...(found.isConstant ? ['all rows have the same outcome, so no subgroup can differ'] : []),
    ...(found.measured === 0 && !found.isConstant ? [`no subgroup has at least ${formatCount(minGroupSize)} rows, so none was compared`] : []), // prettier-ignore
    ...found.warnings,
  ];
}
