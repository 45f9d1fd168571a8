import { z } from 'zod';

import { type FilledOptions, fillOptions, invalidParameter, oneOf } from '../../internal/arguments.ts';
import type { Tf } from '../../tensor/index.ts';
import type { NetworkFitRows } from './fit-inputs.ts';
import { assertNonNegative, NETWORK_DEFAULTS } from './network-options.ts';
import {
  checkTrainerOptions,
  NetworkTrainer,
  TRAINER_DEFAULTS,
  type TrainerOptions,
  readTrainerJson,
  trainerParamsSchema,
} from './network-trainer.ts';
import type { Objective } from './objective.ts';
import { FAIRNESS_PENALTIES, type FairnessPenaltyName } from './penalties.ts';
import { createRegularizedObjective } from './regularized-objective.ts';

/** Options of {@link RegularizedFairnessTrainer}. */
export interface RegularizedFairnessTrainerOptions extends TrainerOptions {
  /**
   * The weight of the penalty relative to the error, 0 or more.
   * @defaultValue 0.5
   */
  readonly eta?: number | undefined;
  /** @defaultValue 'covariance' */
  readonly penalty?: FairnessPenaltyName | undefined;
}

/** {@link RegularizedFairnessTrainerOptions} with every default filled in. */
export type FilledRegularizedOptions = FilledOptions<RegularizedFairnessTrainerOptions, 'backend' | 'network'>;

const DEFAULTS: FilledRegularizedOptions = {
  ...NETWORK_DEFAULTS,
  eta: 0.5,
  penalty: 'covariance',
  ...TRAINER_DEFAULTS,
};

/** One epoch of a regularized network's training. */
export interface RegularizedEpoch {
  /** The number of the epoch, from 1. */
  readonly epoch: number;
  /** The error + eta x penalty on the validation rows. */
  readonly loss: number;
}

const KIND = 'regularized_fairness_trainer';

/**
 * A network that minimises error + eta x penalty. The trainer corresponds to a single point of `sweepPareto`.
 *
 * The trainer supports all penalties of `FairnessRegularizerLoss`, and `adversarial`. The adversarial penalty uses a
 * second, small network that is trained to predict a row's group from its score. The penalty is the amount of
 * information about the group, in nats, that this second network extracts (Zhang, Lemoine and Mitchell 2018).
 *
 * A penalty constrains mean scores on the training rows, not decisions on other rows. A sweep shows the gap and the
 * accuracy for each eta. With `task: 'regression'` the error is the squared error, and scores are predictions in
 * standard deviations of the target. There can be any number of groups.
 * @example
 * ```ts
 * import { RegularizedFairnessTrainer } from 'evenhand/training';
 * import { sampleData } from 'evenhand';
 *
 * const table = sampleData('cps-wages');
 * const trainer = new RegularizedFairnessTrainer({ eta: 1, penalty: 'mmd', epochs: 5, backend: 'wasm' });
 * await trainer.fit(table.select(['education', 'experience']), table.column('wage_above_median'), {
 *   sensitive: table.column('gender'),
 * });
 * console.log(trainer.history.length, (await trainer.predict(table)).length);
 * // 5 534
 * ```
 */
export class RegularizedFairnessTrainer extends NetworkTrainer<FilledRegularizedOptions, RegularizedEpoch> {
  protected readonly kind = KIND;

  /** @throws {ValueError} if a value is out of range or a name is unknown */
  constructor(options: RegularizedFairnessTrainerOptions = {}) {
    super(readOptions(options));
  }

  protected objectiveOf(tf: Tf, { train }: NetworkFitRows): Objective {
    const { eta, ...shared } = this.options;
    return createRegularizedObjective(tf, { ...shared, etas: [eta], groupCount: train.groupCount });
  }

  protected historyOf(_: Objective, losses: readonly number[]): readonly RegularizedEpoch[] {
    return losses.map((loss, index) => Object.freeze({ epoch: index + 1, loss }));
  }

  /**
   * Restores a trainer from the output of `toJSON`.
   * @throws {DataValidationError} if the JSON is not the output of this class's `toJSON`
   */
  static fromJSON(json: unknown): RegularizedFairnessTrainer {
    const { params, state } = readTrainerJson(json, KIND, { params: PARAMS, epoch: EPOCH });
    const trainer = new RegularizedFairnessTrainer(params);
    trainer.restore(state);
    return trainer;
  }
}

const PARAMS = trainerParamsSchema.extend({ eta: z.number(), penalty: z.enum(FAIRNESS_PENALTIES) });

const EPOCH = z.object({ epoch: z.int(), loss: z.number() }) satisfies z.ZodType<RegularizedEpoch>;

function readOptions(options: RegularizedFairnessTrainerOptions): FilledRegularizedOptions {
  const filled = checkTrainerOptions(fillOptions('RegularizedFairnessTrainer', options, DEFAULTS));
  const { eta, penalty, task } = filled;
  oneOf('penalty', penalty, FAIRNESS_PENALTIES);
  assertNonNegative('eta', eta);
  if (task === 'regression' && penalty === 'equalized_odds') {
    throw invalidParameter('penalty', "be a penalty other than equalized_odds if task is 'regression'", penalty);
  }
  return filled;
}
