import { ValueError } from '../exceptions/index.ts';
import { nearestOptions, suggestNames } from './nearest.ts';

/**
 * Lists every option of an interface. The compiler refuses a list that lacks an
 * option of the interface or has one more than it.
 */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Throws where an options object has an option that does not exist, since a
 * mistyped option would otherwise leave its default in force without a word.
 * Only own enumerable properties count; undefined and null stand for no options.
 * @param owner the constructor or function as its caller writes it: `ReductionsWrapper`
 * @param given what the caller passed as options
 * @throws {ValueError} naming the unknown option and the nearest known ones
 */
export function assertKnownOptions(owner: string, given: unknown, known: Readonly<Record<string, true>>): void {
  if (given === undefined || given === null) return;
  if (typeof given !== 'object' || Array.isArray(given)) throw notAnObject(owner, given);
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(known, name)) throw unknownOption(owner, name, Object.keys(known));
  }
}

function unknownOption(owner: string, name: string, known: readonly string[]): ValueError {
  const near = nearestOptions(name, known);
  return new ValueError(`${owner} has no option '${name}'. ${suggestNames(name, known, 'options', near)}`, {
    context: { parameter: name, owner, expected: known, nearest: near[0] ?? null },
  });
}

function notAnObject(owner: string, given: unknown): ValueError {
  const found = Array.isArray(given) ? 'an array' : `a ${typeof given}`;
  return new ValueError(`The options parameter of ${owner} must be an object. Got ${found} instead.`, {
    context: { parameter: 'options', owner, expected: 'an object', received: found },
    suggestion: 'Pass options by name: { name: value }.',
  });
}
