import type { OnProgress } from '../../internal/progress.ts';

/** Time between reports of one stage. */
const LEAST_MILLIS = 100;

/**
 * Passes on about ten reports a second, and the first and the last of each stage.
 * @param clock in milliseconds
 */
export function throttleProgress(onProgress: OnProgress, clock: () => number): OnProgress {
  let stage: string | undefined;
  let told = 0;
  return (event) => {
    const now = clock();
    if (event.stage === stage && event.done < event.total && now - told < LEAST_MILLIS) return;
    stage = event.stage;
    told = now;
    onProgress(event);
  };
}
