import type { Tensor1D } from '@tensorflow/tfjs';

import { toBinary } from '../../../table/index.ts';
import {
  currentTensorflow,
  groupColumnSums,
  type HistogramBins,
  histogramCells,
  largestValues,
  type Slice,
  type Tf,
  unitOf,
} from '../../../tensor/index.ts';
import { type CellTables, type LossSums, makeTables, type ScoreStats } from '../../statistics/group-stats.ts';
import { collectScores, gridStep, type ScoreEntry, toGrid } from '../../statistics/score-grid.ts';
import type { ScoreRows } from '../reduce-scores.ts';
import { assertSameLength, countDropped, toFiniteNumbers } from '../row-arguments.ts';
import {
  areKnown,
  assertWeights,
  BAD_STATE,
  droppedRows,
  known,
  sizesOf,
  stateOf,
  weighCells,
  weightExtremes,
  withTensors,
} from './row-states.ts';
import { assertDeviceLabels, assertTextsCanOccur, deviceColumns, withReadings } from './tensor-arguments.ts';

/** The maximum number of cells that are read back. If there would be more cells, a coarser grid is used. */
const MAX_CELLS = 2 ** 23;

/** The smallest normal number of float32; a finer grid would lose precision. */
const FINEST_STEP = 2 ** -126;

/**
 * Computes a histogram of scores that are tensors, on the device of the tensors. The function reads back only the
 * tables of [groups, 2, bins], seven numbers about sizes, and the numbers that {@link encodeGroupTensors} reads.
 *
 * Scores are always rounded to the grid of `gridStep`, with at most 2^14 steps from 0 to the largest absolute score.
 * For arrays, scores remain exact up to `MAX_DISTINCT_SCORES` distinct scores, and the same grid is used only if there
 * are more. If there are more than 128 groups, the step can be larger, so that the tables have at most 2^23 cells.
 * @throws {DataValidationError} if lengths differ, a label is not 0 or 1, a score is infinite, or no row can be used
 */
export async function reduceScoreTensors(rows: ScoreRows): Promise<ScoreStats> {
  const tf = currentTensorflow();
  assertTextsCanOccur(rows);
  return withTensors(tf, async (keep) => {
    const columns = deviceColumns(tf, keep, { naValues: rows.naValues });
    const yScore = await columns.numbers(rows.yScore, 'yScore', 'scores');
    const positiveLabel = rows.yTruePositiveLabel ?? rows.positiveLabel;
    const truth = await columns.labels(rows.yTrue, 'yTrue', positiveLabel);
    assertDeviceLabels({ positiveLabel, naValues: rows.naValues }, truth, truth);
    const yTrue = truth.tensor;
    const weights = rows.sampleWeight && (await columns.weights(rows.sampleWeight));
    const groups = await columns.groups(rows.sensitive, rows.nanPolicy);
    assertSameLength({
      yScore: yScore.size,
      yTrue: yTrue.size,
      sensitive: groups.rows,
      sampleWeight: weights?.size,
    });
    const isKnown = (slice: Slice): Tensor1D => areKnown(tf, slice, [yScore, yTrue, weights]);
    /** Returns a row's group and label as one code; -1 for an incomplete row. */
    const codesOf = (slice: Slice): Tensor1D => {
      const codes = groups.codesOf(slice);
      const isGrouped: Tensor1D = tf.logicalAnd(isKnown(slice), codes.greaterEqual(0));
      return known(tf, isGrouped, codes.mul(2).add(slice(yTrue).cast('float32')), -1);
    };
    const { min, largest, largestWeight } = await checkScores(tf, { yScore, yTrue, weights, codesOf });
    if (min > largest) countDropped([], yScore.size);
    const size = Math.max(Math.abs(min), Math.abs(largest));
    const bins = chooseBins(min, largest, size, groups.labels.length);
    const cells = {
      rows: yScore.size,
      cells: 2 * groups.labels.length * bins.count,
      codesOf: (slice: Slice) => histogramCells(tf, slice(yScore), codesOf(slice), 2 * groups.labels.length, bins),
    };
    const tables = await weighCells(tf, cells, weights, largestWeight);
    const entries = entriesOf(tables, bins);
    const rowsOf = entries.map(({ counts }) => counts[0] + counts[1]);
    const nDropped = countDropped(rowsOf, yScore.size);
    const dropped = nDropped === 0 ? new Float64Array(groups.labels.length) : await droppedRows(tf, groups, isKnown);
    const lost = { nDropped, dropped };
    if (size === 0) return withReadings(collectScores(groups.labels, entries, lost), columns);
    const losses = await lossSums(tf, { yScore, yTrue, weights, codesOf }, groups.labels.length, largestWeight);
    return withReadings(collectScores(groups.labels, entries, lost, bins.width, losses), columns);
  });
}

