import type { Tf } from '../../tensor/index.ts';
import { batchError, type NetworkTask, scoresOf } from './network-task.ts';
import type { Objective } from './objective.ts';
import { createPenalty, type FairnessPenaltyName } from './penalties.ts';

/** What a regularized objective is made of. */
export interface RegularizedSpec {
  /** The penalty's weight for each model. */
  readonly etas: readonly number[];
  readonly penalty: FairnessPenaltyName;
  readonly task: NetworkTask;
  /** Groups, g. */
  readonly groupCount: number;
  readonly posWeight?: number | undefined;
  readonly seed: number;
}

/** Error + eta x penalty, an eta for each model. */
export function createRegularizedObjective(tf: Tf, spec: RegularizedSpec): Objective {
  const etas = tf.tensor1d([...spec.etas]);
  const penalty = createPenalty(tf, spec.penalty, { models: spec.etas.length, ...spec });
  return {
    losses(outputs, batch) {
      const scores = scoresOf(tf, spec.task, outputs);
      const error = batchError(tf, spec.task, outputs, batch, spec.posWeight);
      return error.add(penalty.value({ ...batch, scores }).mul(etas));
    },
    ...(penalty.learn === undefined
      ? {}
      : {
          afterStep: (outputs, batch) => penalty.learn?.({ ...batch, scores: scoresOf(tf, spec.task, outputs) }),
        }),
    ...(penalty.mostRows === undefined ? {} : { mostRows: penalty.mostRows }),
    dispose() {
      etas.dispose();
      penalty.dispose?.();
    },
  };
}
