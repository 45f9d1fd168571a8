import type { RateLimiter } from '../context/service-context.ts';
import type { Runs } from '../runs/runs.ts';
import type { Handlers, RunMethods } from './protocol.ts';

/** What is served to other processes. */
export interface ServedRuns {
  readonly runs: Runs;
  readonly limiter: RateLimiter | null;
}

/**
 * Answers for the runs of this process what `createRemoteRuns` asks. Where the asking process is gone, what it waited for
 * and followed is forgotten; its runs go on.
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
      if (limiter === null) throw new Error('A rate was asked for where none is limited.');
      return limiter.take(client);
    },
  };
}
