import type { z } from 'zod';

import { ConfigValidationError } from '../exceptions/index.ts';
import { nearestNames, suggestNames } from '../internal/arguments.ts';
import { describeGiven, describeIssue } from './parse.ts';

/** Shares, whose both bounds are told at once. */
const SHARES: ReadonlySet<PropertyKey> = new Set(['ci_level', 'train_size']);

/**
 * What to send instead of what a schema refused.
 * @param given what was sent there
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
  // Fields of forms and queries are texts, whose numbers are read; a number in quotes can only have come as JSON.
  const isNumber = typeof given === 'string' && given.trim() !== '' && Number.isFinite(Number(given));
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
  return nearest === undefined ? `Send one of ${choices.join(', ')}.` : `Send '${nearest}', if that was meant.`;
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

/** One field at fault, by its JSON pointer ("/y_pred/3"), in one sentence. */
export interface WireFault {
  readonly pointer: string;
  readonly detail: string;
}

/** A fault with what to send instead. */
interface FoundFault extends WireFault {
  readonly suggestion: string;
}

/** Faults told at most; who mends these sees the next. */
const MAX_FAULTS = 20;

/** Suggestions told at most; with more the faults themselves are read. */
const MAX_SUGGESTIONS = 5;

/**
 * What is wrong with data from outside, a fault each.
 * @param error what a schema found
 * @param value the data as they came
 * @param known the names of fields, for those that are misspelt
 */
function faultsOf(error: z.ZodError, value: unknown, known: readonly string[] = []): FoundFault[] {
  return error.issues.flatMap((issue) => faultsOfIssue(issue, value, known)).slice(0, MAX_FAULTS);
}

/** A path of keys as a JSON pointer (RFC 6901). */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * Parses data from outside by a schema.
 * @param what is being parsed, for the message
 * @param known the names of its fields
 * @param placeOf what a pointer is called where the data are no JSON
 * @throws {ConfigValidationError} whose `context.fields` are the {@link WireFault}s
 */
export function parseWire<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  known: readonly string[],
  placeOf: (pointer: string) => string = (pointer) => pointer,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = faultsOf(parsed.error, value, known);
  const suggestions = [...new Set(faults.map(({ suggestion }) => suggestion))].slice(0, MAX_SUGGESTIONS);
  const fields = faults.map(({ pointer, detail }): WireFault => ({ pointer: placeOf(pointer), detail }));
  throw new ConfigValidationError(`${what}: ${fields.map(({ detail }) => detail).join(' ')}`, {
    context: { fields: Object.freeze(fields) },
    suggestion: suggestions.join(' '),
  });
}

function faultsOfIssue(issue: z.core.$ZodIssue, value: unknown, known: readonly string[]): FoundFault[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownField([...path, key], key, known));
  // A check of ours says its sentence whole; it knows the place better than the path tells.
  if (issue.code === 'custom') {
    const suggestion = (issue.params?.['suggestion'] as string | undefined) ?? issueSuggestion(issue, undefined);
    return [{ pointer: toPointer(path), detail: issue.message, suggestion }];
  }
  if (path.length === 0) {
    const detail = 'The body must be an object of fields.';
    return [{ pointer: '', detail, suggestion: 'Send a JSON object of fields.' }];
  }
  const given = path.reduce<unknown>(
    (part, key) => (part as Record<PropertyKey, unknown> | null | undefined)?.[key],
    value,
  );
  const detail = ownSentence(issue, given) ?? describeIssue(issue, value, (field) => field);
  return [{ pointer: toPointer(path), detail, suggestion: issueSuggestion(issue, given) }];
}

function unknownField(path: readonly PropertyKey[], key: string, known: readonly string[]): FoundFault {
  const name = key.slice(0, MAX_NAME_LENGTH);
  const near = nearestNames(name, known).length === 0 ? '' : ` ${suggestNames(name, known, 'fields')}`;
  return {
    pointer: toPointer(path),
    detail: `There is no field '${shortened(key)}'.${near}`,
    suggestion: `The fields are ${known.join(', ')}.`,
  };
}

/** What is told of requests otherwise than of options of the library. */
function ownSentence(issue: z.core.$ZodIssue, given: unknown): string | undefined {
  const field = String(issue.path[0]);
  if (issue.code === 'too_small' && issue.origin === 'string') return `${field} must not be empty.`;
  if (issue.code === 'too_big' && issue.origin === 'string') {
    return `${field} must have ${String(issue.maximum)} characters at most; got ${describeGiven(given)}.`;
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
  // A union without a sentence of its own says no more than that it is wrong.
  return issue.message === 'Invalid input' ? `${field} cannot be ${describeGiven(given)}.` : issue.message;
}

/** Characters of a name that nobody meant. */
const MAX_NAME_LENGTH = 60;

function shortened(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name;
}

/** What a request breaks: which field, what is wrong with it, and what to send instead. */
export interface BrokenRule {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly suggestion: string;
}

/**
 * A broken rule as an issue of a schema.
 * @param input what was given; where a field is missing other rules are still looked at
 */
export function ruleIssue(
  { path, message, suggestion }: BrokenRule,
  input?: unknown,
): z.core.$ZodRawIssue<z.core.$ZodIssueCustom> {
  return { code: 'custom', input, path: [...path], message, params: { suggestion }, continue: input === undefined };
}
