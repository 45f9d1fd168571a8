import { parentPort } from 'node:worker_threads';

import type { AlarmChunk } from './design.ts';
import { simulate } from './simulate.ts';

parentPort?.on('message', (chunk: AlarmChunk) => {
  parentPort?.postMessage(simulate(chunk));
});
