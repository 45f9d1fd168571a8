import type { MessagePort } from 'node:worker_threads';

import type { ProgressEvent } from '../../internal/progress.ts';
import { type SweepShard, trainShard } from './sweep-shard.ts';
import type { TrainedNetworks } from './train-networks.ts';

/** What a worker thread is given: a shard, and where to report. */
export interface SweepWork {
  readonly shard: SweepShard;
  readonly port: MessagePort;
}

/** The entry of a worker thread: trains one shard. */
export default function run({ shard, port }: SweepWork): Promise<TrainedNetworks> {
  const onProgress = (event: ProgressEvent): void => {
    port.postMessage(event);
  };
  return trainShard(shard, { onProgress }).finally(() => {
    port.close();
  });
}
