import { randomUUID } from 'node:crypto';

import type Koa from 'koa';

import { ConfigValidationError, ValueError } from '../../exceptions/index.ts';
import { invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { readSecret } from '../../io/read-secret.ts';
import { MAX_REDIS_UPLOAD_MB, REDIS_PREFIX, REDIS_UPLOAD_MB } from '../../schemas/serve.ts';
import { DEFAULT_LIMITS, type Service, type ServiceLimits } from '../context/service-context.ts';
import { checkKeys, readKeys } from '../middleware/authenticate.ts';
import { OPERATIONS } from '../openapi/operation-ids.ts';
import type { RunRecord } from '../runs/runs.ts';
import { checkWebhooks } from '../webhooks/webhooks.ts';
import type { ResultStoreLike } from '../store/result-store.ts';

/** Options of `createApp`. */
export interface AppOptions {
  /**
   * Accepted API keys. Every request except /health must send one of them (`Authorization: Bearer …`). A client sees only
   * the results and streams of its own key, unless keys share a tenant: `team-a:KEY`. The tenant is not sent.
   * @defaultValue the keys in EVENHAND_API_KEYS, separated by commas, or in the file that EVENHAND_API_KEYS_FILE names;
   *   if neither is set, no key is required
   */
  readonly keys?: readonly string[] | undefined;
  /**
   * The store of results.
   * @defaultValue a `ResultStore` of 500 results
   */
  readonly store?: ResultStoreLike<RunRecord> | undefined;
  /**
   * A folder in which results are also stored, so that they survive a restart of the process.
   * @defaultValue none: results are lost when the process ends
   */
  readonly storeFolder?: string | undefined;
  /**
   * The URL of a Redis server through which several hosts share runs, results, streams and rate limits, such as
   * `redis://db.example:6379`. The password is read from EVENHAND_REDIS_PASSWORD, or from the file that
   * EVENHAND_REDIS_PASSWORD_FILE names. Cannot be combined with `store` and `storeFolder`.
   * @defaultValue none: the runs belong to this service alone
   */
  readonly redis?: string | undefined;
  /**
   * The first part of the names of all keys in Redis. Services with different prefixes do not see each other.
   * @defaultValue 'evenhand'
   */
  readonly redisPrefix?: string | undefined;
  /**
   * Whether this host also executes runs. If not, other hosts or `evenhand worker` must. Needs `redis`.
   * @defaultValue true
   */
  readonly work?: boolean | undefined;
  /**
   * The number of requests allowed per minute and key, or per minute and address if there are no keys.
   * @defaultValue no limit
   */
  readonly rateLimit?: number | undefined;
  /**
   * Origins whose pages may call the service, such as `https://audit.example.com`.
   * @defaultValue none
   */
  readonly corsOrigins?: readonly string[] | undefined;
  /**
   * The host names that a request may have in its Host header. A restriction protects against DNS rebinding.
   * @defaultValue every name is accepted
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * A folder that `evenhand monitor --output-dir` writes. /dashboard shows its content and follows its changes. The
   * folder may be created later.
   * @defaultValue none: there is no dashboard
   */
  readonly monitorFolder?: string | undefined;
  /**
   * The folder that must contain the paths replay_path, bbq_path, benchmarks, answers_path, prompts_path and cache_dir of
   * a configuration for /llm-eval.
   * @defaultValue none: a configuration must not contain paths
   */
  readonly llmFolder?: string | undefined;
  /**
   * The hosts to which a request may have the end of its run reported (`?webhook_url=`), such as `hooks.example.com`. Only
   * these hosts are called, so that clients cannot use the service to reach others.
   * @defaultValue none: webhooks are refused
   */
  readonly webhookHosts?: readonly string[] | undefined;
  /**
   * The secret with which webhooks are signed (HMAC-SHA256).
   * @defaultValue EVENHAND_WEBHOOK_SECRET, or the text of the file that EVENHAND_WEBHOOK_SECRET_FILE names
   */
  readonly webhookSecret?: string | undefined;
  /** Overrides of the default {@link ServiceLimits}. */
  readonly limits?: Partial<ServiceLimits> | undefined;
  /**
   * The number of worker threads for large jobs.
   * @defaultValue 2, or 1 on a machine with one core
   */
  readonly threads?: number | undefined;
  /**
   * The number of runs that may wait for a thread. Further runs are rejected with 503.
   * @defaultValue 256
   */
  readonly queue?: number | undefined;
  /**
   * The path at which the app is mounted in another app, or at which a proxy serves it, such as `/fairness`. Links in
   * responses start with it. Requests may contain it or not.
   * @defaultValue ''
   */
  readonly basePath?: string | undefined;
  /**
   * Returns the current time in milliseconds since 1970.
   * @defaultValue the clock of this machine
   */
  readonly clock?: (() => number) | undefined;
  /**
   * Returns the ID of a new run, which must not be guessable.
   * @defaultValue random UUIDs
   */
  readonly createId?: (() => string) | undefined;
}

/** Lists the options of {@link AppOptions}. */
export const APP_OPTION_NAMES: OptionNames<AppOptions> = {
  keys: true,
  store: true,
  storeFolder: true,
  redis: true,
  redisPrefix: true,
  work: true,
  rateLimit: true,
  corsOrigins: true,
  allowedHosts: true,
  monitorFolder: true,
  llmFolder: true,
  webhookHosts: true,
  webhookSecret: true,
  limits: true,
  threads: true,
  queue: true,
  basePath: true,
  clock: true,
  createId: true,
};

/**
 * The service as a Koa app. Middleware that you add with `use` runs before the routes of the service, because they
 * answer every request. To mount the app in another app:
 * `outer.use(mount('/fairness', createApp({ basePath: '/fairness' })))`.
 */
export interface ServiceApp extends Koa {
  /** Resolves when the results of earlier processes are loaded and the worker threads have started. */
  ready(): Promise<void>;
  /**
   * Stops accepting work, waits for running work, and releases threads and temporary files. Further calls return the
   * same promise.
   * @param drainMillis the time in milliseconds after which running work is cancelled; 30,000 by default
   */
  close(drainMillis?: number): Promise<void>;
}

/** The options with their defaults filled in. They are the same in all processes of a service. */
export type ServiceSettings = Omit<
  Service,
  | 'runs'
  | 'streams'
  | 'webhookSender'
  | 'limiter'
  | 'spoolFolder'
  | 'workerName'
  | 'renderMetrics'
  | 'notReady'
  | 'refusesWork'
>;

/**
 * Returns the options with their defaults filled in.
 * @throws {ValueError} if a number is out of range or a path is not usable
 * @throws {ConfigValidationError} if a key cannot be sent in a header
 */
export function settingsOf(options: AppOptions): ServiceSettings {
  const { threads, queue, rateLimit } = options;
  assertCount('threads', threads, 1);
  assertCount('queue', queue, 0);
  assertCount('rateLimit', rateLimit, 1);
  checkRedis(options);
  const basePath = basePathOf(options.basePath ?? '');
  const clock = options.clock ?? machineClock;
  const { webhookHosts = [], webhookSecret = readSecret(process.env, 'EVENHAND_WEBHOOK_SECRET') ?? '' } = options;
  checkWebhooks(webhookHosts, webhookSecret);
  const logger = getLogger();
  return {
    limits: limitsOf(options.limits ?? {}, options.redis !== undefined),
    keys: options.keys === undefined ? readKeys(process.env) : checkKeys(options.keys, 'The keys parameter'),
    corsOrigins: options.corsOrigins ?? [],
    allowedHosts: options.allowedHosts ?? null,
    monitorFolder: options.monitorFolder ?? null,
    llmFolder: options.llmFolder ?? null,
    webhooks: { hosts: webhookHosts, secret: webhookSecret },
    basePath,
    logger,
    clock,
    createId: options.createId ?? randomUUID,
  };
}

function assertCount(name: string, value: number | undefined, min: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min)) return;
  throw invalidParameter(name, `be a whole number of at least ${String(min)}`, value);
}

