import { resolve, sep } from 'node:path';

import { ConfigValidationError } from '../exceptions/index.ts';

/**
 * Checks that several outputs have places of their own: two results at one
 * place, or one inside another, would undo each other.
 * @throws {ConfigValidationError} naming the two
 */
export function assertApart(paths: readonly string[]): void {
  const places = paths.map((path) => resolve(path));
  for (const [index, place] of places.entries()) {
    const clash = places.findIndex((other, at) => at !== index && (other === place || other.startsWith(place + sep)));
    if (clash < 0) continue;
    throw new ConfigValidationError(
      `The outputs '${paths[index] ?? ''}' and '${paths[clash] ?? ''}' are in each other's place.`,
      { context: { paths }, suggestion: 'Name a place of its own for each.' },
    );
  }
}
