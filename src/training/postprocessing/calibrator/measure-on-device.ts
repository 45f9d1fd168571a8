import type { Tensor1D } from '@tensorflow/tfjs';

import type { ScoreRows } from '../../../metrics/reduce/reduce-scores.ts';
import { reduceScoreTensors } from '../../../metrics/reduce/reduce-tensors.ts';
import { areKnown, known, withTensors } from '../../../metrics/reduce/tensors/row-states.ts';
import { deviceColumns } from '../../../metrics/reduce/tensors/tensor-arguments.ts';
import type { ScoreStats } from '../../../metrics/statistics/group-stats.ts';
import { collectScores, lossesOf, scoreEntries } from '../../../metrics/statistics/score-grid.ts';
import type { ColumnSource, SensitiveSource } from '../../../table/index.ts';
import { currentTensorflow, groupColumnSums, largestValues, type Slice, type Tf } from '../../../tensor/index.ts';
import { outsideRange } from './calibration-rows.ts';

/** Sums over the rows of a group with a weight above 0. */
export interface QualitySums {
  readonly n: number;
  readonly weight: number;
  /** The weight of the rows with label 1. */
  readonly yes: number;
  /** The sum of weight x score. */
  readonly score: number;
  /** The sum of weight x (score - y)^2. */
  readonly squares: number;
  /** The sum of weight x log loss. */
  readonly logs: number;
}

/** Statistics of tensors of scores, on the grid of `reduceScoreTensors`, and exact sums per group. */
export interface DeviceQuality {
  readonly stats: ScoreStats;
  /** One entry per group of the statistics. */
  readonly sums: readonly QualitySums[];
}

/**
 * Computes score statistics and sums on the device of the scores. Rows with a missing value are excluded.
 * @param source a tensor, [rows]
 * @throws {DataValidationError} under the conditions of `reduceScoreTensors`, or if a score is outside [0, 1]
 */
export async function measureOnDevice(
  source: ColumnSource,
  y: ColumnSource,
  sensitive: SensitiveSource,
  { sampleWeight, positiveLabel }: Pick<ScoreRows, 'sampleWeight' | 'positiveLabel'>,
): Promise<DeviceQuality> {
  const stats = await reduceScoreTensors({ yScore: source, yTrue: y, sensitive, sampleWeight, positiveLabel });
  const tf = currentTensorflow();
  return withTensors(tf, async (keep) => {
    const columns = deviceColumns(tf, keep, {});
    const groups = await columns.groups(sensitive, undefined);
    const scores = await columns.numbers(source, 'scores', 'scores');
    const { tensor: truth } = await columns.labels(y, 'yTrue', positiveLabel);
    const weights = sampleWeight === undefined ? undefined : await columns.weights(sampleWeight);
    await assertUnit(tf, scores);
    const count = groups.labels.length;
    const isKnown = (slice: Slice): Tensor1D => areKnown(tf, slice, [scores, truth, weights]);
    // Incomplete rows are in the cell before the first group.
    const codesOf = (slice: Slice): Tensor1D =>
      known(tf, isKnown(slice), groups.codesOf(slice), -1).add<Tensor1D>(1).cast('int32');
    const sumsOf = await groupColumnSums(tf, { rows: scores.size, cells: count + 1, codesOf }, 3, (slice) => {
      const isComplete = isKnown(slice);
      const score = known(tf, isComplete, slice(scores));
      const error = score.sub<Tensor1D>(known(tf, isComplete, slice(truth))).square<Tensor1D>();
      if (weights === undefined) return [tf.onesLike(score), score, error];
      const weight = known(tf, isComplete, slice(weights));
      return [weight.greater(0).cast<Tensor1D>('float32'), score.mul(weight), error.mul(weight)];
    });
    const [n, score, squares] = sumsOf.map((column) => column.subarray(1)) as [
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    const logs = lossesOf(stats)?.sums;
    const sums = Array.from({ length: count }, (_, code) => ({
      n: n[code] as number,
      weight: 0,
      yes: 0,
      score: score[code] as number,
      squares: squares[code] as number,
      logs: logs?.[code] ?? NaN,
    }));
    for (const {
      group,
      weights: [no, yes],
    } of scoreEntries(stats)) {
      const own = sums[group] as (typeof sums)[number];
      own.weight += no + yes;
      own.yes += yes;
    }
    return { stats, sums };
  });
}

/** Checks that scores lie in [0, 1]. NaN is missing. */
async function assertUnit(tf: Tf, scores: Tensor1D): Promise<void> {
  const [largest = 0, negated = 0] = await largestValues(tf, scores.size, 2, (slice) => {
    const own = known(tf, areKnown(tf, slice, [scores]), slice(scores), 0.5);
    return [own, own.neg<Tensor1D>()];
  });
  if (largest > 1) throw outsideRange('scores', largest);
  if (negated > 0) throw outsideRange('scores', -negated);
}

/** Combines the statistics of all groups as one group. */
export function asOneGroupOfScores(stats: ScoreStats): ScoreStats {
  const losses = lossesOf(stats);
  const total = (values: Float64Array | undefined): Float64Array =>
    Float64Array.of((values ?? new Float64Array()).reduce((sum, value) => sum + value, 0));
  return collectScores(
    ['all'],
    scoreEntries(stats).map((entry) => ({ ...entry, group: 0 })),
    { nDropped: stats.nDropped, dropped: total(stats.dropped) },
    stats.step,
    losses === null ? null : { sums: total(losses.sums), squares: total(losses.squares) },
  );
}
