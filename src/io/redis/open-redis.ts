import { setTimeout as sleep } from 'node:timers/promises';

import { DataValidationError, ConfigValidationError } from '../../exceptions/index.ts';
import { getLogger } from '../../internal/logger.ts';
import { importOptional } from '../../internal/packages.ts';
import { oneLine } from '../duckdb.ts';
import { readSecret } from '../read-secret.ts';

/** The part of a client of ioredis that is used. Commands are methods with the names of Redis, in lower case. */
export interface RedisClient {
  readonly status: string;
  connect(): Promise<void>;
  call(command: string, ...args: readonly (string | number | Buffer)[]): Promise<unknown>;
  callBuffer(command: string, ...args: readonly (string | number | Buffer)[]): Promise<unknown>;
  subscribe(...channels: readonly string[]): Promise<unknown>;
  unsubscribe(...channels: readonly string[]): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
  quit(): Promise<unknown>;
  disconnect(): void;
}

/** A Redis server, and the connections to it. */
export interface Redis {
  /** The address in messages and logs. It contains no password. */
  readonly name: string;
  /** The connection for commands. */
  readonly client: RedisClient;
  /**
   * Opens a further connection, for example for commands that block or for subscriptions. It is closed with the first
   * one.
   */
  open(options?: OpenClientOptions): Promise<RedisClient>;
  /** Closes all connections. Closing again has no effect. */
  close(): Promise<void>;
}

/** Options of {@link Redis.open}. */
interface OpenClientOptions {
  /**
   * The time in milliseconds after which a command fails. Such a connection never sends a command a second time, and
   * while Redis is away, its commands fail at once.
   * @defaultValue none: commands wait until Redis answers
   */
  readonly commandMillis?: number | undefined;
}

/** Options of {@link openRedis}. */
export interface OpenRedisOptions {
  /**
   * The environment variables. EVENHAND_REDIS_PASSWORD holds the password, or EVENHAND_REDIS_PASSWORD_FILE the path of
   * a file that holds it.
   * @defaultValue process.env
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * The time to connect, in milliseconds.
   * @defaultValue 10000
   */
  readonly connectMillis?: number | undefined;
}

/** The time after which a new connection is attempted, in milliseconds, at the most. */
const MAX_RETRY_MS = 2000;

/** The time that a server has to answer when a connection is closed. */
const GOODBYE_MS = 1000;

/**
 * Connects to Redis. If the connection is lost later, commands wait until Redis answers again.
 * @param url `redis://user@host:6379/0`, or `rediss://` for TLS
 * @throws {ConfigValidationError} if the URL is not valid
 * @throws {DataValidationError} if Redis does not answer, or does not accept the password
 * @throws {DependencyError} if ioredis is not installed
 */
export async function openRedis(
  url: string,
  { env = process.env, connectMillis = 10_000 }: OpenRedisOptions = {},
): Promise<Redis> {
  const { options, name } = parseRedisUrl(url, env);
  const { Redis: Client } = (await importOptional('ioredis', 'to use Redis', () => import('ioredis'))) as {
    readonly Redis: new (options: object) => RedisClient;
  };
  const clients: RedisClient[] = [];
  const open = async ({ commandMillis }: OpenClientOptions = {}): Promise<RedisClient> => {
    const client = new Client({
      ...options,
      ...(commandMillis === undefined
        ? {}
        : { commandTimeout: commandMillis, enableOfflineQueue: false, autoResendUnfulfilledCommands: false }),
      lazyConnect: true,
      connectTimeout: connectMillis,
      // Commands wait for a lost server, because a job must not fail when Redis restarts.
      maxRetriesPerRequest: null,
      retryStrategy: (attempt: number) => Math.min(100 * attempt, MAX_RETRY_MS),
    });
    let problem: unknown;
    client.on('error', (error: Error) => (problem = error));
    clients.push(client);
    try {
      await client.connect();
    } catch (cause) {
      client.disconnect();
      throw unreachable(name, problem ?? cause);
    }
    return client;
  };
  const client = await open();
  let [isLost, isClosed] = [false, false];
  client.on('close', () => {
    if (isLost || isClosed) return;
    isLost = true;
    getLogger().warn(`${name} does not answer. Work waits until it answers again.`);
  });
  client.on('ready', () => {
    isLost = false;
    getLogger().info(`${name} answers again.`);
  });
  return {
    name,
    client,
    open,
    async close() {
      isClosed = true;
      await Promise.all(
        clients.splice(0).map(async (one) => {
          // A connection that is lost cannot say goodbye, and a server that does not answer is not waited for.
          const goodbye = one.status === 'ready' ? one.quit().catch(() => undefined) : Promise.resolve();
          await Promise.race([goodbye, sleep(GOODBYE_MS, undefined, { ref: false })]);
          one.disconnect();
        }),
      );
    },
  };
}

