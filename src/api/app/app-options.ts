import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { ListenOptions } from 'node:net';

import type { OptionNames } from '../../internal/arguments.ts';
import type { ServiceLimits } from '../context/service-context.ts';
import type { RunRecord } from '../runs/run-record.ts';
import type { ResultStoreLike } from '../store/result-store.ts';

/** Options of `createApp`. */
export interface AppOptions {
  /**
   * Keys that requests must show one of (`Authorization: Bearer …`), but for /health.
   * @defaultValue EVENHAND_API_KEYS, a comma list; without it none is asked for
   */
  readonly keys?: readonly string[] | undefined;
  /**
   * Where results are kept.
   * @defaultValue a `ResultStore` of 500
   */
  readonly store?: ResultStoreLike<RunRecord> | undefined;
  /**
   * A folder that results are kept in too, so that they outlive the process.
   * @defaultValue none: they end with it
   */
  readonly storeFolder?: string | undefined;
  /**
   * Requests a minute of one key, or of one address where there are no keys.
   * @defaultValue no limit
   */
  readonly rateLimit?: number | undefined;
  /**
   * Origins whose pages may call the service (`https://audit.example.com`).
   * @defaultValue none
   */
  readonly corsOrigins?: readonly string[] | undefined;
  /**
   * Names that the Host header may have, so that a page elsewhere cannot reach the service under a name of its own.
   * @defaultValue any
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * A folder that `evenhand monitor --output-dir` writes; /dashboard shows it as it changes. It may be made later.
   * @defaultValue none: there is no dashboard
   */
  readonly monitorFolder?: string | undefined;
  /**
   * The folder with files that a configuration of /llm-eval may name: replay_path, bbq_path, cache_dir.
   * @defaultValue none: naming one is not allowed
   */
  readonly llmFolder?: string | undefined;
  /** {@link ServiceLimits} that differ from the default ones. */
  readonly limits?: Partial<ServiceLimits> | undefined;
  /**
   * Threads for heavy work.
   * @defaultValue 2, or 1 on a machine with one core
   */
  readonly threads?: number | undefined;
  /**
   * Runs that may wait for a thread; more are refused with 503.
   * @defaultValue 256
   */
  readonly queue?: number | undefined;
  /**
   * Where the app is mounted in another, for the links that it gives: `/fairness`.
   * @defaultValue ''
   */
  readonly basePath?: string | undefined;
  /**
   * Milliseconds since 1970.
   * @defaultValue the clock of this machine
   */
  readonly clock?: (() => number) | undefined;
  /**
   * Gives each run its name, which must not be guessable.
   * @defaultValue random UUIDs
   */
  readonly createId?: (() => string) | undefined;
}

/** Lists the options of {@link AppOptions}. */
export const APP_OPTION_NAMES: OptionNames<AppOptions> = {
  keys: true,
  store: true,
  storeFolder: true,
  rateLimit: true,
  corsOrigins: true,
  allowedHosts: true,
  monitorFolder: true,
  llmFolder: true,
  limits: true,
  threads: true,
  queue: true,
  basePath: true,
  clock: true,
  createId: true,
};

/**
 * The service as a Koa app, in types that need none of Koa's. It is a `Koa`: `listen` it, `use` middleware, give its
 * `callback` to a server. To mount it in another app, whose types want a `Koa`:
 * `outer.use(mount('/fairness', createApp({ basePath: '/fairness' }) as unknown as Koa))`.
 */
export interface ServiceApp {
  /** Makes a server and lets it listen, as `server.listen` of node:http does. It is yours to close, before the app. */
  listen(port?: number, host?: string, listening?: () => void): Server;
  listen(port: number, listening: () => void): Server;
  listen(options: ListenOptions, listening?: () => void): Server;
  /** What node:http's `createServer` takes. */
  callback(): RequestListener;
  /** Adds middleware around the service, which stays the last, since it answers every request. */
  use(middleware: Middleware): this;
  readonly middleware: readonly Middleware[];
  /** Resolves when results of earlier processes are read and threads stand ready. */
  ready(): Promise<void>;
  /**
   * Takes no more work, waits for what is at work, and lets go of threads and temporary files. A second call waits for the
   * same end.
   * @param drainMillis how long it waits before what is left is cancelled; 30,000 unless said otherwise
   */
  close(drainMillis?: number): Promise<void>;
}

/** Koa's context of a request, as far as middleware of yours needs it; Koa's own type has more, and fits too. */
export interface AppContext {
  /** The request as node:http gives it. */
  readonly req: IncomingMessage;
  /** The answer as node:http sends it. */
  readonly res: ServerResponse;
  method: string;
  /** With its query. */
  url: string;
  /** Without its query. */
  path: string;
  /** What middleware tells other middleware. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as in Koa: each app keeps its own things there
  readonly state: Record<PropertyKey, any>;
  status: number;
  /** A text, bytes, a stream, or an object that is sent as JSON. */
  body: unknown;
  /** Of the request: '' where it was not sent. */
  get(header: string): string;
  /** Of the answer. */
  set(header: string, value: string | string[]): void;
}

/** Asks what comes after. */
export type Next = () => Promise<unknown>;

/**
 * Middleware of Koa, named without Koa's types.
 * @param context where Koa's types are at hand, `ParameterizedContext` or `Context` of theirs fits too
 */
export type Middleware = {
  // A method, whose parameters may be of a type that has more.
  call(context: AppContext, next: Next): unknown;
}['call'];
