import { z } from 'zod';

import { DRY_RUN_FIELDS, dryRunSchema } from './dry-run.ts';
import { METRIC_RESULT_FIELDS } from './metric-result.ts';
import { comparator, count, interval, notes, numberOrNull, textOrNull } from './plain.ts';
import { RUN_FIELDS } from './run-fields.ts';

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
