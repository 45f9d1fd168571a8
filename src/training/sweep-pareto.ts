import { DataValidationError, ValueError } from '../exceptions/index.ts';
import type { OnProgress } from '../internal/progress.ts';
import type { CategoricalColumn } from '../table/index.ts';
import { type BackendChoice, loadTensorflow, type Tf } from '../tensor/index.ts';
import { evaluateDecisions } from './evaluate-decisions.ts';
import { encodeFeatures, encodedWidth, type FeatureSpec, fitFeatures } from './feature-encoder.ts';
import type { FairnessPenaltyName } from './fairness-penalty.ts';
import { parsePenalty } from './fairness-regularizer-loss.ts';
import { hypervolume, markDominated } from './pareto-points.ts';
import type { ParetoSweep, SweepInfo } from './pareto-sweep.ts';
import { plotPareto } from './plot-pareto.ts';
import { saveNetworks } from './save-networks.ts';
import type { LayerWeights } from './stacked-network.ts';
import { stratifiedSplit } from './stratified-split.ts';
import { type NetworkRows, trainStack, type TrainStackOptions } from './train-stack.ts';
import {
  readTrainingData,
  takeTrainingRows,
  type TrainingData,
  type TrainingRows,
  type TrainingSource,
} from './training-data.ts';

/** Options of {@link sweepPareto}. */
export interface SweepOptions {
  /**
   * The weights of the penalty, each 0 or more.
   * @defaultValue [0, 0.2, 0.5, 1]
   */
  readonly etas?: readonly number[] | undefined;
  /** @defaultValue 'covariance' */
  readonly penalty?: FairnessPenaltyName | undefined;
  /** @defaultValue 20 */
  readonly epochs?: number | undefined;
  /**
   * Adam's learning rate.
   * @defaultValue 1e-3
   */
  readonly lr?: number | undefined;
  /** @defaultValue 128 */
  readonly batchSize?: number | undefined;
  /**
   * Units of each hidden layer.
   * @defaultValue [32]
   */
  readonly hidden?: readonly number[] | undefined;
  /**
   * A network rests after so many epochs without a better validation loss.
   * @defaultValue 5
   */
  readonly patience?: number | undefined;
  /**
   * Share of the rows that is trained on; the rest is held out.
   * @defaultValue 0.8
   */
  readonly trainSize?: number | undefined;
  /** With 2 or more, every row is held out once, by cross-fitting; for small data. */
  readonly folds?: number | undefined;
  /**
   * Groups with fewer held-out rows take no part in the gaps.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /** @defaultValue 'auto' */
  readonly backend?: BackendChoice | undefined;
  /** @defaultValue 42 */
  readonly seed?: number | undefined;
  /** Where to save the plot (.svg, .png or .html); the points go beside it as JSON. */
  readonly savePath?: string | undefined;
  /** A folder to save the networks in, one folder per eta. */
  readonly modelPath?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
}

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
  assertSplittable(training, filled);
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

type FilledSweepOptions = Required<Pick<SweepOptions, 'minGroupSize' | 'trainSize'>> &
  TrainStackOptions &
  Pick<SweepOptions, 'folds' | 'backend' | 'savePath' | 'modelPath'> & {
    readonly minGroupSize: number;
    readonly trainSize: number;
  };

function fillSweepOptions(options: SweepOptions): FilledSweepOptions {
  const filled = {
    ...options,
    etas: options.etas ?? [0, 0.2, 0.5, 1],
    penalty: parsePenalty(options.penalty ?? 'covariance'),
    epochs: options.epochs ?? 20,
    lr: options.lr ?? 1e-3,
    batchSize: options.batchSize ?? 128,
    hidden: options.hidden ?? [32],
    patience: options.patience ?? 5,
    trainSize: options.trainSize ?? 0.8,
    minGroupSize: options.minGroupSize ?? 30,
    seed: options.seed ?? 42,
  };
  const isCount = (value: number): boolean => Number.isInteger(value) && value >= 1;
  assertOption(
    'etas',
    filled.etas,
    'one or more numbers of 0 or more',
    filled.etas.length > 0 && filled.etas.every((eta) => eta >= 0 && Number.isFinite(eta)),
  );
  assertOption('etas', filled.etas, 'different numbers', new Set(filled.etas).size === filled.etas.length);
  assertOption('epochs', filled.epochs, 'a whole number of at least 1', isCount(filled.epochs));
  assertOption('batchSize', filled.batchSize, 'a whole number of at least 1', isCount(filled.batchSize));
  assertOption('patience', filled.patience, 'a whole number of at least 1', isCount(filled.patience));
  assertOption('minGroupSize', filled.minGroupSize, 'a whole number of at least 1', isCount(filled.minGroupSize));
  assertOption('hidden', filled.hidden, 'whole numbers of at least 1', filled.hidden.every(isCount));
  assertOption('lr', filled.lr, 'above 0', filled.lr > 0);
  assertOption('trainSize', filled.trainSize, 'between 0 and 1', filled.trainSize > 0 && filled.trainSize < 1);
  assertOption(
    'folds',
    filled.folds,
    'a whole number of at least 2',
    filled.folds === undefined || (isCount(filled.folds) && filled.folds >= 2),
  );
  return filled;
}

