/**
 * Runs work with a signal that is raised when time is up or when the outer
 * signal is. Its timer and listener end with the work.
 * @param exceeded makes the reason of the abort when time is up
 */
export async function within<T>(
  millis: number,
  exceeded: () => Error,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(exceeded());
  }, millis);
  const passOn = (): void => {
    controller.abort(outer?.reason);
  };
  outer?.addEventListener('abort', passOn, { once: true });
  if (outer?.aborted === true) passOn();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', passOn);
  }
}
