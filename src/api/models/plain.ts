import { z } from 'zod';

/** A number, or null if undefined, because JSON has no NaN. */
export const numberOrNull = z.number().nullable();

/** A text that may be absent. */
export const textOrNull = z.string().nullable();

/** A count of items. */
export const count = z.number().int().min(0);

/** A point in time, with its time zone. */
export const moment = z.iso.datetime();

/** Notes and warnings. */
export const notes = z.array(z.string());

/**
 * The lower and upper end of an interval. It is an array of length two, because few client generators support tuples.
 */
export const interval = z.array(z.number()).length(2);

/** {@link interval} with ends that may be infinite. */
export const openInterval = z.array(numberOrNull).length(2);

/** The comparisons of a value with a threshold. */
export const comparator = z.enum(['<=', '<', '>=', '>']);

/** The ID of a run. */
export const runId = z
  .string()
  .min(1)
  .meta({
    description: 'The ID of the run, for GET /results/{run_id}.',
    examples: ['0e37df36-f698-4c1f-b1f5-6d9d2bf7ad7b'],
  });

/** The fields of every answer of a run. */
export const RUN_FIELDS = {
  run_id: runId,
  status: z.literal('success'),
  timestamp: moment.describe('The time at which the run ended.'),
} as const;

/** Returns the schema of an object that allows no other fields, with its name in the document. */
export function model<Shape extends z.ZodRawShape>(
  id: string,
  description: string,
  shape: Shape,
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape).meta({ id, description });
}
