import type { ParameterizedContext } from 'koa';
import type { Logger } from 'pino';

import type { Runs } from '../runs/runs.ts';

/** What a request may be at most. */
export interface ServiceLimits {
  /**
   * Bytes of a JSON body.
   * @defaultValue 33554432 (32 MiB)
   */
  readonly jsonBytes: number;
  /**
   * Bytes of an uploaded file, also after it was unpacked.
   * @defaultValue 2147483648 (2 GiB)
   */
  readonly uploadBytes: number;
  /**
   * Items of an array in a JSON body.
   * @defaultValue 5000000
   */
  readonly arrayItems: number;
  /**
   * Bytes of a form field that is no file, such as a configuration.
   * @defaultValue 262144 (256 KiB)
   */
  readonly fieldBytes: number;
  /**
   * A JSON body up to so many bytes may be worked on at once; a larger one goes to a thread.
   * @defaultValue 131072 (128 KiB)
   */
  readonly inlineBytes: number;
  /**
   * How long a body may pause before it is given up, in milliseconds.
   * @defaultValue 30000
   */
  readonly idleMillis: number;
}

/** The limits unless said otherwise. */
export const DEFAULT_LIMITS: ServiceLimits = Object.freeze({
  jsonBytes: 32 * 2 ** 20,
  uploadBytes: 2 * 2 ** 30,
  arrayItems: 5_000_000,
  fieldBytes: 256 * 2 ** 10,
  inlineBytes: 128 * 2 ** 10,
  idleMillis: 30_000,
});

/** What is known of a request before its route. */
export interface RequestState {
  /** The client's X-Request-Id where it is usable, else one of ours; on every answer and log line. */
  requestId: string;
  /** A digest of the key that the client showed; empty without keys. */
  client: string;
  /** The path as the router knows it (`/results/{run_id}`), for metrics and logs; `unmatched` where there is none. */
  route: string;
}

/** Koa's context of a request. */
export type ServiceContext = ParameterizedContext<RequestState>;

/** Answers a request, or throws a `ServiceProblem`. */
export type Handler = (context: ServiceContext) => Promise<void> | void;

/** What routes and middleware share. */
export interface Service {
  readonly runs: Runs;
  readonly limiter: RateLimiter | null;
  readonly limits: ServiceLimits;
  readonly keys: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Host names that requests may name; null for any. */
  readonly allowedHosts: readonly string[] | null;
  /** A folder that `evenhand monitor --output-dir` writes. */
  readonly monitorFolder: string | null;
  /** A folder that paths in a configuration of `llm-eval` are confined to. */
  readonly llmFolder: string | null;
  /** Where uploads wait for their job. */
  readonly spoolFolder: string;
  /** Where the app is mounted, for links: '' or '/fairness'. */
  readonly basePath: string;
  /** The name in the header x-evenhand-worker. */
  readonly workerName: string;
  readonly logger: Logger;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** A new, unguessable name. */
  readonly createId: () => string;
  /** The metrics of the whole service, as Prometheus reads them. */
  readonly renderMetrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  /** Why no new work is taken, or null. */
  readonly notReady: () => string | null;
}

/** What is left of a client's allowance. */
export interface Allowance {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until it is whole again. */
  readonly resetSeconds: number;
}

/** Counts requests by client; one for the whole service. */
export interface RateLimiter {
  take(client: string): Promise<Allowance>;
}
