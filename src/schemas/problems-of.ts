import type { z } from 'zod';

import { ConfigValidationError } from '../exceptions/index.ts';
import { nearestNames, suggestNames } from '../internal/arguments.ts';
import { isNumberText, valueAt } from '../internal/values.ts';
import { describeGiven, describeIssue } from './parse.ts';

/** Fields that are fractions. If a value is out of range, the error names both bounds. */
const SHARES: ReadonlySet<PropertyKey> = new Set(['ci_level', 'train_size']);

/**
 * Returns a suggestion for correcting an invalid value.
 * @param given the invalid value
 */
function issueSuggestion(issue: z.core.$ZodIssue, given: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return ofType(issue.expected, given);
    case 'invalid_value':
      return ofChoices(issue.values.map(String), given);
    case 'too_small':
    case 'too_big':
      return ofRange(issue);
    default:
      return DEFAULT;
  }
}

const DEFAULT = 'Send a value as GET /openapi.json describes it.';

function ofType(expected: string, given: unknown): string {
  // Fields of forms and queries are texts that are parsed as numbers. A quoted number can only come from JSON.
  const isNumber = isNumberText(given);
  switch (expected) {
    case 'number':
      return isNumber ? 'Send the number without quotes.' : 'Send a number.';
    case 'int':
      return isNumber && Number.isInteger(Number(given)) ? 'Send the number without quotes.' : 'Send a whole number.';
    case 'boolean':
      return given === 'true' || given === 'false' ? `Send ${given} without quotes.` : 'Send true or false.';
    case 'array':
      return 'Send a JSON array.';
    case 'object':
    case 'record':
      return 'Send a JSON object.';
    case 'string':
      return typeof given === 'number' ? 'Send a text: the number in quotes.' : 'Send a text, once.';
    default:
      return DEFAULT;
  }
}

function ofChoices(choices: readonly string[], given: unknown): string {
  const [nearest] = typeof given === 'string' ? nearestNames(given, choices) : [];
  return nearest === undefined
    ? `Send one of ${choices.join(', ')}.`
    : `Did you mean '${nearest}'? Send one of ${choices.join(', ')}.`;
}

function ofRange(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const isSmall = issue.code === 'too_small';
  const bound = Number(isSmall ? issue.minimum : issue.maximum).toLocaleString('en-US');
  if (issue.origin === 'string') return isSmall ? 'Send a text, or leave the field out.' : 'Send a shorter text.';
  if (issue.origin === 'array')
    return `Send ${isSmall ? bound : 'no more than ' + bound} items${isSmall ? ' at least' : ''}.`;
  if (SHARES.has(issue.path.at(-1) ?? '')) return 'Send a number above 0 and below 1.';
  if (isSmall) return `Send a number ${issue.inclusive === false ? 'above' : 'of at least'} ${bound}.`;
  return `Send a number ${issue.inclusive === false ? 'below' : 'of at most'} ${bound}.`;
}

/** A problem in one field: its JSON pointer ("/y_pred/3") and one sentence. */
export interface WireProblem {
  readonly pointer: string;
  readonly detail: string;
}

/** A problem with a suggestion. */
interface FoundProblem extends WireProblem {
  readonly suggestion: string;
}

/**
 * The maximum number of problems in one answer. Once they are fixed, the next request reports the remaining problems.
 */
const MAX_PROBLEMS = 20;

/** The maximum number of suggestions in one answer. */
const MAX_SUGGESTIONS = 5;

/** Formats a path of keys as a JSON pointer (RFC 6901). */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * Parses external data with a schema.
 * @param what the name of the data in the message
 * @param positionOf converts a JSON pointer to the name of the field, for data that are not JSON
 * @throws {ConfigValidationError} if the data is invalid; `context.fields` contains the {@link WireProblem}s
 */
