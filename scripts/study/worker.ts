import { parentPort } from 'node:worker_threads';

import { type Chunk, simulate } from './simulate.ts';

parentPort?.on('message', (chunk: Chunk) => {
  parentPort?.postMessage(simulate(chunk));
});
