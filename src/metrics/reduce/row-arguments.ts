import { DataValidationError } from '../../exceptions/index.ts';
import {
  asNumbersWithout,
  type CategoricalColumn,
  type ColumnSource,
  encodeGroups,
  missingOutcomes,
  toColumn,
} from '../../table/index.ts';
import { hasClusters, missingCluster } from '../../table/cluster-columns.ts';
import { isNumberText, sumOf } from '../../internal/values.ts';
import type { MetricRows } from '../row-options.ts';
import type { ClusterRows } from '../statistics/cluster-stats.ts';

/**
 * Returns the number of rows that `counts` does not include.
 * @param lacking what all rows lack if the counts are empty
 * @throws {DataValidationError} if the counts are empty
 */
export function countDropped(
  counts: ArrayLike<number>,
  rowCount: number,
  lacking = 'a prediction, a true value, a group or a weight',
): number {
  const kept = sumOf(counts);
  if (kept > 0) return rowCount - kept;
  throw new DataValidationError(
    rowCount === 0
      ? 'There are no rows to measure.'
      : `All ${String(rowCount)} rows lack ${lacking}, so nothing can be measured.`,
    {
      code: 'empty-data',
      context: { rows: rowCount },
      suggestion:
        rowCount === 0
          ? 'Check the query or the filter that produced the data.'
          : 'Check that the selected columns contain values.',
    },
  );
}

/** The groups and weights of rows, on the host. */
export type GroupedRows = Pick<
  MetricRows,
  'sensitive' | 'sampleWeight' | 'nanPolicy' | 'naValues' | 'cluster' | 'strata'
>;

/** The group codes and weights of rows. */
export interface PreparedRows {
  readonly labels: readonly string[];
  /** The group code of each row; -1 for an incomplete row. */
  readonly codes: Int32Array;
  /** The number of incomplete rows of each group, [groups]. */
  readonly dropped: Float64Array;
  readonly weights: Float64Array | undefined;
}

/**
 * Reads the groups, weights and values of rows, and gives incomplete rows the group code -1. `read` reads the columns
 * of values, and `isComplete` returns whether the values of a row are known.
 */
export function prepareRows<Values extends Readonly<Record<string, ArrayLike<number> | undefined>>>(
  { sensitive, sampleWeight, nanPolicy, naValues }: GroupedRows,
  read: () => Values,
  isComplete: (values: Values, row: number) => boolean,
): PreparedRows & Values {
  const groups = encodeGroups(sensitive, nanPolicy, naValues);
  assertCodesHaveLabels(groups);
  const values = read();
  const weights = sampleWeight === undefined ? undefined : toWeights(sampleWeight, naValues);
  const [first, ...others] = Object.entries(values).map(([name, column]) => [name, column?.length] as const);
  assertSameLength(
    Object.fromEntries([
      ...(first === undefined ? [] : [first]),
      ['sensitive', groups.codes.length],
      ...others,
      ['sampleWeight', weights?.length],
    ]),
  );
  const { labels } = groups;
  const dropped = new Float64Array(labels.length);
  const codes = groups.codes.map((code, row) => {
    if (isComplete(values, row) && !Number.isNaN(weights?.[row] ?? 0)) return code;
    if (code >= 0) dropped[code] = (dropped[code] as number) + 1;
    return -1;
  });
  return { labels, codes, dropped, weights, ...values };
}

/** The clusters of rows, and the stratum of each cluster. */
export type ReadClusters = Pick<ClusterRows, 'clusters' | 'strata' | 'clusterCount'>;

/**
 * Reads the clusters and strata of rows. A cluster is in one stratum: the same name in another stratum is another cluster.
 * @param errorOf creates the error for the first row without a value, counted from 0
 * @returns undefined if neither is given
 * @throws {DataValidationError} if the length is not that of the rows, or a value is missing
 */
export function readClusters(
  { cluster, strata, naValues }: Pick<GroupedRows, 'cluster' | 'strata' | 'naValues'>,
  rowCount: number,
  errorOf: (argument: 'cluster' | 'strata', row: number) => Error = missingInArgument,
): ReadClusters | undefined {
  if (!hasClusters({ cluster, strata })) return undefined;
  const codesOf = (source: ColumnSource | undefined, name: 'cluster' | 'strata'): ClusterCodes | undefined => {
    if (source === undefined) return undefined;
    const column = clusterCodes(source, name, naValues);
    assertSameLength({ rows: rowCount, [name]: column.codes.length });
    const missing = column.codes.indexOf(-1);
    if (missing >= 0) {
      throw errorOf(name, missing);
    }
    return column;
  };
  const [clusters, stratum] = [codesOf(cluster, 'cluster'), codesOf(strata, 'strata')];
  const codes = clusters?.codes ?? Int32Array.from({ length: rowCount }, (_, row) => row);
  if (stratum === undefined) return { clusters: codes, clusterCount: clusters?.count ?? rowCount };
  const positionOf = new Map<number, number>();
  const nested = codes.map((code, row) => {
    const key = code * stratum.count + (stratum.codes[row] as number);
    const position = positionOf.get(key) ?? positionOf.size;
    positionOf.set(key, position);
    return position;
  });
  const keys = [...positionOf.keys()];
  return {
    clusters: nested,
    strata: Int32Array.from(keys, (key) => key % stratum.count),
    clusterCount: keys.length,
  };
}

