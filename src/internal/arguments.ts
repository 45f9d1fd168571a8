import { distance } from 'fastest-levenshtein';

import { ValueError } from '../exceptions/index.ts';

/**
 * The maximum edit distance between two names that is treated as a typing error. A name at a larger distance may be an
 * abbreviation.
 */
const TYPO_DISTANCE = 2;

/** Returns up to three known names that are similar to a mistyped name, most similar first. */
export function nearestNames(wrong: string, known: readonly string[]): string[] {
  const lower = wrong.toLowerCase();
  return known
    .map((name) => ({ name, distance: distance(lower, name.toLowerCase()) }))
    .filter((entry) => entry.distance <= maxDistance(wrong, entry.name))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map((entry) => entry.name);
}

/**
 * Returns the known names that a mistyped name abbreviates (`diffBound` for `differenceBound`). Returns the nearest
 * names instead if one of them is close enough to be a typing error, or if no known name is abbreviated.
 */
function nearestOptions(wrong: string, known: readonly string[]): string[] {
  const near = nearestNames(wrong, known);
  const lower = wrong.toLowerCase();
  if (near.some((name) => distance(lower, name.toLowerCase()) <= TYPO_DISTANCE)) return near;
  const abbreviated = known.filter((name) => abbreviates(lower, name.toLowerCase()));
  return abbreviated.length > 0 ? abbreviated.slice(0, 3) : near;
}

function maxDistance(wrong: string, name: string): number {
  return Math.max(TYPO_DISTANCE, Math.ceil(0.4 * Math.max(wrong.length, name.length)));
}

/**
 * Returns whether a text abbreviates a name: the text has at least three letters, starts with the same letter, and its
 * letters occur in the name in the same order.
 */
function abbreviates(text: string, name: string): boolean {
  if (text.length < 3 || text[0] !== name[0]) return false;
  let next = 0;
  for (const letter of name) if (letter === text[next]) next += 1;
  return next === text.length;
}

/**
 * Returns "Did you mean 'a'?" for a label that differs from a known one in capitals, spaces or up to a third of its
 * characters; an empty text if no label is that similar. Labels are often short, so that names of two or three
 * characters must not count as similar.
 */
export function suggestLabel(wrong: string, known: readonly string[]): string {
  const plain = wrong.trim().toLowerCase();
  const [nearest] = known
    .map((label) => ({ label, distance: distance(plain, label.trim().toLowerCase()) }))
    .filter((entry) => entry.distance <= Math.max(plain.length, entry.label.length) / 3)
    .sort((a, b) => a.distance - b.distance);
  return nearest === undefined ? '' : `Did you mean '${nearest.label}'?`;
}

/** Returns "Did you mean 'a' or 'b'?", or the list of known names if no known name is similar. */
export function suggestNames(
  wrong: string,
  known: readonly string[],
  what: string,
  near: readonly string[] = nearestNames(wrong, known),
): string {
  if (known.length === 0) return `There are no ${what}.`;
  if (near.length > 0) return `Did you mean ${joinQuoted(near, 'or')}?`;
  const shown = known.slice(0, 12);
  const more = known.length > shown.length ? `, and ${String(known.length - shown.length)} more` : '';
  return `The ${what} are ${joinQuoted(shown, 'and')}${more}.`;
}

/** Joins names in quotes: `'a', 'b' and 'c'`. */
function joinQuoted(names: readonly string[], word: 'and' | 'or'): string {
  const quoted = names.map((name) => `'${name}'`);
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')} ${word} ${quoted.at(-1) ?? ''}`;
}

/**
 * Returns the error for an invalid argument. The message states the parameter's name, the requirement and the given
 * value.
 */
export function invalidParameter(parameter: string, required: string, given: unknown): ValueError {
  return new ValueError(`The ${parameter} parameter must ${required}. Got ${String(given)} instead.`, {
    context: { parameter, value: given, expected: required, received: given },
  });
}

/**
 * Returns the names in a comma-separated list, without surrounding spaces. A comma in a name is written `\,`. Empty
 * names are kept, so that the caller can reject them.
 */
export function splitNames(text: string): string[] {
  return text.split(/(?<!\\),/).map((name) => name.replaceAll('\\,', ',').trim());
}

/** Returns the parameter names that the message of an error contains. The names come from the error's context. */
export function parametersIn(context: Readonly<Record<string, unknown>>): string[] {
  const { parameter, argument, missing, parameters } = context;
  return [parameter, argument, missing, parameters].flat().filter((name) => typeof name === 'string');
}

/** Splits a text into the parts outside and inside quotes. The parts inside quotes are data and must not be changed. */
const QUOTED = /((?<!\w)'[^']*'|"[^"]*")/;

/**
 * Replaces parameter names in a text with their names in another interface: `yTrue` becomes `--y-true` on the command
 * line and `y_true` in a request. Camel-case words outside quotes are replaced. A lowercase word may be ordinary
 * English. Therefore, a lowercase word is replaced only if `certain` lists the word, and the word is in parentheses or
 * after "The".
 * @param nameOf returns the other name, or undefined for a word that is not a parameter
 * @param certain parameter names that certainly occur in the text
 */
