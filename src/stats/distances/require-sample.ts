import { DataValidationError } from '../../exceptions/index.ts';

/**
 * The values in ascending order.
 * @throws {DataValidationError} where there are none, or one is not finite
 */
export function sortedSample(argument: string, values: ArrayLike<number>): Float64Array {
  return requireSample(argument, values).sort();
}

/**
 * A copy of the values.
 * @throws {DataValidationError} where there are none, or one is not finite
 */
export function requireSample(argument: string, values: ArrayLike<number>): Float64Array {
  const copy = Float64Array.from(values);
  if (copy.length === 0) {
    throw new DataValidationError(`${argument} holds no values, so there is no distribution to compare.`, {
      context: { argument },
      suggestion: 'Wait for the first values, or leave this comparison out.',
    });
  }
  const bad = copy.findIndex((value) => !Number.isFinite(value));
  if (bad === -1) return copy;
  throw new DataValidationError(
    `${argument} must hold finite numbers. Got ${String(values[bad])} at index ${String(bad)}.`,
    {
      context: { argument, index: bad, value: values[bad] },
      suggestion: 'Leave out missing values first, and count them apart: more of them is a change too.',
    },
  );
}
