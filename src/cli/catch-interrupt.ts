import type { OnProgress } from '../internal/progress.ts';
import { warn } from './output.ts';
import { finishBar } from './progress-bar.ts';

/** Ctrl-C while a run is under way. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** From now on Ctrl-C ends the process at once, until the interrupt is released. */
  readonly ignore: () => void;
  readonly release: () => void;
}

/**
 * Ctrl-C stops the run and keeps its answers; a second one ends the process at once.
 * For that no listener may be left: while answers are scored none would be heard.
 */
export function catchInterrupt(): Interrupt {
  const controller = new AbortController();
  const ignore = (): void => {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  };
  const stop = (): void => {
    ignore();
    controller.abort();
    finishBar();
    warn('Stopping: what is under way is cancelled, what came is scored. Ctrl-C again ends the process at once.');
  };
  // In place of the listener that ends the process at once.
  const usual = process.listeners('SIGINT');
  process.removeAllListeners('SIGINT');
  process.on('SIGINT', stop).on('SIGTERM', stop);
  const release = (): void => {
    ignore();
    for (const listener of usual) process.on('SIGINT', listener);
  };
  return { signal: controller.signal, ignore, release };
}

/** Once the last answer is kept nothing is left to stop in good order. */
export function untilDone(draw: OnProgress | undefined, { ignore }: Interrupt): OnProgress {
  return (progress) => {
    draw?.(progress);
    if (progress.done >= progress.total) ignore();
  };
}
