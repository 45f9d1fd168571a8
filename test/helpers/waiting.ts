import { setTimeout as sleep } from 'node:timers/promises';

import type { FairnessToolkitError } from '../../src/exceptions/index.ts';

/** Returns the error with which work fails. */
export function errorOf(work: Promise<unknown>): Promise<FairnessToolkitError> {
  return work.then(
    () => {
      throw new Error('It did not fail.');
    },
    (error: unknown) => error as FairnessToolkitError,
  );
}

/** Waits until a condition holds, but not forever. */
export async function until(condition: () => boolean | Promise<boolean>, seconds = 50): Promise<void> {
  for (const end = performance.now() + 1000 * seconds; performance.now() < end;) {
    if (await condition()) return;
    await sleep(10);
  }
  throw new Error(`The condition did not hold in ${String(seconds)} seconds.`);
}
