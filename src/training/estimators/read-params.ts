import { DataValidationError, ValueError } from '../../exceptions/index.ts';

/**
 * Makes what stored options describe. Options out of range are a caller's
 * mistake in a constructor, and bad data in a file.
 * @param kind which class wrote them
 * @throws {DataValidationError} for options that the constructor refuses
 */
export function fromStoredParams<Made>(kind: string, make: () => Made): Made {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new DataValidationError(`${cause.message} It is in the params of a stored '${kind}'.`, {
      context: { kind, ...cause.context },
      suggestion: 'Give what its toJSON method gave, unchanged.',
      cause,
    });
  }
}
