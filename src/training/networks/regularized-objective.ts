import type { Tensor, Tensor1D, Tensor2D } from '@tensorflow/tfjs';

import { type BatchRows, fusedMap, type Tf } from '../../tensor/index.ts';
import { batchError, errorGradient, type NetworkTask, scoresOf } from './network-task.ts';
import { createPenalty, type FairnessPenaltyName } from './penalties.ts';

/** The settings of a regularized objective. */
export interface RegularizedSpec {
  /** The penalty's weight for each model. */
  readonly etas: readonly number[];
  readonly penalty: FairnessPenaltyName;
  readonly task: NetworkTask;
  /** The number of groups, g. */
  readonly groupCount: number;
  readonly posWeight?: number | undefined;
  readonly seed: number;
}

/** Creates the objective error + eta x penalty, with an eta for each model. */
export function createRegularizedObjective(tf: Tf, spec: RegularizedSpec): Objective {
  const { task, posWeight } = spec;
  const etas = tf.tensor2d([...spec.etas], [spec.etas.length, 1]);
  const penalty = createPenalty(tf, spec.penalty, { models: spec.etas.length, ...spec });
  return {
    slope(outputs, rows) {
      const scores = scoresOf(tf, task, outputs);
      const error = errorGradient(tf, task, scores, rows, posWeight);
      const penaltyGradient = penalty.slope({ ...rows, scores });
      return addPenaltyGradient(tf, task, { error, penaltyGradient, scores, etas });
    },
    ...(penalty.learn === undefined
      ? {}
      : { afterStep: (outputs, rows) => penalty.learn?.({ ...rows, scores: scoresOf(tf, task, outputs) }) }),
    judge: {
      kind: 'losses',
      losses(outputs, rows) {
        const error = batchError(tf, task, outputs, rows, posWeight);
        return error.add(penalty.value({ ...rows, scores: scoresOf(tf, task, outputs) }).mul(etas.flatten()));
      },
      ...(penalty.maxRows === undefined ? {} : { maxRows: penalty.maxRows }),
    },
    dispose() {
      etas.dispose();
      penalty.dispose?.();
    },
  };
}

/**
 * Adds eta times the penalty's gradient to the error's gradient. The result is with respect to the outputs; the given
 * penalty gradient is with respect to the scores.
 */
function addPenaltyGradient(
  tf: Tf,
  task: NetworkTask,
  inputs: {
    readonly error: Tensor2D;
    readonly penaltyGradient: Tensor2D;
    readonly scores: Tensor2D;
    readonly etas: Tensor2D;
  },
): Tensor2D {
  const { error, penaltyGradient, scores, etas } = inputs;
  const isBinary = task === 'binary';
  return fusedMap(tf, {
    name: isBinary ? 'add_pull_of_probabilities' : 'add_pull',
    shape: error.shape,
    inputs: isBinary ? { error, pull: penaltyGradient, scores, etas } : { error, pull: penaltyGradient, etas },
    // The gradient of a probability with respect to its logit is p (1 - p).
    wgsl: `value = error + etas * pull${isBinary ? ' * scores * (1.0 - scores)' : ''};`,
    plain: () => error.add((isBinary ? penaltyGradient.mul(scores.sub(scores.square())) : penaltyGradient).mul(etas)),
  });
}

/** The outputs of all models for all rows at the end of an epoch, on the host: [k, n], row-major. */
export interface EpochOutputs {
  readonly train: Float32Array;
  readonly validation: Float32Array;
  /** The values of the objective's watched tensors, in the same order. */
  readonly watched: readonly Float32Array[];
}

/** The scores of the models at the end of an epoch. */
export interface Judgement {
  /** [k]; lower is better. */
  readonly scores: ArrayLike<number>;
  /** [k]; whether training of a model may stop if the model does not improve. If omitted, all models may stop. */
  readonly mayRest?: readonly boolean[];
}

/** Scores models that are trained together by their mean losses on validation rows. */
export interface LossJudge {
  readonly kind: 'losses';
  /** Returns the loss of each model on rows, [k]. */
  readonly losses: (outputs: Tensor2D, rows: BatchRows) => Tensor1D;
  /** The maximum number of rows at once, if the cost is quadratic in the number of rows. */
  readonly maxRows?: number;
}

/** Scores models by their outputs on all rows, on the host. */
export interface OutputJudge {
  readonly kind: 'outputs';
  /** The tensors that are read together with the outputs. */
  readonly watched: readonly Tensor[];
  readonly judge: (epoch: number, outputs: EpochOutputs) => Judgement;
}

/** The objective minimised by k networks that are trained together. */
export interface Objective {
  /**
   * Returns the gradient of each model's loss on a batch with respect to its outputs, [k, n]; call inside `tf.tidy`.
   */
  slope(outputs: Tensor2D, batch: BatchRows): Tensor2D;
  /** Runs after the models' step on a batch, inside `tf.tidy`. It receives the outputs from before the step. */
  afterStep?(outputs: Tensor2D, batch: BatchRows): void;
  /** How the models are scored at the end of an epoch. */
  readonly judge: LossJudge | OutputJudge;
  /** Warnings about the rows for which the objective was created. */
  readonly warnings?: readonly string[];
  dispose(): void;
}
