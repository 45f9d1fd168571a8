import { z } from 'zod';

import { METRIC_RESULT_FIELDS } from './metric-result.ts';
import { comparator, count, interval, notes, numberOrNull, RUN_FIELDS, textOrNull } from './plain.ts';

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
const DRY_RUN_FIELDS = {
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

const pair = z.strictObject({
  first: z.string(),
  second: z.string(),
  value: numberOrNull,
  ci: interval.nullable(),
  p_value: numberOrNull,
  n: count,
  undefined_reason: textOrNull,
});

/** A metric of a language model's answers. */
export const llmMetricResultSchema = z
  .strictObject({
    ...METRIC_RESULT_FIELDS,
    evaluator: z.string(),
    dimension: textOrNull.meta({ description: 'What was varied; null for a metric of all answers.' }),
    n: count.meta({ description: 'Independent items that took part.' }),
    exclusions: z.record(z.string(), count).meta({ description: 'Answers that took no part, by reason.' }),
    adjusted_p_value: numberOrNull.meta({ description: 'After all metrics of the run are allowed for.' }),
    adjustment: textOrNull,
    noise_floor: numberOrNull.meta({ description: 'What noise alone gives; of an excess, on the scale of distances.' }),
    null_mean: numberOrNull.meta({ description: 'Mean of this metric without an effect; of a gap, of its size.' }),
    null_quantile_95: numberOrNull.meta({
      description: 'Without an effect the metric lies below this with probability 0.95.',
    }),
    standard_error: numberOrNull,
    degrees: numberOrNull,
    least_p_value: numberOrNull.meta({ description: 'The least that data of this size can have.' }),
    pairs: z.array(pair),
  })
  .meta({ id: 'LlmMetricResult', description: "A metric of a language model's answers." });

const verdict = z.strictObject({
  passed: z.boolean(),
  status: z.enum(['pass', 'fail', 'undefined']),
  threshold: z.number(),
  comparator,
  message: z.string(),
  straddles: z.boolean(),
});

const planned = z.strictObject({
  requests: count,
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: numberOrNull,
});

const actual = z.strictObject({
  requests: count,
  retries: count,
  answered: count,
  cached: count,
  failed: count,
  not_sent: count,
  input_tokens: z.number(),
  output_tokens: z.number(),
  uncounted: count,
  cost_usd: numberOrNull,
  seconds: z.number(),
});

/** `POST /llm-eval` where answers were scored. */
export const llmEvaluationSchema = z
  .strictObject({
    ...RUN_FIELDS,
    passed: z.boolean().nullable(),
    threshold: z.union([z.number(), z.record(z.string(), z.number())]).nullable(),
    verdicts: z.record(z.string(), verdict),
    metrics: z.record(z.string(), llmMetricResultSchema).meta({ description: 'By name: `sentiment_gap.gender`.' }),
    dry_run: dryRunSchema,
    planned,
    actual,
    stopped: z.enum(['requests', 'tokens', 'cost', 'minutes', 'cancelled']).nullable(),
    warnings: notes,
    seed: z.number().int(),
  })
  .meta({ id: 'LlmEvaluation', description: 'What differs in the answers, and what of it is noise.' });

/** `POST /llm-eval` with `dry_run`. */
export const llmDryRunSchema = z
  .strictObject({ ...RUN_FIELDS, ...DRY_RUN_FIELDS })
  .meta({ id: 'LlmDryRun', description: 'What would be sent; nothing was.' });

/** `POST /llm-eval` */
export const llmEvalAnswerSchema = z.union([llmEvaluationSchema, llmDryRunSchema]).meta({
  id: 'LlmEvalAnswer',
  description: 'An evaluation, or with `dry_run` what one would send. `passed: false` is an ordinary answer.',
});
