import { DataValidationError } from '../exceptions/index.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';

/**
 * The maximum length of a group label, in characters. The length is checked only if the number of groups is limited.
 */
export const MAX_LABEL_LENGTH = 1000;

/** Returns the error for an attribute with too many groups. */
export function tooManyGroups(attribute: string, maxGroups: number): DataValidationError {
  return new DataValidationError(
    `'${attribute}' has more than ${maxGroups.toLocaleString('en-US')} groups, which is the maximum.`,
    {
      code: 'too-many-groups',
      context: { attribute, mostGroups: maxGroups },
      suggestion: 'Use a column whose values repeat, for example age groups instead of a number or an id.',
    },
  );
}

/** Returns the error for a label that is too long. */
export function tooLongLabel(attribute: string, length: number): DataValidationError {
  return new DataValidationError(
    `'${attribute}' has a label of ${length.toLocaleString('en-US')} characters; the maximum is ${MAX_LABEL_LENGTH.toLocaleString('en-US')}.`,
    { code: 'data-too-large', context: { attribute, length }, suggestion: 'Use a column with short labels.' },
  );
}

/** Returns the name of an attribute. */
export function nameOf(names: readonly string[]): string {
  return names.join(INTERSECTION_SEPARATOR);
}
