import { DataValidationError } from '../exceptions/index.ts';
import {
  type BinaryValues,
  type CategoricalColumn,
  type ColumnSource,
  encodeGroups,
  type NanPolicy,
  type SensitiveSource,
  toBinary,
  toColumn,
} from '../table/index.ts';
import { assertPositiveLabel } from './assert-positive-label.ts';
import { CELLS_PER_GROUP, type ClassificationStats, type RegressionStats } from './group-stats.ts';

/** Decisions and what they are judged by, on the host. */
export interface ClassificationRows {
  readonly yPred: ColumnSource;
  readonly yTrue?: ColumnSource | undefined;
  readonly sensitive: SensitiveSource;
  readonly sampleWeight?: ColumnSource | undefined;
  readonly positiveLabel?: string | undefined;
  readonly nanPolicy?: NanPolicy | undefined;
}

/** Predicted and true numbers, on the host. */
export interface RegressionRows {
  readonly yPred: ColumnSource;
  readonly yTrue: ColumnSource;
  readonly sensitive: SensitiveSource;
  readonly sampleWeight?: ColumnSource | undefined;
  readonly nanPolicy?: NanPolicy | undefined;
}

/**
 * Reduces rows to {@link ClassificationStats} in one pass. O(rows).
 * @throws {DataValidationError} where lengths differ, a value is not 0 or 1, or no row is left
 */
export function reduceClassification(rows: ClassificationRows): ClassificationStats {
  const groups = encodeGroups(rows.sensitive, rows.nanPolicy);
  const weights = rows.sampleWeight === undefined ? undefined : toWeights(rows.sampleWeight);
  // Bytes are checked while they are counted; a pass of their own would double the time.
  const read = weights === undefined ? toBinaryUnchecked : toBinary;
  const yPred = read(rows.yPred, 'yPred', rows.positiveLabel);
  const yTrue = rows.yTrue === undefined ? undefined : read(rows.yTrue, 'yTrue', rows.positiveLabel);
  assertPositiveLabel(rows, yTrue, yPred);
  assertSameLength({
    yPred: yPred.length,
    sensitive: groups.codes.length,
    ...(yTrue === undefined ? {} : { yTrue: yTrue.length }),
    ...(weights === undefined ? {} : { sampleWeight: weights.length }),
  });
  const cells = weights === undefined ? countCells(groups, yTrue, yPred) : weighCells(groups, yTrue, yPred, weights);
  return finishClassification(groups.labels, cells, yTrue !== undefined, yPred.length);
}

/**
 * Reduces rows to {@link RegressionStats} in one pass. O(rows).
 * @throws {DataValidationError} where lengths differ, a value is text or infinite, or no row is left
 */
