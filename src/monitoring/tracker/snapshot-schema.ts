import { z } from 'zod';

import { DataValidationError, FairnessToolkitError } from '../../exceptions/index.ts';
import { CELLS_PER_GROUP } from '../../metrics/statistics/group-stats.ts';
import { STREAM_FAULTS } from './event-block.ts';
import { EARLIEST_TIME, LATEST_TIME } from './event-values.ts';
import { LONG_LABEL } from './group-codes.ts';

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

/** How many of something. */
export const count = z.int().min(0);

/** Milliseconds since 1970. */
export const time = z.number().min(EARLIEST_TIME).max(LATEST_TIME);

/** A column of numbers as base64; how long it must be is told by other fields. */
const column = z.string();

const waitingEvent = z.object({
  id: z.string(),
  // Below 0 once a merge has moved the event out of the window.
  event: z.int().min(-1),
  cell: z
    .int()
    .min(0)
    .max(CELLS_PER_GROUP - 1),
  weight: z.number().min(0),
  prediction: z.number().nullable(),
  codes: z.array(z.int().min(LONG_LABEL)),
});

/** The fields of a tracker's snapshot, each by itself; its options and its history are read by those who know them. */
export const SNAPSHOT_SCHEMA = z.object({
  version: z.literal(1),
  options: z.looseObject({}),
  events: count,
  lateLabels: count,
  firstTime: time.nullable(),
  latestTime: time.nullable(),
  faults: z.partialRecord(z.enum(STREAM_FAULTS), count),
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
