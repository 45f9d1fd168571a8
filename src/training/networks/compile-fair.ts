import type { CustomCallbackArgs, LayersModel, Logs, Optimizer, Scalar, Tensor, Tensor2D } from '@tensorflow/tfjs';

import { DataValidationError, TrainingError } from '../../exceptions/index.ts';
import { type FilledOptions, fillOptions, invalidParameter, oneOf } from '../../internal/arguments.ts';
import { metricOf } from '../../metrics/compute-metric.ts';
import type { ClassificationRows } from '../../metrics/reduce/reduce-classification.ts';
import { reduceClassificationTensors } from '../../metrics/reduce/reduce-tensors.ts';
import { type Keep, withTensors } from '../../metrics/reduce/tensors/row-states.ts';
import { cellIndex, sum, sumCells } from '../../metrics/statistics/group-stats.ts';
import { requireInteger } from '../../stats/parameters.ts';
import { type ColumnSource, isTensorLike } from '../../table/index.ts';
import { type BatchRows, bceFromLogits, currentTensorflow, type Tf } from '../../tensor/index.ts';
import { numericTensor, readDeviceColumns } from '../data/device-rows.ts';
import { assertNonNegative } from './network-options.ts';
import { PLAIN_PENALTIES, type PlainPenaltyName } from './penalties.ts';
import { logitsOf, outputActivation } from './user-network.ts';

/** The error of a model's outputs: [n, 1] or a scalar, from targets [n, 1] and outputs [n, 1]. */
export type OutputError = (targets: Tensor, outputs: Tensor) => Tensor;

/** Options of {@link compileFair}. */
export interface CompileFairOptions {
  /** The number of groups, 2 or more. Group codes are integers from 0 to `groupCount` - 1. */
  readonly groupCount: number;
  /**
   * The weight of the penalty relative to the error, 0 or more.
   * @defaultValue 0.5
   */
  readonly eta?: number | undefined;
  /** @defaultValue 'covariance' */
  readonly penalty?: PlainPenaltyName | undefined;
  /**
   * The error to which the penalty is added. Labels must be 0 or 1 for 'binaryCrossentropy'.
   * @defaultValue 'binaryCrossentropy'
   */
  readonly loss?: 'binaryCrossentropy' | OutputError | undefined;
  /**
   * Whether the model's output is a probability, a logit or another value.
   * @defaultValue based on the last layer: 'probability' if its activation is sigmoid, 'logit' if it is linear and the
   *   loss is the cross-entropy, and 'value' otherwise
   */
  readonly output?: ModelOutputKind | undefined;
  /** @defaultValue the optimizer with which the model was compiled; otherwise 'adam' */
  readonly optimizer?: string | Optimizer | undefined;
}

type ModelOutputKind = 'probability' | 'logit' | 'value';

const DEFAULTS: FilledOptions<Omit<CompileFairOptions, 'groupCount'>, 'output' | 'optimizer'> & { groupCount: number } =
  {
    groupCount: 0,
    eta: 0.5,
    penalty: 'covariance',
    loss: 'binaryCrossentropy',
    output: undefined,
    optimizer: undefined,
  };

/** The rows on which {@link FairTraining.watch} measures the model's decisions after each epoch. */
export interface WatchedRows {
  /** The model's input. */
  readonly x: Tensor | Tensor[];
  /** [n], 0 or 1. */
  readonly labels: ColumnSource;
  /** [n], integer group codes. */
  readonly groups: ColumnSource;
  /**
   * The decision is 1 if the model's output is at least this value.
   * @defaultValue 0.5 for probabilities, 0 for logits
   */
  readonly threshold?: number | undefined;
}

/** The decisions of a model after one epoch. */
export interface WatchedEpoch {
  /** The number of the epoch, from 1. */
  readonly epoch: number;
  readonly accuracy: number;
  /** The demographic parity difference; NaN if undefined. */
  readonly dpDiff: number;
  /** The equalized odds difference; NaN if undefined. */
  readonly eoDiff: number;
}

/** A callback for `model.fit`, with the result of each epoch. */
export interface FairnessWatch extends CustomCallbackArgs {
  readonly epochs: readonly WatchedEpoch[];
}

