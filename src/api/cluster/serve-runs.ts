import type { RateLimiter } from '../context/service-context.ts';
import type { Runs } from '../runs/runs.ts';
import type { Handlers, RunMethods } from './protocol.ts';

/** The objects that other processes can use. */
export interface ServedRuns {
  readonly runs: Runs;
  readonly limiter: RateLimiter | null;
}

/**
 * Returns the handlers for the calls of `createRemoteRuns`. If the calling process ends, its pending calls and
 * subscriptions are dropped; its runs continue.
 */
export function serveRuns({ runs, limiter }: ServedRuns): Handlers<RunMethods> {
  return {
    keep: async (run) => {
      await runs.keep(run);
      return undefined;
    },
    submit: (request) => runs.submit(request),
    wait: (runId, { signal }) => runs.wait(runId, signal),
    get: (runId) => runs.get(runId),
    list: () => runs.list(),
    remove: (runId) => runs.remove(runId),
    follow: async ({ runId, after }, { signal, emit }) => {
      const unfollow = await runs.follow(runId, after, emit);
      if (unfollow === undefined) return false;
      if (signal.aborted) unfollow();
      else signal.addEventListener('abort', unfollow, { once: true });
      return true;
    },
    work: (job) => runs.work(job),
    counts: () => runs.counts(),
    take: (client) => {
      if (limiter === null) throw new Error('The rate limiter was called, but no rate limit is set.');
      return limiter.take(client);
    },
  };
}
