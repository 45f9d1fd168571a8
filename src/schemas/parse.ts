import type { z } from 'zod';

import { ConfigValidationError } from '../exceptions/index.ts';

/**
 * Parses a value with a schema, and reports problems as one sentence each.
 * @param what the name of the value in the message
 * @param nameOf converts a field to the name that users know ("--min-group-size" for minGroupSize)
 * @throws {ConfigValidationError} naming each invalid field
 */
export function parseBy<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  nameOf: (field: string) => string = (field) => field,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => describeIssue(issue, value, nameOf));
  throw new ConfigValidationError(`${what}: ${faults.join(' ')}`, {
    context: { issues: parsed.error.issues },
    cause: parsed.error,
  });
}

/** Describes a problem in one sentence: the field, the requirement, and the value found. */
export function describeIssue(issue: z.core.$ZodIssue, value: unknown, nameOf: (field: string) => string): string {
  const [field] = issue.path;
  if (field === undefined) return issue.message;
  const required = requirementOf(issue);
  const given = issue.path.reduce<unknown>(
    (part, key) => (part as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  return required === undefined
    ? `${nameOf(String(field))}: ${issue.message.replace(/\.$/, '')}.`
    : `${nameOf(String(field))} must be ${required}; got ${describeGiven(given)}.`;
}

/** The maximum length of a value in a message. Longer values may be data; they are cut, or only their size is shown. */
const MAX_SHOWN = 80;

/** Formats a value for a message. */
export function describeGiven(given: unknown): string {
  if (given === undefined) return 'nothing';
  if (typeof given === 'string') return given.length > MAX_SHOWN ? `'${given.slice(0, MAX_SHOWN)}…'` : `'${given}'`;
  if (Array.isArray(given) && given.length > MAX_SHOWN / 2) return `a list of ${String(given.length)}`;
  const text = JSON.stringify(given);
  if (text.length <= MAX_SHOWN) return text;
  return Array.isArray(given) ? `a list of ${String(given.length)}` : 'an object';
}

function requirementOf(issue: z.core.$ZodIssue): string | undefined {
  switch (issue.code) {
    case 'too_small':
      return `${issue.inclusive === false ? 'above' : 'at least'} ${String(issue.minimum)}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'below' : 'at most'} ${String(issue.maximum)}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `'${String(issue.values[0])}'`
        : `one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_type':
      return issue.expected === 'int' ? 'a whole number' : `a ${issue.expected}`;
    case 'invalid_union': {
      // One requirement for each kind of value that is accepted.
      const kinds = issue.errors.flatMap(([first]) => (first === undefined ? [] : [requirementOf(first)]));
      return kinds.length === 0 || kinds.includes(undefined) ? undefined : kinds.join(' or ');
    }
    default:
      return undefined;
  }
}

/** Describes the first problem in data, after the name of its field: `weights.0: Invalid input`. */
export function firstIssue({ issues: [issue] }: z.ZodError): string {
  const field = issue?.path.join('.') ?? '';
  return `${field === '' ? '' : `${field}: `}${issue?.message ?? 'it is unreadable'}`;
}
