import { z } from 'zod';

/** A number that may be undefined; JSON has no NaN. */
export const numberOrNull = z.number().nullable();

/** A text that may be absent. */
export const textOrNull = z.string().nullable();

/** How many there are. */
export const count = z.number().int().min(0);

/** A moment, with its time zone. */
export const moment = z.iso.datetime();

/** What a careful reader should know. */
export const notes = z.array(z.string());

/** The lower and the upper end of an interval: as a list of two, since few generators of clients read tuples. */
export const interval = z.array(z.number()).length(2);

/** {@link interval}, where an end may be infinite. */
export const openInterval = z.array(numberOrNull).length(2);

/** The ways to compare a value with a threshold. */
export const comparator = z.enum(['<=', '<', '>=', '>']);

/** The name of a run. */
export const runId = z
  .string()
  .min(1)
  .meta({
    description: 'The name of the run, for GET /results/{run_id}.',
    examples: ['0e37df36-f698-4c1f-b1f5-6d9d2bf7ad7b'],
  });

/** What every answer of a run has. */
export const RUN_FIELDS = {
  run_id: runId,
  status: z.literal('success'),
  timestamp: moment.meta({ description: 'When the run ended.' }),
} as const;
