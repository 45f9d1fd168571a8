import { chartFormat } from '../../charts/render-chart.ts';
import { assertFileWritable, assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import { CELLS_PER_GROUP, cellIndex, sum, sumCells } from '../../metrics/statistics/group-stats.ts';
import type { TensorBackend, Tf } from '../../tensor/index.ts';
import type { FeatureSpec } from '../data/feature-encoder.ts';
import { judgeCounts } from '../decision-quality.ts';
import type { describeRows } from '../jobs/job-result.ts';
import type { NetworkWeights } from '../networks/network-weights.ts';
import type { EtaRange } from './find-etas.ts';
import { decisionCounts, type JudgedOutputs } from './judge-outputs.ts';
import { hypervolume, markDominated, type ParetoPoint } from './pareto-points.ts';
import type { ParetoSweep, SweepInfo } from './pareto-sweep.ts';
import { plotPareto, pointsPath } from './plot-pareto.ts';
import { holdsOnlyNetworks, saveNetworks } from './save-networks.ts';
import type { FilledSweepOptions } from './sweep-options.ts';

/** Checks before training that the output paths can be written, so that the result is not lost. */
export async function assertPaths({ savePath, modelPath }: FilledSweepOptions): Promise<void> {
  if (savePath !== undefined) {
    chartFormat(savePath);
    await assertFileWritable(savePath);
    await assertFileWritable(pointsPath(savePath));
  }
  if (modelPath === undefined) return;
  assertReplaceable(modelPath, holdsOnlyNetworks);
  await assertWritable(modelPath);
}

/** The networks of a sweep, judged on held-out rows. */
interface JudgedSweep {
  /** The decisions of each eta's networks on the held-out rows of each split. */
  readonly judged: readonly (readonly JudgedOutputs[])[];
  readonly etas: readonly number[];
  readonly range: EtaRange | null;
  readonly specs: readonly FeatureSpec[];
  readonly weights: readonly NetworkWeights[];
  /** The number of training rows by group. */
  readonly groups: Readonly<Record<string, number>>;
  /** The labels of the groups of held-out rows. */
  readonly groupLabels: readonly string[];
  readonly described: Omit<ReturnType<typeof describeRows>, 'groups'>;
  readonly backend: TensorBackend;
  readonly batchSize: number;
  readonly warnings: readonly string[];
}

/** Computes the points of a sweep, and saves its networks and its plot. */
export async function finishSweep(
  tf: Tf,
  { judged, etas, range, specs, weights, groups, groupLabels, described, backend, batchSize, warnings }: JudgedSweep,
  options: FilledSweepOptions,
): Promise<ParetoSweep> {
  const { penalty, seed, modelPath, savePath, signal } = options;
  const points = Object.freeze(
    markDominated(
      etas.map((eta, model) => ({
        eta,
        ...judgeFits(judged[model] as readonly JudgedOutputs[], groupLabels, options),
      })),
    ).map((point) => Object.freeze(point)),
  );
  const info: SweepInfo = {
    hypervolume: hypervolume(points, majorityShare(judged[0] ?? [], groupLabels.length)),
    ...{ backend, penalty, etaRange: range, seed, batchSize },
    ...described,
    warnings,
  };
  const sweep: ParetoSweep = Object.freeze(Object.assign([...points], info));
  signal?.throwIfAborted();
  if (modelPath !== undefined) await saveNetworks(tf, modelPath, { specs, weights, points, info, groups });
  if (savePath !== undefined) await plotPareto(sweep, { savePath, withPoints: true });
  return sweep;
}

/** Evaluates the decisions of one eta's networks on the held-out rows of all splits. */
function judgeFits(
  splits: readonly JudgedOutputs[],
  groupLabels: readonly string[],
  options: FilledSweepOptions,
): Omit<ParetoPoint, 'eta' | 'dominated'> {
  const loss = splits.reduce((total, own) => total + own.loss, 0);
  const counts = addCounts(splits, groupLabels.length);
  const { n, accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff } = judgeCounts(counts, groupLabels, options);
  return { accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff, loss: loss / n };
}

function addCounts(splits: readonly JudgedOutputs[], groups: number): Float64Array {
  const counts = new Float64Array(groups * CELLS_PER_GROUP);
  for (const { pairs } of splits) {
    decisionCounts(pairs).forEach((count, cell) => (counts[cell] = (counts[cell] as number) + count));
  }
  return counts;
}

/** Returns the accuracy of always predicting the larger class of the held-out rows. */
function majorityShare(splits: readonly JudgedOutputs[], groups: number): number {
  const counts = addCounts(splits, groups);
  const positives = sum(sumCells(counts, [cellIndex(1, 0), cellIndex(1, 1)])) / sum(counts);
  return Math.max(positives, 1 - positives);
}
