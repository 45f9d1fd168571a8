import { getLogger } from '../../internal/logger.ts';
import type { Redis } from '../redis/open-redis.ts';

/** Receives the messages of channels of Redis over one connection. */
export interface Channels {
  /**
   * Receives messages from now on. Messages are lost while the connection is.
   * @returns a function that stops it
   */
  listen(channel: string, listener: (text: string) => void): Promise<() => void>;
}

/** Opens a connection for messages. It is closed with the first connection to Redis. */
export async function openChannels(redis: Redis): Promise<Channels> {
  const client = await redis.open();
  const listeners = new Map<string, Set<(text: string) => void>>();
  client.on('message', (channel: string, text: string) => {
    for (const listener of listeners.get(channel) ?? []) {
      try {
        listener(text);
      } catch (error) {
        // An error in a callback of the user must not end the process.
        getLogger().error({ err: error }, 'A callback of a task failed.');
      }
    }
  });
  return {
    async listen(channel, listener) {
      const own = listeners.get(channel) ?? new Set();
      listeners.set(channel, own.add(listener));
      if (own.size === 1) await client.subscribe(channel);
      return () => {
        own.delete(listener);
        if (own.size > 0 || listeners.get(channel) !== own) return;
        listeners.delete(channel);
        client.unsubscribe(channel).catch(() => undefined);
      };
    },
  };
}

/** Wakes a loop that waits. */
export interface Bell {
  ring(): void;
  /** Resolves after some time, when the bell rings, or when the signal is aborted. */
  wait(millis: number, signal: AbortSignal): Promise<void>;
}

/** Creates a bell. If it rings while nobody waits, the next wait ends at once. */
export function createBell(): Bell {
  let hasRung = false;
  let wake = (): void => undefined;
  return {
    ring() {
      hasRung = true;
      wake();
    },
    async wait(millis, signal) {
      if (!hasRung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const end = (): void => {
            clearTimeout(timer);
            signal.removeEventListener('abort', end);
            resolve();
          };
          const timer = setTimeout(end, millis);
          signal.addEventListener('abort', end, { once: true });
          wake = end;
        });
      }
      hasRung = false;
    },
  };
}
