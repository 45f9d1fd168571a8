/** Time that is up, or work that was stopped from outside. */
export class TimeLimitError extends Error {}

/**
 * Runs work with a signal that is raised when time is up or when `outer` is.
 * Ends then even where the work does not heed the signal.
 * @throws {TimeLimitError} when time is up or `outer` was raised; else whatever the work throws
 */
export async function withinLimit<T>(
  millis: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const end = (reason: string): void => {
      const error = new TimeLimitError(reason);
      reject(error);
      controller.abort(error);
    };
    stop = () => {
      end('it was stopped');
    };
    timer = setTimeout(() => {
      end(`there was no answer within ${String(millis / 1000)} s`);
    }, millis);
    outer.addEventListener('abort', stop, { once: true });
    if (outer.aborted) stop();
  });
  try {
    return await Promise.race([limit, work(controller.signal)]);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', stop);
  }
}
