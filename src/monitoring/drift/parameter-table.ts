import { invalidParameter, oneOf, quote } from '../../internal/arguments.ts';

/** A rule for a parameter: its default value and a function that checks values. */
export interface ParameterRule<Value> {
  readonly defaultValue: Value;
  /** Throws if a value is invalid. The value may come from a file or an untyped caller. */
  readonly check: (parameter: string, given: unknown) => void;
}

/** The rule for each parameter of a detector. */
export type ParameterTable<Parameters> = { readonly [Name in keyof Parameters]: ParameterRule<Parameters[Name]> };

/** Parameters as given by the caller; all are optional. */
export type Given<Parameters> = { readonly [Name in keyof Parameters]?: Parameters[Name] | undefined };

/**
 * Fills in defaults, and checks each parameter by its rule.
 * @throws {ValueError} if a parameter is unknown or invalid; the error names the first such parameter
 */
export function fillParameters<Parameters extends object>(
  table: ParameterTable<Parameters>,
  given: Given<Parameters>,
): Readonly<Parameters> {
  if (typeof given !== 'object' || (given as unknown) === null || Array.isArray(given)) {
    throw invalidParameter('params', 'be an object of parameters', Array.isArray(given) ? 'a list' : given);
  }
  const names = Object.keys(table) as (keyof Parameters & string)[];
  for (const name of Object.keys(given)) oneOf('params', name, names);
  const filled = names.map((name) => {
    const value = given[name] ?? table[name].defaultValue;
    table[name].check(name, value);
    return [name, value] as const;
  });
  return Object.freeze(Object.fromEntries(filled)) as Readonly<Parameters>;
}

/** Returns the rule for a number strictly between 0 and 1. */
export function fraction(defaultValue: number): ParameterRule<number> {
  return numeric(defaultValue, 'be a number between 0 and 1, both excluded', (given) => given > 0 && given < 1);
}

/** Returns the rule for a number of at least 0 and below 1. */
export function tolerance(defaultValue: number): ParameterRule<number> {
  return numeric(defaultValue, 'be a number of at least 0 and below 1', (given) => given >= 0 && given < 1);
}

/** Returns the rule for a whole number with a lower limit. */
export function whole(defaultValue: number, min: number): ParameterRule<number> {
  const required = `be a whole number of at least ${String(min)}`;
  return numeric(defaultValue, required, (given) => Number.isSafeInteger(given) && given >= min);
}

/** Returns the rule for a finite number above 0. */
export function positive(defaultValue: number): ParameterRule<number> {
  return numeric(defaultValue, 'be a finite number above 0', (given) => given > 0 && given < Infinity);
}

/** Returns the rule for a finite number of at least 0. */
export function atLeastZero(defaultValue: number): ParameterRule<number> {
  return numeric(defaultValue, 'be a finite number of at least 0', (given) => given >= 0 && given < Infinity);
}

/** Returns the rule for a number above 0 and at most 1. */
export function weight(defaultValue: number): ParameterRule<number> {
  return numeric(defaultValue, 'be a number above 0 and at most 1', (given) => given > 0 && given <= 1);
}

/** Returns the rule for a parameter that is a number from 0 to 1, or null if the number is unknown. */
export function shareOrNull(): ParameterRule<number | null> {
  const { check } = numeric(0, 'be a number from 0 to 1', (given) => given >= 0 && given <= 1);
  return {
    defaultValue: null,
    check: (parameter, given) => {
      if (given !== null) check(parameter, given);
    },
  };
}

/** Returns the rule for a boolean. */
export function flag(defaultValue: boolean): ParameterRule<boolean> {
  return {
    defaultValue,
    check: (parameter, given) => {
      if (typeof given !== 'boolean') throw invalidParameter(parameter, 'be true or false', quote(given));
    },
  };
}

/** Returns the rule for a choice between names. */
export function choice<Name extends string>(defaultValue: Name, names: readonly Name[]): ParameterRule<Name> {
  return { defaultValue, check: (parameter, given) => oneOf(parameter, given as string, names) };
}

function numeric(defaultValue: number, required: string, holds: (given: number) => boolean): ParameterRule<number> {
  return {
    defaultValue,
    check: (parameter, given) => {
      // Text such as '1' would pass numeric comparisons.
      if (typeof given !== 'number' || !holds(given)) throw invalidParameter(parameter, required, quote(given));
    },
  };
}
