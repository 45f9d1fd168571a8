import { Worker } from 'node:worker_threads';

/**
 * Simulates chunks in worker threads. The answers are in the order of the chunks, for any number of workers.
 * @param worker the module of the worker, which answers each message
 */
export async function simulateAll<Answer>(
  worker: URL,
  chunks: readonly object[],
  workerCount: number,
  progress: (done: number) => void,
): Promise<Answer[]> {
  const answers = new Array<Answer>(chunks.length);
  let next = 0;
  let done = 0;
  const runOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const thread = new Worker(worker);
      let current = -1;
      const advance = (): void => {
        current = next++;
        if (current < chunks.length) thread.postMessage(chunks[current]);
        else
          void thread.terminate().then(() => {
            resolve();
          });
      };
      thread.on('message', (answer: Answer) => {
        answers[current] = answer;
        progress(++done);
        advance();
      });
      thread.on('error', reject);
      advance();
    });
  await Promise.all(Array.from({ length: workerCount }, runOne));
  return answers;
}
