import { loadTensorflow, type NetworkRows, type TensorBackend } from '../../tensor/index.ts';
import { createRegularizedObjective, type RegularizedSpec } from './regularized-objective.ts';
import { trainNetworks, type TrainedNetworks, type TrainNetworksOptions } from './train-networks.ts';

/** Networks that are trained together under one penalty, as plain data, so that they can be sent to another thread. */
export interface SweepShard {
  readonly train: NetworkRows;
  readonly validation: NetworkRows;
  readonly heldOut: NetworkRows;
  readonly spec: RegularizedSpec;
  readonly backend: TensorBackend;
  readonly options: Omit<TrainNetworksOptions, 'onProgress' | 'signal'>;
}

/** Trains one shard of a sweep in the current thread. */
export async function trainShard(
  { spec, backend, options, ...rows }: SweepShard,
  inThread: Pick<TrainNetworksOptions, 'onProgress' | 'signal'> = {},
): Promise<TrainedNetworks> {
  const { tf } = await loadTensorflow({ backend });
  const objective = createRegularizedObjective(tf, spec);
  try {
    const names = spec.etas.map((eta) => `eta ${String(eta)}`);
    return await trainNetworks(tf, { ...rows, names, objective }, { ...options, ...inThread });
  } finally {
    objective.dispose();
  }
}
