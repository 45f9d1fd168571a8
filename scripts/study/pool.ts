import { Worker } from 'node:worker_threads';

import type { Chunk, Tally } from './simulate.ts';

/** Simulates chunks in worker threads; the answers come in the order of the chunks, however many workers there are. */
export async function simulateAll(
  chunks: readonly Chunk[],
  workerCount: number,
  progress: (done: number) => void,
): Promise<Tally[]> {
  const tallies = new Array<Tally>(chunks.length);
  let next = 0;
  let done = 0;
  const runOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./worker.mjs', import.meta.url));
      let current = -1;
      const advance = (): void => {
        current = next++;
        if (current < chunks.length) worker.postMessage(chunks[current]);
        else
          void worker.terminate().then(() => {
            resolve();
          });
      };
      worker.on('message', (tally: Tally) => {
        tallies[current] = tally;
        progress(++done);
        advance();
      });
      worker.on('error', reject);
      advance();
    });
  await Promise.all(Array.from({ length: workerCount }, runOne));
  return tallies;
}