interface DeviceScores {
  readonly yScore: Tensor1D;
  readonly yTrue: Tensor1D;
  readonly weights: Tensor1D | undefined;
  readonly codesOf: (slice: Slice) => Tensor1D;
}

/**
 * Rejects invalid values. A tensor is read back only to report an invalid value. Returns the range of the complete
 * rows.
 */
async function checkScores(
  tf: Tf,
  { yScore, yTrue, weights, codesOf }: DeviceScores,
): Promise<{ min: number; largest: number; largestWeight: number }> {
  const maxima = await largestValues(tf, yScore.size, weights === undefined ? 4 : 6, (slice) => {
    const isGrouped = codesOf(slice).greaterEqual<Tensor1D>(0);
    const scores = slice(yScore).cast<Tensor1D>('float32');
    return [
      sizesOf(tf, slice, yScore),
      stateOf(tf, slice(yTrue)),
      known(tf, isGrouped, scores, -Infinity),
      known(tf, isGrouped, scores.neg(), -Infinity),
      ...weightExtremes(tf, slice, weights),
    ];
  });
  const [size, state, largest, negated] = maxima as unknown as [number, number, number, number];
  if (size === Infinity) toFiniteNumbers(await yScore.data(), 'yScore');
  if (state === BAD_STATE) toBinary(await yTrue.data(), 'yTrue');
  return { min: -negated, largest, largestWeight: await assertWeights(maxima.subarray(4), weights) };
}

/**
 * Sums the log losses by group, computed in float32 from the scores before they are rounded to the grid. Probabilities
 * are clipped at float64's epsilon, which float32 can represent.
 */
async function lossSums(
  tf: Tf,
  { yScore, yTrue, weights, codesOf }: DeviceScores,
  groups: number,
  largestWeight: number,
): Promise<LossSums> {
  const unit = unitOf(largestWeight);
  // An incomplete row goes to the cell before the first group.
  const cells = {
    rows: yScore.size,
    cells: groups + 1,
    codesOf: (slice: Slice) => tf.floor(codesOf(slice).add(2).div<Tensor1D>(2)).cast<Tensor1D>('int32'),
  };
  const [sums, squares] = await groupColumnSums(tf, cells, 2, (slice) => {
    const isGrouped: Tensor1D = codesOf(slice).greaterEqual(0);
    const score = known(tf, isGrouped, slice(yScore).cast<Tensor1D>('float32'));
    const isYes = known(tf, isGrouped, slice(yTrue).cast<Tensor1D>('float32')).greaterEqual<Tensor1D>(0.5);
    const ofTruth = tf.where<Tensor1D>(isYes, score, tf.sub<Tensor1D>(1, score));
    const loss = tf.log(tf.clipByValue<Tensor1D>(ofTruth, Number.EPSILON, 1)).neg<Tensor1D>();
    const share = weights && known(tf, isGrouped, slice(weights)).div<Tensor1D>(unit);
    const sum = share === undefined ? loss : loss.mul<Tensor1D>(share);
    return [sum, sum.mul<Tensor1D>(loss)];
  });
  const ofGroups = (column: Float64Array | undefined): Float64Array =>
    Float64Array.from(
      { length: groups },
      (_, group) => (column?.[group + 1] ?? 0) * (weights === undefined ? 1 : unit),
    );
  return { sums: ofGroups(sums), squares: ofGroups(squares) };
}

/**
 * Returns the bins of the grid that contain the scores. The grid is made coarser until the table has at most
 * {@link MAX_CELLS} cells.
 */
function chooseBins(min: number, largest: number, size: number, groups: number): HistogramBins {
  let width = size === 0 ? 1 : Math.max(FINEST_STEP, gridStep(size));
  for (; ; width *= 2) {
    const first = toGrid(min, width) / width;
    const count = toGrid(largest, width) / width - first + 1;
    // With very many groups, a coarser grid hardly makes the table smaller.
    if (2 * groups * count <= MAX_CELLS || count <= 3) return { width, first, count, rounding: 'nearest' };
  }
}

/** Returns the distinct scores that occur, given tables of shape [groups, 2, bins]. */
function entriesOf(tables: CellTables, { width, first, count }: HistogramBins): ScoreEntry[] {
  const { counts } = tables;
  const entries: ScoreEntry[] = [];
  for (let negatives = 0; negatives < counts.length; negatives += 2 * count) {
    for (let bin = 0; bin < count; bin++) {
      const [no, yes] = [negatives + bin, negatives + count + bin];
      if (counts[no] === 0 && counts[yes] === 0) continue;
      const pair = (table: Float64Array): [number, number] => [table[no] as number, table[yes] as number];
      entries.push({
        group: negatives / (2 * count),
        score: (first + bin) * width,
        ...makeTables((name) => pair(tables[name])),
      });
    }
  }
  return entries;
}
