import { DataValidationError } from '../../exceptions/index.ts';

/**
 * Returns the values in ascending order.
 * @throws {DataValidationError} if there are no values, or if a value is not finite
 */
export function sortedSample(argument: string, values: ArrayLike<number>): Float64Array {
  return requireSample(argument, values).sort();
}

/**
 * Returns a copy of the values.
 * @throws {DataValidationError} if there are no values, or if a value is not finite
 */
export function requireSample(argument: string, values: ArrayLike<number>): Float64Array {
  const copy = Float64Array.from(values);
  if (copy.length === 0) {
    throw new DataValidationError(`${argument} holds no values, so there is no distribution to compare.`, {
      code: 'empty-data',
      context: { argument },
      suggestion: 'Wait for the first values, or leave this comparison out.',
    });
  }
  const bad = copy.findIndex((value) => !Number.isFinite(value));
  if (bad === -1) return copy;
  throw new DataValidationError(
    `${argument} must hold finite numbers. Got ${String(values[bad])} at index ${String(bad)}.`,
    {
      code: 'invalid-value',
      context: { argument, index: bad, value: values[bad] },
      suggestion:
        'Remove missing values first, and count them separately: an increase in missing values is also drift.',
    },
  );
}

/**
 * Returns the shares of two distributions over the same categories, each divided by its sum.
 * @throws {DataValidationError} if the lengths differ, there is no category, a share is negative or not finite, or the
 *   shares sum to 0
 */
export function requireSharePair(
  reference: ArrayLike<number>,
  current: ArrayLike<number>,
): readonly [reference: Float64Array, current: Float64Array] {
  if (reference.length === current.length) {
    return [requireShares('reference', reference), requireShares('current', current)];
  }
  throw new DataValidationError(
    `reference and current must have the same categories, but reference has ${String(reference.length)} and current has ${String(current.length)}.`,
    {
      code: 'invalid-value',
      context: { reference: reference.length, current: current.length },
      suggestion: 'If a category occurs in only one of them, give it the share 0 in the other.',
    },
  );
}

function requireShares(argument: string, values: ArrayLike<number>): Float64Array {
  const shares = Float64Array.from(values);
  const bad = shares.findIndex((share) => !(share >= 0 && share < Infinity));
  if (bad !== -1) {
    throw new DataValidationError(
      `${argument} must hold shares or counts of at least 0. Got ${String(shares[bad])} at index ${String(bad)}.`,
      {
        code: 'invalid-value',
        context: { argument, index: bad, value: shares[bad] },
        suggestion: 'Count a category without rows as 0.',
      },
    );
  }
  const sum = shares.reduce((total, share) => total + share, 0);
  if (sum > 0) return shares.map((share) => share / sum);
  throw new DataValidationError(`${argument} holds no share above 0, so there is no distribution to compare.`, {
    code: 'empty-data',
    context: { argument },
    suggestion: 'Wait for the first values, or leave this comparison out.',
  });
}
