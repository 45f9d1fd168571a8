/** What carries messages between two processes: in order, each at most once, none after it closed. */
export interface MessageLine {
  /** @throws where the message cannot be written, such as a function */
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Called once, when the other side is gone. */
  onClose(listener: () => void): void;
}

/** What a process and a child of it have in common. */
interface Messenger {
  send?(message: unknown, handle?: undefined, options?: undefined, callback?: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** The line to the parent process (`process`), or to a worker, its child. */
export function lineOf(messenger: Messenger): MessageLine {
  return {
    send: (message) => {
      // A line that broke is told by 'disconnect'; without a callback it would be an 'error' event as well.
      messenger.send?.(message, undefined, undefined, () => undefined);
    },
    onMessage: (listener) => {
      messenger.on('message', listener);
    },
    onClose: (listener) => {
      messenger.once('disconnect', listener);
    },
  };
}
