import { setImmediate as nextTurn } from 'node:timers/promises';

/** Lets timers and input run, so that a signal can arrive, and throws if the signal is aborted. */
export async function pause(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return;
  signal.throwIfAborted();
  await nextTurn();
  signal.throwIfAborted();
}