/** The address of a Redis server. */
interface RedisAddress {
  /** Options of ioredis and BullMQ. */
  readonly options: object;
  readonly name: string;
}

/**
 * Returns the address of a Redis server, with the password of the environment.
 * @throws {ConfigValidationError} if the URL is not valid. The message does not contain the URL
 */
export function parseRedisUrl(url: string, env: Readonly<Record<string, string | undefined>>): RedisAddress {
  let address: URL;
  try {
    address = new URL(url);
  } catch {
    throw invalidUrl('it cannot be parsed');
  }
  const { protocol, hostname, port, pathname, username, password, search, hash } = address;
  if (protocol !== 'redis:' && protocol !== 'rediss:') throw invalidUrl(`its protocol is '${protocol.slice(0, -1)}'`);
  if (hostname === '') throw invalidUrl('it has no host');
  if (search !== '' || hash !== '' || pathname.includes('@'))
    throw invalidUrl('a character such as @, # or ? must be percent-encoded');
  const db = /^\/?$/.test(pathname) ? 0 : /^\/(\d{1,3})$/.test(pathname) ? Number(pathname.slice(1)) : NaN;
  if (Number.isNaN(db)) throw invalidUrl('its path is not the number of a database');
  const secret = password === '' ? readSecret(env, 'EVENHAND_REDIS_PASSWORD') : decodeURIComponent(password);
  return {
    options: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? 6379 : Number(port),
      db,
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(secret === undefined ? {} : { password: secret }),
      ...(protocol === 'rediss:' ? { tls: {} } : {}),
    },
    name: `Redis at ${address.host}${db === 0 ? '' : `/${String(db)}`}`,
  };
}

/** Returns whether a URL of Redis contains a password. On a command line, other users of the computer could read it. */
export function hasRedisPassword(url: string): boolean {
  return URL.canParse(url) && new URL(url).password !== '';
}

/** Returns whether an error comes from Redis or from the connection to it. */
export function isRedisError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return 'command' in error || error.name === 'ReplyError' || error.message === 'Connection is closed.';
}

/** Returns the error for a command that Redis rejected, or that was not sent because the connection was closed. */
export function redisFailed(name: string, cause: unknown): DataValidationError {
  const isFull = cause instanceof Error && cause.message.startsWith('OOM');
  return new DataValidationError(`${name} failed: ${oneLine(cause)}`, {
    code: 'engine-failed',
    context: { engine: name, reason: isFull ? 'full' : 'statement' },
    suggestion: isFull
      ? 'Give Redis more memory (maxmemory), or keep outputs for a shorter time.'
      : 'Check the log of Redis, and the permissions of its user.',
    cause,
  });
}

function invalidUrl(problem: string): ConfigValidationError {
  return new ConfigValidationError(`The URL of Redis is not valid: ${problem}.`, {
    context: { parameter: 'redis', expected: ['redis:', 'rediss:'] },
    suggestion:
      'Write redis://host:6379 (or rediss:// for TLS), and set the password in EVENHAND_REDIS_PASSWORD. Special characters in names are percent-encoded.',
  });
}

function unreachable(name: string, cause: unknown): DataValidationError {
  const message = oneLine(cause instanceof Error ? cause.message : String(cause));
  const isDenied = /WRONGPASS|NOAUTH|NOPERM|AUTH/.test(message);
  return new DataValidationError(
    `${name} ${isDenied ? 'does not accept the user or the password' : 'does not answer'}: ${message}`,
    {
      code: 'engine-failed',
      context: { engine: name, reason: isDenied ? 'denied' : 'unreachable' },
      suggestion: isDenied
        ? 'Set the password in EVENHAND_REDIS_PASSWORD, and the user in the URL (redis://USER@host:6379).'
        : 'Check the host and the port in the URL, and that Redis is running and reachable from here.',
      cause,
    },
  );
}
