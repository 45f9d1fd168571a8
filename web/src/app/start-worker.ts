/** Starts the worker that audits. The build of the self-contained page replaces this file. */
export function startWorker(): Worker {
  return new Worker(new URL('../engine/worker.ts', import.meta.url), { type: 'module' });
}

/** Starts the worker that trains. It loads TensorFlow.js, so that it starts only if somebody asks for a sweep. */
export function startTraining(): Worker {
  return new Worker(new URL('../engine/training-worker.ts', import.meta.url), { type: 'module', name: 'training' });
}
