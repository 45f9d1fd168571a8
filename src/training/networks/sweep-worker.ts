import type { MessagePort } from 'node:worker_threads';

import { TrainingError } from '../../exceptions/index.ts';
import type { ProgressEvent } from '../../internal/progress.ts';
import { type SweepShard, trainShard } from './sweep-shard.ts';
import type { TrainedNetworks } from './train-networks.ts';

/** What a worker thread is given: a shard, and where to report. */
export interface SweepWork {
  readonly shard: SweepShard;
  readonly port: MessagePort;
}

/** What comes back: networks, or the parts of a training error, since a class does not survive the way. */
export type SweepAnswer =
  | { readonly trained: TrainedNetworks }
  | { readonly failed: Pick<TrainingError, 'message' | 'context' | 'suggestion'> };

/** The entry of a worker thread: trains one shard. */
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
