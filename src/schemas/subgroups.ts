import { z } from 'zod';

import { minGroupSize } from './fields.ts';

/** The options of `subgroups`, except its data. The library fills in the defaults and checks names. */
export const subgroupsSchema = z.object({
  columns: z.array(z.string().min(1)).min(1),
  yPred: z.string().optional(),
  score: z.string().optional(),
  yTrue: z.string().optional(),
  metric: z.string().optional(),
  positiveLabel: z.string().optional(),
  yTruePositiveLabel: z.string().optional(),
  naValues: z.array(z.string()).optional(),
  nanPolicy: z.enum(['exclude', 'include']).optional(),
  cluster: z.string().optional(),
  maxDepth: z.number().int().min(1).optional(),
  bins: z.number().int().min(2).optional(),
  maxValues: z.number().int().min(2).optional(),
  minGroupSize: minGroupSize.optional(),
  method: z.enum(['split', 'max-t']).optional(),
  candidates: z.number().int().min(1).optional(),
  alpha: z.number().gt(0).lt(1).optional(),
  samples: z.number().int().min(1).optional(),
  seed: z.number().int().optional(),
});

/** Checked options of `subgroups`. */
export type SubgroupsRequest = z.output<typeof subgroupsSchema>;
