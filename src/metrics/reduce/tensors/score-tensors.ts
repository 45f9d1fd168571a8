import type { Tensor1D } from '@tensorflow/tfjs';

import { type ColumnSource, toBinary } from '../../../table/index.ts';
import {
  currentTensorflow,
  type HistogramBins,
  histogramCells,
  largestValues,
  type Slice,
  type Tf,
} from '../../../tensor/index.ts';
import { assertPositiveLabel } from '../assert-positive-label.ts';
import type { CellTables, ScoreStats } from '../../statistics/group-stats.ts';
import type { ScoreRows } from '../reduce-scores.ts';
import { assertSameLength, countDropped, toFiniteNumbers } from '../row-arguments.ts';
import { collectScores, gridStep, type ScoreEntry, toGrid } from '../../statistics/score-grid.ts';
import { encodeGroupTensors } from './group-codes.ts';
import { areKnown, BAD_STATE, droppedRows, known, sizesOf, stateOf } from './row-states.ts';
import { isDeviceTensor, labelsTensor, numbersTensor, refusePositiveLabel, weightsTensor } from './tensor-arguments.ts';
import { type Keep, withTensors } from './tensor-scope.ts';
import { assertWeights, weighCells, weightExtremes } from './tensor-weights.ts';

/** Cells read back at most; beyond them the grid is made coarser. */
const MOST_CELLS = 2 ** 23;

/** Multiples of this are float32's normal numbers; a finer grid would be lost. */
const FINEST_STEP = 2 ** -126;

/**
 * Reduces scores that are tensors where they are, to a histogram: read back are
 * its tables of [groups, 2, bins], seven numbers about sizes, and what
 * {@link encodeGroupTensors} reads.
 *
 * Scores are always put on the grid of `gridStep`, at most 2^14 steps from 0 to
 * the largest size. Arrays keep exact scores up to `MOST_DISTINCT_SCORES`
 * distinct ones, and only beyond are put on the same grid. With more than 128
 * groups the step can be larger, so that the tables stay below 2^23 cells.
 * @throws {DataValidationError} where lengths differ, a label is not 0 or 1, a score is infinite, or no row is left
 */
export async function reduceScoreTensors(rows: ScoreRows): Promise<ScoreStats> {
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const groups = await encodeGroupTensors(tf, keep, rows.sensitive, rows.nanPolicy);
    const yScore = numbersTensor(tf, keep, rows.yScore, 'yScore');
    const yTrue = readLabels(tf, keep, rows.yTrue, rows.positiveLabel);
    const weights = rows.sampleWeight === undefined ? undefined : weightsTensor(tf, keep, rows.sampleWeight);
    assertSameLength({
      yScore: yScore.size,
      yTrue: yTrue.size,
      sensitive: groups.rows,
      sampleWeight: weights?.size,
    });
    const isKnown = (slice: Slice): Tensor1D => areKnown(tf, slice, [yScore, yTrue, weights]);
    /** A row's group and label as one code; -1 where it lacks something. */
    const codesOf = (slice: Slice): Tensor1D => {
      const codes = groups.codesOf(slice);
      const isWhole: Tensor1D = tf.logicalAnd(isKnown(slice), codes.greaterEqual(0));
      return known(tf, isWhole, codes.mul(2).add(slice(yTrue).cast('float32')), -1);
    };
    const { least, largest, largestWeight } = await checkScores(tf, { yScore, yTrue, weights, codesOf });
    if (least > largest) countDropped([], yScore.size);
    const size = Math.max(Math.abs(least), Math.abs(largest));
    const bins = chooseBins(least, largest, size, groups.labels.length);
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
    return collectScores(groups.labels, entries, { nDropped, dropped }, size === 0 ? 0 : bins.width);
  });
}

function readLabels(tf: Tf, keep: Keep, source: ColumnSource, positiveLabel: string | undefined): Tensor1D {
  if (isDeviceTensor(source)) refusePositiveLabel('yTrue', positiveLabel);
  else if (positiveLabel !== undefined) {
    const values = toBinary(source, 'yTrue', positiveLabel);
    assertPositiveLabel({ yPred: source, yTrue: source, positiveLabel }, values, values);
    return keep(tf.tensor1d(Float32Array.from(values, (value) => (value < 0 ? NaN : value))));
  }
  return labelsTensor(tf, keep, source, 'yTrue');
}

interface DeviceScores {
  readonly yScore: Tensor1D;
  readonly yTrue: Tensor1D;
  readonly weights: Tensor1D | undefined;
  readonly codesOf: (slice: Slice) => Tensor1D;
}

/** Refuses what cannot be used, for which alone a tensor is read; gives the range of the rows that lack nothing. */
async function checkScores(
  tf: Tf,
  { yScore, yTrue, weights, codesOf }: DeviceScores,
): Promise<{ least: number; largest: number; largestWeight: number }> {
  const maxima = await largestValues(tf, yScore.size, weights === undefined ? 4 : 6, (slice) => {
    const isWhole = codesOf(slice).greaterEqual<Tensor1D>(0);
    const scores = slice(yScore).cast<Tensor1D>('float32');
    return [
      sizesOf(tf, slice, yScore),
      stateOf(tf, slice(yTrue)),
      known(tf, isWhole, scores, -Infinity),
      known(tf, isWhole, scores.neg(), -Infinity),
      ...weightExtremes(tf, slice, weights),
    ];
  });
  const [size, state, largest, negated] = maxima as unknown as [number, number, number, number];
  if (size === Infinity) toFiniteNumbers(await yScore.data(), 'yScore');
  if (state === BAD_STATE) toBinary(await yTrue.data(), 'yTrue');
  return { least: -negated, largest, largestWeight: await assertWeights(maxima.subarray(4), weights) };
}

/** The part of the grid that holds the scores, made coarser until the table fits. */
function chooseBins(least: number, largest: number, size: number, groups: number): HistogramBins {
  let width = size === 0 ? 1 : Math.max(FINEST_STEP, gridStep(size));
  for (; ; width *= 2) {
    const first = toGrid(least, width) / width;
    const count = toGrid(largest, width) / width - first + 1;
    // With very many groups one bin each is as few as there can be.
    if (2 * groups * count <= MOST_CELLS || count <= 3) return { width, first, count, rounding: 'nearest' };
  }
}

/** The scores that occur, from tables of [groups, 2, bins]. */
function entriesOf(
  { counts, weights, squaredWeights }: CellTables,
  { width, first, count }: HistogramBins,
): ScoreEntry[] {
  const entries: ScoreEntry[] = [];
  for (let negatives = 0; negatives < counts.length; negatives += 2 * count) {
    for (let bin = 0; bin < count; bin++) {
      const [no, yes] = [negatives + bin, negatives + count + bin];
      if (counts[no] === 0 && counts[yes] === 0) continue;
      const pair = (table: Float64Array): [number, number] => [table[no] as number, table[yes] as number];
      entries.push({
        group: negatives / (2 * count),
        score: (first + bin) * width,
        counts: pair(counts),
        weights: pair(weights),
        squaredWeights: pair(squaredWeights),
      });
    }
  }
  return entries;
}
