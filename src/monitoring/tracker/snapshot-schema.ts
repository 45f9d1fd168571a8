import { z } from 'zod';

import { DataValidationError, FairnessToolkitError } from '../../exceptions/index.ts';
import { CELLS_PER_GROUP } from '../../metrics/statistics/group-stats.ts';
import { STREAM_PROBLEMS } from './event-block.ts';
import { EARLIEST_TIME, LATEST_TIME } from './event-values.ts';
import { LONG_LABEL } from './group-codes.ts';
import type { TrackerOptions } from './tracker-options.ts';

const ARGUMENT = 'snapshot';

/** Returns the error for an invalid snapshot. */
export function badSnapshot(reason: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`The snapshot cannot be restored: ${reason}.`, {
    code: 'invalid-state',
    context: { argument: ARGUMENT },
    suggestion: 'Pass the complete return value of snapshot(), or start with a new object.',
    cause,
  });
}

/**
 * Parses a snapshot by a schema.
 * @throws {DataValidationError} if the snapshot is invalid; the error names the first invalid field
 */
export function readSnapshot<Schema extends z.ZodType>(schema: Schema, snapshot: unknown): z.output<Schema> {
  const parsed = schema.safeParse(snapshot);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.map(String).join('.') ?? '';
  throw badSnapshot(`${field === '' ? '' : `'${field}': `}${issue?.message ?? 'it cannot be read'}`, parsed.error);
}

/**
 * Runs a restore function and reports every error as an invalid snapshot.
 * @throws {DataValidationError} if the snapshot is invalid
 */
export function whileRestoring<Restored>(restore: () => Restored): Restored {
  try {
    return restore();
  } catch (cause) {
    if (cause instanceof DataValidationError && cause.context['argument'] === ARGUMENT) throw cause;
    const isOurs = cause instanceof FairnessToolkitError;
    throw badSnapshot(isOurs ? cause.message.replace(/\.$/, '') : 'it is incomplete or was changed', cause);
  }
}

/** A count. */
export const count = z.int().min(0);

/** A time in milliseconds since 1970. */
export const time = z.number().min(EARLIEST_TIME).max(LATEST_TIME);

/** A column of numbers as base64. Other fields determine the length of the column. */
const column = z.string();

const waitingEvent = z.object({
  id: z.string(),
  // The position is negative if a merge has moved the event out of the window.
  event: z.int().min(-1),
  cell: z
    .int()
    .min(0)
    .max(CELLS_PER_GROUP - 1),
  weight: z.number().min(0),
  prediction: z.number().nullable(),
  codes: z.array(z.int().min(LONG_LABEL)),
  stratum: z.union([z.string(), z.int()]).nullable().optional(),
});

/** The version of the snapshot format. */
export const SNAPSHOT_VERSION = 1;

/**
 * The fields of a tracker's snapshot, checked one by one. Options and history are checked when they are used. Columns
 * of numbers are base64 of little-endian bytes, so that every bit is restored.
 */
export const SNAPSHOT_SCHEMA = z.object({
  version: z.literal(SNAPSHOT_VERSION),
  options: z.looseObject({}) as unknown as z.ZodType<Omit<TrackerOptions, 'store' | 'clock'>>,
  events: count,
  lateLabels: count,
  firstTime: time.nullable(),
  latestTime: time.nullable(),
  faults: z.partialRecord(z.enum(STREAM_PROBLEMS), count),
  /**
   * One list per attribute: the labels of its groups or, for an intersection, the group codes in the crossed
   * attributes.
   */
  groups: z.array(z.union([z.array(z.string()), z.array(z.array(count))])),
  early: z.array(count),
  tables: z.array(column),
  starts: z.object({
    next: z.int().min(1),
    kept: z.array(z.object({ index: count, events: count, time: time.nullable(), tables: z.array(column) })).min(1),
  }),
  window: z.object({
    added: count,
    tables: z.array(column),
    codes: z.array(column),
    cells: column,
    weights: column.nullable(),
    errors: column.nullable(),
  }),
  waiting: z.array(waitingEvent).nullable(),
  history: z.unknown(),
});

/** The complete state of a stream as plain JSON. */
export type StreamSnapshot = Omit<z.output<typeof SNAPSHOT_SCHEMA>, 'history'>;