/** The result of {@link compileFair}. */
export interface FairTraining {
  /**
   * Creates the targets for `model.fit` and `model.evaluate`. A target is the number of a row, with which the loss
   * looks up the row's label, group and weight. Rows can therefore be shuffled and split into batches.
   * @param labels [n]
   * @param groups [n], integer codes from 0 to `groupCount` - 1
   * @param sampleWeight [n], 0 or more; equal weights if omitted
   * @returns [n, 1], which the caller disposes of
   * @throws {DataValidationError} if shapes or types are wrong, or if a value is missing or outside its range
   */
  targets(labels: ColumnSource, groups: ColumnSource, sampleWeight?: ColumnSource): Promise<Tensor2D>;
  /**
   * Creates a callback that measures the gaps of the model's decisions after each epoch. The callback adds `dp_diff`
   * and `eo_diff` to the logs and the history of `model.fit`. It reads only counts from the device. Groups with fewer
   * than `minGroupSize` rows are not compared.
   * @param rows the rows, which need not be the training rows
   * @param minGroupSize 30 by default
   */
  watch(rows: WatchedRows, minGroupSize?: number): FairnessWatch;
  /** Frees the labels, groups and weights. The model cannot be trained with the penalty afterwards. */
  dispose(): void;
}

/** The smallest divisor for a sum of weights. */
const TINY = 1e-30;

/**
 * Compiles your own TensorFlow.js model with a fairness penalty: the loss of each batch is the error plus eta times the
 * penalty of `FairnessRegularizerLoss`. Then train the model with `model.fit`.
 *
 * The model must have one output with one unit. The penalty constrains the mean scores of the groups in each batch, so
 * batches need rows of every group. It reduces accuracy. There is no guarantee for the gap of decisions on other rows.
 * @throws {ValueError} if the model does not have one output, or if an option is unknown or out of range
 * @example
 * ```ts
 * import * as tf from '@tensorflow/tfjs';
 * import { compileFair } from 'evenhand/training';
 *
 * const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [1], activation: 'sigmoid' })] });
 * const x = tf.tensor2d([[0], [1], [2], [3]]);
 * const fair = compileFair(model, { penalty: 'mean_gap', eta: 1, groupCount: 2 });
 * const targets = await fair.targets([0, 0, 1, 1], [0, 0, 1, 1]);
 * const { history } = await model.fit(x, targets, { epochs: 2, verbose: 0 });
 * console.log(history.loss?.length);
 * // 2
 * ```
 */
export function compileFair(model: LayersModel, options: CompileFairOptions): FairTraining {
  const { groupCount, eta, penalty, loss, output, optimizer } = fillOptions('compileFair', options, DEFAULTS);
  assertModel(model);
  requireInteger('groupCount', groupCount, 2);
  assertNonNegative('eta', eta);
  const penaltyOf = PLAIN_PENALTIES[oneOf('penalty', penalty, Object.keys(PLAIN_PENALTIES) as PlainPenaltyName[])];
  const isEntropy = loss === 'binaryCrossentropy';
  const kind = outputKind(model, isEntropy, output);
  const rows = createRowTable(groupCount, isEntropy || penalty === 'equalized_odds');
  const fairLoss = (numbers: Tensor, outputs: Tensor): Scalar => {
    const tf = currentTensorflow();
    const batch = rows.take(tf, numbers);
    const given = outputs.reshape<Tensor2D>([1, -1]);
    const error = isEntropy
      ? bceFromLogits(tf, kind === 'probability' ? logitsOf(tf, given) : given, batch.labels, batch.shares)
      : meanError(loss(batch.labels.reshape([-1, 1]), outputs), batch.shares);
    const scores = kind === 'logit' ? tf.sigmoid(given) : given;
    return error.add(penaltyOf(tf, { ...batch, scores }).mul(eta)).reshape([]);
  };
  const threshold = kind === 'logit' ? 0 : 0.5;
  const accuracy = (numbers: Tensor, outputs: Tensor): Tensor => {
    const { labels } = rows.take(currentTensorflow(), numbers);
    return outputs.greaterEqual(threshold).cast('float32').reshape([1, -1]).equal(labels).cast('float32');
  };
  // A model that was never compiled has no optimizer, although its type says otherwise.
  const compiled = Reflect.get(model, 'optimizer') as Optimizer | undefined;
  model.compile({
    optimizer: optimizer ?? compiled ?? 'adam',
    loss: fairLoss,
    metrics: isEntropy ? [accuracy] : [],
  });
  return Object.freeze({
    targets: rows.add,
    watch: (watched: WatchedRows, minGroupSize = 30) =>
      watchDecisions(model, { ...watched, threshold: watched.threshold ?? threshold }, minGroupSize),
    dispose: rows.dispose,
  });
}

