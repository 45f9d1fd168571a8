import { nextTurn } from '../../internal/next-turn.ts';

/** Yields to timers and I/O, so that an abort signal can arrive. Throws if the signal is aborted. */
export async function pause(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return;
  signal.throwIfAborted();
  await nextTurn();
  signal.throwIfAborted();
}

/**
 * Yields as {@link pause} does, also without a signal, so that Ctrl-C can end a long computation on the host.
 */
export async function pauseBetweenBlocks(signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await nextTurn();
  signal?.throwIfAborted();
}
