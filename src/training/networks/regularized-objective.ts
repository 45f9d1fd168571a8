import type { Tensor2D } from '@tensorflow/tfjs';

import { fusedMap, type Tf } from '../../tensor/index.ts';
import { batchError, errorGradient, type NetworkTask, scoresOf } from './network-task.ts';
import type { Objective } from './objective.ts';
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
 * Adds eta times the penalty's gradient to the error's gradient. The given penalty gradient is with respect to the
 * scores. The result is with respect to the outputs.
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
