/** The function that Node.js and some browsers have for work in the next turn of the event loop. */
const { setImmediate: schedule } = globalThis as { readonly setImmediate?: (work: () => void) => unknown };

/** A port of a channel in browsers, whose type the declarations of Node.js lack. */
interface BrowserPort {
  onmessage: (() => void) | null;
  postMessage(message: null): void;
  close(): void;
}

/**
 * Yields to timers, messages and I/O, for example so that an abort signal can arrive. Browsers have no `setImmediate`,
 * and delay repeated timers; there, a message to the own thread is the fastest way.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (schedule !== undefined) {
      schedule(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel() as unknown as Readonly<Record<'port1' | 'port2', BrowserPort>>;
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
