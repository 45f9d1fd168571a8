import { z } from 'zod';

import { type FilledOptions, fillOptions, invalidParameter, oneOf } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { TRAINING_DEFAULTS } from '../../schemas/training-job.ts';
import { requireInteger } from '../../stats/parameters.ts';
import type { ColumnSource } from '../../table/index.ts';
import type { Tf } from '../../tensor/index.ts';
import type { MatrixSource } from '../data/read-matrix.ts';
import { EVENTS, FAIRNESS_CONSTRAINTS, type FairnessConstraint } from './fairness-events.ts';
import type { NetworkFitOptions, NetworkFitRows } from './fit-inputs.ts';
import { createLagrangianObjective, type LagrangianEpoch, type LagrangianObjective } from './lagrangian-objective.ts';
import { assertNonNegative, assertOption, assertPositive } from './network-options.ts';
import {
  checkTrainerOptions,
  type FilledTrainerOptions,
  NetworkTrainer,
  TRAINER_DEFAULTS,
  type TrainerOptions,
  readTrainerJson,
  trainerParamsSchema,
} from './network-trainer.ts';

/** Options of {@link LagrangianFairnessTrainer}. */
export interface LagrangianFairnessTrainerOptions extends Omit<TrainerOptions, 'lr'> {
  /**
   * The constrained gaps: the gap of selection rates, of true positive rates, or of both true and false positive rates.
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
   * The learning rate of the multipliers: the amount by which a multiplier changes per step and per unit of violation.
   * @defaultValue 1e-2
   */
  readonly lambdaLr?: number | undefined;
  /**
   * The number of passes over the rows.
   * @defaultValue 50
   */
  readonly epochs?: number | undefined;
  /**
   * The number of epochs without improvement after which training stops. Only epochs that are within the tolerance but
   * do not improve the validation loss are counted.
   * @defaultValue 10
   */
  readonly patience?: number | undefined;
  /**
   * Logits are divided by this value before rates are computed. With a lower temperature, soft rates are closer to the
   * rates of decisions, but fewer rows contribute to the gradient.
   * @defaultValue 0.1
   */
  readonly temperature?: number | undefined;
  /**
   * The weight of earlier batches in the running rates, from 0 to below 1.
   * @defaultValue 0.9
   */
  readonly smoothing?: number | undefined;
  /**
   * The minimum number of rows of a group. If a constraint compares only rows with a certain label, only rows with this
   * label are counted. Smaller groups are not constrained.
   * @defaultValue 30
   */
  readonly minGroupSize?: number | undefined;
}

/** {@link LagrangianFairnessTrainerOptions} with every default filled in. */
export type FilledLagrangianOptions = FilledTrainerOptions &
  Omit<FilledOptions<LagrangianFairnessTrainerOptions, 'backend' | 'network'>, 'modelLr'>;

const { lr: DEFAULT_LR, task, posWeight, ...OTHER_DEFAULTS } = TRAINER_DEFAULTS;

/** The defaults of {@link LagrangianFairnessTrainerOptions}. */
export const LAGRANGIAN_DEFAULTS: FilledOptions<LagrangianFairnessTrainerOptions, 'backend' | 'network'> = {
  ...OTHER_DEFAULTS,
  epochs: 50,
  patience: 10,
  modelLr: DEFAULT_LR,
  fairness: 'demographic_parity',
  dpTol: 0.02,
  eoTol: 0.02,
  lambdaLr: 1e-2,
  task,
  posWeight,
  temperature: 0.1,
  smoothing: 0.9,
  minGroupSize: TRAINING_DEFAULTS.minGroupSize,
};

const KIND = 'lagrangian_fairness_trainer';