function assertModel(model: LayersModel): void {
  const outputs = (model as Partial<LayersModel> | undefined)?.outputs;
  if (outputs === undefined || typeof model.compile !== 'function') {
    throw invalidParameter('model', 'be a LayersModel of TensorFlow.js', typeof model);
  }
  if (outputs.length === 1 && outputs[0]?.shape.at(-1) === 1 && outputs[0].shape.length === 2) return;
  const shapes = outputs.map(({ shape }) => `[${shape.map((side) => side ?? 'rows').join(', ')}]`);
  throw invalidParameter('model', 'have one output of shape [rows, 1]', shapes.join(', '));
}

function outputKind(model: LayersModel, isEntropy: boolean, given: ModelOutputKind | undefined): ModelOutputKind {
  if (given !== undefined) return oneOf('output', given, ['probability', 'logit', 'value']);
  const activation = outputActivation(model);
  if (activation === 'sigmoid') return 'probability';
  if (!isEntropy) return 'value';
  if (activation === 'linear') return 'logit';
  throw invalidParameter(
    'output',
    `be 'probability' or 'logit', because the activation of the last layer is neither sigmoid nor linear`,
    given,
  );
}

/** Returns the weighted mean of an error per row; a scalar is returned as it is. */
function meanError(error: Tensor, shares: Tensor2D): Tensor {
  return error.size === shares.size ? error.reshape(shares.shape).mul(shares).sum() : error;
}

/** The labels, groups and weights of all rows. The loss looks them up by row number. */
interface RowTable {
  readonly add: FairTraining['targets'];
  /** Returns the rows of a batch. The weights are divided by their sum. */
  take(tf: Tf, numbers: Tensor): BatchRows;
  readonly dispose: () => void;
}

/** The limit on row numbers, because float32 does not represent larger integers exactly. */
const MAX_ROWS = 2 ** 24;

/**
 * Creates a table without rows. Row 0 is a placeholder without a label. The number of every other row is negative, so
 * that the table recognises labels that were passed to `model.fit` in place of targets.
 */
function createRowTable(groupCount: number, isBinary: boolean): RowTable {
  let columns: Record<'labels' | 'groups' | 'weights', Tensor> | undefined;
  let [isChecked, isMistaken] = [false, false];
  /** Checks the first batch without waiting for the device. */
  const check = (tf: Tf, numbers: Tensor): void => {
    if (isMistaken) throw notTargets();
    if (isChecked) return;
    isChecked = true;
    const known = columns?.labels.size ?? 0;
    const extremes = tf.keep(tf.tidy(() => tf.stack([numbers.max(), numbers.min()])));
    void extremes.data().then(([largest = 0, smallest = 0]) => {
      isMistaken = largest >= 0 || -smallest >= known;
      extremes.dispose();
    });
  };
  return {
    async add(labels, groups, sampleWeight) {
      const tf = currentTensorflow();
      return withTensors(tf, async (keep) => {
        const given = await readRows(tf, keep, { labels, groups, sampleWeight }, groupCount, isBinary);
        const before = columns;
        const start = before?.labels.size ?? 1;
        const n = given.labels.size;
        if (start + n > MAX_ROWS) throw tooManyRows(start + n - 1);
        columns = tf.tidy(() => {
          const first = before ?? { labels: tf.tensor1d([NaN]), groups: tf.tensor1d([0]), weights: tf.tensor1d([1]) };
          const join = (name: keyof typeof first): Tensor => tf.concat([first[name], given[name]]);
          return { labels: join('labels'), groups: join('groups'), weights: join('weights') };
        });
        tf.dispose({ ...before });
        return tf.tidy(() => tf.range(-start, -start - n, -1).reshape([n, 1]));
      });
    },
    take(tf, numbers) {
      if (columns === undefined) throw notTargets();
      check(tf, numbers);
      const rows = numbers
        .reshape([-1])
        .neg()
        .maximum(0)
        .minimum(columns.labels.size - 1)
        .cast('int32');
      const [labels, groups, weights] = [columns.labels, columns.groups, columns.weights].map((one) =>
        one.gather(rows),
      );
      const shares = (weights as Tensor).div((weights as Tensor).sum().maximum(TINY)).reshape<Tensor2D>([-1, 1]);
      const codes = tf.range(0, groupCount).reshape([1, groupCount]);
      return {
        labels: (labels as Tensor).reshape([1, -1]),
        shares,
        membership: (groups as Tensor).reshape([-1, 1]).equal(codes).cast('float32').mul(shares),
      };
    },
    dispose() {
      currentTensorflow().dispose({ ...columns });
      columns = undefined;
    },
  };
}

