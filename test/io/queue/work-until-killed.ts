import { setTimeout as sleep } from 'node:timers/promises';

import { startTaskWorker } from '../../../src/io/queue/task-worker.ts';

/**
 * A worker that a test kills. Its handlers sleep, or end the process. It prints its events as JSON lines.
 *
 * Arguments: the URL of Redis, the prefix, and the milliseconds after which a task is taken from a lost worker.
 */
const [redis = '', prefix = '', lockMillis = ''] = process.argv.slice(2);

const worker = await startTaskWorker({
  redis,
  prefix,
  concurrency: 1,
  lockMillis: Number(lockMillis),
  maxLost: 1,
  pollMillis: 50,
  handlers: {
    async sleep({ values }, { signal, onProgress }) {
      onProgress({ stage: 'sleeping', done: 0, total: 1 });
      await sleep(values as number, undefined, { signal });
      return { values: worker.name, bytes: {} };
    },
    kill() {
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => undefined);
    },
  },
  onEvent({ type, kind, id }) {
    process.stdout.write(`${JSON.stringify({ type, kind, id })}\n`);
  },
});
process.stdout.write(`${JSON.stringify({ type: 'ready', name: worker.name })}\n`);
process.on('SIGTERM', () => {
  void worker.close({ drainMillis: 1500 });
});
await worker.done;
