import { fillOptions, snakeFields } from '../../internal/arguments.ts';
import { type FeatureSpec, fitFeatures } from '../data/feature-encoder.ts';
import type { TrainingRows, TrainingSource } from '../data/training-data.ts';
import { describeModel } from '../models/describe-model.ts';
import {
  LAGRANGIAN_DEFAULTS,
  LagrangianFairnessTrainer,
  type LagrangianFairnessTrainerOptions,
  toleranceWarnings,
} from '../networks/lagrangian-fairness-trainer.ts';
import type { LagrangianEpoch } from '../networks/lagrangian-objective.ts';
import { fitUnlogged } from '../networks/network-trainer.ts';
import { RegularizedFairnessTrainer } from '../networks/regularized-fairness-trainer.ts';
import { fitJob, type JobDecisions, partOf, prepareJob } from './fit-job.ts';
import { checkJobOptions, JOB_DEFAULTS, type TrainingJobOptions } from './job-options.ts';
import { constantModelWarnings } from '../decision-quality.ts';
import { describeRows, jobToJson, saveJob, type TrainingJobResult } from './job-result.ts';

/**
 * Options of {@link trainLagrangian}: the options of a training job and the options of `LagrangianFairnessTrainer`.
 */
export interface TrainLagrangianOptions
  extends
    Omit<TrainingJobOptions, 'minGroupSize' | 'seed'>,
    Omit<LagrangianFairnessTrainerOptions, 'task' | 'minGroupSize' | 'seed'> {
  /**
   * The minimum number of rows of a group. Groups with fewer training rows are not constrained. Groups with fewer
   * held-out rows are excluded from the gaps.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
  /**
   * The seed of the splits, the initial weights and the order of rows.
   * @defaultValue 42
   */
  readonly seed?: number | undefined;
}

const { task: _task, ...TRAINER_DEFAULTS } = LAGRANGIAN_DEFAULTS;

const DEFAULTS = { ...JOB_DEFAULTS, ...TRAINER_DEFAULTS };

/** The result of {@link trainLagrangian}. */
export interface LagrangianJobResult extends TrainingJobResult {
  /** The fitted trainer, whose methods take the columns of the table. */
  readonly model: LagrangianFairnessTrainer;
  /** The encoding of columns as the network's inputs. */
  readonly features: readonly FeatureSpec[];
  /** One entry per epoch of the constrained network. */
  readonly history: readonly LagrangianEpoch[];
  /** The epoch, from 1, whose weights were kept. */
  readonly bestEpoch: number;
  /** The number of rows per step. */
  readonly batchSize: number;
}

/**
 * Trains a network on a table and uses Lagrange multipliers to keep the gap between groups within a tolerance. Reports
 * accuracy and gaps on held-out rows and on training rows, for the constrained network and for the same network without
 * the constraint. Both networks have the same size, initial weights, order of rows, learning rate and number of epochs.
 *
 * The rows are split by target and group (80/20 by default), or cross-fitted with `folds`. A tenth of the training rows
 * is used to select the best epoch. The encoding of features is learned from the training rows only. Sensitive columns
 * are never used as features. `sweepPareto` with the same options trains the same unconstrained network at eta 0.
 *
 * The constraint applies to decisions on the training rows and reduces accuracy. On other rows the gap may be larger. If
 * no epoch was within the tolerance, `warnings` says so.
 * @throws {DataValidationError} if a column is unknown, the target does not have two values, there is only one group,
 *   or there are too few rows
 * @throws {ValueError} if a value is out of range or a name is unknown
 * @throws {TrainingError} if the loss diverges
 * @throws {DependencyError} if the requested backend cannot start
 * @example
 * ```ts
 * import { sampleData } from 'evenhand';
 * import { trainLagrangian } from 'evenhand/training';
 *
 * const { final, history } = await trainLagrangian(
 *   { table: sampleData('cps-wages'), target: 'wage_above_median', sensitive: 'gender', features: ['education', 'experience'] },
 *   { dpTol: 0.05, epochs: 3, backend: 'wasm' },
 * );
 * console.log(final.n, history.length);
 * // 107 3
 * ```
 */
export async function trainLagrangian(
  source: TrainingSource,
  options: TrainLagrangianOptions = {},
): Promise<LagrangianJobResult> {
  const filled = fillOptions('trainLagrangian', options, DEFAULTS);
  checkJobOptions(filled);
  const { trainSize: _trainSize, folds: _folds, modelPath: _modelPath, onProgress: _, signal, ...own } = filled;
  const trainer = new LagrangianFairnessTrainer(own);
  const free = withoutConstraint(trainer);
  const rows = await prepareJob(source, filled);
  const { judged, warnings } = await fitJob(rows, filled, async ({ table, y, groups }, onProgress) => {
    // As in a sweep, the encoding is fitted on all training rows, including the validation rows.
    const { specs, warnings: notes } = fitFeatures(table, rows.training.features);
    const shared = { sensitive: groups, features: specs, signal };
    const [first, second] = STAGES.map((stage, half) => partOf(onProgress, half, STAGES.length, stage));
    await free.fit(table, y, { ...shared, onProgress: first });
    await fitUnlogged(trainer, table, y, { ...shared, onProgress: second });
    return {
      warnings: [...notes, ...trainer.warnings],
      decide: async ({ table: asked }: TrainingRows): Promise<JobDecisions> => ({
        baseline: await free.predict(asked),
        final: await trainer.predict(asked),
      }),
    };
  });

  const { state } = trainer;
  if (state === undefined) throw new TypeError('a fitted trainer has a state');
  const described = describeRows(rows);
  const found: LagrangianJobResult = Object.freeze({
    ...judged,
    ...described,
    constraint: Object.freeze({ ...describeModel(trainer).constraint }),
    seed: filled.seed,
    backend: state.network.backend,
    warnings: Object.freeze([
      ...constantModelWarnings(judged),
      ...toleranceWarnings(trainer),
      ...warnings,
      ...rows.warnings,
    ]),
    model: trainer,
    features: state.network.specs,
    history: state.history,
    bestEpoch: state.bestEpoch,
    batchSize: state.batchSize,
  });
  await saveJob(trainer, found, described, filled);
  return found;
}

/** Creates the same network with a penalty of weight 0. */
function withoutConstraint({ options }: LagrangianFairnessTrainer): RegularizedFairnessTrainer {
  const { epochs, lr, batchSize, hidden, network, patience, weightDecay, schedule, backend, seed, posWeight } = options;
  const shared = { epochs, lr, batchSize, hidden, network, patience, weightDecay, schedule, backend, seed, posWeight };
  return new RegularizedFairnessTrainer({ ...shared, eta: 0 });
}

/** The names of the stages of a fit. */
const STAGES = ['training without the constraint', 'training with the constraint'];

/** Converts the result of `trainLagrangian` to JSON. */
export function lagrangianJobToJson(result: LagrangianJobResult): Record<string, unknown> {
  const { baseline, final, ...rest } = jobToJson(result);
  return {
    baseline,
    final,
    history: result.history.map(snakeFields),
    best_epoch: result.bestEpoch,
    batch_size: result.batchSize,
    ...rest,
  };
}
