import type { MetricsJson } from '../middleware/metrics.ts';

/** What the primary asks a worker. */

/**
 *
 */
export type WorkerMethods = {
  metrics: (_: undefined) => MetricsJson;
  /** Takes no more connections; answers when no request waits for its answer. */
  drain: (_: undefined) => undefined;
  /** Ends the connections that are left, and the process. */
  end: (_: undefined) => undefined;
};
