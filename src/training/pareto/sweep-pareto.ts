import type { OnProgress } from '../../internal/progress.ts';
import { cellIndex, sum, sumCells } from '../../metrics/statistics/group-stats.ts';
import { onHost } from '../../table/index.ts';
import {
  areTensors,
  backendInUse,
  countRows,
  disposeRows,
  loadTensorflow,
  type NetworkData,
  type NetworkTensors,
  type Tensorflow,
  type Tf,
} from '../../tensor/index.ts';
import { encodedWidth, encodeFeatures, fitFeatures, type FittedFeatures } from '../data/feature-encoder.ts';
import { fitFeatureTensors } from '../data/feature-tensors.ts';
import {
  assertComparable,
  holdOut,
  joinRows,
  smallGroups,
  type Split,
  splitRows,
  strata,
  unseenGroups,
} from '../data/row-splits.ts';
import { isStreamSource, type StreamTrainingSource } from '../data/stream-training.ts';
import {
  isTensorSource,
  positionsOf,
  readTensorTraining,
  readTrainingData,
  takeTrainingRows,
  type TensorTrainingSource,
  type TrainingData,
  type TrainingRows,
  type TrainingSource,
} from '../data/training-data.ts';
import { encodeTensorRows, type TensorRows } from '../data/tensor-rows.ts';
import { describeRows } from '../jobs/job-result.ts';
import { multiplicationsPerStep } from '../networks/network-options.ts';
import type { FairnessPenaltyName } from '../networks/penalties.ts';
import type { NetworkWeights } from '../networks/network-weights.ts';
import { disposeOutputs, planShards, trainShards } from '../networks/train-shards.ts';
import { type EtaRange, findEtas, type FoundEtas } from './find-etas.ts';
import { assertPaths, finishSweep } from './finish-sweep.ts';
import {
  decisionCounts,
  type Decisions,
  firstDecisions,
  type JudgedOutputs,
  judgeOutputs,
  type Outputs,
  pairIndex,
} from './judge-outputs.ts';
import type { ParetoSweep } from './pareto-sweep.ts';
import type { HeldOutScores } from './held-out-scores.ts';
import {
  type FilledSweepOptions,
  fillSweepOptions,
  notSent,
  type SweepOptions,
  type SweepPlan,
} from './sweep-options.ts';
import { sweepStream } from './sweep-stream.ts';

/** Critical values of two-sided tests at the 5% level: for one test, and for two tests at 2.5% each. */
const [Z_ONE, Z_TWO] = [1.959963984540054, 2.241402727604947];

/**
 * Returns whether two models have gaps that differ by more than noise, on the same rows. The function finds the two
 * groups that are farthest apart under the first model, and compares the gap between them with a paired test at the 5%
 * level.
 *
 * Let d = after - before be the change of a row's decision. The change of the gap is the difference of the two groups'
 * mean d, and its variance is the sum of var(d) / n. Rows with the same decision under both models add no noise to this
 * change, but they would add noise to separate intervals of the two gaps.
 *
 * The option `labels` selects the rates: selection rates ('all'), or true and false positive rates ('each'). Groups
 * with fewer than `minGroupSize` rows are not compared.
 * @param pairs the number of rows by group, label, and the decisions of the first and the second model (`pairIndex`)
 */
export function changesGap(
  pairs: Float64Array,
  options: { readonly labels: 'all' | 'each'; readonly minGroupSize: number },
): boolean {
  const events: readonly (readonly (0 | 1)[])[] = options.labels === 'all' ? [[0, 1]] : [[0], [1]];
  const limit = events.length === 1 ? Z_ONE : Z_TWO;
  const groups = pairs.length / pairIndex(1, 0, 0, 0);
  return events.some((labels) => {
    const sums = Array.from({ length: groups }, (_, group) => {
      const count = (before: 0 | 1, after: 0 | 1): number =>
        labels.reduce<number>((total, label) => total + (pairs[pairIndex(group, label, before, after)] as number), 0);
      const [gained, lost] = [count(0, 1), count(1, 0)];
      const before = lost + count(1, 1);
      return { n: before + gained + count(0, 0), before, change: gained - lost, changed: gained + lost };
    });
    const compared = sums.filter(({ n }) => n >= options.minGroupSize).sort((a, b) => a.before / a.n - b.before / b.n);
    const [low, high] = [compared[0], compared.at(-1)];
    if (low === undefined || high === undefined || low === high) return false;
    const variance = [low, high].reduce(
      (sum, { n, change, changed }) => sum + (changed / n - (change / n) ** 2) / n,
      0,
    );
    const change = high.change / high.n - low.change / low.n;
    return Math.abs(change) > limit * Math.sqrt(variance);
  });
}

