import { z } from 'zod';

import { described, optionalField } from '../fields.ts';
import { fileJsonSchema, ownName, recordOf } from '../pipeline/values.ts';
import { FILLED, NO_CONTROLS, ONE_LINE } from '../text-values.ts';

/** The names of providers. */
const LLM_PROVIDERS = [
  'openai',
  'openai_responses',
  'anthropic',
  'gemini',
  'bedrock',
  'ollama',
  'vllm',
  'compatible',
  'http',
  'command',
  'local',
  'replay',
] as const;

/** The methods of requests of the provider `http`. */
const HTTP_METHODS = ['POST', 'PUT', 'PATCH'] as const;

/** The forms in which a program of the provider `command` can receive a prompt. */
const COMMAND_INPUTS = ['text', 'json'] as const;

/** The roles of the messages of a conversation. */
const MESSAGE_ROLES = ['system', 'user', 'assistant'] as const;

/** The names of evaluators. */
export const EVALUATOR_NAMES = ['counterfactual', 'refusal', 'toxicity_sentiment', 'stereotype'] as const;

/** The names of the BBQ formats. */
const BBQ_FORMATS = ['race', 'arc', 'qonly'] as const;

const prompt = z.string().regex(FILLED);
const message = z.strictObject({
  role: described(z.enum(MESSAGE_ROLES), 'The author of the message.'),
  content: optionalField(
    prompt,
    "The text of the message, with placeholders. If a message of the assistant has no content, it is the model's turn.",
  ),
});
const conversation = z.array(message).min(1);
const template = z.union([prompt, conversation]);
const filePath = z.string().min(1).regex(NO_CONTROLS);
const limit = z.number().int().min(1);

/** Returns the schema of a mapping with arbitrary keys. */
function mapOf<Value>(value: z.ZodType<Value>): z.ZodType<Readonly<Record<string, Value>>> {
  const { $schema: _, ...values } = z.toJSONSchema(value, { io: 'input', unrepresentable: 'any' });
  return recordOf(value, values);
}

const price = z.strictObject({
  input: described(z.number().min(0), 'The price of a million prompt tokens.'),
  output: described(z.number().min(0), 'The price of a million answer tokens.'),
  as_of: described(z.iso.date(), 'The date of the prices.', '2026-01-31'),
});

const counterfactual = z.strictObject({
  template: optionalField(
    z.union([prompt, z.array(z.union([prompt, message, conversation])).min(1)]),
    'Texts with placeholders for values, such as {gender}, {gender.possessive} or {name}; {{ and }} are braces. A template may also be a conversation: a list of messages, each with role and content. Texts of prompt_templates with placeholders are used too. In a text without placeholders, gendered words are swapped if a dimension has the values of women and men.',
    'Describe a {gender}',
  ),
  dimensions: described(
    mapOf(z.array(ownName).min(2)),
    'The dimensions that are varied, each with at least two values, for example gender: [woman, man].',
    { gender: ['woman', 'man'] },
  ),
  defaults: optionalField(
    mapOf(ownName),
    'The value that a dimension keeps while another is varied. A dimension without a default is crossed.',
  ),
  name_pools: optionalField(
    mapOf(z.array(ownName).min(1)),
    'First names for {name}, by the values of one dimension. Names at the same position are compared. The smallest pool determines the number of names.',
  ),
  control_dimension: optionalField(
    ownName,
    'A dimension that should make no difference, such as days of the week. It gives the noise floor.',
  ),
});

const jsonPath = z.string().min(1).regex(NO_CONTROLS);

const http = z.strictObject({
  url: described(filePath, 'The address of the endpoint. It must not contain a key.', 'https://app.example.org/chat'),
  method: described(z.enum(HTTP_METHODS).default('POST'), 'The method of the requests.'),
  headers: optionalField(
    mapOf(z.string().max(2000).regex(ONE_LINE)),
    'Headers by name. A value may name a variable of the environment, as in ${EVENHAND_LLM_API_KEY}. Keys must come from variables.',
    { authorization: 'Bearer ${EVENHAND_LLM_API_KEY}' },
  ),
  body: optionalField(
    z.unknown(),
    'The body: a text or a JSON value with the placeholders {{prompt}}, {{system}}, {{messages}}, {{model}}, {{max_tokens}} and {{params}}. Default: { prompt: "{{prompt}}" }.',
    { question: '{{prompt}}' },
  ),
  answer_path: optionalField(
    jsonPath,
    'The JSON path of the answer in the response. Default: the complete body of the response is the answer.',
    '$.choices[0].message.content',
  ),
  input_tokens_path: optionalField(jsonPath, 'The JSON path of the number of prompt tokens.', '$.usage.input'),
  output_tokens_path: optionalField(jsonPath, 'The JSON path of the number of answer tokens.', '$.usage.output'),
});

