import { setImmediate as nextTurn } from 'node:timers/promises';

/** Lets timers and input run, so that a signal can come at all, and heeds it. */
export async function pause(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return;
  signal.throwIfAborted();
  await nextTurn();
  signal.throwIfAborted();
}
