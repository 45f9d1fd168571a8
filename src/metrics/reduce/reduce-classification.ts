import { sumOf } from '../../internal/values.ts';
import {
  type BinaryValues,
  type CategoricalColumn,
  type ColumnSource,
  encodeGroups,
  type PositiveLabelOptions,
  toBinary,
} from '../../table/index.ts';
import { assertLabelsOccur } from './assert-positive-label.ts';
import {
  cellIndex,
  CELLS_PER_GROUP,
  type CellTables,
  type ClassificationStats,
  makeTables,
  UNDECIDED_PER_GROUP,
} from '../statistics/group-stats.ts';
import { type ClusterStats, sumClusters } from '../statistics/cluster-stats.ts';
import {
  assertCodesHaveLabels,
  assertSameLength,
  countDropped,
  type GroupedRows,
  readClusters,
  type ReadClusters,
  toWeights,
} from './row-arguments.ts';

/** Decisions, true labels and groups, on the host. */
export interface ClassificationRows extends GroupedRows, PositiveLabelOptions {
  readonly yPred: ColumnSource;
  readonly yTrue?: ColumnSource | undefined;
  /** With 'macro', `positiveLabel` is one class of several, and may be absent from the true labels or the decisions. */
  readonly average?: 'macro' | undefined;
}

/**
 * Reduces rows to {@link ClassificationStats} in one pass, in O(rows) time.
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
 */
export function reduceClassification(rows: ClassificationRows): ClassificationStats {
  // Bytes and codes are checked while they are counted; a separate pass would double the time.
  const prepared = prepareDecisions(rows, rows.sampleWeight !== undefined);
  const cells = prepared.weights === undefined ? countCells(prepared) : weighCells(prepared, prepared.weights);
  const stats = finishClassification(prepared.groups.labels, cells, prepared);
  const clusters = readClusters(rows, prepared.yPred.length);
  return clusters === undefined ? stats : { ...stats, clusters: clusterDecisions(prepared, clusters) };
}

/** Sums the weights of each cell in each cluster. */
function clusterDecisions(
  { groups: { codes, labels }, yTrue, yPred, weights }: PreparedDecisions,
  clusters: ReadClusters,
): ClusterStats {
  const groups = codes.map((code, row) =>
    (yPred[row] as number) < 0 || Number.isNaN(weights?.[row] ?? 0) ? -1 : code,
  );
  return sumClusters({ ...clusters, groups, groupCount: labels.length }, CELLS_PER_GROUP, (totals, start, row) => {
    const truth = yTrue === undefined || (yTrue[row] as number) < 0 ? 2 : (yTrue[row] as 0 | 1);
    const cell = start + cellIndex(truth, yPred[row] as 0 | 1);
    totals[cell] = (totals[cell] as number) + (weights?.[row] ?? 1);
  });
}

/** Rows converted to codes. Every method of counting takes them as input. */
export interface PreparedDecisions {
  readonly groups: CategoricalColumn;
  readonly yPred: BinaryValues;
  readonly yTrue: BinaryValues | undefined;
  readonly weights: Float64Array | undefined;
  /** Whether any row with a group has no weight. */
  readonly lacksWeights: boolean;
}

/**
 * Reads rows as codes of groups, labels and decisions.
 * @param isChecked whether this function checks bytes and codes; if false, they are checked while they are counted
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or a code has no label
 */
export function prepareDecisions(rows: ClassificationRows, isChecked = true): PreparedDecisions {
  const read = isChecked ? toBinary : toBinaryUnchecked;
  const groups = encodeGroups(rows.sensitive, rows.nanPolicy, rows.naValues);
  if (isChecked) assertCodesHaveLabels(groups);
  const weights = rows.sampleWeight === undefined ? undefined : toWeights(rows.sampleWeight, rows.naValues);
  const { naValues, positiveLabel } = rows;
  const yPred = read(rows.yPred, 'yPred', positiveLabel, naValues);
  const yTrue =
    rows.yTrue === undefined
      ? undefined
      : read(rows.yTrue, 'yTrue', rows.yTruePositiveLabel ?? positiveLabel, naValues);
  if (rows.average !== 'macro') assertLabelsOccur(rows, yTrue, yPred);
  assertSameLength({
    yPred: yPred.length,
    sensitive: groups.codes.length,
    yTrue: yTrue?.length,
    sampleWeight: weights?.length,
  });
  const lacksWeights = weights?.some((weight, row) => Number.isNaN(weight) && (groups.codes[row] as number) >= 0);
  return { groups, yPred, yTrue, weights, lacksWeights: lacksWeights === true };
}

/**
 * The three tables of {@link ClassificationStats} before conversion, each of shape [groups + 1, 4, 4]: by group, state
 * of the label, and state of the decision. The states are missing, 0, 1 and invalid; see {@link rawCell}.
 */
export type RawCells = Readonly<Record<keyof CellTables, ArrayLike<number>>>;

/** The number of states that a value can have while rows are counted: missing, 0, 1 and invalid. */
export const RAW_STATES = 4;

/** The number of cells that each group has while rows are counted. */
export const RAW_CELLS = RAW_STATES * RAW_STATES;