/** The largest upload that is stored in Redis by default. */
const REDIS_UPLOAD_BYTES = REDIS_UPLOAD_MB * 2 ** 20;

/** The largest upload that can be stored in Redis: 8 GiB. */
const MAX_REDIS_UPLOAD_BYTES = MAX_REDIS_UPLOAD_MB * 2 ** 20;

function checkRedis({ redis, redisPrefix, work, store, storeFolder, limits }: AppOptions): void {
  if (redis === undefined) {
    const [given] = Object.entries({ redisPrefix, work }).filter(([, value]) => value !== undefined);
    if (given === undefined) return;
    throw new ConfigValidationError(`The ${given[0]} parameter needs the redis parameter.`, {
      context: { parameter: given[0] },
      suggestion: 'Add the URL of Redis, or omit the parameter.',
    });
  }
  if (store !== undefined || storeFolder !== undefined) {
    throw new ConfigValidationError('Results are stored either in Redis or in a folder, not in both.', {
      context: { parameter: 'redis' },
      suggestion: 'Use redis for several hosts, and the folder (--store) for one host. Omit the other one.',
    });
  }
  if (redisPrefix !== undefined && !REDIS_PREFIX.test(redisPrefix)) {
    throw invalidParameter('redisPrefix', 'have 1 to 100 letters, digits, dots, dashes and underscores', redisPrefix);
  }
  const bytes = limits?.uploadBytes ?? REDIS_UPLOAD_BYTES;
  if (bytes > MAX_REDIS_UPLOAD_BYTES) {
    throw invalidParameter('limits.uploadBytes', 'be at most 8 GiB with redis', bytes);
  }
}

function limitsOf(given: Partial<ServiceLimits>, isInRedis: boolean): ServiceLimits {
  for (const [name, value] of Object.entries(given)) {
    if (name in DEFAULT_LIMITS && Number.isSafeInteger(value) && value > 0) continue;
    const known = Object.keys(DEFAULT_LIMITS).join(', ');
    throw new ValueError(
      `The limits parameter must have whole numbers above 0 for ${known}. Got ${name}: ${String(value)} instead.`,
      { context: { parameter: 'limits', value: given } },
    );
  }
  return { ...DEFAULT_LIMITS, ...(isInRedis ? { uploadBytes: REDIS_UPLOAD_BYTES } : {}), ...given };
}

/** The first parts of the paths of the service. */
const OWN_PATHS: ReadonlySet<string> = new Set(Object.values(OPERATIONS).map(([, path]) => path.split('/')[1] ?? ''));

/**
 * Returns a path without its trailing slash; '' for the root. A base path must not begin like a path of the service,
 * because nobody could then know whether a proxy has removed it.
 */
function basePathOf(given: string): string {
  const path = given.replace(/\/+$/, '');
  const [, first = ''] = path.split('/');
  if (OWN_PATHS.has(first)) {
    throw new ValueError(
      `The basePath parameter must not begin with '/${first}', which is a path of the service itself.`,
      {
        context: { parameter: 'basePath', value: given },
        suggestion: 'Use another path, such as /fairness.',
      },
    );
  }
  if (path === '' || /^(?:\/[\w.~-]+)+$/.test(path)) return path;
  throw new ValueError(`The basePath parameter must be a path such as '/fairness'. Got '${given}' instead.`, {
    context: { parameter: 'basePath', value: given },
  });
}