/**
 * Trains one network per eta, all at the same time, and reports the trade-off between accuracy and gap on held-out
 * rows. Each network minimises its error plus eta times a fairness penalty.
 *
 * The data are split by target and group (80/20 by default), or cross-fitted with `folds`. Of the training rows, 10%
 * are used for early stopping. The encoding of features is learned from the training rows only: numbers are
 * standardised, text is one-hot encoded, and missing values are marked. Sensitive columns are never used as features.
 *
 * The penalty constrains mean scores on the training rows. There is no guarantee that the gap of decisions on other
 * rows falls as eta rises. The points show whether the gap falls.
 *
 * With `etas: 'auto'`, networks are first trained on the first split and evaluated only on its training rows. The
 * search finds the smallest eta whose gap differs from the gap without a penalty by more than noise (a paired test at
 * the 5% level). The search also finds the last eta before the model becomes constant or no better than a constant
 * model. `etaRange` contains the result.
 *
 * If the data are tensors, their rows stay on their device and are never read back; what is read does not depend on the
 * number of rows.
 *
 * Training time is proportional to rows x etas x epochs. Results depend on the seed and, in the last digits, on the
 * backend, but not on the number of cores.
 * @throws {DataValidationError} if a column is unknown, the target does not have two values, there is only one group,
 *   or there are too few rows
 * @throws {TrainingError} if the loss diverges
 * @throws {DependencyError} if the requested backend cannot start
 * @example
 * ```ts
 * import { sweepPareto, sampleData } from 'evenhand';
 *
 * const points = await sweepPareto(
 *   { table: sampleData('cps-wages'), target: 'wage_above_median', sensitive: 'gender', features: ['education', 'experience'] },
 *   { etas: [0, 2], epochs: 3, backend: 'wasm' },
 * );
 * console.log(points.map((point) => point.eta), points.nTest);
 * // [ 0, 2 ] 107
 * ```
 */
export async function sweepPareto(
  data: TrainingSource | TensorTrainingSource | StreamTrainingSource,
  options: SweepOptions = {},
): Promise<ParetoSweep> {
  const filled = fillSweepOptions(options);
  if (isStreamSource(data)) return sweepStream(data, filled);
  if (!isTensorSource(data)) return sweep(readTrainingData(await onHost(data)), filled);
  if (filled.queue !== undefined) throw notSent('features', 'a tensor');
  const { tf, backend } = await loadTensorflow({ backend: filled.backend ?? backendInUse() });
  const training = await readTensorTraining(tf, data);
  try {
    return await sweep(training, { ...filled, backend });
  } finally {
    training.tensors?.dispose();
  }
}

/**
 * Trains the networks of {@link sweepPareto} on a table, and also returns their outputs for the held-out rows. The
 * points equal those of `sweepPareto`.
 */
export async function sweepWithScores(
  data: TrainingSource,
  options: Omit<SweepOptions, 'folds' | 'etas'> & { readonly etas: readonly number[] },
): Promise<{ readonly sweep: ParetoSweep; readonly scores: HeldOutScores }> {
  const filled = fillSweepOptions(options);
  const training = readTrainingData(data);
  const { labels } = (training.test ?? training.rows).groups;
  const logits: Float32Array[] = [];
  let [y, codes] = [new Uint8Array(0), new Int32Array(0)];
  const points = await sweep(training, filled, (outputs, rows, models) => {
    // Rows of tables, and the outputs for them, are arrays.
    if (areTensors(rows) || !(outputs instanceof Float32Array)) return;
    [y, codes] = [Uint8Array.from(rows.y), rows.groups.slice()];
    for (let model = 0; model < models; model++) logits.push(outputs.slice(model * y.length, (model + 1) * y.length));
  });
  const { minGroupSize, seed } = filled;
  return { sweep: points, scores: { y, groups: { kind: 'categorical', codes, labels }, logits, minGroupSize, seed } };
}

/** Estimates the number of multiplications of one training step, in the first layer of all networks. */
function workPerStep({ rows: { table }, features }: TrainingData, { etas, ...options }: FilledSweepOptions): number {
  const inputs = encodedWidth(fitFeatures(table, features).specs);
  return (etas === 'auto' ? ETAS_AT_ONCE : etas.length) * multiplicationsPerStep(inputs, options);
}

/** The number of networks that a search for etas usually trains together. */
const ETAS_AT_ONCE = 8;

