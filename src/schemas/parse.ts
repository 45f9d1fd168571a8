import type { z } from 'zod';

import { ConfigValidationError } from '../exceptions/index.ts';
import { valueAt } from '../internal/values.ts';

/**
 * An invalid field, with the expected and the received value. The command line and the service name fields differently,
 * so names are added later.
 */
export interface FieldProblem {
  readonly path: readonly PropertyKey[];
  /** The requirement that the value must meet; undefined if `message` contains it. */
  readonly expected: string | undefined;
  /** The value, formatted for messages. */
  readonly received: string;
  /** A message from the schema, with field names in braces: `add {yTrue}`. */
  readonly message: string;
}

/**
 * Parses a value with a schema.
 * @param what the name of the function or command, for the message
 * @param nameOf returns the user-visible name of a field ("--min-group-size" for minGroupSize)
 * @throws {ConfigValidationError} if fields are invalid; the message names each one, and `context.problems` lists them
 *   as {@link FieldProblem}
 */
export function parseBy<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  nameOf: (field: string) => string = (field) => field,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => problemOf(issue, value));
  const sentences = problems.map((problem) => describeProblem(problem, nameOf));
  throw new ConfigValidationError(`${what}: ${sentences.join(' ')}`, { context: { problems } });
}

/** Converts a zod issue to a field problem. */
function problemOf(issue: z.core.$ZodIssue, value: unknown): FieldProblem {
  const received = describeGiven(valueAt(value, issue.path));
  return { path: issue.path, expected: requirementOf(issue), received, message: issue.message };
}

/** Formats a problem as one sentence: the field, the expected value and the received value. */
export function describeProblem(problem: FieldProblem, nameOf: (field: string) => string): string {
  const [field] = problem.path;
  const message = problem.message.replaceAll(/\{(\w+)\}/g, (_, name: string) => nameOf(name));
  if (field === undefined) {
    return problem.expected === undefined
      ? message
      : `the options must be ${problem.expected}; got ${problem.received}.`;
  }
  return problem.expected === undefined
    ? `${nameOf(String(field))}: ${message.replace(/\.$/, '')}.`
    : `${nameOf(String(field))} must be ${problem.expected}; got ${problem.received}.`;
}

/** Formats a zod issue as one sentence. */
export function describeIssue(issue: z.core.$ZodIssue, value: unknown, nameOf: (field: string) => string): string {
  return describeProblem(problemOf(issue, value), nameOf);
}

/** The maximum length of a value in a message. Longer values may be data, so they are shortened, or only counted. */
const MAX_SHOWN = 80;

/** Formats a value for a sentence. */
export function describeGiven(given: unknown): string {
  if (given === undefined) return 'nothing';
  if (typeof given === 'string') return given.length > MAX_SHOWN ? `'${given.slice(0, MAX_SHOWN)}…'` : `'${given}'`;
  if (Array.isArray(given) && given.length > MAX_SHOWN / 2) return `a list of ${String(given.length)}`;
  const text = JSON.stringify(given);
  if (text.length <= MAX_SHOWN) return text;
  return Array.isArray(given) ? `a list of ${String(given.length)}` : 'an object';
}

/** Describes the allowed values: `'a'`, or `one of a, b`. */
export function describeChoices(values: readonly unknown[]): string {
  return values.length === 1 ? `'${String(values[0])}'` : `one of ${values.map(String).join(', ')}`;
}

/** The words for types in messages. */
const KINDS: Readonly<Partial<Record<string, string>>> = {
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
};

/**
 * Describes the requirement of an issue. Returns undefined if the requirement is stated only in the issue's message.
 * @param kinds the words that describe types in messages, for example `a list` for `array`
 */
export function requirementOf(
  issue: z.core.$ZodIssue,
  kinds: Readonly<Partial<Record<string, string>>> = {},
): string | undefined {
  switch (issue.code) {
    case 'too_small':
      return `${issue.inclusive === false ? 'above' : 'at least'} ${String(issue.minimum)}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'below' : 'at most'} ${String(issue.maximum)}`;
    case 'invalid_value':
      return describeChoices(issue.values);
    case 'invalid_type':
      return kinds[issue.expected] ?? KINDS[issue.expected] ?? `a ${issue.expected}`;
    case 'invalid_union': {
      // One requirement for each allowed kind of value.
      const kinds = issue.errors.flatMap(([first]) => (first === undefined ? [] : [requirementOf(first)]));
      return kinds.length === 0 || kinds.includes(undefined) ? undefined : kinds.join(' or ');
    }
    default:
      return undefined;
  }
}

/** Returns the first problem of parsed data, preceded by its field: `weights.0: Invalid input`. */
export function firstIssue({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.join('.') ?? '';
  return `${field === '' ? '' : `${field}: `}${issue?.message ?? 'it is unreadable'}`;
}
