/** Starts the worker of the hosted page. The build of the self-contained page replaces this file. */
export function startWorker(): Worker {
  return new Worker(new URL('../engine/worker.ts', import.meta.url), { type: 'module' });
}
