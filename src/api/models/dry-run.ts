import { z } from 'zod';

import { count } from './plain.ts';

const range = z
  .strictObject({ low: z.number(), expected: z.number(), ceiling: z.number() })
  .meta({ description: 'At least, most likely, at most.' });

const part = z.strictObject({
  evaluator: z.string(),
  template: z.string(),
  planned: count,
  shared: count,
  cached: count,
  requests: count,
  input_tokens: z.number(),
  output_tokens: range,
});

/** The fields of a dry run. */
export const DRY_RUN_FIELDS = {
  model: z.string(),
  request_count: count.meta({ description: 'Requests that would be sent.' }),
  cached_count: count.meta({ description: 'Answers that are known already.' }),
  estimated_input_tokens: z.number(),
  estimated_output_tokens: range,
  estimated_cost_usd: range.nullable().meta({ description: "null where the model's price is not known." }),
  price: z
    .strictObject({ input: z.number(), output: z.number(), as_of: z.string(), source: z.string() })
    .nullable()
    .meta({ description: 'US dollars for a million tokens.' }),
  breakdown: z.array(part),
  limits: z.array(z.string()).meta({ description: "What the run's own limits would stop." }),
  undefined_metrics: z
    .array(z.strictObject({ metric: z.string(), reason: z.string(), suggestion: z.string() }))
    .meta({ description: 'Metrics that can only end undefined, whatever is answered.' }),
  plan_digest: z.string().meta({ description: 'SHA-256 of all requests that would be sent.' }),
} as const;

/** What an evaluation would send, and what that may take. */
export const dryRunSchema = z
  .strictObject(DRY_RUN_FIELDS)
  .meta({ id: 'DryRun', description: 'What an evaluation would send, and what that may take.' });