export function reduceRegression(rows: RegressionRows): RegressionStats {
  const groups = encodeGroups(rows.sensitive, rows.nanPolicy);
  const yPred = toFiniteNumbers(rows.yPred, 'yPred');
  const yTrue = toFiniteNumbers(rows.yTrue, 'yTrue');
  const weights = rows.sampleWeight === undefined ? undefined : toWeights(rows.sampleWeight);
  assertSameLength({
    yPred: yPred.length,
    yTrue: yTrue.length,
    sensitive: groups.codes.length,
    ...(weights === undefined ? {} : { sampleWeight: weights.length }),
  });
  const size = groups.labels.length;
  const [counts, sums, squares, absolute, squared] = Array.from({ length: 5 }, () => new Float64Array(size)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (let row = 0; row < yPred.length; row++) {
    const group = groups.codes[row] as number;
    const weight = weights === undefined ? 1 : (weights[row] as number);
    const error = (yPred[row] as number) - (yTrue[row] as number);
    if (group < 0 || Number.isNaN(weight) || Number.isNaN(error)) continue;
    counts[group] = (counts[group] as number) + 1;
    sums[group] = (sums[group] as number) + weight;
    squares[group] = (squares[group] as number) + weight * weight;
    absolute[group] = (absolute[group] as number) + weight * Math.abs(error);
    squared[group] = (squared[group] as number) + weight * error * error;
  }
  return {
    kind: 'regression',
    labels: groups.labels,
    counts,
    weights: sums,
    squaredWeights: squares,
    absoluteErrors: absolute,
    squaredErrors: squared,
    nDropped: countDropped(counts, yPred.length),
  };
}

/**
 * The three tables of {@link ClassificationStats}, raw: [groups + 1, 4, 4] with a place for every missing value,
 * at ((code + 1) x 4 + truth + 1) x 4 + decision + 1.
 */
export interface RawCells {
  readonly counts: ArrayLike<number>;
  readonly weights: ArrayLike<number>;
  readonly squaredWeights: ArrayLike<number>;
}

/** Cells of one group while counting: 4 states of the truth x 4 of the decision, state = value + 1. */
export const RAW_CELLS = 16;

function toBinaryUnchecked(source: ColumnSource, name: string, positiveLabel: string | undefined): BinaryValues {
  return source instanceof Uint8Array && positiveLabel === undefined ? source : toBinary(source, name, positiveLabel);
}

/**
 * The hot loop: no branch, since a missing value (-1) only shifts the cell by
 * one. The bits of all values together tell whether one was neither 0 nor 1.
 */
function countCells(groups: CategoricalColumn, yTrue: BinaryValues | undefined, yPred: BinaryValues): RawCells {
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
  // The reading that checks throws with the index of the value at fault.
  if (predictedBits > 1) toBinary(yPred, 'yPred');
  if (yTrue !== undefined && trueBits > 1) toBinary(yTrue, 'yTrue');
  assertCodesHaveLabels(counts, groups);
  return { counts, weights: counts, squaredWeights: counts };
}

/** A code without a label falls outside the counts; noticed here, where it costs nothing per row. */
function assertCodesHaveLabels(counts: Int32Array, { codes, labels }: CategoricalColumn): void {
  if (counts.reduce((sum, count) => sum + count, 0) === codes.length) return;
  const row = codes.findIndex((code) => code < -1 || code >= labels.length);
  throw new DataValidationError(
    `sensitive holds the code ${String(codes[row])} at index ${String(row)}, but has ${String(labels.length)} labels.`,
    {
      context: { argument: 'sensitive', index: row, value: codes[row] },
      suggestion: 'Use codes from 0, and -1 for missing.',
    },
  );
}

function weighCells(
  { codes, labels }: CategoricalColumn,
  yTrue: BinaryValues | undefined,
  yPred: BinaryValues,
  rowWeights: Float64Array,
): RawCells {
  const size = (labels.length + 1) * RAW_CELLS;
  const counts = new Float64Array(size);
  const weights = new Float64Array(size);
  const squaredWeights = new Float64Array(size);
  for (let row = 0; row < codes.length; row++) {
    const weight = rowWeights[row] as number;
    if (Number.isNaN(weight)) continue;
    const truth = yTrue === undefined ? -1 : (yTrue[row] as number);
    const cell = ((codes[row] as number) + 1) * RAW_CELLS + (truth + 1) * 4 + (yPred[row] as number) + 1;
    counts[cell] = (counts[cell] as number) + 1;
    weights[cell] = (weights[cell] as number) + weight;
    squaredWeights[cell] = (squaredWeights[cell] as number) + weight * weight;
  }
  return { counts, weights, squaredWeights };
}

/** Turns raw cells into statistics. */
export function finishClassification(
  labels: readonly string[],
  raw: RawCells,
  hasTruth: boolean,
  rowCount: number,
): ClassificationStats {
  const counts = foldCells(raw.counts, labels.length);
  return {
    kind: 'classification',
    labels,
    counts,
    weights: foldCells(raw.weights, labels.length),
    squaredWeights: foldCells(raw.squaredWeights, labels.length),
    hasTruth,
    nDropped: countDropped(counts, rowCount),
  };
}

/** Keeps the cells of known groups and decisions, in the order of {@link ClassificationStats}. */
function foldCells(raw: ArrayLike<number>, groups: number): Float64Array {
  const folded = new Float64Array(groups * CELLS_PER_GROUP);
  for (let group = 0; group < groups; group++) {
    for (let cell = 0; cell < CELLS_PER_GROUP; cell++) {
      const truth = cell >> 1;
      const truthState = truth === 2 ? 0 : truth + 1;
      const decisionState = (cell & 1) + 1;
      folded[group * CELLS_PER_GROUP + cell] = raw[(group + 1) * RAW_CELLS + truthState * 4 + decisionState] as number;
    }
  }
  return folded;
}

/**
 * The rows that did not enter the counts.
 * @throws {DataValidationError} where none did
 */
export function countDropped(counts: Float64Array, rowCount: number): number {
  const kept = counts.reduce((sum, count) => sum + count, 0);
  if (kept > 0) return rowCount - kept;
  throw new DataValidationError(
    rowCount === 0
      ? 'There are no rows to measure.'
      : `All ${String(rowCount)} rows lack a prediction, a true value, a group or a weight, so nothing can be measured.`,
    {
      context: { rows: rowCount },
      suggestion:
        rowCount === 0
          ? 'Check the query or the filter that made the data.'
          : 'Check that the columns named are the ones that are filled.',
    },
  );
}

function toWeights(source: ColumnSource): Float64Array {
  const weights = toFiniteNumbers(source, 'sampleWeight');
  const negative = weights.findIndex((weight) => weight < 0);
  if (negative < 0) return weights;
  throw new DataValidationError(
    `sampleWeight must be 0 or more, but holds ${String(weights[negative])} at index ${String(negative)}.`,
    { context: { argument: 'sampleWeight', index: negative, value: weights[negative] } },
  );
}

function toFiniteNumbers(source: ColumnSource, name: string): Float64Array {
  const column = toColumn(source, name);
  if (column.kind === 'categorical') {
    const row = column.codes.findIndex((code) => code >= 0);
    const text = column.labels[column.codes[row] ?? -1];
    throw new DataValidationError(`${name} must hold numbers, but holds '${String(text)}' at index ${String(row)}.`, {
      context: { argument: name, index: row, value: text },
    });
  }
  const infinite = column.values.findIndex((value) => value === Infinity || value === -Infinity);
  if (infinite < 0) return column.values;
  throw new DataValidationError(
    `${name} must be finite, but holds ${String(column.values[infinite])} at index ${String(infinite)}.`,
    { context: { argument: name, index: infinite, value: column.values[infinite] } },
  );
}

/** @throws {DataValidationError} where the named arguments differ in length */
export function assertSameLength(lengths: Readonly<Record<string, number>>): void {
  const entries = Object.entries(lengths);
  const [first] = entries;
  const odd = entries.find(([, length]) => length !== first?.[1]);
  if (first === undefined || odd === undefined) return;
  throw new DataValidationError(
    `${first[0]} and ${odd[0]} differ in length: ${String(first[1])} and ${String(odd[1])}.`,
    { context: lengths, suggestion: 'Give one value per row in each, in the same order.' },
  );
}