/** The keys of an evaluation's configuration, in snake_case as in a file. */
export const LLM_EVAL_FIELDS = {
  provider: described(
    z.enum(LLM_PROVIDERS).default('local'),
    'The provider of answers. http sends requests to any endpoint, and command runs any program. local is a stub that needs no network. replay reads the answers from a file.',
  ),
  model: optionalField(
    ownName,
    "The name of the model at its provider. Default: 'stub' for local, 'replay' for replay, the host for http, the program for command.",
  ),
  base_url: optionalField(
    filePath,
    'The URL of the provider, if it is not the default one. It must not contain a key.',
    'http://127.0.0.1:11434/v1',
  ),
  http: optionalField(http, 'The endpoint of the provider http.'),
  command: optionalField(
    z.array(filePath).min(1),
    'The program of the provider command and its arguments. It runs only with --allow-code.',
    ['./ask-my-product', '--quiet'],
  ),
  command_input: described(
    z.enum(COMMAND_INPUTS).default('text'),
    'What the program reads: the prompt as text, or a JSON object with prompt, messages, params, model and repeat.',
  ),
  system_prompt: optionalField(prompt, 'The text before every prompt. Default: none.'),
  evaluators: optionalField(
    z.array(z.enum(EVALUATOR_NAMES)).min(1),
    'The evaluators that score the answers. Default: all evaluators for which the file has data. counterfactual needs its section, refusal and toxicity_sentiment need a template, and stereotype needs a template or bbq_path.',
  ),
  prompt_templates: optionalField(
    mapOf(template),
    'Prompts by name: texts, or conversations as lists of messages. Placeholders such as {gender} are filled with each value.',
  ),
  counterfactual: optionalField(counterfactual, 'The words that are varied, and the texts in which they are varied.'),
  cache_dir: described(filePath.default('.evenhand/llm-cache'), 'The folder of the cache of answers.'),
  replay_only: described(
    z.boolean().default(false),
    'Whether only cached answers may be used. If true, an answer that is not in the cache is an error.',
  ),
  replay_path: optionalField(filePath, 'The file of answers for the provider replay.', 'answers.ndjson'),
  max_requests_per_run: optionalField(limit, 'The maximum number of requests. Each attempt counts. Default: no limit.'),
  max_tokens_per_run: optionalField(limit, 'The maximum number of tokens of prompts and answers. Default: no limit.'),
  max_cost_usd: optionalField(
    z.number().gt(0),
    'The maximum cost in US dollars. Needs a known price. Default: no limit.',
  ),
  max_minutes: optionalField(z.number().gt(0), 'The maximum time in minutes. Default: no limit.'),
  concurrency: described(z.number().int().min(1).max(64).default(4), 'The maximum number of concurrent requests.'),
  timeout_ms: described(
    z.number().int().min(1).max(3_600_000).default(60_000),
    'The timeout of a request, in milliseconds.',
  ),
  repeats: described(
    z.number().int().min(1).max(1000).default(1),
    'The number of times each prompt is sent. With 2 or more, answers to the same prompt give the noise floor.',
  ),
  params: optionalField(mapOf(z.unknown()), "The parameters of a request, named as in the provider's API.", {
    temperature: 1,
    max_tokens: 200,
  }),
  bbq_path: optionalField(
    filePath,
    "A file with the items of BBQ, or with the items and a model's answers.",
    'bbq.jsonl',
  ),
  bbq_formats: described(
    z.array(z.enum(BBQ_FORMATS)).min(1).default(['race']),
    "The format of BBQ's questions: question first, context first, or without context.",
  ),
  prices: optionalField(
    mapOf(price),
    'Prices in US dollars per million tokens, by model; they take precedence over the built-in prices.',
    { 'my-model': { input: 0.5, output: 1.5, as_of: '2026-01-31' } },
  ),
  allow_small_samples: described(
    z.boolean().default(false),
    'Whether metrics are also computed for groups with few answers.',
  ),
} as const;

/** The keys of the section `counterfactual`. */
export const COUNTERFACTUAL_KEYS = Object.keys(counterfactual.shape);

/** The keys of the section `http`. */
export const HTTP_KEYS = Object.keys(http.shape);

/** The keys of a price. */
export const PRICE_KEYS = Object.keys(price.shape);

/** The configuration of an evaluation, as written in a file. */
export type LLMEvalDocument = z.output<z.ZodObject<typeof LLM_EVAL_FIELDS>>;

/**
 * The provider of answers. `http` is any endpoint, and `command` is any program. `local` is a built-in stub that needs
 * no network. `replay` reads answers from a file.
 */
export type LLMProvider = (typeof LLM_PROVIDERS)[number];

/** A message of a conversation in a template. */
export interface TemplateMessage {
  readonly role: 'system' | 'user' | 'assistant';
  /** The text with placeholders. A message of the assistant without content is a turn of the model. */
  readonly content?: string | undefined;
}

/** A template of prompts: a text, or a conversation. */
export type PromptTemplate = string | readonly TemplateMessage[];

