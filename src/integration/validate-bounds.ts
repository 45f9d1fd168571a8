import { setImmediate } from 'node:timers/promises';

import { DataValidationError } from '../exceptions/index.ts';
import type { OptionNames } from '../internal/arguments.ts';

/** What a validation may cost, and what stops it; a service sets these. */
export interface ValidateBounds {
  /**
   * Groups of an attribute at most; labels then have at most 1,000 characters.
   * @defaultValue any number
   */
  readonly mostGroups?: number | undefined;
  /**
   * Replicates times groups of an attribute at most, where intervals or p-values are wanted.
   * @defaultValue any number
   */
  readonly mostDraws?: number | undefined;
  /**
   * Stops the work at its next step: between attributes, between metrics, and in the middle of a query.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link ValidateBounds}. */
export const VALIDATE_BOUNDS_NAMES: OptionNames<ValidateBounds> = { mostGroups: true, mostDraws: true, signal: true };

/**
 * Does work in steps, and lets the event loop turn between them, so that a signal is heard.
 * @throws {unknown} the signal's reason
 */
export async function inTurns<T>(steps: Generator<void, T, void>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const step = steps.next();
    if (step.done === true) return step.value;
    // Without a signal nothing is waited for.
    if (signal !== undefined) await setImmediate();
  }
}

/** Does work in steps at once. */
export function atOnce<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** How many replicates are drawn of how many groups. */
interface Draws {
  readonly attribute: string;
  readonly groups: number;
  readonly samples: number;
}

/**
 * @throws {DataValidationError} where there are too many
 */
export function assertFewDraws({ attribute, groups, samples }: Draws, mostDraws: number): void {
  if (groups * samples <= mostDraws) return;
  const most = Math.floor(mostDraws / groups);
  throw new DataValidationError(
    `ciSamples is ${samples.toLocaleString('en-US')}, and '${attribute}' has ${groups.toLocaleString('en-US')} groups; replicates times groups can be ${mostDraws.toLocaleString('en-US')} at most.`,
    {
      context: { parameter: 'ciSamples', value: samples, attribute, groups },
      suggestion:
        most === 0
          ? 'Leave out intervals and p-values, or name an attribute of fewer groups.'
          : `Ask for at most ${most.toLocaleString('en-US')} replicates, or name an attribute of fewer groups.`,
    },
  );
}
