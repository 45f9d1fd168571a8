import { z } from 'zod';

import { assertKnownOptions, invalidParameter, oneOf, type OptionNames } from '../../internal/arguments.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import type { ColumnSource } from '../../table/index.ts';
import type { MatrixSource } from '../data/read-matrix.ts';
import { EVENTS, FAIRNESS_CONSTRAINTS, type FairnessConstraint } from './fairness-events.ts';
import { NETWORK_FIT_OPTION_NAMES, type NetworkFitOptions } from './fit-inputs.ts';
import { createLagrangianObjective, type LagrangianEpoch } from './lagrangian-objective.ts';
import { assertOption, fillNetworkOptions, isCount, type NetworkOptions } from './network-options.ts';
import { NETWORK_TASKS, type NetworkTask } from './network-task.ts';
import { type FilledTrainerOptions, NetworkTrainer } from './network-trainer.ts';
import { readTrainerJson, trainerParamsSchema } from './trainer-json.ts';

/** Options of {@link LagrangianFairnessTrainer}. */
export interface LagrangianFairnessTrainerOptions extends Omit<NetworkOptions, 'lr'> {
  /**
   * The gaps that are constrained: those of selection rates, of true positive rates, or of both true and false
   * positive rates.
   * @defaultValue 'demographic_parity'
   */
  readonly fairness?: FairnessConstraint | undefined;
  /**
   * The largest gap of selection rates allowed, for `demographic_parity`.
   * @defaultValue 0.02
   */
  readonly dpTol?: number | undefined;
  /**
   * The largest gap of true positive rates (and of false positive rates) allowed, for the other constraints.
   * @defaultValue 0.02
   */
  readonly eoTol?: number | undefined;
  /**
   * Adam's learning rate for the network.
   * @defaultValue 1e-3
   */
  readonly modelLr?: number | undefined;
  /**
   * The change of a multiplier per unit of violation and step.
   * @defaultValue 1e-2
   */
  readonly lambdaLr?: number | undefined;
  /**
   * Passes over the rows.
   * @defaultValue 50
   */
  readonly epochs?: number | undefined;
  /**
   * Training stops after this many epochs within the tolerance without a better validation loss.
   * @defaultValue 10
   */
  readonly patience?: number | undefined;
  /** @defaultValue 'binary' */
  readonly task?: NetworkTask | undefined;
  /**
   * Factor on the loss of rows with a positive label.
   * @defaultValue 1
   */
  readonly posWeight?: number | undefined;
  /**
   * The divisor of logits before rates are computed. With a lower temperature, soft rates are closer to the rates of
   * decisions, but fewer rows contribute to the gradient.
   * @defaultValue 0.1
   */
  readonly temperature?: number | undefined;
  /**
   * The weight of earlier batches in the running rates, from 0 to below 1.
   * @defaultValue 0.9
   */
  readonly smoothing?: number | undefined;
  /**
   * Groups with fewer rows (of the event's label) are not constrained.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
}

const LAGRANGIAN_FAIRNESS_TRAINER_OPTION_NAMES: OptionNames<LagrangianFairnessTrainerOptions> = {
  fairness: true,
  dpTol: true,
  eoTol: true,
  modelLr: true,
  lambdaLr: true,
  epochs: true,
  patience: true,
  task: true,
  posWeight: true,
  temperature: true,
  smoothing: true,
  minGroupSize: true,
  seed: true,
  batchSize: true,
  hidden: true,
  weightDecay: true,
  schedule: true,
  backend: true,
};

/** {@link LagrangianFairnessTrainerOptions} with every default filled in. */
export interface FilledLagrangianOptions extends FilledTrainerOptions {
  readonly fairness: FairnessConstraint;
  readonly dpTol: number;
  readonly eoTol: number;
  readonly lambdaLr: number;
  readonly temperature: number;
  readonly smoothing: number;
  readonly minGroupSize: number;
}

const KIND = 'lagrangian_fairness_trainer';

/**
 * A network that keeps the gap between groups within a tolerance while it learns, with a Lagrange multiplier for each
 * gap:
 *
 *     loss = error + sum over gaps of lambda (gap - tolerance).
 *
 * Rates are means of soft decisions, sigmoid(logit / temperature). The network descends with Adam. After each step
 * every multiplier moves by lambdaLr (gap - tolerance), but not below 0. The gap is that of running means over
 * batches. So a multiplier rises while the gap is too large, and falls while the constraint holds. With more than two
 * groups, each group contributes to it by its distance from the middle of the highest and the lowest rate.
 *
 * A tenth of the rows is held out for validation. The weights of the best epoch are kept. The best epoch is the one
 * with the lowest validation loss among those whose decisions on the training rows are within the tolerance. If there
 * is none, it is the epoch closest to the tolerance.
 *
 * The constraint applies to decisions on the training rows. On other rows the gap may be larger. The cost is
 * accuracy; `history` shows both.
 *
 * With `task: 'regression'` the error is the squared error, and the gap is that of mean predictions, in standard
 * deviations of the target. There can be any number of groups; those with few rows are not constrained and are named
 * in `warnings`. Training time is proportional to rows x epochs. Sources: Cotter et al. 2019; Agarwal et al. 2018 for
 * the game.
 * @example
 * ```ts
 * import { LagrangianFairnessTrainer } from 'evenhand/training';
 * import { sampleData } from 'evenhand';
 *
 * const table = sampleData('cps-wages');
 * const trainer = new LagrangianFairnessTrainer({ dpTol: 0.05, epochs: 40, modelLr: 0.01, backend: 'wasm' });
 * await trainer.fit(table.select(['education', 'experience', 'union']), table.column('wage_above_median'), {
 *   sensitive: table.column('gender'),
 * });
 * const best = trainer.history[trainer.bestEpoch - 1];
 * console.log(best !== undefined && best.violationHard <= 0.05);
 * // true
 * ```
 */
export class LagrangianFairnessTrainer extends NetworkTrainer<FilledLagrangianOptions, LagrangianEpoch> {
  protected readonly kind = KIND;

