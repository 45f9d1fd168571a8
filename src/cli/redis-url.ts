import type { TaskQueue } from '../io/queue/task-queue.ts';
import { runStoppable } from './stoppable.ts';

/** The description of an option whose value is the URL of Redis. */
export const REDIS_URL =
  'redis://user@host:6379, or rediss:// for TLS; the password is read from EVENHAND_REDIS_PASSWORD, or from the file that EVENHAND_REDIS_PASSWORD_FILE names';

/** @throws {ConfigValidationError} if the URL of an option contains a password */
export async function assertNoPassword(option: string, url: string): Promise<void> {
  const [{ hasRedisPassword }, { ConfigValidationError }] = await Promise.all([
    import('../io/redis/open-redis.ts'),
    import('../exceptions/index.ts'),
  ]);
  if (!hasRedisPassword(url)) return;
  throw new ConfigValidationError(
    `The URL of --${option} contains a password, which other users of this computer can read.`,
    {
      context: { parameter: option },
      suggestion:
        'Remove it from the URL. Set the environment variable EVENHAND_REDIS_PASSWORD, or EVENHAND_REDIS_PASSWORD_FILE to the path of a file.',
    },
  );
}

/** Runs work on the queue of `--queue`. Ctrl-C cancels its tasks. */
export async function onQueue<T>(url: string, work: (queue: TaskQueue, signal: AbortSignal) => Promise<T>): Promise<T> {
  await assertNoPassword('queue', url);
  const { createQueue } = await import('../io/index.ts');
  const queue = await createQueue({ redis: url });
  return runStoppable(
    (signal) => work(queue, signal),
    () => queue.close(),
  );
}
