import { z } from 'zod';

import {
  comparator,
  count,
  fields,
  interval,
  METRIC_RESULT_FIELDS,
  model,
  notes,
  numberOrNull,
  RUN_FIELDS,
  textOrNull,
} from './answer-fields.ts';

const range = z
  .strictObject({ low: z.number(), expected: z.number(), ceiling: z.number() })
  .describe('The lower bound, the most likely value, and the upper bound.');

const part = z.strictObject({
  ...fields(z.string(), 'evaluator', 'template'),
  ...fields(count, 'planned', 'shared', 'cached', 'requests'),
  input_tokens: z.number(),
  output_tokens: range,
});

/** The fields of a dry run. */
const DRY_RUN_FIELDS = {
  model: z.string(),
  request_count: count.describe('The number of requests that would be sent.'),
  cached_count: count.describe('The number of answers that are already in the cache.'),
  estimated_input_tokens: z.number(),
  estimated_output_tokens: range,
  estimated_cost_usd: range
    .nullable()
    .describe("The estimated cost in US dollars; null if the model's price is not known."),
  price: z
    .strictObject({ input: z.number(), output: z.number(), as_of: z.string(), source: z.string() })
    .nullable()
    .describe('US dollars per million tokens.'),
  breakdown: z.array(part),
  limits: z.array(z.string()).describe('Limits of the run that would stop it.'),
  undefined_metrics: z
    .array(z.strictObject({ metric: z.string(), reason: z.string(), suggestion: z.string() }))
    .describe('Metrics that will be undefined for all possible answers.'),
  judge: z
    .strictObject({
      model: z.string(),
      ...fields(count, 'request_count', 'grades', 'comparisons', 'controls'),
      ...fields(range, 'estimated_input_tokens', 'estimated_output_tokens'),
      estimated_cost_usd: range.nullable(),
    })
    .nullable()
    .describe('The maximum number of requests to the judge, which the other counts do not include.'),
  plan_digest: z.string().describe('SHA-256 of all requests that would be sent.'),
  tokenizer: z
    .string()
    .nullable()
    .describe('The encoding that counted the input tokens, such as o200k_base. Null if they are estimated.'),
  tokenizer_install: z
    .string()
    .nullable()
    .describe('The command that installs the tokenizer of the model. Null if it is installed, or if there is none.'),
} as const;

/** The requests that an evaluation would send, and their cost. */
export const dryRunSchema = model(
  'DryRun',
  'The requests that an evaluation would send, and their estimated cost.',
  DRY_RUN_FIELDS,
);

const pair = z.strictObject({
  ...fields(z.string(), 'first', 'second'),
  value: numberOrNull,
  ci: interval.nullable(),
  p_value: numberOrNull,
  n: count,
  undefined_reason: textOrNull,
});

/** A metric of a language model's answers. */
export const llmMetricResultSchema = model('LlmMetricResult', "A metric of a language model's answers.", {
  ...METRIC_RESULT_FIELDS,
  evaluator: z.string(),
  dimension: textOrNull.describe('The attribute that was varied; null for a metric of all answers.'),
  n: count.describe('The number of independent items in the metric.'),
  exclusions: z.record(z.string(), count).describe('The number of excluded answers, by reason.'),
  adjusted_p_value: numberOrNull.describe('The p-value, adjusted for all metrics of the run.'),
  adjustment: textOrNull,
  noise_floor: numberOrNull.describe('The value that noise alone produces; for an excess, on the scale of distances.'),
  null_mean: numberOrNull.describe('The mean of this metric if there is no effect; for a gap, the mean of its size.'),
  null_quantile_95: numberOrNull.describe(
    'If there is no effect, the metric is below this value with probability 0.95.',
  ),
  ...fields(numberOrNull, 'standard_error', 'degrees'),
  least_p_value: numberOrNull.describe('The smallest p-value that data of this size can have.'),
  pairs: z.array(pair),
});

/** The difference of a metric between two targets. */
export const llmTargetDifferenceSchema = model(
  'LlmTargetDifference',
  'The difference of a metric between two targets.',
  {
    ...llmMetricResultSchema.shape,
    targets: z.array(z.string()).length(2).describe('The value is that of the first minus that of the second.'),
    target_values: z
      .array(numberOrNull)
      .length(2)
      .describe('The values of the two targets on the items of the comparison.'),
  },
);

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
  ...fields(z.number(), 'input_tokens', 'output_tokens'),
  cost_usd: numberOrNull,
});

const actual = z.strictObject({
  ...fields(count, 'requests', 'retries', 'answered', 'cached', 'failed', 'not_sent'),
  ...fields(z.number(), 'input_tokens', 'output_tokens'),
  uncounted: count,
  cost_usd: numberOrNull,
  seconds: z.number(),
});