function notTargets(): TrainingError {
  return new TrainingError('The loss does not know these rows: they are not the targets of this compileFair.', {
    suggestion:
      'Pass await fair.targets(labels, groups) to model.fit, to validationData and to model.evaluate. Call dispose afterwards.',
  });
}

function tooManyRows(rows: number): DataValidationError {
  return new DataValidationError(
    `The targets number ${String(rows)} rows, but float32 can number at most ${String(MAX_ROWS - 1)}.`,
    { code: 'data-too-large', context: { rows, expected: MAX_ROWS - 1 }, suggestion: 'Train on fewer rows at a time.' },
  );
}

/** The labels, group codes and weights in the form in which the caller passed them. */
type GivenRows = Readonly<Record<'labels' | 'groups', ColumnSource> & { sampleWeight?: ColumnSource | undefined }>;

/**
 * Uploads rows and checks them. What is read of a tensor does not depend on the number of rows.
 * @returns float32 tensors, [n] each
 */
async function readRows(
  tf: Tf,
  keep: Keep,
  { labels, groups, sampleWeight }: GivenRows,
  groupCount: number,
  isBinary: boolean,
): Promise<Record<'labels' | 'groups' | 'weights', Tensor>> {
  const columns = await readDeviceColumns(tf, keep, {
    labels: { source: flattened(keep, labels, 'labels'), must: isBinary ? 'binary' : 'finite' },
    groups: { source: flattened(keep, groups, 'groups'), must: groupCount },
    sampleWeight:
      sampleWeight === undefined
        ? undefined
        : { source: flattened(keep, sampleWeight, 'sampleWeight'), must: 'weight' },
  });
  const kept = columns.labels?.tensor as Tensor;
  return {
    labels: kept,
    groups: columns.groups?.tensor as Tensor,
    weights: columns.sampleWeight?.tensor ?? keep(tf.onesLike(kept)),
  };
}

/** Returns a tensor of one column, [n, 1], as [n], and any other source as it is. */
function flattened(keep: Keep, source: ColumnSource, name: string): ColumnSource {
  if (!isTensorLike(source) || source.shape.length !== 2 || source.shape[1] !== 1) return source;
  return keep(numericTensor(source, name).flatten());
}

/** The number of rows per forward pass of {@link FairTraining.watch}. */
const ROWS_AT_ONCE = 8192;

/** Creates the callback of {@link FairTraining.watch}. */
function watchDecisions(
  model: LayersModel,
  { x, labels, groups, threshold = 0.5 }: WatchedRows,
  minGroupSize: number,
): FairnessWatch {
  const epochs: WatchedEpoch[] = [];
  return {
    epochs,
    async onEpochEnd(epoch: number, logs?: Logs) {
      const tf = currentTensorflow();
      const yPred = tf.tidy(() =>
        (model.predict(x, { batchSize: ROWS_AT_ONCE }) as Tensor)
          .greaterEqual(threshold)
          .cast('float32')
          .flatten()
          .clone(),
      );
      try {
        const rows = { yTrue: labels, yPred, sensitive: groups } as unknown as ClassificationRows;
        const stats = await reduceClassificationTensors(rows);
        const gap = (name: string): number => metricOf(name, stats, { minGroupSize, withCi: false }).value;
        const right = sum(sumCells(stats.counts, [cellIndex(0, 0), cellIndex(1, 1)]));
        const measured = {
          epoch: epoch + 1,
          accuracy: right / sum(stats.counts),
          dpDiff: gap('demographic_parity_difference'),
          eoDiff: gap('equalized_odds_difference'),
        };
        epochs.push(Object.freeze(measured));
        if (logs !== undefined) Object.assign(logs, { dp_diff: measured.dpDiff, eo_diff: measured.eoDiff });
      } finally {
        yPred.dispose();
      }
    },
  };
}
