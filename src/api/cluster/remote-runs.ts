import type { RateLimiter } from '../context/service-context.ts';
import type { RunEvent } from '../runs/run-record.ts';
import type { Runs } from '../runs/runs.ts';
import type { Channel } from './channel.ts';
import type { RunMethods } from './protocol.ts';

/**
 * Returns a `Runs` object that forwards its calls to another process.
 * @param folderOf returns the folder of a run's files, which both processes can access
 */
export function createRemoteRuns(channel: Channel<RunMethods>, folderOf: (runId: string) => string): Runs {
  return Object.freeze({
    keep: async (run) => {
      await channel.call('keep', run);
    },
    submit: (request) => channel.call('submit', request),
    wait: (runId, signal) => channel.call('wait', runId, signal),
    get: (runId) => channel.call('get', runId),
    list: () => channel.call('list', undefined),
    remove: (runId) => channel.call('remove', runId),
    follow: async (runId, after, onEvent) => {
      const { answer, end } = await channel.subscribe('follow', { runId, after }, (event: RunEvent) => {
        onEvent(event);
      });
      if (answer) return end;
      end();
      return undefined;
    },
    work: (job) => channel.call('work', job),
    counts: () => channel.call('counts', undefined),
    folderOf,
  } satisfies Runs);
}

/** Creates a rate limiter that forwards its calls to another process, so that all processes share one limit. */
export function createRemoteLimiter(channel: Channel<RunMethods>): RateLimiter {
  return Object.freeze({ take: (client: string) => channel.call('take', client) });
}
