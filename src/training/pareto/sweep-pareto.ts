import { DataValidationError } from '../../exceptions/index.ts';
import { chartFormat } from '../../charts/render-chart.ts';
import type { CategoricalColumn } from '../../table/index.ts';
import { assertFileWritable, assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import { loadTensorflow, type TensorBackend } from '../../tensor/index.ts';
import { judgeDecisions } from '../decision-quality.ts';
import { crossEntropy } from '../logistic.ts';
import { encodeFeatures, encodedWidth, type FeatureSpec, fitFeatures } from '../data/feature-encoder.ts';
import { hypervolume, markDominated, type ParetoPoint } from './pareto-points.ts';
import type { ParetoSweep, SweepInfo } from './pareto-sweep.ts';
import { plotPareto } from './plot-pareto.ts';
import { holdsOnlyNetworks, saveNetworks } from '../models/save-networks.ts';
import type { LayerWeights } from '../networks/stacked-network.ts';
import { stratifiedSplit } from '../data/stratified-split.ts';
import { type FilledSweepOptions, fillSweepOptions, type SweepOptions } from './sweep-options.ts';
import {
  assertComparable,
  countGroups,
  joinRows,
  smallGroups,
  type Split,
  splitRows,
  strata,
  unseenGroups,
} from '../data/row-splits.ts';
import type { NetworkRows } from '../networks/network-rows.ts';
import type { SweepShard } from '../networks/sweep-shard.ts';
import { trainShards } from '../networks/train-shards.ts';
import {
  readTrainingData,
  takeTrainingRows,
  type TrainingData,
  type TrainingRows,
  type TrainingSource,
} from '../data/training-data.ts';

/** Share of the training rows that decides when to stop. */
const VALIDATION_SHARE = 0.1;

/**
 * Trains one network for every eta, all at once, and shows what each gives up
 * in accuracy for how small a gap: the trade-off between error and a fairness
 * penalty, on rows that the networks have not seen.
 *
 * The data are split by target and group (80/20 unless told otherwise), or
 * cross-fitted with `folds`; 10% of the training rows decide when to stop.
 * Features are encoded from training rows alone: numbers standardised, text
 * one-hot, missing values marked. Sensitive columns are never features.
 *
 * The penalty constrains mean scores on the training rows; that the gap of
 * decisions falls with eta on other rows is what the points show, not a promise.
 * Rows x etas x epochs decide the time; results depend on the seed and, in the
 * last digits, on the backend, never on the number of cores.
 * @throws {DataValidationError} for unknown columns, a target without two values, one group, or too few rows
 * @throws {TrainingError} where the loss diverges
 * @throws {DependencyError} where the backend asked for cannot start
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
  await assertPlaces(filled);
  const splits = splitRows(training, filled);
  const heldOut = splits.map(({ test }) => test);
  assertComparable(heldOut, filled.minGroupSize);
  const { tf, backend } = await loadTensorflow({ backend: filled.backend });

  const fits = await fitSplits(training, splits, backend, filled);
  const warnings = new Set(fits.flatMap((fit) => fit.warnings));

  const together = joinRows(heldOut);
  const points = Object.freeze(
    markDominated(
      filled.etas.map((eta, model) => ({
        eta,
        ...judgeLogits(joinOutputs(fits, model), together.y, together.groups, filled),
      })),
    ).map((point) => Object.freeze(point)),
  );
  const info: SweepInfo = {
    hypervolume: hypervolume(points, majorityShare(together.y)),
    backend,
    penalty: filled.penalty,
    seed: filled.seed,
    folds: filled.folds ?? null,
    nTrain: splits[0]?.train.y.length ?? 0,
    nTest: together.y.length,
    nDropped: training.rows.nDropped,
    target: training.target,
    sensitive: training.sensitive,
    positiveLabel: training.positiveLabel,
    warnings: [...warnings, ...unseenGroups(training), ...smallGroups(together, filled.minGroupSize)],
  };
  const sweep: ParetoSweep = Object.freeze(Object.assign([...points], info));
  if (filled.modelPath !== undefined) {
    // With cross-fitting no fold's networks are the ones to keep: they are trained once more on all rows.
    const whole = { train: training.rows, test: training.rows };
    const [kept] = filled.folds === undefined ? fits : await fitSplits(training, [whole], backend, filled);
    const groups = countGroups((filled.folds === undefined ? splits[0] : whole)?.train ?? training.rows);
    await saveNetworks(tf, filled.modelPath, {
      specs: kept?.specs ?? [],
      weights: kept?.weights ?? [],
      points,
      info,
      groups,
    });
  }
  if (filled.savePath !== undefined) await plotPareto(sweep, { savePath: filled.savePath, withPoints: true });
  return sweep;
}

/** Checked before the work, so that its result is not lost to a bad path. */
async function assertPlaces({ savePath, modelPath }: FilledSweepOptions): Promise<void> {
  if (savePath !== undefined) {
    chartFormat(savePath);
    await assertFileWritable(savePath);
  }
  if (modelPath === undefined) return;
  assertReplaceable(modelPath, holdsOnlyNetworks);
  await assertWritable(modelPath);
}

/** Networks of one split with what is needed to apply them. */
interface FittedNetworks {
  readonly specs: readonly FeatureSpec[];
  readonly weights: readonly (readonly LayerWeights[])[];
  /** What each network gives the held-out rows. */
  readonly outputs: readonly Float32Array[];
  readonly warnings: readonly string[];
}

/** Networks that one thread trains together on a CPU; a part of the result's definition, so no option. */
const SHARD_SIZE = 8;

/** Trains the networks of all splits, shard by shard. */
async function fitSplits(
  training: TrainingData,
  splits: readonly Split[],
  backend: TensorBackend,
  options: FilledSweepOptions,
): Promise<FittedNetworks[]> {
  const prepared = splits.map((split) => prepareSplit(training, split, options.seed));
  // A GPU trains one wide stack as fast as a narrow one.
  const size = backend === 'wasm' || backend === 'cpu' ? SHARD_SIZE : options.etas.length;
  const parts = Array.from({ length: Math.ceil(options.etas.length / size) }, (_, part) =>
    options.etas.slice(part * size, (part + 1) * size),
  );
  const shards = prepared.flatMap(({ train, validation, heldOut }) =>
    parts.map((etas): SweepShard => {
      const spec = {
        etas,
        penalty: options.penalty,
        task: 'binary',
        groupCount: train.groupCount,
        seed: options.seed,
      } as const;
      return { train, validation, heldOut, spec, backend, options: pickTraining(options) };
    }),
  );
  const trained = await trainShards(shards, options);
  return prepared.map(({ specs, warnings, heldOut }, split) => {
    const own = trained.slice(split * parts.length, (split + 1) * parts.length);
    const n = heldOut.y.length;
    const outputs = own.flatMap((shard) =>
      shard.weights.map((_, model) => shard.heldOut.subarray(model * n, (model + 1) * n)),
    );
    return { specs, warnings, outputs, weights: own.flatMap((shard) => shard.weights) };
  });
}

/** What a thread needs of the options. */
function pickTraining(options: FilledSweepOptions): SweepShard['options'] {
  const { epochs, lr, batchSize, hidden, patience, weightDecay, schedule, seed } = options;
  return { epochs, lr, batchSize, hidden, patience, weightDecay, schedule, seed };
}

/** Rows of one split, encoded. */
interface PreparedSplit {
  readonly train: NetworkRows;
  readonly validation: NetworkRows;
  readonly heldOut: NetworkRows;
  readonly specs: readonly FeatureSpec[];
  readonly warnings: readonly string[];
}

function prepareSplit(training: TrainingData, { train, test }: Split, seed: number): PreparedSplit {
  const { specs, warnings } = fitFeatures(train.table, training.features);
  const [fitting, validation] = stratifiedSplit(strata(train), [1 - VALIDATION_SHARE, VALIDATION_SHARE], seed) as [
    Int32Array,
    Int32Array,
  ];
  if (fitting.length === 0 || validation.length === 0 || test.y.length === 0) {
    throw new DataValidationError(`There are too few rows to train on: ${String(train.y.length)}.`, {
      context: { rows: train.y.length },
      suggestion: 'Training, stopping and testing each need rows; give at least a few dozen.',
    });
  }
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

/** What one network, by its place, gives the held-out rows of all splits. */
function joinOutputs(fits: readonly FittedNetworks[], model: number): Float32Array {
  return Float32Array.from(fits.flatMap(({ outputs }) => [...(outputs[model] ?? [])]));
}

/** Judges one network's logits: it decides 1 for 0 or more, a probability of at least 0.5. */
function judgeLogits(
  logits: Float32Array,
  y: Uint8Array,
  groups: CategoricalColumn,
  options: FilledSweepOptions,
): Omit<ParetoPoint, 'eta' | 'dominated'> {
  const decisions = Uint8Array.from(logits, (logit) => Number(logit >= 0));
  const { accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff } = judgeDecisions(decisions, y, groups, options);
  const loss = logits.reduce((sum, logit, row) => sum + crossEntropy(logit, y[row] as number), 0) / y.length;
  return { accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff, loss };
}

function majorityShare(y: Uint8Array): number {
  const positives = y.reduce((sum, value) => sum + value, 0) / y.length;
  return Math.max(positives, 1 - positives);
}
