import { z } from 'zod';

import { described, minGroupSize, optionalField } from './fields.ts';
import { type BrokenRule, brokenRules, parseWire, ruleIssue } from './problems-of.ts';
import { LLM_EVAL_FIELDS } from './llm-eval/llm-eval-document.ts';

/** Returns whether a metric has its own threshold, as in `sentiment_gap<=0.1`. */
const hasThreshold = (metric: unknown): boolean => typeof metric === 'string' && /[<>]/.test(metric);

/** The options of `llm-eval`. The evaluation fills in the other defaults. */
export const llmEvalRequestSchema = z
  .object({
    config: z.string().min(1).optional(),
    answers: z.string().min(1).optional(),
    dimensions: z.array(z.string().min(1)).min(1).optional(),
    cluster: z.string().min(1).optional(),
    dryRun: z.boolean().default(false),
    live: z.boolean().default(false),
    resume: z.boolean().default(false),
    retryErrors: z.boolean().default(false),
    allowCode: z.boolean().default(false),
    allowSmallSamples: z.boolean().optional(),
    maxCost: z.number().min(0).optional(),
    replay: z.string().min(1).optional(),
    baseline: z.string().min(1).optional(),
    transcriptsOut: z.string().min(1).optional(),
    minGroupSize: minGroupSize.optional(),
    withCi: z.boolean().optional(),
    ciLevel: z.number().gt(0).lt(1).optional(),
    ciSamples: z.number().int().min(1).optional(),
    randomState: z.number().int().min(0).optional(),
    threshold: z.number().optional(),
    metric: z.array(z.string().min(1)).min(1).optional(),
    comparator: z.enum(['<=', '<', '>=', '>']).optional(),
  })
  .refine(({ threshold, metric }) => threshold === undefined || metric !== undefined, {
    message: 'A threshold needs a metric: add --metric, for example --metric sentiment_gap.',
  })
  .refine(({ threshold, metric }) => metric === undefined || threshold !== undefined || metric.every(hasThreshold), {
    message: "--metric needs a threshold: add --threshold, or write it after the name, as in 'sentiment_gap<=0.1'.",
  })
  .refine(({ threshold, comparator }) => comparator === undefined || threshold !== undefined, {
    message: 'A comparator needs a threshold: add --threshold.',
  })
  .refine(({ resume, retryErrors, transcriptsOut }) => transcriptsOut !== undefined || !(resume || retryErrors), {
    message: '--resume and --retry-errors continue from a file of answers: add --transcripts-out with its path.',
  })
  .refine(({ retryErrors, resume }) => resume || !retryErrors, {
    message: '--retry-errors repeats requests that failed before: add --resume.',
  })
  .refine(({ replay, live }) => replay === undefined || !live, {
    message: '--replay sends no requests, and --live permits them: give only one of them.',
  })
  .refine(
    ({ answers, live, replay, resume, transcriptsOut }) =>
      answers === undefined || (!(live || resume) && replay === undefined && transcriptsOut === undefined),
    {
      message:
        '--answers scores answers from a file and sends nothing: remove --live, --replay, --transcripts-out and --resume.',
    },
  )
  .refine(({ config, answers }) => config !== undefined || answers !== undefined, {
    message: 'Give --config, or --answers with a file of answers.',
  });

/** A request for an evaluation, with defaults filled in. */
export type LlmEvalRequest = z.output<typeof llmEvalRequestSchema>;

const request = llmEvalRequestSchema.shape;
const metricName = z.string().min(1).max(200);

/** The fields for scoring an evaluation and checking its gate. A configuration does not contain them. */
const REQUEST_FIELDS = {
  min_group_size: described(
    request.minGroupSize,
    'The minimum number of items; with fewer, a metric is undefined. Default: 5.',
    5,
  ),
  with_ci: described(request.withCi, 'Adds intervals. Default: true.', true),
  ci_level: described(request.ciLevel, 'The confidence level of intervals. Default: 0.95.', 0.95),
  ci_samples: optionalField(
    z.number().int().min(1).max(100_000),
    'Replicates of intervals without a closed form. Default: 200.',
    200,
  ),
  threshold: described(
    request.threshold,
    'The threshold of the gate: `passed` is whether the metric meets it. Needs metric.',
    0.1,
  ),
  metric: optionalField(
    z.union([metricName, z.array(metricName).min(1).max(100)]),
    'The metrics of the gate: sentiment_gap for every dimension, sentiment_gap.gender for one; or several. A name with a condition, such as sentiment_gap<=0.1, has its own threshold.',
    'sentiment_gap',
    ['sentiment_gap.gender', 'refusal_gap'],
    ['sentiment_gap<=0.1', 'refusal_gap<=0.05'],
  ),
  comparator: described(
    request.comparator,
    'The comparison of the gate. Default: <= for the absolute value (for an excess, the value); >= for accuracies and ratios.',
    '<=',
  ),
  dry_run: described(
    z.boolean().default(false),
    'Only reports the requests that would be sent, and their estimated cost.',
    true,
  ),
  random_state: described(request.randomState, 'The seed of random parts of scoring. Default: 42.', 42),
} as const;

