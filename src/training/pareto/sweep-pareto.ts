import { chartFormat } from '../../charts/render-chart.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { assertFileWritable, assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import { chooseBatchSize, loadTensorflow, type NetworkRows, type Tensorflow, traitsOf } from '../../tensor/index.ts';
import { encodedWidth, encodeFeatures, fitFeatures, type FittedFeatures } from '../data/feature-encoder.ts';
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
import {
  readTrainingData,
  takeTrainingRows,
  type TrainingData,
  type TrainingRows,
  type TrainingSource,
} from '../data/training-data.ts';
import { judgeDecisions } from '../decision-quality.ts';
import { decide } from '../estimators/estimator-rows.ts';
import { describeRows } from '../jobs/job-result.ts';
import { crossEntropy } from '../logistic.ts';
import { type FairnessPenaltyName, maxRowsOf } from '../networks/penalties.ts';
import type { LayerWeights } from '../networks/stacked-network.ts';
import type { SweepShard } from '../networks/sweep-worker.ts';
import { trainShards } from '../networks/train-shards.ts';
import { type EtaRange, findEtas, type ProbeEtas } from './find-etas.ts';
import { hypervolume, markDominated, type ParetoPoint } from './pareto-points.ts';
import type { ParetoSweep, SweepInfo } from './pareto-sweep.ts';
import { plotPareto, pointsPath } from './plot-pareto.ts';
import { holdsOnlyNetworks, saveNetworks } from './save-networks.ts';
import { type FilledSweepOptions, fillSweepOptions, type SweepOptions, type SweepPlan } from './sweep-options.ts';

/** The rows whose decisions are compared. */
interface ComparedRows {
  /** The labels, [n], 0 or 1. */
  readonly y: Uint8Array;
  /** The groups, [n]. */
  readonly groups: CategoricalColumn;
}

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
 * The option `labels` specifies the rates that are compared: selection rates ('all'), or true and false positive rates
 * ('each'). Groups with fewer than `minGroupSize` rows are not compared.
 */
