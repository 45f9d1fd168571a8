import { z } from 'zod';

/** The options of `verify`. */
export const verifySchema = z
  .object({
    csv: z.unknown().optional(),
    countsOnly: z.boolean().default(false),
    key: z.string().min(1).optional(),
    signature: z.string().min(1).optional(),
  })
  .refine(({ csv, countsOnly }) => csv === undefined || !countsOnly, {
    message: '{countsOnly} checks the report without data: remove {csv}, or remove {countsOnly}.',
  })
  .refine(({ key, signature }) => signature === undefined || key !== undefined, {
    message: 'A signature needs the public key of its author: add {key}.',
  });

/** The options of `verify`, with defaults filled in. */
export type VerifyRequest = z.output<typeof verifySchema>;
