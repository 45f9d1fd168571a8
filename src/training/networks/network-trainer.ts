import type { Tensor1D, Tensor2D } from '@tensorflow/tfjs';
import { z } from 'zod';

import { DataValidationError, FairnessToolkitError, TrainingError } from '../../exceptions/index.ts';
import { assertKnownOptions, type FilledOptions, oneOf } from '../../internal/arguments.ts';
import { type ColumnSource, isDeviceTensor, type TensorLike } from '../../table/index.ts';
import { backendInUse, currentTensorflow, loadTensorflow, TENSOR_BACKENDS, type Tf } from '../../tensor/index.ts';
import { isTableSource, type MatrixSource } from '../data/read-matrix.ts';
import { assertFeatureCount, decide, decideTensor } from '../estimators/estimator-rows.ts';
import { readEstimatorJson } from '../estimators/estimator-state.ts';
import { type EstimatorJson, PREDICT_OPTION_NAMES, type PredictOptions } from '../estimators/estimator.ts';
import {
  featureTable,
  NETWORK_FIT_OPTION_NAMES,
  type NetworkFitOptions,
  type NetworkFitRows,
  readNetworkFit,
  readTensorFit,
} from './fit-inputs.ts';
import { applyNetwork, applyToTensor, type FittedNetwork } from './fitted-network.ts';
import { fittedNetworkSchema, networkFromJson, networkToJson } from './network-json.ts';
import {
  assertPositive,
  checkNetworkOptions,
  multiplicationsPerStep,
  NETWORK_DEFAULTS,
  type NetworkOptions,
  SCHEDULES,
} from './network-options.ts';
import { NETWORK_TASKS, type NetworkTask } from './network-task.ts';
import type { Objective } from './objective.ts';
import { trainNetworks } from './train-networks.ts';
import type { NetworkFactory } from './user-network.ts';

/** Options shared by all trainers of a single network. */
export interface TrainerOptions extends NetworkOptions {
  /** @defaultValue 'binary' */
  readonly task?: NetworkTask | undefined;
  /**
   * The factor applied to the loss of rows with a positive label.
   * @defaultValue 1
   */
  readonly posWeight?: number | undefined;
}

/** {@link TrainerOptions} with every default filled in. */
export type FilledTrainerOptions = FilledOptions<TrainerOptions, 'backend' | 'network'>;

/** The defaults of {@link TrainerOptions}. */
export const TRAINER_DEFAULTS: FilledTrainerOptions = { ...NETWORK_DEFAULTS, task: 'binary', posWeight: 1 };

/**
 * Checks options with defaults filled in, and returns them with a copy of `hidden`.
 * @param lrName the name of the learning rate in errors
 * @throws {ValueError} if a value is out of range or a name is unknown
 */
export function checkTrainerOptions<Filled extends FilledTrainerOptions>(filled: Filled, lrName = 'lr'): Filled {
  const checked = checkNetworkOptions(filled, lrName);
  oneOf('task', filled.task, NETWORK_TASKS);
  assertPositive('posWeight', filled.posWeight);
  return checked;
}

/** The result of fitting. */
interface TrainerState<Epoch> {
  readonly network: FittedNetwork;
  /** The number of columns of the matrix of the fit; undefined for a table, whose columns have names. */
  readonly columns?: number | undefined;
  /** One entry per epoch. */
  readonly history: readonly Epoch[];
  /** The epoch, from 1, whose weights were kept. */
  readonly bestEpoch: number;
  /** The number of rows per step. */
  readonly batchSize: number;
  /** The labels of the compared groups. */
  readonly groups: readonly string[];
  /** Warnings about the features and groups. */
  readonly warnings: readonly string[];
}

/** The base class of trainers that fit one network under a fairness objective. */
export abstract class NetworkTrainer<Options extends FilledTrainerOptions, Epoch, Kind extends Objective = Objective> {
  /** The options, with every default filled in. */
  readonly options: Options;
  #state: TrainerState<Epoch> | undefined;

  protected constructor(options: Options) {
    this.options = Object.freeze(options);
  }

  /** The name of the trainer in files, for example "lagrangian_fairness_trainer". */
  protected abstract readonly kind: string;

  /** The network and its description; undefined before `fit`. */
  get state(): TrainerState<Epoch> | undefined {
    return this.#state;
  }

  /** One entry per epoch, in order; empty before `fit`. */
  get history(): readonly Epoch[] {
    return this.#state?.history ?? [];
  }

  /** The number of the epoch (from 1) whose weights the network has; 0 before `fit`. */
  get bestEpoch(): number {
    return this.#state?.bestEpoch ?? 0;
  }

  /** Warnings about the features and groups. */
  get warnings(): readonly string[] {
    return this.#state?.warnings ?? [];
  }

