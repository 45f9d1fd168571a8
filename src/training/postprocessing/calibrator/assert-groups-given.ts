import { DataValidationError } from '../../../exceptions/index.ts';

/**
 * Checks that groups are there, since what reads them calls them `sensitive`.
 * @throws {DataValidationError} for what can be no column, and for an object of no columns
 */
export function assertGroupsGiven(groups: unknown): void {
  if (typeof groups !== 'object' || groups === null) {
    throw withoutGroups(`groups must hold one value per row; got ${String(groups)}.`);
  }
  if (Object.getPrototypeOf(groups) === Object.prototype && Object.keys(groups).length === 0) {
    throw withoutGroups('groups names no attribute.');
  }
}

function withoutGroups(message: string): DataValidationError {
  return new DataValidationError(message, {
    context: { argument: 'groups' },
    suggestion: "Give each row's group, as in { groups: ['a', 'b'] }, or several attributes to cross.",
  });
}