export function parseWire<Schema extends z.ZodObject>(
  schema: Schema,
  value: unknown,
  what: string,
  positionOf: (pointer: string) => string = (pointer) => pointer,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const known = Object.keys(schema.shape);
  const problems = parsed.error.issues.flatMap((issue) => problemsOfIssue(issue, value, known)).slice(0, MAX_PROBLEMS);
  const suggestions = [...new Set(problems.map(({ suggestion }) => suggestion))].slice(0, MAX_SUGGESTIONS);
  const fields = problems.map(({ pointer, detail }): WireProblem => ({ pointer: positionOf(pointer), detail }));
  throw new ConfigValidationError(`${what}: ${fields.map(({ detail }) => detail).join(' ')}`, {
    context: { fields: Object.freeze(fields) },
    suggestion: suggestions.join(' '),
  });
}

/**
 * Describes an issue of external data.
 * @param value the data as received
 * @param known the names of fields, used to suggest corrections of misspelt names
 */
function problemsOfIssue(issue: z.core.$ZodIssue, value: unknown, known: readonly string[]): FoundProblem[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField([...path, key], key, known));
  // The message of a custom check is a complete sentence, and its position is more precise than the path.
  if (issue.code === 'custom') {
    const suggestion = (issue.params?.['suggestion'] as string | undefined) ?? issueSuggestion(issue, undefined);
    return [{ pointer: toPointer(path), detail: issue.message, suggestion }];
  }
  if (path.length === 0) {
    const detail = 'The body must be an object of fields.';
    return [{ pointer: '', detail, suggestion: 'Send a JSON object of fields.' }];
  }
  const given = valueAt(value, path);
  const detail = ownSentence(issue, given) ?? describeIssue(issue, value, (field) => field);
  return [{ pointer: toPointer(path), detail, suggestion: issueSuggestion(issue, given) }];
}

function unknownField(path: readonly PropertyKey[], key: string, known: readonly string[]): FoundProblem {
  const name = key.slice(0, MAX_NAME_LENGTH);
  const near = nearestNames(name, known).length === 0 ? '' : ` ${suggestNames(name, known, 'fields')}`;
  return {
    pointer: toPointer(path),
    detail: `There is no field '${shortened(key)}'.${near}`,
    suggestion: `The fields are ${known.join(', ')}.`,
  };
}

/** Returns a message for an issue, if the message for requests differs from the message for library options. */
function ownSentence(issue: z.core.$ZodIssue, given: unknown): string | undefined {
  const field = String(issue.path[0]);
  if (issue.code === 'too_small' && issue.origin === 'string') return `${field} must not be empty.`;
  if (issue.code === 'too_big' && issue.origin === 'string') {
    return `${field} must have at most ${String(issue.maximum)} characters; got ${describeGiven(given)}.`;
  }
  if (issue.code === 'too_small' && issue.origin === 'array') {
    return `${field} must have at least ${String(issue.minimum)} items; got ${describeGiven(given)}.`;
  }
  if (issue.code === 'too_big' && issue.origin === 'array') {
    return `${field} must have at most ${String(issue.maximum)} items.`;
  }
  if (issue.code === 'invalid_type' && issue.expected === 'array') {
    return `${field} must be an array; got ${describeGiven(given)}.`;
  }
  if (issue.code !== 'invalid_union') return undefined;
  // The default message for a union only says that the value is invalid.
  return issue.message === 'Invalid input' ? `${field} cannot be ${describeGiven(given)}.` : issue.message;
}

/** The maximum number of characters of an unknown name in a message. */
const MAX_NAME_LENGTH = 60;

function shortened(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
}

/** A problem in a request: the field, the problem, and what to send instead. */
export interface BrokenRule {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly suggestion: string;
}

/** A rule about several fields. If it is broken, the message is reported for `field`. */
export type Rule = readonly [isBroken: boolean, field: string, message: string, suggestion: string];

/** Returns the problems of the broken rules. */
export function brokenRules(rules: readonly Rule[]): BrokenRule[] {
  return rules.flatMap(([isBroken, field, message, suggestion]) =>
    isBroken ? [{ path: [field], message, suggestion }] : [],
  );
}

/**
 * Converts a problem to an issue of a schema.
 * @param input the received value; if it is undefined, other rules are still checked
 */
export function ruleIssue(
  { path, message, suggestion }: BrokenRule,
  input?: unknown,
): z.core.$ZodRawIssue<z.core.$ZodIssueCustom> {
  return { code: 'custom', input, path: [...path], message, params: { suggestion }, continue: input === undefined };
}
