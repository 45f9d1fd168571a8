/** Waits, or rejects with the signal's reason where that comes first. */
export function pause(millis: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      // The reason is whatever was given; an AbortError unless said otherwise.
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, millis);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** How long an answer asks to wait before the next request, in milliseconds; undefined where it says nothing. */
export function retryAfterMillis({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? 'NaN');
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/** Whether the service asks to come again later: too many requests, or not ready. */
export function isBusy({ status }: Response): boolean {
  return status === 429 || status === 503;
}