export function changesGap(
  before: Uint8Array,
  after: Uint8Array,
  { y, groups }: ComparedRows,
  options: { readonly labels: 'all' | 'each'; readonly minGroupSize: number },
): boolean {
  const events = options.labels === 'all' ? [undefined] : [0, 1];
  const limit = events.length === 1 ? Z_ONE : Z_TWO;
  return events.some((label) => {
    const sums = groups.labels.map(() => ({ n: 0, before: 0, change: 0, changed: 0 }));
    for (let row = 0; row < y.length; row++) {
      const sum = sums[groups.codes[row] as number];
      if (sum === undefined || (label !== undefined && y[row] !== label)) continue;
      const change = (after[row] as number) - (before[row] as number);
      sum.n++;
      sum.before += before[row] as number;
      sum.change += change;
      sum.changed += Math.abs(change);
    }
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
export async function sweepPareto(data: TrainingSource, options: SweepOptions = {}): Promise<ParetoSweep> {
  const filled = fillSweepOptions(options);
  const training = readTrainingData(data);
  await assertPaths(filled);
  const splits = splitRows(training, filled);
  const heldOut = splits.map(({ test }) => test);
  assertComparable(heldOut, filled.minGroupSize);
  const { tf, backend } = await loadTensorflow({ backend: filled.backend });
  const [first] = splits as [Split, ...Split[]];
  const { etas, range } =
    filled.etas === 'auto'
      ? await findEtas(probeOn(training, first.train, { tf, backend }, filled))
      : { etas: filled.etas, range: null };
  const plan: SweepPlan = { ...filled, etas };

  // With cross-fitting, the saved networks are trained on all rows. The networks of the folds are not saved.
  const complete = { train: training.rows, test: training.rows };
  const keepsAll = filled.modelPath !== undefined && filled.folds !== undefined;
  const all = await fitSplits(training, keepsAll ? [...splits, complete] : splits, { tf, backend }, plan);
  const fits = all.slice(0, splits.length);
  const warnings = new Set(fits.flatMap((fit) => fit.warnings));

  const together = joinRows(heldOut);
  const points = Object.freeze(
    markDominated(
      etas.map((eta, model) => ({
        eta,
        ...judgeLogits(joinOutputs(fits, model), together.y, together.groups, filled),
      })),
    ).map((point) => Object.freeze(point)),
  );
  const { groups, ...described } = describeRows({
    training,
    splits,
    complete: filled.folds === undefined ? undefined : training.rows,
  });
  const info: SweepInfo = {
    hypervolume: hypervolume(points, majorityShare(together.y)),
    backend,
    penalty: filled.penalty,
    etaRange: range,
    seed: filled.seed,
    batchSize: fits[0]?.batchSize ?? 0,
    ...described,
    warnings: [
      ...training.warnings,
      ...warnings,
      ...blindness(filled.penalty, range),
      ...unseenGroups(training),
      ...smallGroups(together, filled.minGroupSize),
    ],
  };
  const sweep: ParetoSweep = Object.freeze(Object.assign([...points], info));
  filled.signal?.throwIfAborted();
  if (filled.modelPath !== undefined) {
    const { specs = [], weights = [] } = (keepsAll ? all.at(-1) : all[0]) ?? {};
    await saveNetworks(tf, filled.modelPath, { specs, weights, points, info, groups });
  }
  if (filled.savePath !== undefined) await plotPareto(sweep, { savePath: filled.savePath, withPoints: true });
  return sweep;
}

/**
 * Creates the function that trains and evaluates networks for the search for etas. The function uses only the training
 * rows of one split, both for training and for evaluation.
 */
function probeOn(
  training: TrainingData,
  train: TrainingRows,
  runtime: Pick<Tensorflow, 'tf' | 'backend'>,
  options: FilledSweepOptions,
): ProbeEtas {
  const { onProgress, penalty } = options;
  const split = { train, test: train } satisfies Split;
  const majority = majorityShare(train.y);
  const compared = {
    labels: penalty === 'equalized_odds' ? 'each' : 'all',
    minGroupSize: options.minGroupSize,
  } as const;
  let round = 0;
  let free: Uint8Array | undefined;
  return async (etas) => {
    const stage = `searching for etas, round ${String(++round)}`;
    const report: OnProgress = ({ done, total }) => onProgress?.({ stage, done, total });
    const fits = await fitSplits(training, [split], runtime, { ...options, etas, onProgress: report });
    return etas.map((_, model) => {
      const decisions = decide(joinOutputs(fits, model), 0);
      free ??= decisions;
      const isAlike = decisions.every((decision) => decision === decisions[0]);
      const right = decisions.reduce((sum, decision, row) => sum + Number(decision === train.y[row]), 0);
      return {
        changesGap: changesGap(free, decisions, train, compared),
        isConstant: isAlike || right / train.y.length <= majority,
      };
    });
  };
}

function blindness(penalty: FairnessPenaltyName, range: EtaRange | null): string[] {
  if (range === null || range.hasEffect) return [];
  return [
    `no eta up to ${String(range.to)} changes the gap on the training rows by more than its noise, so the ${penalty} penalty may have no effect there`,
  ];
}

/** Checks before training that the output paths can be written, so that the result is not lost. */
async function assertPaths({ savePath, modelPath }: FilledSweepOptions): Promise<void> {
  if (savePath !== undefined) {
    chartFormat(savePath);
    await assertFileWritable(savePath);
    await assertFileWritable(pointsPath(savePath));
  }
  if (modelPath === undefined) return;
  assertReplaceable(modelPath, holdsOnlyNetworks);
  await assertWritable(modelPath);
}

/**
 * Evaluates one network's logits. The decision is 1 if the logit is at least 0, which means that the probability is at
 * least 0.5.
 */
function judgeLogits(
  logits: Float32Array,
  y: Uint8Array,
  groups: CategoricalColumn,
  options: FilledSweepOptions,
): Omit<ParetoPoint, 'eta' | 'dominated'> {
  const { accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff } = judgeDecisions(decide(logits, 0), y, groups, options);
  const loss = logits.reduce((sum, logit, row) => sum + crossEntropy(logit, y[row] as number), 0) / y.length;
  return { accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff, loss };
}

function majorityShare(y: Uint8Array): number {
  const positives = y.reduce((sum, value) => sum + value, 0) / y.length;
  return Math.max(positives, 1 - positives);
}

/** The networks of one split, with all information that is needed to apply them. */
interface FittedNetworks extends FittedFeatures {
  readonly weights: readonly (readonly LayerWeights[])[];
  /** The outputs of each network for the held-out rows. */
  readonly outputs: readonly Float32Array[];
  /** The number of rows per step. */
  readonly batchSize: number;
}

/** Trains the networks of all splits, shard by shard. */
async function fitSplits(
  training: TrainingData,
  splits: readonly Split[],
  { tf, backend }: Pick<Tensorflow, 'tf' | 'backend'>,
  options: SweepPlan,
): Promise<FittedNetworks[]> {
  const prepared = splits.map((split) => prepareSplit(training, split, options.seed));
  const size = Math.min(traitsOf(backend).networksAtOnce, options.etas.length);
  const parts = Array.from({ length: Math.ceil(options.etas.length / size) }, (_, part) =>
    options.etas.slice(part * size, (part + 1) * size),
  );
  // The batch size is the same for all folds, although the sizes of the folds may differ by one row.
  const batchSize = chooseBatchSize(tf, options.batchSize, {
    rows: Math.min(...prepared.map(({ train }) => train.y.length)),
    models: size,
    hidden: options.hidden,
    groups: training.rows.groups.labels.length,
    maxRows: maxRowsOf(options.penalty),
  });
  const shards = prepared.flatMap(({ train, validation, heldOut }) =>
    parts.map((etas): SweepShard => {
      const spec = {
        etas,
        penalty: options.penalty,
        task: 'binary',
        groupCount: train.groupCount,
        seed: options.seed,
      } as const;
      return { train, validation, heldOut, spec, backend, options: { ...pickTraining(options), batchSize } };
    }),
  );
  const trained = await trainShards(shards, options);
  return prepared.map(({ specs, warnings, heldOut }, split) => {
    const own = trained.slice(split * parts.length, (split + 1) * parts.length);
    const n = heldOut.y.length;
    const outputs = own.flatMap((shard) =>
      shard.weights.map((_, model) => shard.heldOut.subarray(model * n, (model + 1) * n)),
    );
    return { specs, warnings, outputs, batchSize, weights: own.flatMap((shard) => shard.weights) };
  });
}

/** Returns the options that a worker thread needs. */
function pickTraining(options: SweepPlan): Omit<SweepShard['options'], 'batchSize'> {
  const { epochs, lr, hidden, patience, weightDecay, schedule, seed } = options;
  return { epochs, lr, hidden, patience, weightDecay, schedule, seed };
}

/** The encoded rows of one split. */
type PreparedSplit = FittedFeatures & Pick<SweepShard, 'train' | 'validation' | 'heldOut'>;

function prepareSplit(training: TrainingData, { train, test }: Split, seed: number): PreparedSplit {
  const { specs, warnings } = fitFeatures(train.table, training.features);
  const [fitting, validation] = holdOut(strata(train), seed);
  const encode = (rows: TrainingRows): NetworkRows => ({
    x: encodeFeatures(rows.table, specs),
    y: Float32Array.from(rows.y),
    groups: rows.groups.codes,
    inputs: encodedWidth(specs),
    groupCount: training.rows.groups.labels.length,
  });
  return {
    train: encode(takeTrainingRows(train, fitting)),
    validation: encode(takeTrainingRows(train, validation)),
    heldOut: encode(test),
    specs,
    warnings,
  };
}

/** Concatenates the outputs of the network with the given index for the held-out rows of all splits. */
function joinOutputs(fits: readonly FittedNetworks[], model: number): Float32Array {
  return Float32Array.from(fits.flatMap(({ outputs }) => [...(outputs[model] ?? [])]));
}