/** @param keep receives the outputs of the networks for the held-out rows, shard by shard */
async function sweep(
  training: TrainingData,
  filled: FilledSweepOptions,
  keep?: (outputs: Outputs, rows: NetworkData, models: number) => void,
): Promise<ParetoSweep> {
  await assertPaths(filled);
  const splits = splitRows(training, filled);
  const heldOut = splits.map(({ test }) => test);
  assertComparable(heldOut, filled.minGroupSize);
  const { tf, backend } = await loadTensorflow({
    backend: filled.backend,
    // The encoding of all rows is examined only if the choice depends on it.
    get workPerStep() {
      return workPerStep(training, filled);
    },
  });
  const [first] = splits as [Split, ...Split[]];
  const { etas, range } =
    filled.etas === 'auto'
      ? await searchEtas(training, first.train, { tf, backend }, filled)
      : { etas: filled.etas, range: null };
  const plan: SweepPlan = { ...filled, etas };
  const together = joinRows(heldOut);
  const { labels: groupLabels } = together.groups;

  // With cross-fitting, the saved networks are trained on all rows. The networks of the folds are not saved.
  const complete = { train: training.rows, test: training.rows };
  const keepsAll = filled.modelPath !== undefined && filled.folds !== undefined;
  const judge: JudgeShard = (outputs, rows, models) => {
    keep?.(outputs, rows, models);
    return judgeOutputs(tf, outputs, rows, { models, groupCount: groupLabels.length });
  };
  const all = await fitSplits(training, keepsAll ? [...splits, complete] : splits, { tf, backend }, plan, judge);
  const fits = all.slice(0, splits.length);
  const warnings = new Set(fits.flatMap((fit) => fit.warnings));

  const { groups, ...described } = describeRows({
    training,
    splits,
    complete: filled.folds === undefined ? undefined : training.rows,
  });
  const { specs = [], weights = [] } = (keepsAll ? all.at(-1) : all[0]) ?? {};
  return finishSweep(
    tf,
    {
      judged: etas.map((_, model) => fits.map(({ judged }) => judged[model] as JudgedOutputs)),
      ...{ etas, range, specs, weights, groups, groupLabels, described, backend },
      batchSize: fits[0]?.batchSize ?? 0,
      warnings: [
        ...training.warnings,
        ...warnings,
        ...blindness(filled.penalty, range),
        ...unseenGroups(training),
        ...smallGroups(together, filled.minGroupSize),
      ],
    },
    filled,
  );
}

/**
 * Searches for etas. The search trains on one split, evaluates on the training rows of this split, and never uses
 * held-out rows.
 */
async function searchEtas(
  training: TrainingData,
  train: TrainingRows,
  { tf, backend }: Pick<Tensorflow, 'tf' | 'backend'>,
  options: FilledSweepOptions,
): Promise<FoundEtas> {
  const { onProgress, penalty } = options;
  const split = { train, test: train } satisfies Split;
  const majority = majorityShare(train.y);
  const compared = {
    labels: penalty === 'equalized_odds' ? 'each' : 'all',
    minGroupSize: options.minGroupSize,
  } as const;
  let round = 0;
  /** The decisions without a penalty. */
  let free: Decisions | undefined;
  const judge: JudgeShard = (outputs, rows, models) => {
    free ??= firstDecisions(tf, outputs, countRows(rows));
    return judgeOutputs(tf, outputs, rows, { models, groupCount: train.groups.labels.length, reference: free });
  };
  try {
    return await findEtas(async (etas) => {
      const stage = `searching for etas, round ${String(++round)}`;
      const report: OnProgress = ({ done, total }) => onProgress?.({ stage, done, total });
      const plan = { ...options, etas, onProgress: report };
      const [fit] = await fitSplits(training, [split], { tf, backend }, plan, judge);
      return (fit?.judged ?? []).map(({ pairs }) => {
        const counts = decisionCounts(pairs);
        const selected = sum(sumCells(counts, [cellIndex(0, 1), cellIndex(1, 1)]));
        const right = sum(sumCells(counts, [cellIndex(0, 0), cellIndex(1, 1)]));
        const isAlike = selected === 0 || selected === train.y.length;
        return {
          changesGap: changesGap(pairs, compared),
          isConstant: isAlike || right / train.y.length <= majority,
        };
      });
    });
  } finally {
    if (free !== undefined && !(free instanceof Uint8Array)) free.dispose();
  }
}

function blindness(penalty: FairnessPenaltyName, range: EtaRange | null): string[] {
  if (range === null || range.hasEffect) return [];
  return [
    `no eta up to ${String(range.to)} changes the gap on the training rows by more than its noise, so the ${penalty} penalty may have no effect there`,
  ];
}