/**
 * The keys of a configuration as fields of the body. The values of the keys are checked together with the
 * configuration.
 */
const CONFIG_FIELDS = Object.fromEntries(
  Object.entries(LLM_EVAL_FIELDS).map(([name, field]) => {
    const { $schema: _, ...meta } = z.toJSONSchema(field, { io: 'input', unrepresentable: 'any' });
    const examples = meta.examples ?? (meta.default === undefined ? [] : [meta.default]);
    return [
      name,
      z
        .unknown()
        .optional()
        .meta({ ...meta, examples }),
    ];
  }),
) as Readonly<Record<keyof typeof LLM_EVAL_FIELDS, z.ZodOptional<z.ZodUnknown>>>;

const configField = optionalField(
  z.union([z.string().min(1), z.record(z.string(), z.unknown())], { error: 'config must be YAML text or an object.' }),
  'The configuration: YAML text, or an object of its keys. Its keys may also be fields of the body instead.',
  'provider: local\nprompt_templates:\n  raise: How do I ask for a raise?\n',
);

/** The schema of the JSON body of `POST /llm-eval`. */
export const llmEvalBodySchema = z
  .strictObject({ config: configField, ...REQUEST_FIELDS, ...CONFIG_FIELDS })
  .check((context) => {
    context.issues.push(...bodyRules(context.value).map((rule) => ruleIssue(rule)));
  });

/** The parsed output of {@link llmEvalBodySchema}. The configuration is separate from the fields for scoring. */
export interface LlmEvalBody extends Omit<z.output<z.ZodObject<typeof REQUEST_FIELDS>>, 'metric'> {
  readonly metric?: readonly string[] | undefined;
  /** YAML text, or the keys of a configuration. */
  readonly config: string | Readonly<Record<string, unknown>>;
}

/**
 * Parses the JSON body of `POST /llm-eval`.
 * @param value the output of JSON.parse
 * @throws {ConfigValidationError} if fields are invalid; `context.fields` identifies each one by its JSON pointer
 */
export function parseLlmEvalBody(value: unknown): LlmEvalBody {
  const body: Readonly<Record<string, unknown>> = parseWire(llmEvalBodySchema, value, 'The body cannot be processed');
  const entries = Object.entries(body);
  const own = Object.fromEntries(entries.filter(([name]) => Object.hasOwn(REQUEST_FIELDS, name)));
  const keys = Object.fromEntries(entries.filter(([name]) => Object.hasOwn(CONFIG_FIELDS, name)));
  const { config = keys, metric } = body as { config?: LlmEvalBody['config']; metric?: string | string[] };
  return { ...own, metric: metric === undefined ? undefined : [metric].flat(), config } as LlmEvalBody;
}

/** Checks requirements that involve several fields. */
function bodyRules(body: Readonly<Record<string, unknown>>): BrokenRule[] {
  const keys = Object.keys(CONFIG_FIELDS).filter((name) => body[name] !== undefined);
  const { config, threshold, metric, comparator } = body;
  return brokenRules([
    [
      config === undefined && keys.length === 0,
      'config',
      'The configuration is missing: send config, or its keys.',
      'Send a configuration, as in {"provider": "local", "prompt_templates": {"raise": "How do I ask for a raise?"}}.',
    ],
    [
      config !== undefined && keys.length > 0,
      keys[0] ?? '',
      `The configuration is in config, so '${keys[0] ?? ''}' cannot be a field of the body: move it into config.`,
      'Send either config or its keys.',
    ],
    [
      threshold !== undefined && metric === undefined,
      'threshold',
      'A threshold needs a metric: add metric, for example "sentiment_gap".',
      'Send metric too, or leave threshold out.',
    ],
    [
      metric !== undefined && threshold === undefined && ![metric].flat().every(hasThreshold),
      'metric',
      'metric needs a threshold: add threshold, or write it after the name, as in "sentiment_gap<=0.1".',
      'Send threshold too, or leave metric out.',
    ],
    [
      comparator !== undefined && threshold === undefined,
      'comparator',
      'A comparator needs a threshold: add threshold.',
      'Send threshold too, or leave comparator out.',
    ],
  ]);
}