  /** @throws {ValueError} if a value is out of range or a name is unknown */
  constructor(options: LagrangianFairnessTrainerOptions = {}) {
    super(fillOptions(options));
    assertKnownOptions('LagrangianFairnessTrainer', options, LAGRANGIAN_FAIRNESS_TRAINER_OPTION_NAMES);
  }

  /**
   * Fits the network. If fitting fails or is stopped, the result of an earlier fit is kept.
   * @param x a matrix of numbers, or a table without the sensitive columns; each text column is encoded as one column
   *   per value
   * @param y [rows], 0 or 1; numbers for a regression
   * @throws {DataValidationError} if the data cannot be fitted: one group, one class, missing values, too few rows
   * @throws {TrainingError} if the loss diverges
   */
  async fit(x: MatrixSource, y: ColumnSource, options: NetworkFitOptions): Promise<this> {
    assertKnownOptions('LagrangianFairnessTrainer.fit', options, NETWORK_FIT_OPTION_NAMES);
    const { fairness, dpTol, eoTol } = this.options;
    const tolerances = EVENTS[fairness].map((event) => (event === 'all' ? dpTol : eoTol));
    await this.fitNetwork(
      x,
      y,
      options,
      (tf, rows) => createLagrangianObjective(tf, { ...this.options, tolerances }, rows),
      ({ history }) => history,
    );
    return this;
  }

  /**
   * Restores a trainer from the output of `toJSON`.
   * @throws {DataValidationError} if the JSON is not the output of this class's `toJSON`
   */
  static fromJSON(json: unknown): LagrangianFairnessTrainer {
    const { params, state } = readTrainerJson(json, KIND, { params: PARAMS, epoch: EPOCH });
    const { lr, ...options } = params;
    const trainer = new LagrangianFairnessTrainer({ ...options, modelLr: lr });
    trainer.restore(state);
    return trainer;
  }
}

const PARAMS = trainerParamsSchema.extend({
  fairness: z.enum(FAIRNESS_CONSTRAINTS),
  dpTol: z.number(),
  eoTol: z.number(),
  lambdaLr: z.number(),
  temperature: z.number(),
  smoothing: z.number(),
  minGroupSize: z.number(),
});

const EPOCH = z.object({
  epoch: z.int(),
  loss: z.number(),
  violationSoft: z.number(),
  violationHard: z.number(),
  lambdas: z.array(z.number()),
}) satisfies z.ZodType<LagrangianEpoch>;

function fillOptions(options: LagrangianFairnessTrainerOptions): FilledLagrangianOptions {
  const shared = { ...options, lr: options.modelLr, epochs: options.epochs ?? 50, patience: options.patience ?? 10 };
  const filled = {
    ...fillNetworkOptions(shared, 'modelLr'),
    fairness: oneOf('fairness', options.fairness ?? 'demographic_parity', FAIRNESS_CONSTRAINTS),
    dpTol: options.dpTol ?? 0.02,
    eoTol: options.eoTol ?? 0.02,
    lambdaLr: options.lambdaLr ?? 1e-2,
    task: oneOf('task', options.task ?? 'binary', NETWORK_TASKS),
    posWeight: options.posWeight ?? 1,
    temperature: options.temperature ?? 0.1,
    smoothing: options.smoothing ?? 0.9,
    minGroupSize: options.minGroupSize ?? DEFAULT_MIN_GROUP_SIZE,
  };
  for (const name of ['dpTol', 'eoTol'] as const) {
    assertOption(name, filled[name], 'be finite, 0 or more', filled[name] >= 0 && Number.isFinite(filled[name]));
  }
  for (const name of ['lambdaLr', 'posWeight', 'temperature'] as const) {
    assertOption(name, filled[name], 'be finite, above 0', filled[name] > 0 && Number.isFinite(filled[name]));
  }
  assertOption('smoothing', filled.smoothing, 'be from 0 to below 1', filled.smoothing >= 0 && filled.smoothing < 1);
  assertOption('minGroupSize', filled.minGroupSize, 'be a whole number of at least 1', isCount(filled.minGroupSize));
  if (filled.task === 'regression' && filled.fairness !== 'demographic_parity') {
    throw invalidParameter('fairness', "be demographic_parity if task is 'regression'", filled.fairness);
  }
  return filled;
}