/** Returns the index of a row's cell in {@link RawCells}; -1 is a missing group, label or decision. */
export function rawCell(code: number, truth: number, decision: number): number {
  return ((code + 1) * RAW_STATES + truth + 1) * RAW_STATES + decision + 1;
}

const toBinaryUnchecked: typeof toBinary = (source, name, positiveLabel, naValues) =>
  source instanceof Uint8Array && positiveLabel === undefined && naValues === undefined
    ? source
    : toBinary(source, name, positiveLabel, naValues);

/**
 * Counts unweighted rows. The loop needs no branch, because a missing value (-1) only changes the index of the cell by
 * one. The bitwise OR of all values shows whether any value was neither 0 nor 1.
 */
function countCells({ groups, yTrue, yPred }: PreparedDecisions): RawCells {
  const { codes, labels } = groups;
  const counts = new Int32Array((labels.length + 1) * RAW_CELLS);
  let predictedBits = 0;
  let trueBits = 0;
  if (yTrue === undefined) {
    for (let row = 0; row < codes.length; row++) {
      const predicted = yPred[row] as number;
      predictedBits |= predicted;
      const cell = rawCell(codes[row] as number, -1, predicted);
      counts[cell] = (counts[cell] as number) + 1;
    }
  } else {
    for (let row = 0; row < codes.length; row++) {
      const predicted = yPred[row] as number;
      const truth = yTrue[row] as number;
      predictedBits |= predicted;
      trueBits |= truth;
      const cell = rawCell(codes[row] as number, truth, predicted);
      counts[cell] = (counts[cell] as number) + 1;
    }
  }
  // Reading the values again with a check throws an error with the index of the invalid value.
  if (predictedBits > 1) toBinary(yPred, 'yPred');
  if (yTrue !== undefined && trueBits > 1) toBinary(yTrue, 'yTrue');
  // A code without a label falls outside the counts, so this check costs nothing per row.
  if (sumOf(counts) !== codes.length) assertCodesHaveLabels(groups);
  return { counts, weights: counts, squaredWeights: counts };
}

function weighCells({ groups, yTrue, yPred }: PreparedDecisions, rowWeights: Float64Array): RawCells {
  const { codes, labels } = groups;
  const tables = makeTables(() => new Float64Array((labels.length + 1) * RAW_CELLS));
  const { counts, weights, squaredWeights } = tables;
  for (let row = 0; row < codes.length; row++) {
    const given = rowWeights[row] as number;
    const isWeighed = !Number.isNaN(given);
    const weight = isWeighed ? given : 0;
    const truth = yTrue === undefined ? -1 : (yTrue[row] as number);
    // A row without a weight is counted as a row without a decision.
    const cell = rawCell(codes[row] as number, truth, isWeighed ? (yPred[row] as number) : -1);
    counts[cell] = (counts[cell] as number) + 1;
    weights[cell] = (weights[cell] as number) + weight;
    squaredWeights[cell] = (squaredWeights[cell] as number) + weight * weight;
  }
  return tables;
}

/** Converts {@link RawCells} to statistics. */
export function finishClassification(
  labels: readonly string[],
  raw: RawCells,
  {
    yTrue,
    yPred,
    lacksWeights,
  }: { readonly yTrue?: unknown; readonly yPred: { readonly length: number }; readonly lacksWeights: boolean },
): ClassificationStats {
  // Without weights, the three tables are one array.
  const tablesOf = (make: (table: ArrayLike<number>) => Float64Array): CellTables => {
    const counts = make(raw.counts);
    return makeTables((name) => (raw[name] === raw.counts ? counts : make(raw[name])));
  };
  const fold = (first: number, groups: number): CellTables => tablesOf((table) => foldCells(table, first, groups));
  const tables = fold(0, labels.length);
  return {
    kind: 'classification',
    labels,
    ...tables,
    ungrouped: fold(-1, 1),
    undecided: tablesOf((table) => foldUndecided(table, labels.length)),
    lacksWeights,
    hasTruth: yTrue !== undefined,
    nDropped: countDropped(tables.counts, yPred.length, labels.length === 0 ? 'a group' : undefined),
  };
}

/** Returns the sums over rows without a decision, by group and true label (0, 1, missing). */
function foldUndecided(raw: ArrayLike<number>, groups: number): Float64Array {
  const folded = new Float64Array(groups * UNDECIDED_PER_GROUP);
  for (let cell = 0; cell < folded.length; cell++) {
    const truth = cell % UNDECIDED_PER_GROUP;
    folded[cell] = raw[rawCell(Math.floor(cell / UNDECIDED_PER_GROUP), truth === 2 ? -1 : truth, -1)] as number;
  }
  return folded;
}

/**
 * Returns the cells of consecutive groups for rows with a known decision, in the order of {@link ClassificationStats}.
 * @param first the code of the first group; -1 for the rows without a group
 */
function foldCells(raw: ArrayLike<number>, first: number, groups: number): Float64Array {
  const folded = new Float64Array(groups * CELLS_PER_GROUP);
  for (let group = 0; group < groups; group++) {
    for (const truth of [0, 1, 2] as const) {
      for (const decision of [0, 1] as const) {
        const index = rawCell(first + group, truth === 2 ? -1 : truth, decision);
        folded[group * CELLS_PER_GROUP + cellIndex(truth, decision)] = raw[index] as number;
      }
    }
  }
  return folded;
}
