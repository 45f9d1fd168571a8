import type { ParameterizedContext } from 'koa';
import type { Logger } from 'pino';

import type { Runs } from '../runs/runs.ts';
import type { WebhookSender } from '../webhooks/webhook-deliveries.ts';
import type { WebhookSettings } from '../webhooks/webhooks.ts';
import type { Streams } from '../streams/streams.ts';

/** The limits of a request. */
export interface ServiceLimits {
  /**
   * The maximum number of bytes of a JSON body.
   * @defaultValue 33554432 (32 MiB)
   */
  readonly jsonBytes: number;
  /**
   * The maximum number of bytes of an uploaded file, before and after decompression.
   * @defaultValue 2147483648 (2 GiB); 536870912 (512 MiB) if hosts share runs through Redis, which holds the uploads
   */
  readonly uploadBytes: number;
  /**
   * The maximum number of items of an array in a JSON body.
   * @defaultValue 5000000
   */
  readonly arrayItems: number;
  /**
   * The maximum size in bytes of a form field without a file, such as a configuration.
   * @defaultValue 262144 (256 KiB)
   */
  readonly fieldBytes: number;
  /**
   * The maximum number of bytes of a JSON body that is processed in the main thread. Larger bodies go to a worker
   * thread.
   * @defaultValue 131072 (128 KiB)
   */
  readonly inlineBytes: number;
  /**
   * The maximum number of monitored streams, of each tenant.
   * @defaultValue 100
   */
  readonly streams: number;
  /**
   * The time in milliseconds without new data of a body after which the request is rejected.
   * @defaultValue 30000
   */
  readonly idleMillis: number;
}

/** The default limits. */
export const DEFAULT_LIMITS: ServiceLimits = Object.freeze({
  jsonBytes: 32 * 2 ** 20,
  uploadBytes: 2 * 2 ** 30,
  arrayItems: 5_000_000,
  fieldBytes: 256 * 2 ** 10,
  inlineBytes: 128 * 2 ** 10,
  streams: 100,
  idleMillis: 30_000,
});

/** Values that the middleware sets for each request before a route handles the request. */
export interface RequestState {
  /**
   * The client's X-Request-Id if it is valid, otherwise a new ID. The ID is included in every response and log line.
   */
  requestId: string;
  /** A digest of the API key that the client sent. Empty if the service has no keys. */
  client: string;
  /** Whose results and streams the client can see. Empty if the service has no keys. */
  tenant: string;
  /**
   * The path pattern of the route, such as `/results/{run_id}`, for metrics and logs. `unmatched` if no route matches.
   */
  route: string;
}

/** The request context of Koa. */
export type ServiceContext = ParameterizedContext<RequestState>;

/** Answers a request, or throws a `ServiceProblem`. */
export type Handler = (context: ServiceContext) => Promise<void> | void;

/** The parts that routes and middleware share. */
export interface Service {
  readonly runs: Runs;
  readonly streams: Streams;
  readonly limiter: RateLimiter | null;
  readonly limits: ServiceLimits;
  readonly keys: readonly string[];
  readonly corsOrigins: readonly string[];
  /** The accepted names in the Host header; null for any name. */
  readonly allowedHosts: readonly string[] | null;
  /** A folder that `evenhand monitor --output-dir` writes. */
  readonly monitorFolder: string | null;
  /** The folder that must contain all paths of a configuration for `/llm-eval`. */
  readonly llmFolder: string | null;
  readonly webhooks: WebhookSettings;
  /** Reports the ends of runs to addresses of clients. */
  readonly webhookSender: WebhookSender;
  /** The folder for uploads whose job has not started yet. */
  readonly spoolFolder: string;
  /** The path at which the app is mounted, for links: '' or '/fairness'. */
  readonly basePath: string;
  /** The value of the header x-evenhand-worker. */
  readonly workerName: string;
  readonly logger: Logger;
  /** Returns the current time in milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a new ID that cannot be guessed. */
  readonly createId: () => string;
  /** Renders the metrics of the complete service in the format of Prometheus. */
  readonly renderMetrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
  /** Returns the reason why no new work is accepted, or null. */
  readonly notReady: () => string | null;
  /** Returns whether requests that start work are refused, because the service waits for its last runs. */
  readonly refusesWork: () => boolean;
}

/** The number of requests that a client may still send in the current window of the rate limit. */
export interface Allowance {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** The number of seconds until the rate limit resets. */
  readonly resetSeconds: number;
}

/** Counts requests per client across the complete service. */
export interface RateLimiter {
  take(client: string): Promise<Allowance>;
}

/** The parts that exist once per service, shared by all processes that answer requests. */
export interface Owner {
  readonly runs: Runs;
  readonly streams: Streams;
  readonly webhookSender: WebhookSender;
  readonly limiter: RateLimiter | null;
  /** The folder for uploads that no job uses yet. */
  readonly spoolFolder: string;
  /**
   * Removes the uploads of a process that has ended. Uploads that already belong to a run are not removed. Never
   * rejects.
   */
  removeUploadsOf(pid: number): Promise<void>;
  /** Returns whether runs of this service are waiting or running. Runs that other hosts look after do not count. */
  isBusy(): boolean;
  /** Stops the work in the same way as `ServiceApp.close`. */
  close(drainMillis: number): Promise<void>;
}
