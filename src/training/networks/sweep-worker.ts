import type { MessagePort } from 'node:worker_threads';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import type { ProgressEvent } from '../../internal/progress.ts';
import { type EncodedError, encodeError } from '../../io/queue/task-errors.ts';
import { loadTensorflow, type NetworkData, type TensorBackend } from '../../tensor/index.ts';
import type { RowBlocks } from '../data/row-blocks.ts';
import { createRegularizedObjective, type RegularizedSpec } from './regularized-objective.ts';
import { type TrainedNetworks, trainNetworks, type TrainNetworksOptions } from './train-networks.ts';
import type { NetworkFactory } from './user-network.ts';

/**
 * Networks that are trained together under one penalty. Unless the rows are tensors or the network is the user's own, a
 * shard is plain data that can be sent to another thread.
 */
export interface SweepShard {
  readonly train: NetworkData | RowBlocks;
  readonly validation: NetworkData;
  /** The rows to which the networks are applied; undefined if they are in a file. */
  readonly heldOut?: NetworkData | undefined;
  readonly spec: RegularizedSpec;
  readonly backend: TensorBackend;
  readonly options: Omit<TrainNetworksOptions, 'onProgress' | 'signal'>;
  /** The user's own network, for a shard of one eta. It cannot be sent to another thread. */
  readonly network?: NetworkFactory | undefined;
}

/** Trains one shard of a sweep in the current thread. */
export async function trainShard(
  { spec, backend, options, network: create, ...rows }: SweepShard,
  inThread: Pick<TrainNetworksOptions, 'onProgress' | 'signal'> = {},
): Promise<TrainedNetworks> {
  const { tf } = await loadTensorflow({ backend });
  const objective = createRegularizedObjective(tf, spec);
  try {
    const names = spec.etas.map((eta) => `eta ${String(eta)}`);
    const network = create && { create, task: spec.task };
    return await trainNetworks(tf, { ...rows, names, objective, network }, { ...options, ...inThread });
  } finally {
    objective.dispose();
  }
}

/** The input of a worker thread: a shard, and a port for progress. */
export interface SweepWork {
  readonly shard: SweepShard;
  readonly port: MessagePort;
}

/** The message that a worker thread sends back: trained networks, or an error of this package. */
export type SweepAnswer = { readonly trained: TrainedNetworks } | { readonly failed: EncodedError };

/** Trains one shard. This function is the entry point of a worker thread. */
export default async function run({ shard, port }: SweepWork): Promise<SweepAnswer> {
  const onProgress = (event: ProgressEvent): void => {
    port.postMessage(event);
  };
  try {
    return { trained: await trainShard(shard, { onProgress }) };
  } catch (error) {
    if (!FairnessToolkitError.isInstance(error)) throw error;
    return { failed: encodeError(error) };
  } finally {
    port.close();
  }
}
