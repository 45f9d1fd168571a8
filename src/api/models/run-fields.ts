import { z } from 'zod';

import { moment } from './plain.ts';

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
