import { ValueError } from '../exceptions/index.ts';
import { suggestNames } from './nearest.ts';

/**
 * A name out of a list.
 * @param parameter what the name was given for
 * @throws {ValueError} with the list and the nearest names, where it is not in it
 */
export function oneOf<Name extends string>(parameter: string, given: string, known: readonly Name[]): Name {
  const found = known.find((name) => name === given);
  if (found !== undefined) return found;
  throw new ValueError(`The ${parameter} parameter must be one of ${known.join(', ')}. Got ${quote(given)} instead.`, {
    context: { parameter, value: given },
    suggestion: suggestNames(typeof given === 'string' ? given : '', known, 'choices'),
  });
}

/** What is no text at all is told from a text that looks like it; objects may have no text. */
function quote(given: unknown): string {
  if (typeof given === 'string') return `'${given}'`;
  return typeof given === 'object' && given !== null ? 'an object' : String(given);
}
