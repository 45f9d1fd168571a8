import { own } from '../../internal/values.ts';
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
  ) => Promise<{
    readonly answer: ReturnType<Asked[Name]>;
    /** Ends the subscription. */
    readonly end: () => void;
  }>;
}

interface PendingCall {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly onEvent: ((event: never) => void) | undefined;
}

/**
 * Opens this side of a channel. The packets of one turn of the event loop are sent as one message, because few large
 * messages cost less than many small ones.
 */
export function createChannel<Asked extends Methods, Answered extends Methods>(
  line: MessageLine,
  handlers: Handlers<Answered>,
): Channel<Asked> {
  const pending = new Map<number, PendingCall>();
  const served = new Map<number, AbortController>();
  const send = createSender(line, ({ kind, id }, cause) => {
    // If a packet cannot be serialized, the side that waits for the packet receives an error.
    if (kind === 'call') settle(id)?.reject(cause);
    else if (kind === 'answer') send(packError(id, cause));
  });
  const settle = (id: number): PendingCall | undefined => {
    const call = pending.get(id);
    pending.delete(id);
    return call;
  };
  let isOpen = true;

  line.onMessage((message) => {
    if (!isPacketMessage(message)) return;
    for (const packet of message.evenhand) {
      const { id } = packet;
      if (packet.kind === 'call') void answerCall(packet, handlers, served, send);
      else if (packet.kind === 'cancel') {
        served.get(id)?.abort();
        served.delete(id);
      } else if (packet.kind === 'event') pending.get(id)?.onEvent?.(packet.value as never);
      else if (packet.kind === 'answer') {
        // A subscription stays registered after its answer, because events may follow.
        const call = pending.get(id)?.onEvent === undefined ? settle(id) : pending.get(id);
        call?.resolve(packet.value);
      } else settle(id)?.reject(unpackError(packet));
    }
  });
  line.onClose(() => {
    isOpen = false;
    for (const controller of served.values()) controller.abort();
    served.clear();
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
    send({ kind: 'call', id, method, argument, isSubscription: onEvent !== undefined });
    return { id, answer };
  };
  const forget = (id: number): PendingCall | undefined => {
    const call = settle(id);
    if (call !== undefined) send({ kind: 'cancel', id });
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

function otherSideGone(): ServiceProblem {
  return unavailable('A process of the service has ended.', 'Send the request again in a moment.', 1);
}

/**
 * Answers a call of the other side with its handler. A call stays registered until its answer has been sent. A
 * subscription stays registered until the other side cancels it.
 * @param served the abort controller of each registered call, by call ID
 */
async function answerCall(
  { id, method, argument, isSubscription }: CallPacket,
  handlers: Handlers<Methods>,
  served: Map<number, AbortController>,
  send: (packet: Packet) => void,
): Promise<void> {
  const controller = new AbortController();
  served.set(id, controller);
  const { signal } = controller;
  const sendIfWanted = (packet: Packet): void => {
    if (!signal.aborted) send(packet);
  };
  try {
    const handler = own(handlers, method);
    if (handler === undefined) throw new Error(`Unknown method '${method}'.`);
    const emit = (value: unknown): void => {
      sendIfWanted({ kind: 'event', id, value });
    };
    sendIfWanted({ kind: 'answer', id, value: await handler(argument as never, { signal, emit }) });
  } catch (error) {
    sendIfWanted(packError(id, error));
  }
  if (!isSubscription) served.delete(id);
}

/**
 * Returns a function that sends packets until the transport is closed. All packets of one turn of the event loop are
 * sent together.
 * @param onUnsendable called with a packet that cannot be serialized, such as one that contains a function
 */
function createSender(
  line: MessageLine,
  onUnsendable: (packet: Packet, cause: unknown) => void,
): (packet: Packet) => void {
  let queue: Packet[] = [];
  let isOpen = true;
  line.onClose(() => {
    isOpen = false;
    queue = [];
  });
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
  return (packet) => {
    if (!isOpen) return;
    // setImmediate runs after the ready sockets were read, so that all their requests are sent in one message.
    if (queue.length === 0) setImmediate(flush);
    queue.push(packet);
  };
}
