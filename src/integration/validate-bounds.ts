import { DataValidationError } from '../exceptions/index.ts';
import type { OptionNames } from '../internal/arguments.ts';
import { nextTurn } from '../internal/next-turn.ts';

/** Limits on the cost of a validation, and a signal that stops the validation. The limits are intended for services. */
export interface ValidateBounds {
  /**
   * The maximum number of groups of an attribute. If it is set, labels have at most 1,000 characters.
   * @defaultValue no limit
   */
  readonly maxGroups?: number | undefined;
  /**
   * The maximum number of classes with `average: 'macro'`, which counts the rows once for each class.
   * @defaultValue no limit
   */
  readonly maxClasses?: number | undefined;
  /**
   * The maximum product of the replicates and the groups of an attribute. Above the limit, a validation that requests
   * intervals or p-values is rejected. Intervals that were not requested are omitted, with a warning.
   * @defaultValue no limit
   */
  readonly maxDraws?: number | undefined;
  /**
   * A signal that stops the work at the next step: between attributes, between metrics, or within a query.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
}

/** Lists the options of {@link ValidateBounds}. */
export const VALIDATE_BOUNDS_NAMES: OptionNames<ValidateBounds> = {
  maxGroups: true,
  maxClasses: true,
  maxDraws: true,
  signal: true,
};

/**
 * Runs work in steps and yields to the event loop between them, so that a signal can stop it.
 * @throws {unknown} the reason of the signal, if it is aborted
 */
export async function inTurns<T>(steps: Generator<void, T, void>, signal: AbortSignal | undefined): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const step = steps.next();
    if (step.done === true) return step.value;
    // Without a signal there is no need to yield.
    if (signal !== undefined) await nextTurn();
  }
}

/** Runs all steps of work synchronously. */
export function atOnce<T>(steps: Generator<void, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Checks the number of classes.
 * @throws {DataValidationError} if there are more classes than the limit
 */
export function assertFewClasses(classes: number, maxClasses = Infinity): void {
  if (classes <= maxClasses) return;
  throw new DataValidationError(
    `The outcome has ${classes.toLocaleString('en-US')} classes, but average: 'macro' allows at most ${maxClasses.toLocaleString('en-US')}.`,
    {
      code: 'data-too-large',
      context: { argument: 'yPred', classes },
      suggestion: 'Check that the column of decisions holds classes and not ids.',
    },
  );
}

/** The number of replicates and groups of an attribute. */
interface Draws {
  readonly attribute: string;
  readonly groups: number;
  readonly samples: number;
}

/** Returns the reason why intervals that were not requested are omitted; undefined if the limit allows them. */
export function whyNoInterval({ groups, samples }: Draws, maxDraws: number): string | undefined {
  if (groups * samples <= maxDraws) return undefined;
  const [drawn, many, most] = [samples, groups, maxDraws].map((count) => count.toLocaleString('en-US'));
  return `${String(drawn)} replicates times ${String(many)} groups exceed the limit of ${String(most)}`;
}

/**
 * Checks the number of replicates.
 * @throws {DataValidationError} if replicates times groups exceed the limit
 */
export function assertFewDraws({ attribute, groups, samples }: Draws, maxDraws: number): void {
  if (groups * samples <= maxDraws) return;
  const most = Math.floor(maxDraws / groups);
  throw new DataValidationError(
    `ciSamples is ${samples.toLocaleString('en-US')}, and '${attribute}' has ${groups.toLocaleString('en-US')} groups; replicates times groups must be at most ${maxDraws.toLocaleString('en-US')}.`,
    {
      code: 'data-too-large',
      context: { parameter: 'ciSamples', value: samples, attribute, groups },
      suggestion:
        most === 0
          ? 'Turn off intervals and p-values, or use an attribute with fewer groups.'
          : `Ask for at most ${most.toLocaleString('en-US')} replicates, or use an attribute with fewer groups.`,
    },
  );
}