function missingInArgument(argument: string, index: number): Error {
  const problem = `${argument} must hold a value in every row, but has none at index ${String(index)}.`;
  return missingCluster(problem, { argument, index });
}

/** The code of each row, from 0; -1 if it is missing. */
interface ClusterCodes {
  readonly codes: Int32Array;
  readonly count: number;
}

/** Numbers clusters. Unlike the labels of groups, the many names of clusters are neither kept nor sorted. */
function clusterCodes(source: ColumnSource, name: string, naValues: readonly string[] | undefined): ClusterCodes {
  const column = naValues === undefined ? toColumn(source, name) : undefined;
  if (column?.kind !== 'numeric') {
    const { codes, labels } = encodeGroups(source, 'exclude', naValues);
    return { codes, count: labels.length };
  }
  const codeOf = new Map<number, number>();
  const codes = new Int32Array(column.values.length);
  for (let row = 0; row < codes.length; row++) {
    const value = column.values[row] as number;
    if (Number.isNaN(value)) {
      codes[row] = -1;
      continue;
    }
    let code = codeOf.get(value);
    if (code === undefined) codeOf.set(value, (code = codeOf.size));
    codes[row] = code;
  }
  return { codes, count: codeOf.size };
}

/** Reads the weights of rows: finite, 0 or more, NaN if missing. */
export function toWeights(source: ColumnSource, naValues?: readonly string[]): Float64Array {
  const weights = toFiniteNumbers(source, 'sampleWeight', naValues);
  const negative = weights.findIndex((weight) => weight < 0);
  if (negative < 0) return weights;
  throw new DataValidationError(
    `sampleWeight must be 0 or more, but holds ${String(weights[negative])} at index ${String(negative)}.`,
    { code: 'invalid-value', context: { argument: 'sampleWeight', index: negative, value: weights[negative] } },
  );
}

/**
 * Reads a column of finite numbers. Missing values become NaN, and so do texts that mean a missing value.
 * @throws {DataValidationError} if a value is infinite, or is any other text
 */
export function toFiniteNumbers(source: ColumnSource, name: string, naValues?: readonly string[]): Float64Array {
  const column = asNumbersWithout(toColumn(source, name), missingOutcomes(naValues));
  if (column.kind === 'categorical') {
    const isWrong = column.labels.map((label) => !isNumberText(label));
    const first = column.codes.findIndex((code) => isWrong[code] === true);
    const row = first < 0 ? column.codes.findIndex((code) => code >= 0) : first;
    const text = column.labels[column.codes[row] ?? -1];
    throw new DataValidationError(`${name} must hold numbers, but holds '${String(text)}' at index ${String(row)}.`, {
      code: 'invalid-value',
      context: { argument: name, index: row, value: text },
    });
  }
  const infinite = column.values.findIndex((value) => value === Infinity || value === -Infinity);
  if (infinite < 0) return column.values;
  throw new DataValidationError(
    `${name} must be finite, but holds ${String(column.values[infinite])} at index ${String(infinite)}.`,
    { code: 'invalid-value', context: { argument: name, index: infinite, value: column.values[infinite] } },
  );
}

/**
 * Checks a column of groups that was given as codes.
 * @throws {DataValidationError} if a code has no label; the error names the first such code
 */
export function assertCodesHaveLabels({ codes, labels }: CategoricalColumn): void {
  let row = 0;
  while (row < codes.length && (codes[row] as number) >= -1 && (codes[row] as number) < labels.length) row++;
  if (row === codes.length) return;
  throw new DataValidationError(
    `sensitive holds the code ${String(codes[row])} at index ${String(row)}, but has ${String(labels.length)} labels.`,
    {
      code: 'invalid-value',
      context: { argument: 'sensitive', index: row, value: codes[row] },
      suggestion: 'Use codes from 0, and -1 for missing.',
    },
  );
}

/**
 * Checks that arguments have the same length. Arguments that are undefined are not checked.
 * @throws {DataValidationError} if arguments differ in length; the error names them
 */
export function assertSameLength(given: Readonly<Record<string, number | undefined>>): void {
  const entries = Object.entries(given).filter((entry): entry is [string, number] => entry[1] !== undefined);
  const [first] = entries;
  const odd = entries.find(([, length]) => length !== first?.[1]);
  if (first === undefined || odd === undefined) return;
  throw new DataValidationError(
    `${first[0]} and ${odd[0]} differ in length: ${String(first[1])} and ${String(odd[1])}.`,
    {
      code: 'length-mismatch',
      context: Object.fromEntries(entries),
      suggestion: 'Give one value per row in every argument, in the same order.',
    },
  );
}
