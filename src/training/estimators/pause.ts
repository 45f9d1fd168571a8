import { nextTurn } from '../../internal/next-turn.ts';

/** Yields to timers and I/O, so that an abort signal can arrive. Throws if the signal is aborted. */
export async function pause(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return;
  signal.throwIfAborted();
  await nextTurn();
  signal.throwIfAborted();
}
