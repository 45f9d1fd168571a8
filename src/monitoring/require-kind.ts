import { isMapping } from '../internal/values.ts';
import { DataValidationError } from '../exceptions/index.ts';
import { invalidParameter } from '../internal/arguments.ts';

/**
 * Returns a value as text for messages. For an object, the text names only its kind, because not every object can be
 * converted to text.
 */
export function shownKind(given: unknown): string {
  if (Array.isArray(given)) return 'a list';
  if (typeof given === 'object' && given !== null) return 'an object';
  if (typeof given === 'function') return 'a function';
  return typeof given === 'string' ? `'${given.slice(0, 60)}'` : String(given);
}

/**
 * Checks that a value is an object with fields.
 * @throws {ValueError} if the value is not an object
 */
export function requireFields<Given>(parameter: string, given: Given, required = 'be an object'): Given & object {
  if (isMapping(given)) return given;
  throw invalidParameter(parameter, required, shownKind(given));
}

/**
 * Checks that a value is a list of texts.
 * @throws {ValueError} if the value is not a list, or an item is not a text
 */
export function requireTexts(parameter: string, given: unknown, required: string): readonly string[] {
  if (Array.isArray(given) && given.every((one) => typeof one === 'string')) return given;
  const odd: unknown = Array.isArray(given) ? given.find((one) => typeof one !== 'string') : given;
  throw invalidParameter(parameter, required, Array.isArray(given) ? `a list with ${shownKind(odd)}` : shownKind(odd));
}

/**
 * Checks that a value has the type number. Numeric texts are rejected.
 * @throws {ValueError} if the value is not of the type number
 */
export function requireNumber(parameter: string, given: number): number {
  if (typeof given === 'number') return given;
  throw invalidParameter(parameter, 'be a number', shownKind(given));
}

/**
 * Checks that a value is an object with the given methods.
 * @throws {ValueError} if the value is not an object, or a method is missing
 */
export function requireMethods<Given>(
  parameter: string,
  given: Given,
  methods: readonly string[],
  required: string,
): Given {
  const candidate = (typeof given === 'object' && given !== null ? given : {}) as Readonly<Record<string, unknown>>;
  if (methods.every((method) => typeof candidate[method] === 'function')) return given;
  throw invalidParameter(parameter, required, shownKind(given));
}

/**
 * Checks that a value can be read as rows or columns: an object, or a list without missing entries.
 * @throws {DataValidationError} if the value cannot be read in this way
 */
export function requireSource(argument: string, given: unknown): void {
  const isList = Array.isArray(given);
  const odd: unknown = isList ? given.findIndex((row) => row === null || row === undefined) : -1;
  if (typeof given === 'object' && given !== null && odd === -1) return;
  const problem = isList ? `entry ${String(Number(odd) + 1)} is missing` : `it is ${shownKind(given)}`;
  throw new DataValidationError(`The argument ${argument} must be a list or an object of columns; ${problem}.`, {
    code: 'invalid-value',
    context: { argument },
    suggestion: 'Give a list of records, or an object with a list for each column.',
  });
}

/**
 * Checks that a value is an instance of a class.
 * @throws {ValueError} if the value is not an instance of the class
 */
export function requireInstance(
  parameter: string,
  given: unknown,
  kind: abstract new (...args: never) => object,
): void {
  if (!(given instanceof kind)) throw invalidParameter(parameter, `be a ${kind.name}`, shownKind(given));
}
