import { DataValidationError } from '../../exceptions/index.ts';

/**
 * Checks that no row lacks a value.
 * @param argument what the values were given for
 * @throws {DataValidationError} with the first row that does
 */
export function assertNoneMissing(
  argument: string,
  values: Float64Array | Int8Array | Uint8Array | Int32Array,
  isMissing: (value: number) => boolean,
  suggestion = 'Leave such rows out first.',
): void {
  for (let index = 0; index < values.length; index++) {
    if (!isMissing(values[index] as number)) continue;
    throw new DataValidationError(`${argument} is missing at index ${String(index)}.`, {
      context: { argument, index },
      suggestion,
    });
  }
}
