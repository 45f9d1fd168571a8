import type { MessageLine } from './message-line.ts';
import type { Packet, PacketMessage } from './packet.ts';

/** Sends packets, those of one turn of the event loop together. */
export interface PacketSender {
  readonly send: (packet: Packet) => void;
  /** Sends no more. */
  readonly close: () => void;
}

/** @param onUnsendable called for a packet that cannot be written, such as one with a function in it */
export function createPacketSender(
  line: MessageLine,
  onUnsendable: (packet: Packet, cause: unknown) => void,
): PacketSender {
  let queue: Packet[] = [];
  let isOpen = true;
  const flush = (): void => {
    const packets = queue;
    queue = [];
    if (!isOpen) return;
    try {
      line.send({ evenhand: packets } satisfies PacketMessage);
    } catch {
      // One packet at a time, so that one which cannot be written does not take the others with it.
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
      // After the sockets that are ready were read, so that their requests share a message.
      if (queue.length === 0) setImmediate(flush);
      queue.push(packet);
    },
    close: () => {
      isOpen = false;
      queue = [];
    },
  };
}
