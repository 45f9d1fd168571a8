import {
  type BinaryValues,
  type CategoricalColumn,
  type ColumnSource,
  encodeGroups,
  type NanPolicy,
  type SensitiveSource,
  toBinary,
} from '../../table/index.ts';
import { assertPositiveLabel } from './assert-positive-label.ts';
import {
  CELLS_PER_GROUP,
  type CellTables,
  type ClassificationStats,
  sum,
  makeTables,
  UNDECIDED_PER_GROUP,
} from '../statistics/group-stats.ts';
import { assertCodesHaveLabels, assertSameLength, countDropped, toWeights } from './row-arguments.ts';

/** Decisions, true labels and groups, on the host. */
export interface ClassificationRows {
  readonly yPred: ColumnSource;
  readonly yTrue?: ColumnSource | undefined;
  readonly sensitive: SensitiveSource;
  readonly sampleWeight?: ColumnSource | undefined;
  readonly positiveLabel?: string | undefined;
  readonly yTruePositiveLabel?: string | undefined;
  /** With 'macro', `positiveLabel` is one class of several, and may be absent from the true labels or the decisions. */
  readonly average?: 'macro' | undefined;
  readonly nanPolicy?: NanPolicy | undefined;
  readonly naValues?: readonly string[] | undefined;
}

/**
 * Reduces rows to {@link ClassificationStats} in one pass. O(rows).
 * @throws {DataValidationError} if lengths differ, a value is not 0 or 1, or no row can be used
 */
export function reduceClassification(rows: ClassificationRows): ClassificationStats {
  // Bytes and codes are checked while they are counted; a separate pass would double the time.
  const prepared = prepareDecisions(rows, rows.sampleWeight !== undefined);
  const cells = prepared.weights === undefined ? countCells(prepared) : weighCells(prepared, prepared.weights);
  return finishClassification(prepared.groups.labels, cells, prepared);
}

/** Rows as codes: the input of every counting method. */
export interface PreparedDecisions {
  readonly groups: CategoricalColumn;
  readonly yPred: BinaryValues;
  readonly yTrue: BinaryValues | undefined;
  readonly weights: Float64Array | undefined;
  /** Whether a row of a group has no weight. */
  readonly lacksWeights: boolean;
}

/**
 * Reads rows as codes of groups, labels and decisions.
 * @param isChecked whether bytes and codes are checked here, and not while they are counted
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
  if (rows.average !== 'macro') assertPositiveLabel(rows, yTrue, yPred);
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
 * The three tables of {@link ClassificationStats}, raw: [groups + 1, 4, 4] with a cell for every missing value, at
 * ((code + 1) x 4 + truth + 1) x 4 + decision + 1.
 */
export interface RawCells {
  readonly counts: ArrayLike<number>;
  readonly weights: ArrayLike<number>;
  readonly squaredWeights: ArrayLike<number>;
}

/** The number of cells of one group while counting: 4 states of the truth x 4 of the decision, state = value + 1. */
export const RAW_CELLS = 16;

const toBinaryUnchecked: typeof toBinary = (source, name, positiveLabel, naValues) =>
  source instanceof Uint8Array && positiveLabel === undefined && naValues === undefined
    ? source
    : toBinary(source, name, positiveLabel, naValues);

/**
 * Counts unweighted rows. This loop has no branch, since a missing value (-1) only shifts the cell by one. The combined
 * bits of all values show whether any value was neither 0 nor 1.
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
      const cell = ((codes[row] as number) + 1) * RAW_CELLS + predicted + 1;
      counts[cell] = (counts[cell] as number) + 1;
    }
  } else {
    for (let row = 0; row < codes.length; row++) {
      const predicted = yPred[row] as number;
      const truth = yTrue[row] as number;
      predictedBits |= predicted;
      trueBits |= truth;
      const cell = (((((codes[row] as number) + 1) << 2) + truth + 1) << 2) + predicted + 1;
      counts[cell] = (counts[cell] as number) + 1;
    }
  }
  // The checked reading throws an error with the index of the invalid value.
  if (predictedBits > 1) toBinary(yPred, 'yPred');
  if (yTrue !== undefined && trueBits > 1) toBinary(yTrue, 'yTrue');
  // A code without a label falls outside the counts, so this check costs nothing per row.
  if (sum(counts) !== codes.length) assertCodesHaveLabels(groups);
  return { counts, weights: counts, squaredWeights: counts };
}

function weighCells({ groups, yTrue, yPred }: PreparedDecisions, rowWeights: Float64Array): RawCells {
  const { codes, labels } = groups;
  const size = (labels.length + 1) * RAW_CELLS;
  const counts = new Float64Array(size);
  const weights = new Float64Array(size);
  const squaredWeights = new Float64Array(size);
  for (let row = 0; row < codes.length; row++) {
    const given = rowWeights[row] as number;
    const isWeighed = !Number.isNaN(given);
    const weight = isWeighed ? given : 0;
    const truth = yTrue === undefined ? -1 : (yTrue[row] as number);
    // A row without a weight is counted with those without a decision.
    const decisionState = isWeighed ? (yPred[row] as number) + 1 : 0;
    const cell = ((codes[row] as number) + 1) * RAW_CELLS + (truth + 1) * 4 + decisionState;
    counts[cell] = (counts[cell] as number) + 1;
    weights[cell] = (weights[cell] as number) + weight;
    squaredWeights[cell] = (squaredWeights[cell] as number) + weight * weight;
  }
  return { counts, weights, squaredWeights };
}

/** Converts raw cells to statistics. */
export function finishClassification(
  labels: readonly string[],
  raw: RawCells,
  {
    yTrue,
    yPred,
    lacksWeights,
  }: { readonly yTrue?: unknown; readonly yPred: { readonly length: number }; readonly lacksWeights: boolean },
): ClassificationStats {
  const fold = (first: number, groups: number): CellTables => makeTables((name) => foldCells(raw[name], first, groups));
  const tables = fold(1, labels.length);
  return {
    kind: 'classification',
    labels,
    ...tables,
    ungrouped: fold(0, 1),
    undecided: makeTables((name) => foldUndecided(raw[name], labels.length)),
    lacksWeights,
    hasTruth: yTrue !== undefined,
    nDropped: countDropped(tables.counts, yPred.length),
  };
}

/** Returns the cells of all groups without a decision, by true label: 0, 1, missing. */
function foldUndecided(raw: ArrayLike<number>, groups: number): Float64Array {
  return Float64Array.from({ length: groups * UNDECIDED_PER_GROUP }, (_, cell) => {
    const truthState = (cell + 1) % UNDECIDED_PER_GROUP;
    return raw[(1 + Math.floor(cell / UNDECIDED_PER_GROUP)) * RAW_CELLS + truthState * 4] as number;
  });
}

/** Returns the cells of some groups with known decisions, in the order of {@link ClassificationStats}. */
function foldCells(raw: ArrayLike<number>, first: number, groups: number): Float64Array {
  const folded = new Float64Array(groups * CELLS_PER_GROUP);
  for (let group = 0; group < groups; group++) {
    for (let cell = 0; cell < CELLS_PER_GROUP; cell++) {
      const truth = cell >> 1;
      const truthState = truth === 2 ? 0 : truth + 1;
      const decisionState = (cell & 1) + 1;
      const index = (first + group) * RAW_CELLS + truthState * 4 + decisionState;
      folded[group * CELLS_PER_GROUP + cell] = raw[index] as number;
    }
  }
  return folded;
}