export function renameParameters(
  text: string,
  nameOf: (name: string) => string | undefined,
  certain: readonly string[] = [],
): string {
  const single = certain.filter((name) => /^[a-z]+$/.test(name));
  const dotted = certain.filter((name) => name.includes('.'));
  const rename = (part: string): string =>
    [
      ...dotted.map((name) => [name, name.replaceAll('.', String.raw`\.`)] as const),
      ...single.map((name) => [name, String.raw`(?<=\(|^The |^)${name}(?=\)| parameter\b|: )`] as const),
    ]
      .reduce((text, [name, pattern]) => text.replaceAll(new RegExp(pattern, 'g'), () => nameOf(name) ?? name), part)
      .replaceAll(/\b[a-z]+(?:[A-Z][a-z]*)+\b/g, (word) => nameOf(word) ?? word);
  return text
    .split(QUOTED)
    .map((part, index) => (index % 2 === 1 ? part : rename(part)))
    .join('');
}

/** Converts a name to camel case: `max_weight` becomes `maxWeight`. */
export function toCamelCase(snake: string): string {
  return snake.replaceAll(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Converts a name to snake case: `maxWeight` becomes `max_weight`, and `adjustedPValue` becomes `adjusted_p_value`. A
 * name of one capital letter, such as `T`, stays unchanged.
 */
export function toSnakeCase(camel: string): string {
  return camel.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** An object type whose field names are converted to snake case. */
export type SnakeFields<Fields> = { readonly [Name in keyof Fields & string as SnakeCase<Name>]: Fields[Name] };

/** An object type whose field names are converted to camel case. */
export type CamelFields<Fields> = { readonly [Name in keyof Fields & string as CamelCase<Name>]: Fields[Name] };

/** Converts the names of an object's fields to snake case. The order and the values of the fields do not change. */
export function snakeFields<Fields extends object>(fields: Fields): SnakeFields<Fields> {
  return renameFields(fields, snakeCaseOf) as SnakeFields<Fields>;
}

/** Reverses {@link snakeFields}. */
export function camelFields<Fields extends object>(fields: Fields): CamelFields<Fields> {
  return renameFields(fields, camelCaseOf) as CamelFields<Fields>;
}

function renameFields(fields: object, rename: (name: string) => string): Record<string, unknown> {
  const renamed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) renamed[rename(name)] = value;
  return renamed;
}

/** The maximum number of names that {@link remembering} keeps. Field names are a small, fixed set. */
const MAX_REMEMBERED = 5000;

/** Returns a function that computes the result for each name once. */
function remembering(rename: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const renamed = rename(name);
    if (known.size < MAX_REMEMBERED) known.set(name, renamed);
    return renamed;
  };
}

const snakeCaseOf = remembering(toSnakeCase);
const camelCaseOf = remembering(toCamelCase);

/**
 * Converts a value to plain JSON with all keys in snake case. Numbers that JSON cannot represent become null. Keys must
 * be field names, never labels from the data.
 */
export function toSnakeCaseJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCaseJson);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [toSnakeCase(key), toSnakeCaseJson(own)]));
}

/**
 * Returns the given name if it is in the list of known names.
 * @param parameter the name of the parameter that received the name
 * @throws {ValueError} if the name is not in the list; the message contains the list, and the suggestion contains the
 *   nearest names
 */
export function oneOf<Name extends string>(parameter: string, given: string, known: readonly Name[]): Name {
  const found = known.find((name) => name === given);
  if (found !== undefined) return found;
  throw new ValueError(`The ${parameter} parameter must be one of ${known.join(', ')}. Got ${quote(given)} instead.`, {
    code: 'unknown-name',
    context: { parameter, value: given, expected: known, received: given },
    suggestion: suggestNames(typeof given === 'string' ? given : '', known, 'choices'),
  });
}

/** Formats a given value for a message: texts are quoted, and objects are shown by their type. */
export function quote(given: unknown): string {
  if (typeof given === 'string') return `'${given}'`;
  return typeof given === 'object' && given !== null ? 'an object' : String(given);
}

/** A list of all options of an interface. The compiler rejects a list with a missing or an extra option. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Throws if an options object contains an unknown option. Without this check, a mistyped option would be ignored
 * silently. Only own enumerable properties are checked. If the argument is undefined or null, there are no options to
 * check.
 * @param owner the name of the constructor or function, as the caller writes it: `ReductionsWrapper`
 * @param given the options as the caller passed them
 * @throws {ValueError} if an option is unknown; the message names the option and the nearest known options
 */
export function assertKnownOptions(owner: string, given: unknown, known: object): void {
  if (given === undefined || given === null) return;
  if (typeof given !== 'object' || Array.isArray(given)) throw notAnObject(owner, given);
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(known, name)) throw unknownOption(owner, name, Object.keys(known));
  }
}

/** Options with all defaults filled in. The options listed in `Open` have no default and may be undefined. */
export type FilledOptions<Options, Open extends keyof Options = never> = {
  readonly [Name in keyof Options]-?: Name extends Open ? Options[Name] : Exclude<Options[Name], undefined>;
};

/**
 * Returns the options, with missing options set to their defaults.
 * @param defaults a value for every option; undefined for an option without a default
 * @throws {ValueError} if an option is unknown; see {@link assertKnownOptions}
 */
export function fillOptions<Filled extends object>(
  owner: string,
  given: { readonly [Name in keyof Filled]?: NoInfer<Filled>[Name] | undefined },
  defaults: Filled,
): Filled {
  assertKnownOptions(owner, given, defaults);
  const values = given as Readonly<Record<string, unknown>>;
  const filled = Object.entries(defaults).map(([name, value]) => [name, values[name] ?? (value as unknown)]);
  return Object.fromEntries(filled) as Filled;
}

function unknownOption(owner: string, name: string, known: readonly string[]): ValueError {
  const near = nearestOptions(name, known);
  return new ValueError(`${owner} has no option '${name}'. ${suggestNames(name, known, 'options', near)}`, {
    code: 'unknown-option',
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