const bias = z
  .strictObject({ value: z.number(), ci: interval.nullable(), n: count })
  .nullable()
  .describe('From -1 to 1; 0 without a bias. Null if there were no control answers.');

const judge = z.strictObject({
  model: z.string(),
  blind: z.boolean(),
  neutralized: z.strictObject(fields(count, 'names', 'values', 'gendered_words')).nullable(),
  ...fields(count, 'graded', 'ungraded'),
  position_bias: bias,
  verbosity_bias: bias,
  agreement: z.record(
    z.string(),
    z.strictObject({ n: count, identical: z.number(), mean_absolute_difference: numberOrNull }),
  ),
  actual,
});

const unread = z.strictObject({
  ...fields(z.string(), 'outcome', 'reason'),
  count,
  examples: z.array(z.string()),
});

const collected = z
  .strictObject({
    source: z.string(),
    ...fields(count, 'rows', 'answered'),
    dimensions: z.array(z.string()),
    uncompared: z
      .array(z.string())
      .optional()
      .describe('The columns by which no answers could be compared; the warnings state the reasons.'),
    cluster: textOrNull,
    clusters: count.nullable(),
  })
  .nullable()
  .describe('The collected answers that were scored; null if a model was asked.');

const stopped = z.enum(['requests', 'tokens', 'cost', 'minutes', 'cancelled']).nullable();

/** The fields about the gate. */
const GATE_FIELDS = {
  passed: z.boolean().nullable(),
  threshold: z.union([z.number(), z.record(z.string(), z.number())]).nullable(),
  verdicts: z.record(z.string(), verdict),
} as const;

/** The fields about how the answers were read. */
const READ_FIELDS = {
  judge: judge.nullable().describe('The biases, the agreement and the spending of the judge; null without a judge.'),
  unread: z.array(unread).describe('Answers from which a declared outcome could not be read, by reason.'),
  collected,
} as const;

/** The answer of `POST /llm-eval` if answers were scored. */
export const llmEvaluationSchema = model('LlmEvaluation', 'How the answers differ, compared with sampling noise.', {
  ...RUN_FIELDS,
  ...GATE_FIELDS,
  metrics: z.record(z.string(), llmMetricResultSchema).describe('Metrics by name, such as `sentiment_gap.gender`.'),
  dry_run: dryRunSchema,
  planned,
  actual,
  stopped,
  ...READ_FIELDS,
  warnings: notes,
  seed: z.number().int(),
});

/** The answer of `POST /llm-eval` if several targets were compared. */
export const llmComparisonSchema = model('LlmComparison', 'How several models or prompts differ.', {
  ...RUN_FIELDS,
  ...GATE_FIELDS,
  targets: z
    .record(
      z.string(),
      z.strictObject({
        ...fields(z.string(), 'provider', 'model'),
        metrics: z.record(z.string(), llmMetricResultSchema),
        dry_run: dryRunSchema,
        planned,
        actual,
        stopped,
        ...READ_FIELDS,
        warnings: notes,
      }),
    )
    .describe('The evaluation of each target, by its name.'),
  differences: z
    .record(z.string(), llmTargetDifferenceSchema)
    .describe('The differences by name, such as `decision_gap.gender[new-old]`.'),
  planned,
  actual,
  stopped,
  warnings: notes,
  seed: z.number().int(),
});

/** The answer of `POST /llm-eval` with `dry_run` if several targets would be compared. */
export const llmTargetsDryRunSchema = model('LlmTargetsDryRun', 'The requests that would be sent to several targets.', {
  ...RUN_FIELDS,
  request_count: DRY_RUN_FIELDS.request_count,
  cached_count: DRY_RUN_FIELDS.cached_count,
  estimated_input_tokens: DRY_RUN_FIELDS.estimated_input_tokens,
  estimated_output_tokens: DRY_RUN_FIELDS.estimated_output_tokens,
  estimated_cost_usd: DRY_RUN_FIELDS.estimated_cost_usd,
  limits: DRY_RUN_FIELDS.limits,
  plan_digest: DRY_RUN_FIELDS.plan_digest,
  targets: z.record(z.string(), dryRunSchema).describe('The requests of each target, by its name.'),
});

/** The answer of `POST /llm-eval` with `dry_run`. */
export const llmDryRunSchema = model('LlmDryRun', 'The requests that would be sent. None was sent.', {
  ...RUN_FIELDS,
  ...DRY_RUN_FIELDS,
});

/** The answer of `POST /llm-eval`. */
export const llmEvalAnswerSchema = z
  .union([llmEvaluationSchema, llmDryRunSchema, llmComparisonSchema, llmTargetsDryRunSchema])
  .meta({
    id: 'LlmEvalAnswer',
    description:
      'An evaluation, or with `dry_run` the requests that an evaluation would send; with `targets`, of several models or prompts. `passed: false` is a normal answer.',
  });
