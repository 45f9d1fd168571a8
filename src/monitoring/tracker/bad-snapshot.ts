import type { z } from 'zod';

import { DataValidationError, FairnessToolkitError } from '../../exceptions/index.ts';

const ARGUMENT = 'snapshot';

/** The error for something that is no snapshot of ours. */
export function badSnapshot(reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`The snapshot cannot be restored: ${reason}.`, {
    context: { argument: ARGUMENT },
    suggestion: 'Give what snapshot() returned, whole, or begin anew.',
    cause,
  });
}

/**
 * Reads a snapshot by a schema.
 * @throws {DataValidationError} naming the first field at fault
 */
export function readSnapshot<Schema extends z.ZodType>(schema: Schema, snapshot: unknown): z.output<Schema> {
  const parsed = schema.safeParse(snapshot);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  throw badSnapshot(`${field === '' ? '' : `'${field}': `}${issue?.message ?? 'it cannot be read'}`, parsed.error);
}

/**
 * Restores something, whatever the snapshot holds.
 * @throws {DataValidationError} for every fault of it
 */
export function whileRestoring<Restored>(restore: () => Restored): Restored {
  try {
    return restore();
  } catch (cause) {
    if (cause instanceof DataValidationError && cause.context['argument'] === ARGUMENT) throw cause;
    const isOurs = cause instanceof FairnessToolkitError;
    throw badSnapshot(isOurs ? cause.message.replace(/\.$/, '') : 'it is cut short or was changed', cause);
  }
}