/** The endpoint of the provider `http`. */
export interface HttpEndpointConfig {
  readonly url: string;
  readonly method: (typeof HTTP_METHODS)[number];
  /** Headers by name. `${NAME}` in a value is replaced by a variable of the environment. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body: a text or a JSON value with placeholders such as `{{prompt}}`. */
  readonly body: unknown;
  /** The JSON path of the answer; null if the complete body of the response is the answer. */
  readonly answerPath: string | null;
  readonly inputTokensPath: string | null;
  readonly outputTokensPath: string | null;
}

/** The form in which a program of the provider `command` receives a prompt. */
export type CommandInput = (typeof COMMAND_INPUTS)[number];

/** The name of an evaluator. Evaluators score answers. */
export type EvaluatorName = 'counterfactual' | 'refusal' | 'toxicity_sentiment' | 'stereotype';

/** The format of BBQ's questions: question first, context first, or without context. */
export type BbqFormat = 'race' | 'arc' | 'qonly';

/** The parameters of a request, named as in the provider's API; `max_tokens` works for every provider. */
export type LLMParams = Readonly<Record<string, unknown>>;

/** The prices of a model, in US dollars per million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  /** The date of the prices, for example 2026-01-31. */
  readonly asOf: string;
}

/** The dimensions of a counterfactual test, and the templates in which their values are varied. */
export interface CounterfactualConfig {
  /**
   * Texts with placeholders for the dimension's values: `{gender}`, `{gender.subject}`, `{name}`; or plain texts, in
   * which gendered words are swapped. A template may also be a conversation.
   */
  readonly template: readonly PromptTemplate[];
  /** The dimensions that are varied, each with at least two values: `{ gender: ['woman', 'man'] }`. */
  readonly dimensions: Readonly<Record<string, readonly string[]>>;
  /**
   * The value that a dimension keeps while another is varied. A dimension without a default is crossed with the other.
   */
  readonly defaults: Readonly<Record<string, string>>;
  /** First names that represent a value, for `{name}`. */
  readonly namePools: Readonly<Record<string, readonly string[]>>;
  /**
   * A dimension that should not affect the answers (for example, days of the week). The divergence of this dimension is
   * the noise floor.
   */
  readonly controlDimension?: string | undefined;
}

/** A parsed configuration of an evaluation, with every default filled in. Frozen. */
export interface LLMEvalConfig {
  readonly provider: LLMProvider;
  readonly model: string;
  /**
   * The URL of the provider, without a trailing slash; null for the default address, or if the provider has no address.
   */
  readonly baseUrl: string | null;
  /** The endpoint of the provider `http`; null for other providers. */
  readonly http: HttpEndpointConfig | null;
  /** The program of the provider `command` and its arguments; null for other providers. */
  readonly command: readonly string[] | null;
  readonly commandInput: CommandInput;
  /** The system prompt that is sent with every prompt; null for none. */
  readonly systemPrompt: string | null;
  readonly evaluators: readonly EvaluatorName[];
  /**
   * Prompts by name. All evaluators score their answers. A placeholder for a dimension is replaced by each of its
   * values.
   */
  readonly promptTemplates: Readonly<Record<string, PromptTemplate>>;
  readonly counterfactual: CounterfactualConfig | null;
  readonly cacheDir: string;
  /** Whether to use only cached answers. */
  readonly replayOnly: boolean;
  /** The file of answers for the provider `replay`. */
  readonly replayPath: string | null;
  /** The maximum number of requests, including retries; null for no limit. */
  readonly maxRequestsPerRun: number | null;
  readonly maxTokensPerRun: number | null;
  readonly maxCostUsd: number | null;
  readonly maxMinutes: number | null;
  readonly concurrency: number;
  readonly timeoutMillis: number;
  /**
   * The number of times each prompt is sent. If it is at least 2, the differences between answers to the same prompt
   * are the noise floor.
   */
  readonly repeats: number;
  readonly params: LLMParams;
  /** The path of a file of BBQ items, with or without a model's answers. */
  readonly bbqPath: string | null;
  readonly bbqFormats: readonly BbqFormat[];
  /** Prices by model; they take precedence over the built-in prices. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  /** Whether to include groups with few answers. */
  readonly allowSmallSamples: boolean;
}

const fileSchema = z.strictObject(LLM_EVAL_FIELDS).meta({
  title: 'An evaluation of a language model with evenhand',
  description: 'The model, the prompts and repeats, the scores, and the limits of an evaluation.',
  anyOf: [{ required: ['counterfactual'] }, { required: ['prompt_templates'] }, { required: ['bbq_path'] }],
});

/**
 * Returns the JSON Schema (draft 2020-12) of configurations of language-model evaluations, for editors. Requirements
 * that involve several keys (placeholders, defaults, name pools) are only checked when a file is read.
 */
export function llmEvalJsonSchema(): Record<string, unknown> {
  return fileJsonSchema(fileSchema);
}
