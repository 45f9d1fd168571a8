import type { NetworkRows } from '../../tensor/index.ts';
import type { Objective } from './objective.ts';

/** What to train and on what. */
export interface NetworkProblem {
  readonly train: NetworkRows;
  /** Rows that decide when to stop. */
  readonly validation: NetworkRows;
  /** Rows to apply the networks to in the end. */
  readonly heldOut?: NetworkRows | undefined;
  /** What each model is called in errors: "eta 0.5"; one name per model. */
  readonly names: readonly string[];
  readonly objective: Objective;
}