  /**
   * Predicts the probability of 1 for each row, or the value of a regression. From a tensor, the result is a tensor on
   * the same device, which the caller disposes of; the rows are not read back.
   * @param x a matrix with as many columns as in `fit`, or a table with columns of the same names
   * @returns [rows]
   * @throws {TrainingError} before `fit`
   * @throws {DataValidationError} if a column is missing, or if a matrix has another number of columns than in `fit`
   */
  predictProba(x: Tensor2D): Promise<Tensor1D>;
  predictProba(x: MatrixSource): Promise<Float64Array>;
  async predictProba(x: MatrixSource): Promise<Float64Array | Tensor1D> {
    if (this.#state === undefined) {
      throw new TrainingError(`The ${this.constructor.name} has not been fitted.`, { suggestion: 'Call fit first.' });
    }
    const { network, columns } = this.#state;
    if (isDeviceTensor(x)) {
      // applyToTensor rejects a tensor with another rank.
      if (x.shape.length === 2) assertSize(x.shape as [number, number], columns);
      return applyToTensor(network, x);
    }
    const table = await featureTable(x);
    if (!isTableSource(x)) assertSize([table.rowCount, table.columnNames.length], columns);
    return applyNetwork(network, table);
  }

  /**
   * Returns decisions: 1 if the probability is at least `threshold` (0.5 by default). For a regression without a
   * `threshold`, the values are returned. From a tensor, the result is a tensor: float32, with decisions 0 and 1.
   */
  predict(x: Tensor2D, options?: PredictOptions): Promise<Tensor1D>;
  predict(x: MatrixSource, options?: PredictOptions): Promise<Uint8Array | Float64Array>;
  async predict(x: MatrixSource, options: PredictOptions = {}): Promise<Uint8Array | Float64Array | Tensor1D> {
    assertKnownOptions(`${this.constructor.name}.predict`, options, PREDICT_OPTION_NAMES);
    const scores: Float64Array | Tensor1D = await this.predictProba(x);
    const threshold = options.threshold ?? (this.options.task === 'binary' ? 0.5 : undefined);
    if (threshold === undefined) return scores;
    return scores instanceof Float64Array
      ? decide(scores, threshold)
      : decideTensor(currentTensorflow(), scores, threshold);
  }

  /** Returns the options as plain data. After `fit`, the result also contains the network. */
  toJSON(): EstimatorJson {
    const state = this.#state;
    const { network, hidden, ...params } = this.options;
    return {
      kind: this.kind,
      params: { ...params, ...(network === undefined ? { hidden } : { network: OWN_NETWORK }) },
      state: state === undefined ? null : { ...state, network: networkToJson(state.network) },
    };
  }

  /** Restores a fitted state. */
  protected restore(state: TrainerState<Epoch> | undefined): void {
    this.#state = state === undefined ? undefined : Object.freeze(state);
  }

  /** Creates the objective for the rows of a fit. */
  protected abstract objectiveOf(tf: Tf, rows: NetworkFitRows): Kind;

  /** Returns the history of a fit from its objective and the loss of each epoch on the validation rows. */
  protected abstract historyOf(objective: Kind, losses: readonly number[]): readonly Epoch[];

  /**
   * Fits the network. If fitting fails or is stopped, the result of an earlier fit is kept.
   * @param x a matrix of numbers, or a table without the sensitive columns; each text column is encoded as one column
   *   per value
   * @param y [rows], 0 or 1; numbers for a regression
   * @throws {DataValidationError} if the data cannot be fitted: one group, one class, missing values, too few rows
   * @throws {TrainingError} if the loss diverges
   */
  async fit(x: MatrixSource, y: ColumnSource, options: NetworkFitOptions): Promise<this> {
    assertKnownOptions(`${this.constructor.name}.fit`, options, NETWORK_FIT_OPTION_NAMES);
    options.signal?.throwIfAborted();
    const { task } = this.options;
    const onHost = isDeviceTensor(x) ? undefined : await readNetworkFit(x, y, options, task, this.options.seed);
    const { tf, backend } = await loadTensorflow({
      backend: this.options.backend ?? (onHost ? undefined : backendInUse()),
      workPerStep: onHost && multiplicationsPerStep(onHost.train.inputs, this.options),
    });
    const rows = onHost ?? (await readTensorFit(tf, x as TensorLike, y, options, task, this.options.seed));
    let objective: Kind | undefined;
    try {
      objective = this.objectiveOf(tf, rows);
      const { network: create } = this.options;
      const problem = {
        train: rows.train,
        validation: rows.validation,
        names: ['the network'],
        objective,
        network: create && { create, task },
      };
      const trained = await trainNetworks(tf, problem, { ...this.options, ...options });
      const [layers = []] = trained.weights;
      const losses = trained.losses.map(([loss = NaN]) => loss);
      this.#state = Object.freeze({
        network: Object.freeze({
          task,
          specs: rows.specs,
          layers,
          target: rows.target,
          backend,
        }),
        columns: rows.columns,
        history: Object.freeze([...this.historyOf(objective, losses)]),
        bestEpoch: trained.bestEpochs[0] ?? 0,
        batchSize: trained.batchSize,
        groups: Object.freeze([...rows.groups.labels]),
        warnings: Object.freeze([...rows.warnings, ...(objective.warnings ?? [])]),
      });
      return this;
    } catch (cause) {
      const isReported = FairnessToolkitError.isInstance(cause) || options.signal?.aborted === true;
      throw isReported ? cause : backendFailed(cause, backend, this.options.network !== undefined);
    } finally {
      objective?.dispose();
      rows.dispose();
    }
  }
}

