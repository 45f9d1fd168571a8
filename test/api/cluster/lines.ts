import type { MessageLine } from '../../../src/api/cluster/protocol.ts';

/** Two ends of a line in memory. What is sent is copied as between processes, and arrives in a later turn. */
export interface LinePair {
  readonly left: MessageLine;
  readonly right: MessageLine;
  /** Messages sent, as they were. */
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
