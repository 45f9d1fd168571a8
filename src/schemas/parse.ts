import type { z } from 'zod';

import { ConfigValidationError } from '../exceptions/index.ts';

/**
 * Parses a value by a schema; what is wrong becomes one sentence.
 * @param what is being parsed, for the message
 * @param nameOf how the user knows a field ("--min-group-size" for minGroupSize)
 * @throws {ConfigValidationError} naming each field at fault
 */
export function parseBy<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what: string,
  nameOf: (field: string) => string = (field) => field,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => {
    const [field] = path;
    return field === undefined ? message : `${nameOf(String(field))}: ${message}`;
  });
  throw new ConfigValidationError(`${what}: ${faults.join('; ')}`, {
    context: { issues: parsed.error.issues },
    cause: parsed.error,
  });
}
