import type { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';

/** What the error of JSON that cannot be read says beside the first field at fault. */
export interface ReadJsonDetails {
  /** What to do instead, as one sentence. */
  readonly suggestion: string;
  /** More facts for the error's context. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Reads stored plain data by a schema.
 * @param what it must be, as in "This is no threshold optimizer"
 * @throws {DataValidationError} naming the first field at fault
 */
export function readJson<Schema extends z.ZodType>(
  schema: Schema,
  json: unknown,
  what: string,
  { suggestion, context }: ReadJsonDetails,
): z.output<Schema> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  const where = field === '' ? '' : `'${field}': `;
  throw new DataValidationError(`This is no ${what}: ${where}${issue?.message ?? 'it cannot be read'}.`, {
    context: { ...context, field },
    suggestion,
    cause: parsed.error,
  });
}