/**
 * Fits a trainer, and logs nothing. For callers whose result has the warnings, so that a program that prints the result
 * does not report them twice.
 */
export async function fitUnlogged<Trainer extends NetworkTrainer<FilledTrainerOptions, unknown>>(
  trainer: Trainer,
  ...rows: Parameters<Trainer['fit']>
): Promise<void> {
  await NetworkTrainer.prototype.fit.apply(trainer, rows);
}

/** Checks the size of a matrix for prediction. `expected` is the number of columns in the fit, if it was a matrix. */
function assertSize([rows, columns]: readonly [number, number], expected: number | undefined): void {
  if (rows === 0 && columns === 0) {
    throw new DataValidationError('X has no rows and no columns, so there is nothing to predict.', {
      code: 'empty-data',
      context: { argument: 'X' },
      suggestion: 'Check the query or the filter that made the rows.',
    });
  }
  if (expected !== undefined) assertFeatureCount([rows, columns], expected);
}

/** Wraps an error of a tensor backend, which states neither its cause (for example, insufficient memory) nor a fix. */
function backendFailed(cause: unknown, backend: string, isOwn: boolean): TrainingError {
  const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
  return new TrainingError(`The backend ${backend} failed in training: ${reason.replace(/\.+$/, '')}.`, {
    context: { backend },
    suggestion: isOwn
      ? 'It may lack the gradient of a layer, or be out of memory: try the backend cpu, other layers or smaller batches (batchSize).'
      : 'It may be out of memory: use fewer hidden units (hidden), smaller batches (batchSize) or another backend.',
    cause,
  });
}

/** The value of the option `network` in JSON, which cannot hold a function. */
const OWN_NETWORK = 'own';

/** Replaces the function of {@link OWN_NETWORK} in a trainer that was restored from JSON. */
const lostFactory: NetworkFactory = () => {
  throw new TrainingError(
    'JSON cannot hold the function for network, so this restored trainer cannot be fitted again.',
    {
      context: { parameter: 'network' },
      suggestion: 'Fit a new trainer with the same options and network.',
    },
  );
};

/** The options in the JSON of every trainer. The trainer's constructor checks their values. */
export const trainerParamsSchema = z.object({
  epochs: z.number(),
  lr: z.number(),
  batchSize: z.union([z.number(), z.literal('auto')]),
  hidden: z.array(z.number()).optional(),
  patience: z.number(),
  weightDecay: z.number(),
  schedule: z.enum(SCHEDULES),
  seed: z.number(),
  backend: z.enum(['auto', ...TENSOR_BACKENDS]).optional(),
  task: z.enum(NETWORK_TASKS),
  posWeight: z.number(),
  network: z
    .literal(OWN_NETWORK)
    .transform(() => lostFactory)
    .optional(),
});

/**
 * Reads the JSON that a trainer wrote.
 * @throws {DataValidationError} if the kind differs, or if fields are missing or have another type
 */
export function readTrainerJson<Params extends z.ZodType<{ readonly task: NetworkTask }>, Epoch extends z.ZodType>(
  json: unknown,
  kind: string,
  schemas: { readonly params: Params; readonly epoch: Epoch },
): { readonly params: z.output<Params>; readonly state: TrainerState<z.output<Epoch>> | undefined } {
  const { params, state } = readEstimatorJson(json, kind, {
    params: schemas.params,
    state: z.object({
      network: fittedNetworkSchema,
      columns: z.int().optional(),
      history: z.array(schemas.epoch),
      bestEpoch: z.int(),
      batchSize: z.int(),
      groups: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
  });
  if (state !== null && state.network.task !== params.task) {
    throw new DataValidationError(
      `The network of this ${kind} has task '${state.network.task}', but its params have task '${params.task}'.`,
      {
        code: 'invalid-state',
        context: { kind, params: params.task, network: state.network.task },
        suggestion: 'Pass the unchanged output of the toJSON method of a trainer.',
      },
    );
  }
  return { params, state: state === null ? undefined : { ...state, network: networkFromJson(state.network) } };
}
