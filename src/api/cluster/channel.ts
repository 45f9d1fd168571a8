import { type ServiceProblem, unavailable } from '../problem/service-problem.ts';
import {
  type CallPacket,
  type Handlers,
  isPacketMessage,
  type MessageLine,
  type Methods,
  packError,
  type Packet,
  type PacketMessage,
  unpackError,
} from './protocol.ts';

/** A subscription: the answer of the call, and a function that ends the events. */
interface Subscription<Answer> {
  readonly answer: Answer;
  /** Ends the subscription. */
  readonly end: () => void;
}

/** One side of a connection between two processes. Each side can call the other. */
export interface Channel<Asked extends Methods> {
  /**
   * Calls a method of the other side.
   * @throws {ServiceProblem} the problem that the other side threw, or 503 if the other side has ended
   * @throws the reason of the signal if it is aborted first
   */
  readonly call: <Name extends keyof Asked & string>(
    method: Name,
    argument: Parameters<Asked[Name]>[0],
    signal?: AbortSignal,
  ) => Promise<ReturnType<Asked[Name]>>;
  /** Calls a method that returns a result and then sends events. Events may also arrive before the result. */
  readonly subscribe: <Name extends keyof Asked & string>(
    method: Name,
    argument: Parameters<Asked[Name]>[0],
    onEvent: (event: never) => void,
  ) => Promise<Subscription<ReturnType<Asked[Name]>>>;
}

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly onEvent: ((event: never) => void) | undefined;
}

/**
 * Opens this side of a channel. Packets of one turn of the event loop are sent as one message, because the cost per
 * message is higher than the cost of its content.
 */
export function createChannel<Asked extends Methods, Answered extends Methods>(
  line: MessageLine,
  handlers: Handlers<Answered>,
): Channel<Asked> {
  const pending = new Map<number, PendingCall>();
  const sender = createPacketSender(line, ({ kind, id }, cause) => {
    // If a packet cannot be serialized, the side that waits for it receives an error.
    if (kind === 'call') settle(pending, id)?.reject(cause);
    else if (kind === 'answer') sender.send(packError(id, cause));
  });
  const served = createServedCalls(handlers, sender.send);
  let isOpen = true;

  line.onMessage((message) => {
    if (!isPacketMessage(message)) return;
    for (const packet of message.evenhand) {
      if (packet.kind === 'call') served.take(packet);
      else if (packet.kind === 'cancel') served.cancel(packet.id);
      else if (packet.kind === 'event') (pending.get(packet.id)?.onEvent as OnAnyEvent | undefined)?.(packet.value);
      else if (packet.kind === 'answer') answer(pending, packet.id, packet.value);
      else settle(pending, packet.id)?.reject(unpackError(packet));
    }
  });
  line.onClose(() => {
    isOpen = false;
    sender.close();
    served.cancelAll();
    for (const { reject } of pending.values()) reject(otherSideGone());
    pending.clear();
  });

  let calls = 0;
  const ask = (
    method: string,
    argument: unknown,
    onEvent?: (event: never) => void,
  ): { id: number; answer: Promise<unknown> } => {
    const id = ++calls;
    if (!isOpen) return { id, answer: Promise.reject(otherSideGone()) };
    const answer = new Promise<unknown>((resolve, reject) => {
      pending.set(id, { resolve, reject, onEvent });
    });
    sender.send({ kind: 'call', id, method, argument, isSubscription: onEvent !== undefined });
    return { id, answer };
  };
  const forget = (id: number): PendingCall | undefined => {
    const call = settle(pending, id);
    if (call !== undefined) sender.send({ kind: 'cancel', id });
    return call;
  };

  return {
    call: async (method, argument, signal) => {
      signal?.throwIfAborted();
      const { id, answer } = ask(method, argument);
      if (signal === undefined) return (await answer) as never;
      const onAbort = (): void => {
        forget(id)?.reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        return (await answer) as never;
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
    subscribe: async (method, argument, onEvent) => {
      const { id, answer } = ask(method, argument, onEvent);
      return { answer: (await answer) as never, end: () => forget(id) };
    },
  };
}

type OnAnyEvent = (event: unknown) => void;

/** Resolves a call. A subscription stays registered, because events may follow. */
function answer(pending: Map<number, PendingCall>, id: number, value: unknown): void {
  const call = pending.get(id);
  if (call?.onEvent === undefined) pending.delete(id);
  call?.resolve(value);
}

function settle(pending: Map<number, PendingCall>, id: number): PendingCall | undefined {
  const call = pending.get(id);
  pending.delete(id);
  return call;
}

function otherSideGone(): ServiceProblem {
  return unavailable('A process of the service has ended.', 'Send the request again in a moment.', 1);
}

/** The calls of the other side that are in progress here. */
interface ServedCalls {
  take(packet: CallPacket): void;
  /** Cancels a call because the caller no longer waits. */
  cancel(id: number): void;
  cancelAll(): void;
}

/**
 * Answers calls with handlers. A call stays registered until it is answered. A subscription stays registered until it
 * is cancelled.
 */
function createServedCalls(handlers: Handlers<Methods>, send: (packet: Packet) => void): ServedCalls {
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
      if (handler === undefined) throw new Error(`Unknown method '${method}'.`);
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

/** Sends packets. Packets of one turn of the event loop are sent together. */
interface PacketSender {
  readonly send: (packet: Packet) => void;
  /** Stops sending. */
  readonly close: () => void;
}

/** @param onUnsendable called with a packet that cannot be serialized, such as one that contains a function */
function createPacketSender(line: MessageLine, onUnsendable: (packet: Packet, cause: unknown) => void): PacketSender {
  let queue: Packet[] = [];
  let isOpen = true;
  const flush = (): void => {
    const packets = queue;
    queue = [];
    if (!isOpen) return;
    try {
      line.send({ evenhand: packets } satisfies PacketMessage);
    } catch {
      // Packets are sent separately here, so that one packet that cannot be serialized does not block the others.
      for (const packet of packets) {
        try {
          line.send({ evenhand: [packet] } satisfies PacketMessage);
        } catch (cause) {
          onUnsendable(packet, cause);
        }
      }
    }
  };
  return {
    send: (packet) => {
      if (!isOpen) return;
      // setImmediate runs after ready sockets were read, so that their requests share a message.
      if (queue.length === 0) setImmediate(flush);
      queue.push(packet);
    },
    close: () => {
      isOpen = false;
      queue = [];
    },
  };
}