function majorityShare(y: Uint8Array): number {
  const positives = y.reduce((total, value) => total + value, 0) / y.length;
  return Math.max(positives, 1 - positives);
}

/** Judges the networks of a shard by their outputs for rows. Returns one result per network. */
type JudgeShard = (outputs: Outputs, rows: NetworkData, models: number) => Promise<JudgedOutputs[]>;

/** The networks of one split, with all information that is needed to apply them. */
interface FittedNetworks extends FittedFeatures {
  readonly weights: readonly NetworkWeights[];
  /** The decisions of each network on the held-out rows. */
  readonly judged: readonly JudgedOutputs[];
  /** The number of rows per step. */
  readonly batchSize: number;
}

/** Trains the networks of all splits, shard by shard. */
async function fitSplits(
  training: TrainingData,
  splits: readonly Split[],
  { tf, backend }: Pick<Tensorflow, 'tf' | 'backend'>,
  options: SweepPlan,
  judge: JudgeShard,
): Promise<FittedNetworks[]> {
  const prepared: PreparedSplit[] = [];
  try {
    for (const split of splits) prepared.push(await prepareSplit(tf, training, split, options.seed));
    return await fitPrepared(prepared, training.rows.groups.labels.length, { tf, backend }, options, judge);
  } finally {
    for (const { train, validation, heldOut } of prepared) {
      for (const rows of [train, validation, heldOut]) if (areTensors(rows)) disposeRows(tf, rows);
    }
  }
}

async function fitPrepared(
  prepared: readonly PreparedSplit[],
  groups: number,
  { tf, backend }: Pick<Tensorflow, 'tf' | 'backend'>,
  options: SweepPlan,
  judge: JudgeShard,
): Promise<FittedNetworks[]> {
  // The batch size is the same for all folds, although the sizes of the folds may differ by one row.
  const rows = Math.min(...prepared.map(({ train }) => countRows(train)));
  const { parts, batchSize, shardOf } = planShards({ tf, backend }, { rows, groups }, options);
  const shards = prepared.flatMap(({ train, validation, heldOut }) =>
    parts.map((etas) => shardOf({ train, validation, heldOut }, etas)),
  );
  const trained = await trainShards(shards, options);
  try {
    const fits: FittedNetworks[] = [];
    for (const [split, { specs, warnings, heldOut }] of prepared.entries()) {
      const own = trained.slice(split * parts.length, (split + 1) * parts.length);
      const judged: JudgedOutputs[] = [];
      for (const shard of own) judged.push(...(await judge(shard.heldOut, heldOut, shard.weights.length)));
      fits.push({ specs, warnings, judged, batchSize, weights: own.flatMap((shard) => shard.weights) });
    }
    return fits;
  } finally {
    disposeOutputs(trained);
  }
}

/** The encoded rows of one split. */
interface PreparedSplit extends FittedFeatures {
  readonly train: NetworkData;
  readonly validation: NetworkData;
  readonly heldOut: NetworkData;
}

async function prepareSplit(tf: Tf, training: TrainingData, split: Split, seed: number): Promise<PreparedSplit> {
  const { train, test } = split;
  const [fitting, validation] = holdOut(strata(train), seed);
  const parts = [takeTrainingRows(train, fitting), takeTrainingRows(train, validation), test] as const;
  if (training.tensors !== undefined) return prepareTensors(tf, training.tensors, train, parts);
  const { specs, warnings } = fitFeatures(train.table, training.features);
  const [fitted, held, heldOut] = parts.map((rows): NetworkData => ({
    x: encodeFeatures(rows.table, specs),
    y: Float32Array.from(rows.y),
    groups: rows.groups.codes,
    inputs: encodedWidth(specs),
    groupCount: training.rows.groups.labels.length,
  })) as [NetworkData, NetworkData, NetworkData];
  return { train: fitted, validation: held, heldOut, specs, warnings };
}

async function prepareTensors(
  tf: Tf,
  tensors: TensorRows,
  train: TrainingRows,
  parts: readonly TrainingRows[],
): Promise<PreparedSplit> {
  const complete = tensors.take(positionsOf(train));
  const { specs, warnings } = await fitFeatureTensors(tf, complete.x, tensors).finally(() => {
    disposeRows(tf, complete);
  });
  const encoding = { specs, target: { mean: 0, scale: 1 }, columns: tensors };
  const [fitted, validation, heldOut] = tf.tidy(() =>
    parts.map((rows) => tf.tidy(() => ({ ...encodeTensorRows(tf, tensors.take(positionsOf(rows)), encoding) }))),
  ) as [NetworkTensors, NetworkTensors, NetworkTensors];
  return { train: fitted, validation, heldOut, specs, warnings };
}
