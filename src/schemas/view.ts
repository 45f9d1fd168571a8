import { z } from 'zod';

/** The options of `view`, with their defaults. */
export const viewSchema = z.object({
  port: z.number().int().min(0).max(65_535).default(0),
  open: z.boolean().default(false),
});

/** The options of `view`, with defaults filled in. */
export type ViewRequest = z.output<typeof viewSchema>;
