import type { Handlers, Methods } from './methods.ts';
import { type CallPacket, type Packet, packError } from './packet.ts';

/** The calls of the other side that are being answered here. */
export interface ServedCalls {
  take(packet: CallPacket): void;
  /** The caller no longer waits. */
  cancel(id: number): void;
  cancelAll(): void;
}

/** Answers calls by handlers. A call stays known until it is answered, one that subscribes until it is cancelled. */
export function createServedCalls(handlers: Handlers<Methods>, send: (packet: Packet) => void): ServedCalls {
  const controllers = new Map<number, AbortController>();

  const take = async ({ id, method, argument, isSubscription }: CallPacket): Promise<void> => {
    const controller = new AbortController();
    controllers.set(id, controller);
    const { signal } = controller;
    const emit = (value: unknown): void => {
      if (!signal.aborted) send({ kind: 'event', id, value });
    };
    try {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
      if (handler === undefined) throw new Error(`There is no method '${method}'.`);
      const value = await handler(argument as never, { signal, emit });
      if (!signal.aborted) send({ kind: 'answer', id, value });
    } catch (error) {
      if (!signal.aborted) send(packError(id, error));
    }
    if (!isSubscription) controllers.delete(id);
  };

  const cancel = (id: number): void => {
    controllers.get(id)?.abort();
    controllers.delete(id);
  };
  return {
    take: (packet) => void take(packet),
    cancel,
    cancelAll: () => {
      for (const id of [...controllers.keys()]) cancel(id);
    },
  };
}
