import { z } from 'zod';

/** Rows of a step of training: so many, or as many as suit the rows and where they are. */
export const batchSize = z.union([z.int().min(1).max(1_000_000), z.literal('auto')]);