function assertOption(parameter: string, given: unknown, required: string, holds: boolean): void {
  if (holds) return;
  throw new ValueError(`The ${parameter} parameter must be ${required}. Got ${JSON.stringify(given)} instead.`, {
    context: { parameter, value: given },
  });
}

function assertSplittable({ rows, test }: TrainingData, { folds }: FilledSweepOptions): void {
  if (folds === undefined) return;
  if (test !== undefined) {
    throw new ValueError('The folds parameter and test rows of their own exclude each other.', {
      context: { parameter: 'folds' },
      suggestion: 'Give one of the two.',
    });
  }
  assertOption('folds', folds, `at most the number of rows, ${String(rows.y.length)}`, folds <= rows.y.length);
}

/** One way to part the rows. */
interface Split {
  readonly train: TrainingRows;
  readonly test: TrainingRows;
}

function splitRows(training: TrainingData, { folds, trainSize, seed }: FilledSweepOptions): Split[] {
  const { rows, test } = training;
  if (test !== undefined) return [{ train: rows, test }];
  const take = (part: Int32Array): TrainingRows => takeTrainingRows(rows, part);
  if (folds === undefined) {
    const [train, held] = stratifiedSplit(strata(rows), [trainSize, 1 - trainSize], seed) as [Int32Array, Int32Array];
    return [{ train: take(train), test: take(held) }];
  }
  const parts = stratifiedSplit(strata(rows), Array<number>(folds).fill(1 / folds), seed);
  return parts.map((part, index) => ({
    test: take(part),
    train: take(Int32Array.from(parts.flatMap((other, place) => (place === index ? [] : [...other]))).sort()),
  }));
}

/** Rows of one target and group are one stratum. */
function strata({ y, groups }: TrainingRows): Int32Array {
  return groups.codes.map((code, row) => 2 * code + (y[row] as number));
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

/** Rows of several held-out parts, one after another. */
function joinRows(parts: readonly TrainingRows[]): { y: Uint8Array; groups: CategoricalColumn } {
  return {
    y: Uint8Array.from(parts.flatMap(({ y }) => [...y])),
    groups: {
      kind: 'categorical',
      codes: Int32Array.from(parts.flatMap(({ groups }) => [...groups.codes])),
      labels: parts[0]?.groups.labels ?? [],
    },
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

function groupSizes({ codes, labels }: CategoricalColumn): Float64Array {
  const sizes = new Float64Array(labels.length);
  for (const code of codes) sizes[code] = (sizes[code] as number) + 1;
  return sizes;
}

/** Checked before the work: without two groups large enough there will be no gap to show. */
function assertComparable(parts: readonly TrainingRows[], minGroupSize: number): void {
  const sizes = groupSizes(joinRows(parts).groups);
  if (sizes.filter((size) => size >= minGroupSize).length >= 2) return;
  throw new DataValidationError(
    `The held-out rows have fewer than two groups of at least ${String(minGroupSize)} rows, so no gap could be measured.`,
    {
      context: { minGroupSize },
      suggestion: 'Cross-fit (folds, --folds 5) so that every row is held out once, or lower the minimum.',
    },
  );
}

function unseenGroups({ rows, test }: TrainingData): string[] {
  const unseen = test?.groups.labels.slice(rows.groups.labels.length) ?? [];
  return unseen.map((label) => `group '${label}' occurs in the test rows only; no penalty has seen it`);
}

function smallGroups({ groups }: { groups: CategoricalColumn }, minGroupSize: number): string[] {
  return [...groupSizes(groups)].flatMap((size, group) =>
    size >= minGroupSize || size === 0
      ? []
      : [`group '${groups.labels[group] ?? ''}' has ${String(size)} held-out rows and takes no part in the gaps`],
  );
}
