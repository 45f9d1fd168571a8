import type { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';

/** Details in the error for invalid JSON, besides the first invalid field. */
export interface ReadJsonDetails {
  /** A sentence that says how to fix the problem. */
  readonly suggestion: string;
  /** Additional entries of the error's context. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Parses stored plain data with a schema.
 * @param what the expected kind of data, for example "threshold optimizer" for the error "This is not a valid threshold
 *   optimizer"
 * @throws {DataValidationError} if a field is invalid; the error names the first such field
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
  throw new DataValidationError(`This is not a valid ${what}: ${where}${issue?.message ?? 'it cannot be read'}.`, {
    code: 'invalid-state',
    context: { ...context, field },
    suggestion,
    cause: parsed.error,
  });
}
