import type { z } from 'zod';

import { ConfigValidationError } from '../exceptions/index.ts';
import { valueAt } from '../internal/values.ts';

/** One invalid field: what was expected and what was received, without the names that an interface gives to fields. */
export interface FieldProblem {
  readonly path: readonly PropertyKey[];
  /** What the value must be; undefined if `message` says it. */
  readonly expected: string | undefined;
  /** The value as messages show it. */
  readonly received: string;
  /** A sentence of the schema, with names of fields in braces: `add {yTrue}`. */
  readonly message: string;
}

/**
 * Returns a value parsed by a schema.
 * @param what the function or command, for the message
 * @param nameOf returns the name by which the user knows a field ("--min-group-size" for minGroupSize)
 * @throws {ConfigValidationError} naming each invalid field; `context.problems` has them as {@link FieldProblem}
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
  throw new ConfigValidationError(`${what}: ${sentences.join(' ')}`, {
    context: { issues: parsed.error.issues, problems },
    cause: parsed.error,
  });
}

/** Returns what is wrong with one field. */
function problemOf(issue: z.core.$ZodIssue, value: unknown): FieldProblem {
  const received = describeGiven(valueAt(value, issue.path));
  return { path: issue.path, expected: requirementOf(issue), received, message: issue.message };
}

/** Returns one problem as one sentence: which field, what was expected, what was received. */
export function describeProblem(problem: FieldProblem, nameOf: (field: string) => string): string {
  const [field] = problem.path;
  const message = problem.message.replaceAll(/\{(\w+)\}/g, (_, name: string) => nameOf(name));
  if (field === undefined) return message;
  return problem.expected === undefined
    ? `${nameOf(String(field))}: ${message.replace(/\.$/, '')}.`
    : `${nameOf(String(field))} must be ${problem.expected}; got ${problem.received}.`;
}

/** Returns a zod issue as one sentence. */
export function describeIssue(issue: z.core.$ZodIssue, value: unknown, nameOf: (field: string) => string): string {
  return describeProblem(problemOf(issue, value), nameOf);
}

/** Longer values are cut, or counted, because they may be data. */
const MAX_SHOWN = 80;

/** Returns a value as a sentence shows it. */
export function describeGiven(given: unknown): string {
  if (given === undefined) return 'nothing';
  if (typeof given === 'string') return given.length > MAX_SHOWN ? `'${given.slice(0, MAX_SHOWN)}…'` : `'${given}'`;
  if (Array.isArray(given) && given.length > MAX_SHOWN / 2) return `a list of ${String(given.length)}`;
  const text = JSON.stringify(given);
  if (text.length <= MAX_SHOWN) return text;
  return Array.isArray(given) ? `a list of ${String(given.length)}` : 'an object';
}

/** Describes the values that are allowed: `'a'`, or `one of a, b`. */
export function describeChoices(values: readonly unknown[]): string {
  return values.length === 1 ? `'${String(values[0])}'` : `one of ${values.map(String).join(', ')}`;
}

/**
 * Describes what an issue requires; undefined if only its message says it.
 * @param kinds other words for types: `a list` for `array`
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
      return kinds[issue.expected] ?? (issue.expected === 'int' ? 'a whole number' : `a ${issue.expected}`);
    case 'invalid_union': {
      // One requirement for each kind of value that is allowed.
      const kinds = issue.errors.flatMap(([first]) => (first === undefined ? [] : [requirementOf(first)]));
      return kinds.length === 0 || kinds.includes(undefined) ? undefined : kinds.join(' or ');
    }
    default:
      return undefined;
  }
}

/** Returns the first problem of parsed data, after its field: `weights.0: Invalid input`. */
export function firstIssue({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.join('.') ?? '';
  return `${field === '' ? '' : `${field}: `}${issue?.message ?? 'it is unreadable'}`;
}