/**
 * A network trained to keep the gap between groups within a tolerance. The trainer uses a Lagrange multiplier for each
 * gap:
 *
 *     loss = error + sum over gaps of lambda (gap - tolerance).
 *
 * Rates are means of soft decisions, sigmoid(logit / temperature). The network is trained with Adam. After each step,
 * every multiplier changes by lambdaLr (gap - tolerance), but does not fall below 0. The gap is computed from running
 * means over batches. Therefore, a multiplier rises while the gap is too large and falls while the constraint holds.
 * With more than two groups, each group contributes according to its distance from the midpoint between the highest and
 * the lowest rate.
 *
 * A tenth of the rows is held out for validation. The weights of the best epoch are kept. The best epoch has the lowest
 * validation loss among the epochs whose decisions on the training rows are within the tolerance. If no epoch is within
 * the tolerance, the best epoch is the epoch that exceeds the tolerance least, and `fit` logs a warning.
 *
 * The constraint applies to decisions on the training rows. On other rows the gap may be larger. The constraint reduces
 * accuracy; `history` contains both the loss and the gap.
 *
 * With `task: 'regression'` the error is the squared error. The gap is then the gap of mean predictions, in standard
 * deviations of the target. There can be any number of groups. Groups with few rows are not constrained and are listed
 * in `warnings`. Training time is proportional to rows x epochs. Sources: Cotter et al. 2019; for the game formulation,
 * Agarwal et al. 2018.
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
export class LagrangianFairnessTrainer extends NetworkTrainer<
  FilledLagrangianOptions,
  LagrangianEpoch,
  LagrangianObjective
> {
  protected readonly kind = KIND;

  /** @throws {ValueError} if a value is out of range or a name is unknown */
  constructor(options: LagrangianFairnessTrainerOptions = {}) {
    super(readOptions(options));
  }

  /** Fits the network as all network trainers do. Logs a warning if no epoch was within the tolerance. */
  override async fit(x: MatrixSource, y: ColumnSource, options: NetworkFitOptions): Promise<this> {
    await super.fit(x, y, options);
    for (const warning of toleranceWarnings(this)) getLogger().warn(warning);
    return this;
  }

  protected objectiveOf(tf: Tf, rows: NetworkFitRows): LagrangianObjective {
    const { fairness, dpTol, eoTol } = this.options;
    const tolerances = EVENTS[fairness].map((event) => (event === 'all' ? dpTol : eoTol));
    return createLagrangianObjective(tf, { ...this.options, tolerances }, rows);
  }

  protected historyOf({ history }: LagrangianObjective): readonly LagrangianEpoch[] {
    return history;
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

/** Returns a warning if no epoch of a fit was within the tolerance. */
export function toleranceWarnings({ history, bestEpoch, options }: LagrangianFairnessTrainer): readonly string[] {
  const { fairness, dpTol, eoTol } = options;
  const tolerance = fairness === 'demographic_parity' ? dpTol : eoTol;
  const gap = history[bestEpoch - 1]?.violationHard ?? 0;
  if (gap <= tolerance) return [];
  return [
    `the gap was never within the tolerance: try more epochs (--epochs), a larger lambdaLr (--lambda-lr) or a larger tolerance; no epoch was within ${String(tolerance)} on the training rows, and the closest one, which is kept, has a gap of ${gap.toPrecision(3)}`,
  ];
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

function readOptions(options: LagrangianFairnessTrainerOptions): FilledLagrangianOptions {
  const { epochs, modelLr, ...given } = fillOptions('LagrangianFairnessTrainer', options, LAGRANGIAN_DEFAULTS);
  const filled = checkTrainerOptions({ epochs, lr: modelLr, ...given }, 'modelLr');
  const { fairness, task, smoothing, minGroupSize } = filled;
  oneOf('fairness', fairness, FAIRNESS_CONSTRAINTS);
  for (const name of ['dpTol', 'eoTol'] as const) assertNonNegative(name, filled[name]);
  for (const name of ['lambdaLr', 'temperature'] as const) assertPositive(name, filled[name]);
  assertOption('smoothing', smoothing, 'be from 0 to below 1', smoothing >= 0 && smoothing < 1);
  requireInteger('minGroupSize', minGroupSize, 1);
  if (task === 'regression' && fairness !== 'demographic_parity') {
    throw invalidParameter('fairness', "be demographic_parity if task is 'regression'", fairness);
  }
  return filled;
}
