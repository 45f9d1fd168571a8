import type { Logger } from 'pino';

import { oneLine } from '../../io/duckdb.ts';
import type { Redis, RedisClient } from '../../io/redis/open-redis.ts';
import { storeAway, storeFull } from '../problem/service-problem.ts';

/** The time after which a command fails. */
const COMMAND_MILLIS = 3000;

/** The time between two checks whether Redis answers. */
const CHECK_MILLIS = 1000;

/** The replies of a Redis that cannot store anything now. */
const FULL = /^(?:OOM|MISCONF|READONLY|NOREPLICAS)\b/;

/** The replies of a Redis that is starting, or busy with a script. */
const BUSY = /^(?:LOADING|BUSY|TRYAGAIN|MASTERDOWN|CLUSTERDOWN)\b/;

/** Sends the commands that a request waits for. */
export interface PromptClient extends Pick<RedisClient, 'call' | 'callBuffer'> {
  /** The time in milliseconds since Redis stopped answering; 0 while it answers. */
  readonly awayMillis: number;
  /** The connection, for packages that send their own commands. */
  readonly client: RedisClient;
  /** Ends the checks. The connection is closed with all others. */
  close(): void;
}

/**
 * Opens a connection whose commands fail within seconds if Redis does not answer. After that, commands fail at once,
 * until a check finds that Redis answers again: otherwise every request would wait for the time limit.
 * @param logger for one line when Redis stops answering, and one when it answers again
 * @returns a client that throws problems with status 503
 */
export async function openPromptClient(redis: Redis, logger: Logger): Promise<PromptClient> {
  const client = await redis.open({ commandMillis: COMMAND_MILLIS });
  let awaySince: number | undefined;
  let isClosed = false;
  const noteAway = (reason: string): void => {
    if (awaySince !== undefined || isClosed) return;
    awaySince = performance.now();
    logger.error({ reason }, `${redis.name} does not answer. Requests that need it are answered with 503.`);
  };
  const noteBack = (): void => {
    if (awaySince === undefined) return;
    awaySince = undefined;
    logger.warn(`${redis.name} answers again.`);
  };
  client.on('close', () => {
    noteAway('the connection was closed');
  });
  let isChecking = false;
  const check = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    client
      .call('PING')
      .then(noteBack, (error: unknown) => {
        // An error that Redis itself reports shows that it answers.
        if (isReply(error) && !BUSY.test(messageOf(error))) noteBack();
        else noteAway(messageOf(error));
      })
      .finally(() => {
        isChecking = false;
      });
  }, CHECK_MILLIS);
  check.unref();
  const guarded = async <Result>(send: () => Promise<Result>): Promise<Result> => {
    if (awaySince !== undefined) throw storeAway();
    try {
      return await send();
    } catch (error) {
      const message = messageOf(error);
      // A script that Redis has forgotten is sent again.
      if (message.startsWith('NOSCRIPT')) throw error;
      if (!isReply(error) || BUSY.test(message)) {
        noteAway(message);
        throw storeAway(error);
      }
      logger.error({ reason: message }, `${redis.name} rejected a command`);
      if (FULL.test(message)) throw storeFull(error);
      throw error;
    }
  };
  return {
    client,
    get awayMillis() {
      return awaySince === undefined ? 0 : performance.now() - awaySince;
    },
    call: (...given) => guarded(() => client.call(...given)),
    callBuffer: (...given) => guarded(() => client.callBuffer(...given)),
    close: () => {
      isClosed = true;
      clearInterval(check);
    },
  };
}

/** Returns whether an error is a reply of Redis, and not a lost connection or an expired time limit. */
function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

function messageOf(error: unknown): string {
  return oneLine(error instanceof Error ? error.message : String(error));
}
