import { setTimeout as sleep } from 'node:timers/promises';

import { ConfigValidationError, DataValidationError, FairnessToolkitError } from '../../exceptions/index.ts';
import { counted } from '../../internal/format.ts';
import type { SqlDialect } from '../../schemas/counting.ts';
import { oneLine } from '../duckdb.ts';
import type { EngineResult, SqlEngine, StatementOptions } from '../sql-engine.ts';

/** Why a statement has no result. */
type FailureKind =
  /** The engine does not answer at this address. */
  | 'unreachable'
  /** The engine does not accept the user or the password. */
  | 'denied'
  /** The connection ended before the result arrived. */
  | 'lost'
  /** The engine stopped the statement after its time limit. */
  | 'slow'
  /** The engine cannot run the statement. */
  | 'statement';

/** Why a statement has no result, in the engine's words. */
export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
}

/** What differs between engines. */
export interface Driver {
  /** The name of the engine and its address, without credentials. */
  readonly name: string;
  readonly dialect: SqlDialect;
  /**
   * Runs one statement that reads, on a connection of its own.
   * @param signal stops the statement, also in the engine
   */
  run(sql: string, signal: AbortSignal): Promise<EngineResult>;
  /**
   * Runs one statement that reads, on a connection of its own, and yields the rows of its result in parts. The time
   * limit applies to each part.
   * @param signal stops the statement, also in the engine
   */
  stream?(sql: string, signal: AbortSignal): AsyncIterable<EngineResult['rows']>;
  /** Returns why {@link Driver.run} failed. */
  explain(cause: unknown): Failure;
}

/** Returns whether a code of Node.js means that nothing answers at an address, or not with a certificate that is valid. */
export function isUnreachable(code: string): boolean {
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPROTO)$|CERT|TLS|SSL/.test(code);
}

/**
 * Checks that a statement only reads, for engines without a session that is read-only. In Trino and Spark, a statement
 * that begins with SELECT is a query, and only one statement is run.
 * @throws {ConfigValidationError} if the statement does not begin with SELECT
 */
export function assertSelect(name: string, sql: string): void {
  if (/^\s*SELECT\b/i.test(sql)) return;
  throw new ConfigValidationError(`${name} runs only statements that begin with SELECT, because they only read.`, {
    context: { parameter: 'sql', expected: 'SELECT' },
    suggestion: 'Write SELECT * FROM (…) around a query that begins with WITH, VALUES or a comment.',
  });
}

