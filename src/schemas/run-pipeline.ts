import { z } from 'zod';

import { backendName } from './method-names.ts';

/** What `run-pipeline` may be asked beside its configuration; `executeWorkflow` fills in what is left out. */
export const runPipelineSchema = z.object({
  minGroupSize: z.number().int().min(1).optional(),
  trainSize: z.number().gt(0).lt(1).optional(),
  randomState: z.number().int().optional(),
  threshold: z.number().optional(),
  classWeight: z.enum(['balanced', 'none']).optional(),
  backend: backendName.optional(),
});
