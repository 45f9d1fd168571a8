import { DataValidationError } from '../../exceptions/index.ts';
import { chartFormat } from '../../charts/render-chart.ts';
import type { OnProgress } from '../../internal/progress.ts';
import { assertFileWritable, assertReplaceable, assertWritable } from '../../io/atomic-write.ts';
import { loadTensorflow, type Tf } from '../../tensor/index.ts';
import { evaluateDecisions } from '../evaluate-decisions.ts';
import { encodeFeatures, encodedWidth, type FeatureSpec, fitFeatures } from '../data/feature-encoder.ts';
import { hypervolume, markDominated } from './pareto-points.ts';
import type { ParetoSweep, SweepInfo } from './pareto-sweep.ts';
import { plotPareto } from './plot-pareto.ts';
import { holdsOnlyNetworks, saveNetworks } from '../models/save-networks.ts';
import type { LayerWeights } from '../networks/stacked-network.ts';
import { stratifiedSplit } from '../data/stratified-split.ts';
import { type FilledSweepOptions, fillSweepOptions, type SweepOptions } from './sweep-options.ts';
import {
  assertComparable,
  joinRows,
  smallGroups,
  type Split,
  splitRows,
  strata,
  unseenGroups,
} from './sweep-splits.ts';
import { type NetworkRows, trainStack, type TrainStackOptions } from '../networks/train-stack.ts';
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

  const warnings = new Set<string>();
  const logits: Float32Array[] = [];
  let networks: FittedNetworks | undefined;
  for (const [index, split] of splits.entries()) {
    const fitted = await fitSplit(tf, training, split, {
      ...filled,
      onProgress: foldProgress(filled.onProgress, index, splits.length, filled.epochs),
    });
    fitted.warnings.forEach((warning) => warnings.add(warning));
    logits.push(fitted.logits);
    networks ??= fitted;
  }
  if (networks === undefined) throw new DataValidationError('There are no rows to train on.');

  const together = joinRows(heldOut);
  const points = Object.freeze(
    markDominated(
      filled.etas.map((eta, model) => ({
        eta,
        ...evaluateDecisions(pickModel(logits, model, filled.etas.length), together.y, together.groups, filled),
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
    const saved = filled.folds === undefined ? networks : await fitAllRows(tf, training, filled);
    await saveNetworks(tf, filled.modelPath, { ...saved, points, info });
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

/** Networks with what is needed to apply them. */
interface FittedNetworks {
  readonly specs: readonly FeatureSpec[];
  readonly weights: readonly (readonly LayerWeights[])[];
  readonly logits: Float32Array;
  readonly warnings: readonly string[];
}

async function fitSplit(
  tf: Tf,
  training: TrainingData,
  { train, test }: Split,
  options: TrainStackOptions,
): Promise<FittedNetworks> {
  const { specs, warnings } = fitFeatures(train.table, training.features);
  const [fitting, validation] = stratifiedSplit(
    strata(train),
    [1 - VALIDATION_SHARE, VALIDATION_SHARE],
    options.seed,
  ) as [Int32Array, Int32Array];
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
  const trained = await trainStack(
    tf,
    encode(takeTrainingRows(train, fitting)),
    encode(takeTrainingRows(train, validation)),
    encode(test),
    options,
  );
  return { ...trained, specs, warnings };
}

/** With cross-fitting no fold's networks are the ones to keep: they are trained once more on all rows. */
function fitAllRows(tf: Tf, training: TrainingData, options: FilledSweepOptions): Promise<FittedNetworks> {
  return fitSplit(tf, training, { train: training.rows, test: training.rows }, options);
}

function foldProgress(
  onProgress: OnProgress | undefined,
  fold: number,
  folds: number,
  epochs: number,
): OnProgress | undefined {
  if (onProgress === undefined || folds === 1) return onProgress;
  return ({ done }) => {
    onProgress({
      stage: `fold ${String(fold + 1)} of ${String(folds)}`,
      done: fold * epochs + done,
      total: folds * epochs,
    });
  };
}

/** One model's logits of all parts: column `model` of [n, models]. */
function pickModel(parts: readonly Float32Array[], model: number, models: number): Float32Array {
  const picked = parts.map((logits) =>
    Float32Array.from({ length: logits.length / models }, (_, row) => logits[row * models + model] as number),
  );
  return Float32Array.from(picked.flatMap((part) => [...part]));
}

function majorityShare(y: Uint8Array): number {
  const positives = y.reduce((sum, value) => sum + value, 0) / y.length;
  return Math.max(positives, 1 - positives);
}