/** Limits and secrets of an engine. */
export interface EngineSettings {
  readonly timeoutSeconds: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** The time before a statement is repeated whose connection was lost. */
const RETRY_MS = 500;

/** The time that an engine has to stop a statement by itself, before it is abandoned. */
const GRACE_SECONDS = 5;

/**
 * Returns an engine that runs statements with a driver. A statement only reads, so it is repeated once if its connection
 * is lost.
 */
export function openEngine(driver: Driver, { timeoutSeconds, password }: EngineSettings): SqlEngine {
  const stop = new AbortController();
  const running = new Set<Promise<unknown>>();
  const hide = (text: string): string =>
    password === undefined || password === '' ? text : text.replaceAll(password, '[password]');

  /** Returns why work has failed, or throws what is not a failure of the engine. */
  function failureOf(cause: unknown, given: AbortSignal | undefined, late?: AbortSignal): Failure {
    given?.throwIfAborted();
    if (stop.signal.aborted) throw closed(driver.name);
    if (FairnessToolkitError.isInstance(cause)) throw cause;
    if (late?.aborted === true) return { kind: 'slow', message: '' };
    const { kind, message } = driver.explain(cause);
    return { kind, message: hide(oneLine(message)) };
  }

  async function* stream(sql: string, { signal }: StatementOptions = {}): AsyncGenerator<EngineResult['rows']> {
    signal?.throwIfAborted();
    if (stop.signal.aborted) throw closed(driver.name);
    const signals = [signal, stop.signal].filter((one) => one !== undefined);
    const ended = new AbortController();
    const parts = driver.stream?.(sql, AbortSignal.any([...signals, ended.signal]))[Symbol.asyncIterator]();
    try {
      for (;;) {
        const late = AbortSignal.timeout(Math.ceil((timeoutSeconds + GRACE_SECONDS) * 1000));
        const next = await settled(Promise.resolve(parts?.next()), [...signals, late]).catch((cause: unknown) => {
          // Rows that were read already cannot be taken back, so that a lost statement is not repeated.
          throw failed(driver.name, failureOf(cause, signal, late), timeoutSeconds, 'reading');
        });
        if (next === undefined || next.done === true) return;
        yield next.value;
      }
    } finally {
      ended.abort();
      // If not all rows were read, this ends the connection.
      void parts?.return?.().catch(() => undefined);
    }
  }

  async function attempt(sql: string, given: AbortSignal | undefined): Promise<EngineResult | Failure> {
    const late = AbortSignal.timeout(Math.ceil((timeoutSeconds + GRACE_SECONDS) * 1000));
    const signals = [given, stop.signal, late].filter((signal) => signal !== undefined);
    try {
      const work = driver.run(sql, AbortSignal.any(signals));
      running.add(work);
      const done = (): boolean => running.delete(work);
      work.then(done, done);
      return await settled(work, signals);
    } catch (cause) {
      return failureOf(cause, given, late);
    }
  }

  return {
    name: driver.name,
    dialect: driver.dialect,
    async query(sql: string, { signal }: StatementOptions = {}): Promise<EngineResult> {
      signal?.throwIfAborted();
      if (stop.signal.aborted) throw closed(driver.name);
      const first = await attempt(sql, signal);
      if (!('kind' in first)) return first;
      if (first.kind !== 'lost') throw failed(driver.name, first, timeoutSeconds);
      await sleep(RETRY_MS);
      signal?.throwIfAborted();
      const second = await attempt(sql, signal);
      if ('kind' in second) throw failed(driver.name, second, timeoutSeconds);
      return second;
    },
    ...(driver.stream === undefined ? {} : { stream }),
    async close(): Promise<void> {
      stop.abort();
      // The drivers stop their statements in the engine.
      const given = new AbortController();
      await Promise.race([Promise.allSettled(running), sleep(1000 * GRACE_SECONDS, undefined, given)]);
      given.abort();
    },
  };
}

/** Waits for work, but not after a signal: the promises of some drivers stay pending if a server disappears. */
async function settled<T>(work: Promise<T>, signals: readonly AbortSignal[]): Promise<T> {
  const aborted = AbortSignal.any([...signals]);
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => {
      reject(aborted.reason as Error);
    };
    if (aborted.aborted) stop();
    else aborted.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    aborted.removeEventListener('abort', stop);
  }
}

/** @param work what the statement was for */
function failed(
  name: string,
  { kind, message }: Failure,
  timeoutSeconds: number,
  work: 'counting' | 'reading' = 'counting',
): DataValidationError {
  const isReading = work === 'reading';
  const nothing = isReading ? 'Nothing was trained.' : 'Nothing was measured.';
  const [problem, suggestion] = {
    unreachable: [
      `${name} does not answer: ${message}`,
      'Check the host and the port in the URL, and that the engine is running and reachable from here.',
    ],
    denied: [
      `${name} does not accept the user or the password: ${message}`,
      'Name the user in the URL (…://USER@host/database), and the password in EVENHAND_SQL_PASSWORD.',
    ],
    lost: [
      isReading
        ? `${name} lost a connection or a server before the last row arrived: ${message}`
        : `${name} lost a connection or a server before the result arrived, twice: ${message}`,
      `${nothing} Check the log of the engine (it may have been stopped, or out of memory), and try again.`,
    ],
    slow: [
      `${name} did not ${isReading ? 'return rows' : 'finish counting'} within ${counted(timeoutSeconds, 'second')}.`,
      `${nothing} Raise the time limit, or ${isReading ? 'read' : 'count'} fewer rows or columns.`,
    ],
    statement: [
      `${name} cannot ${isReading ? 'return the rows' : 'count'}: ${message}`,
      `${nothing} Check the names of the table and its columns (upper and lower case matter), and the rights of the user.`,
    ],
  }[kind] as [string, string];
  return new DataValidationError(problem, {
    code: 'engine-failed',
    context: { engine: name, reason: kind },
    suggestion,
  });
}

function closed(name: string): DataValidationError {
  return new DataValidationError(`${name} is closed.`, {
    code: 'invalid-state',
    context: { engine: name },
    suggestion: 'Close the engine only after the last statement.',
  });
}
