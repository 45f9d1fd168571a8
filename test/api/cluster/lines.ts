import type { MessageLine } from '../../../src/api/cluster/protocol.ts';

/**
 * Creates two ends of a message line in memory. Messages are copied as between processes, and arrive in a later turn.
 */
export interface LinePair {
  readonly left: MessageLine;
  readonly right: MessageLine;
  /** The sent messages, not copied. */
  readonly sent: unknown[];
  readonly close: () => void;
}

export function createLinePair(): LinePair {
  const sent: unknown[] = [];
  const ends = [createEnd(), createEnd()] as const;
  let isOpen = true;
  const lineFrom = (own: End, other: End): MessageLine => ({
    send: (message) => {
      const copy = structuredClone(message);
      if (!isOpen) return;
      sent.push(copy);
      queueMicrotask(() => {
        for (const listener of other.messages) listener(copy);
      });
    },
    onMessage: (listener) => own.messages.push(listener),
    onClose: (listener) => own.closes.push(listener),
  });
  return {
    left: lineFrom(ends[0], ends[1]),
    right: lineFrom(ends[1], ends[0]),
    sent,
    close: () => {
      isOpen = false;
      for (const { closes } of ends) for (const listener of closes) listener();
    },
  };
}

interface End {
  readonly messages: ((message: unknown) => void)[];
  readonly closes: (() => void)[];
}

function createEnd(): End {
  return { messages: [], closes: [] };
}
