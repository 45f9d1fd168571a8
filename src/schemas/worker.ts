import { z } from 'zod';

import { redisPrefix } from './serve.ts';

/** The options of `worker`, with their defaults. */
export const workerSchema = z.object({
  redis: z.string().min(1),
  concurrency: z.number().int().min(1).max(1024).optional(),
  kinds: z.array(z.string()).optional(),
  redisPrefix: redisPrefix.optional(),
  llmDir: z.string().min(1).optional(),
  lockSeconds: z.number().min(1).max(3600).default(30),
  drainSeconds: z.number().min(0).max(86_400).default(30),
});

/** The options of a worker, with defaults filled in. */
export type WorkerRequest = z.output<typeof workerSchema>;
