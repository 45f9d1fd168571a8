import { InvalidArgumentError, type Option } from 'commander';

import { ConfigValidationError } from '../exceptions/index.ts';
import { splitNames, toSnakeCase } from '../internal/arguments.ts';
import type { DecimalSeparator } from '../schemas/data-source.ts';

/** Parses the argument of an option as a finite number. */
export function parseNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError(`'${text}' is not a number.`);
  return value;
}

/** Parses a number, or the word auto. */
export function parseNumberOrAuto(text: string): number | 'auto' {
  return text === 'auto' ? text : parseNumber(text);
}

/** Parses numbers separated by commas. */
export function parseNumbers(text: string): number[] {
  return text.split(',').map(parseNumber);
}

/** Parses numbers separated by commas, or the word auto. */
export function parseNumbersOrAuto(text: string): number[] | 'auto' {
  return text === 'auto' ? text : parseNumbers(text);
}

/** Parses names separated by commas; a comma in a name is written `\,`. */
export function parseNames(text: string): string[] {
  const names = splitNames(text);
  if (names.some((name) => name === '')) throw new InvalidArgumentError(`'${text}' contains an empty name.`);
  return names;
}

/** Parses the option that sets the decimal separator of numbers. */
export function parseDecimal(text: string): DecimalSeparator {
  if (text !== '.' && text !== ',') throw new InvalidArgumentError(`The decimal separator must be a point or a comma.`);
  return text;
}

/** Joins names to a text that `parseNames` can split into the same names again. */
export function formatNames(names: readonly string[]): string {
  return names.map((name) => name.replaceAll(',', String.raw`\,`)).join(',');
}

/** A parser of an option that may be repeated. The parser adds each value to the list of earlier values. */
export type RepeatableParser<T> = ((text: string, earlier: readonly T[] | undefined) => T[]) & {
  readonly repeats: true;
};

/** Converts a parser of one value to a parser for a repeatable option, which collects the values in a list. */
export function repeatable<T>(parse: (text: string) => T): RepeatableParser<T> {
  const collect = (text: string, earlier: readonly T[] | undefined): T[] => [...(earlier ?? []), parse(text)];
  return Object.assign(collect, { repeats: true as const });
}

/** Parses comma-separated names. The option may be repeated, and all names are one list. */
export const parseNamesAgain = Object.assign(
  (text: string, earlier: readonly string[] | undefined): string[] => [...(earlier ?? []), ...parseNames(text)],
  { repeats: true as const },
);

/** Parses the columns of one attribute. A comma-separated list is an intersection. The option cannot be repeated. */
export const parseCrossing = Object.assign((text: string): string[] => parseNames(text), {
  insteadOfRepeating: 'a comma-separated list intersects several columns',
});

/** Parses a comma-separated list of texts, of which one may be empty. The option cannot be repeated. */
export const parseTexts = Object.assign((text: string): string[] => splitNames(text), {
  insteadOfRepeating: 'a comma-separated list holds several texts',
});

/** Returns a suggestion for a user who repeats an option; undefined if there is no alternative. */
export function insteadOfRepeating({ parseArg }: Pick<Option, 'parseArg'>): string | undefined {
  return parseArg !== undefined && 'insteadOfRepeating' in parseArg ? String(parseArg.insteadOfRepeating) : undefined;
}

/** Returns whether an option collects its values when it is repeated. */
export function isRepeatable({ parseArg, variadic }: Pick<Option, 'parseArg' | 'variadic'>): boolean {
  return variadic || (parseArg !== undefined && 'repeats' in parseArg);
}

/**
 * Checks that required options were given. Commander would report a misspelt option only as missing, because it checks
 * for missing options before unknown ones.
 * @param fields the fields; `csv|counts` means one of the two
 * @throws {ConfigValidationError} if options are missing; the message names them
 */
export function requireOptions(options: object, fields: readonly string[]): void {
  const missing = fields
    .map((field) => field.split('|'))
    .filter((names) => !names.some((name) => name in options))
    .map(([name = '', ...others]) =>
      others.length === 0 ? flagName(name) : `${flagName(name)} (or ${others.map(flagName).join(' or ')})`,
    );
  if (missing.length === 0) return;
  throw new ConfigValidationError(`Missing: ${joinNames(missing)}.`, {
    context: { missing },
    suggestion: 'See the examples under --help.',
  });
}

/** Joins names: `a, b and c`. */
function joinNames(names: readonly string[]): string {
  const others = names.slice(0, -1).join(', ');
  return `${others === '' ? '' : `${others} and `}${names.at(-1) ?? ''}`;
}

/** Returns the command-line option for a field: `--min-group-size` for `minGroupSize`. */
export function flagName(field: string): string {
  return `--${toSnakeCase(field).replaceAll('_', '-')}`;
}
