import type { MessagePort } from 'node:worker_threads';

import { TrainingError } from '../../exceptions/index.ts';
import type { ProgressEvent } from '../../internal/progress.ts';
import { type SweepShard, trainShard } from './sweep-shard.ts';
import type { TrainedNetworks } from './train-networks.ts';

/** The input of a worker thread: a shard, and a port for progress. */
export interface SweepWork {
  readonly shard: SweepShard;
  readonly port: MessagePort;
}

/**
 * The answer of a worker thread: networks, or the fields of a training error. The error is sent as fields because
 * classes cannot be cloned.
 */
export type SweepAnswer =
  | { readonly trained: TrainedNetworks }
  | { readonly failed: Pick<TrainingError, 'message' | 'context' | 'suggestion'> };

/** Trains one shard; the entry point of a worker thread. */
export default async function run({ shard, port }: SweepWork): Promise<SweepAnswer> {
  const onProgress = (event: ProgressEvent): void => {
    port.postMessage(event);
  };
  try {
    return { trained: await trainShard(shard, { onProgress }) };
  } catch (error) {
    if (!(error instanceof TrainingError)) throw error;
    const { message, context, suggestion } = error;
    return { failed: { message, context, suggestion } };
  } finally {
    port.close();
  }
}
