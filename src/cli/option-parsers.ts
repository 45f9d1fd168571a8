import { InvalidArgumentError, type Option } from 'commander';

import { ConfigValidationError } from '../exceptions/index.ts';
import { splitNames } from '../internal/arguments.ts';

/** A number, as an option's argument. */
export function parseNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError(`'${text}' is not a number.`);
  return value;
}

/** A number, or the word auto. */
export function parseNumberOrAuto(text: string): number | 'auto' {
  return text === 'auto' ? text : parseNumber(text);
}

/** Numbers separated by commas. */
export function parseNumbers(text: string): number[] {
  return text.split(',').map(parseNumber);
}

/** Numbers separated by commas, or the word auto. */
export function parseNumbersOrAuto(text: string): number[] | 'auto' {
  return text === 'auto' ? text : parseNumbers(text);
}

/** Names separated by commas; a comma in a name is written `\,`. */
export function parseNames(text: string): string[] {
  const names = splitNames(text);
  if (names.some((name) => name === '')) throw new InvalidArgumentError(`'${text}' has an empty name in it.`);
  return names;
}

/** A parser of an option that may be repeated: each value is added to the list of the earlier ones. */
export type RepeatableParser<T> = ((text: string, earlier: readonly T[] | undefined) => T[]) & {
  readonly repeats: true;
};

/** Makes a parser of one value into one for an option that may be repeated, and collects all its values. */
export function repeatable<T>(parse: (text: string) => T): RepeatableParser<T> {
  const collect = (text: string, earlier: readonly T[] | undefined): T[] => [...(earlier ?? []), parse(text)];
  return Object.assign(collect, { repeats: true as const });
}

/** Parses the columns of one attribute; the option stands once, and a comma list crosses columns. */
export const parseCrossing = Object.assign((text: string): string[] => parseNames(text), {
  insteadOfRepeating: 'a comma list crosses several columns',
});

/** Returns what to do instead of repeating an option; undefined where there is nothing but to give it once. */
export function insteadOfRepeating({ parseArg }: Pick<Option, 'parseArg'>): string | undefined {
  return parseArg !== undefined && 'insteadOfRepeating' in parseArg ? String(parseArg.insteadOfRepeating) : undefined;
}

/** Returns whether an option collects its values when it is repeated. */
export function isRepeatable({ parseArg, variadic }: Pick<Option, 'parseArg' | 'variadic'>): boolean {
  return variadic || (parseArg !== undefined && 'repeats' in parseArg);
}

/** The help of `--na-values`, which every command that reads rows has. */
export const NA_VALUES_HELP =
  'texts that are missing values, in all columns: a comma list (default: NA, NaN, None, null and others of pandas; in groups only empty fields)';

/** Texts separated by commas, of which one may be empty; a comma in a text is written `\\,`. */
export function parseTexts(text: string): string[] {
  return splitNames(text);
}

/**
 * Checks that options were given. Commander's own check comes before its check
 * for unknown options, so a mistyped name would only be called missing.
 * @throws {ConfigValidationError} naming the missing ones
 */
export function requireOptions(options: object, fields: readonly string[]): void {
  const missing = fields.filter((field) => !(field in options)).map(flagName);
  if (missing.length === 0) return;
  throw new ConfigValidationError(`Missing: ${joinNames(missing)}.`, {
    context: { missing },
    suggestion: 'See the examples under --help.',
  });
}

/** a, b and c */
function joinNames(names: readonly string[]): string {
  const others = names.slice(0, -1).join(', ');
  return `${others === '' ? '' : `${others} and `}${names.at(-1) ?? ''}`;
}

/** An option in the form that the user typed it: minGroupSize is --min-group-size. */
export function flagName(field: string): string {
  return `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
