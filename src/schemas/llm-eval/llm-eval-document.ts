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
export const EVALUATOR_NAMES = ['counterfactual', 'refusal', 'toxicity_sentiment', 'stereotype', 'benchmarks'] as const;

/** The names of the BBQ formats. */
const BBQ_FORMATS = ['race', 'arc', 'qonly'] as const;

/** The outcomes that can be declared. */
export const OUTCOME_NAMES = ['decision', 'score', 'choice'] as const;

/** An outcome of an answer: a decision (yes or no), a number, or a label. */
export type OutcomeName = (typeof OUTCOME_NAMES)[number];

/** The languages whose pronouns are known. */
const PROMPT_LANGUAGES = ['en', 'de', 'fr', 'es'] as const;

/** The published lists of names. */
const NAME_SOURCES = ['bertrand_mullainathan_2004', 'bloomberg_2024'] as const;

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
/** A template, or a list of templates. A list of messages is one conversation. */
const templates = z.union([prompt, z.array(z.union([prompt, message, conversation])).min(1)]);
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

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'must be text, a number, true, false or null',
});

const counterfactual = z.strictObject({
  template: optionalField(
    templates,
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
    "Names for {name}, by the values of one dimension ('woman') or by the combined values of several dimensions ('woman, Black'). Names at the same position are compared. The smallest pool determines the number of names.",
  ),
  name_source: optionalField(
    z.enum(NAME_SOURCES),
    'A published list of names by gender and origin, instead of name_pools.',
  ),
  max_names: optionalField(limit, 'The maximum number of names of each pool that are used. Default: all.'),
  intersections: optionalField(
    z.array(z.array(ownName).min(2)).min(1),
    'Lists of dimensions whose combined values are also compared with each other. The dimensions of combined name pools are compared without being listed.',
    [['gender', 'origin']],
  ),
  language: optionalField(
    z.enum(PROMPT_LANGUAGES),
    'The language of the templates. It determines the pronouns. Default: en.',
    'de',
  ),
  pronouns: optionalField(
    mapOf(mapOf(z.string().regex(ONE_LINE))),
    'Pronouns and other words of a value by form, for placeholders such as {gender.subject}. They take precedence over the pronouns of the language.',
    { 'nonbinary person': { subject: 'xe', object: 'xem', possessive: 'xyr' } },
  ),
  control_dimension: optionalField(
    ownName,
    'A dimension that should make no difference, such as days of the week. It gives the noise floor.',
  ),
});

const jsonPath = z.string().min(1).max(500).regex(NO_CONTROLS);
const regex = z.string().min(1).max(1000);
const labels = z.array(ownName).min(2);

const numberSource = z.strictObject({
  json_path: optionalField(jsonPath, 'The path of the number in the JSON of the answer.', '$.score'),
  regex: optionalField(
    regex,
    'A regular expression (JavaScript, case-insensitive). Its first group, or its match without a group, is the number.',
    'score: (\\d+(?:[.,]\\d+)?)',
  ),
  min: optionalField(z.number(), 'The minimum. Numbers below it are not read. Default: none.', 1),
  max: optionalField(z.number(), 'The maximum. Numbers above it are not read. Default: none.', 10),
});

const rubric = z.strictObject({
  rubric: described(prompt, 'The question that the judge answers about each answer.', 'How strong is the praise?'),
  min: optionalField(z.number(), 'For score: the lowest grade. Default: 1.', 1),
  max: optionalField(z.number(), 'For score: the highest grade. Default: 10.', 10),
  choices: optionalField(labels, 'For choice: the labels of which the judge chooses one.'),
});

const outcome = z.strictObject({
  json_path: optionalField(jsonPath, 'The path of the value in the JSON of the answer.', '$.recommendation'),
  regex: optionalField(
    regex,
    'A regular expression (JavaScript, case-insensitive). Its first group, or its match without a group, is the value.',
    'verdict: (\\w+)',
  ),
  choices: optionalField(
    labels,
    'The possible labels. For decision: two labels, the first of which is yes. Without json_path and regex, the complete answer must name one label.',
    ['interview', 'reject'],
  ),
  number: optionalField(numberSource, 'For score: where the number is, and its range.'),
  judge: optionalField(rubric, 'A rubric with which the judge grades each answer; see the key judge.'),
  templates: optionalField(z.array(ownName).min(1), 'The names of the templates to which this applies. Default: all.'),
});

const judge = z.strictObject({
  provider: optionalField(z.enum(LLM_PROVIDERS), 'The provider of the judge. Default: the provider of the run.'),
  model: optionalField(ownName, 'The model of the judge. Default: the model of the run.'),
  base_url: optionalField(filePath, 'The URL of the provider, if it is not the default one.'),
  params: optionalField(mapOf(z.unknown()), 'The parameters of a request. Default: max_tokens 100 and temperature 0.'),
  blind: optionalField(
    z.boolean(),
    'Whether names, values of dimensions and gendered words are neutralized before the judge reads a text. Default: true.',
  ),
  repeats: optionalField(
    z.number().int().min(1).max(20),
    'The number of times each answer is graded. With 2 or more, the report has the agreement. Default: 1.',
  ),
  pairwise: optionalField(
    prompt,
    'A question about two answers, such as "Which answer is more favourable to the person?". Each pair of answers is compared in both orders.',
  ),
  controls: optionalField(
    z.number().int().min(0).max(200),
    'The number of answers with which position and verbosity bias are measured. Default: 10.',
  ),
});

const filePaths = z.array(filePath).min(1);

const benchmarkFiles = z.union([
  filePath,
  filePaths,
  z.strictObject({
    path: described(z.union([filePath, filePaths]), 'The file or files of the benchmark.'),
    limit: optionalField(limit, 'The number of items of a random subsample. Default: all items.', 200),
    seed: optionalField(z.number().int(), 'The seed of the subsample. Default: 42.'),
  }),
]);

const benchmarks = z.strictObject({
  crows_pairs: optionalField(
    benchmarkFiles,
    'The file of CrowS-Pairs, or a file with a score of each sentence.',
    'crows_pairs_anonymized.csv',
  ),
  winobias: optionalField(benchmarkFiles, 'The files of WinoBias, with their original names.', [
    'pro_stereotyped_type1.txt.test',
    'anti_stereotyped_type1.txt.test',
  ]),
  winogender: optionalField(
    benchmarkFiles,
    'templates.tsv or all_sentences.tsv of Winogender, and occupations-stats.tsv for the score of "gotcha" sentences.',
    ['templates.tsv', 'occupations-stats.tsv'],
  ),
  discrim_eval: optionalField(
    benchmarkFiles,
    'explicit.jsonl or implicit.jsonl of discrim-eval, or such a file with the probability of yes in each line.',
    'explicit.jsonl',
  ),
  real_toxicity_prompts: optionalField(benchmarkFiles, 'The file of RealToxicityPrompts.', 'prompts.jsonl'),
});

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

/** The keys of a target, in snake_case as in a file. A key replaces the key of the configuration with the same name. */
const target = z.strictObject({
  name: described(
    ownName,
    'The name of the target in results: letters, digits and _ . : / -, without spaces.',
    'new-prompt',
  ),
  provider: optionalField(
    z.enum(LLM_PROVIDERS),
    'The provider of this target. If it differs from the provider of the configuration, the target does not use the model, base_url, http and command of the configuration.',
  ),
  model: optionalField(ownName, 'The model of this target.'),
  base_url: optionalField(filePath, 'The URL of the provider of this target.'),
  http: optionalField(http, 'The endpoint of this target, for the provider http.'),
  command: optionalField(
    z.array(filePath).min(1),
    'The program of this target and its arguments, for the provider command. It runs only with --allow-code.',
  ),
  command_input: optionalField(z.enum(COMMAND_INPUTS), 'What the program of this target reads.'),
  replay_path: optionalField(filePath, 'The file of answers of this target, for the provider replay.'),
  system_prompt: optionalField(prompt, 'The text before every prompt of this target.'),
  params: optionalField(mapOf(z.unknown()), 'The parameters of a request of this target.'),
  prompt_templates: optionalField(
    mapOf(template),
    'The prompts of this target, by name. Prompts with the same name are compared.',
  ),
  template: optionalField(
    templates,
    'The texts or conversations of this target instead of counterfactual.template. Texts at the same position are compared.',
  ),
});

/** The providers of embeddings. */
export const EMBEDDING_PROVIDERS = ['openai', 'compatible', 'ollama'] as const;

const embedding = z.strictObject({
  provider: described(z.enum(EMBEDDING_PROVIDERS), 'openai, compatible (a server with the API of OpenAI) or ollama.'),
  model: described(ownName, 'The name of the embedding model.', 'nomic-embed-text'),
  base_url: optionalField(
    filePath,
    'The URL of the provider, if it is not the default one. It must not contain a key.',
    'http://127.0.0.1:11434',
  ),
  max_requests: optionalField(limit, 'The maximum number of texts that are embedded. Default: no limit.', 500),
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
    z.array(z.enum(EVALUATOR_NAMES)),
    'The evaluators that score the answers. An empty list leaves only outcome and your own metrics, so that p-values are adjusted for these alone. Default: all evaluators for which the file has data. counterfactual and benchmarks need their sections, refusal and toxicity_sentiment need a template, and stereotype needs a template or bbq_path. A file of answers or prompts (answers_path, prompts_path) is enough for the other evaluators.',
  ),
  prompt_templates: optionalField(
    mapOf(template),
    'Prompts by name: texts, or conversations as lists of messages. Placeholders such as {gender} are filled with each value.',
  ),
  counterfactual: optionalField(counterfactual, 'The words that are varied, and the texts in which they are varied.'),
  outcome: optionalField(
    z.strictObject(
      Object.fromEntries(
        OUTCOME_NAMES.map((name) => [name, z.union([outcome, z.array(outcome).min(1)]).optional()]),
      ) as Record<OutcomeName, z.ZodOptional<z.ZodUnion<[typeof outcome, z.ZodArray<typeof outcome>]>>>,
    ),
    'How to read a decision, a score or a choice from an answer, for all templates or per template. Default: yes and no decisions are recognized in English text.',
    { score: { number: { json_path: '$.score', min: 1, max: 10 } } },
  ),
  judge: optionalField(judge, 'The model that grades answers by the rubrics of outcome.'),
  metrics: optionalField(
    filePath,
    'A JavaScript module whose functions (answer, prompt) => number | boolean | string are metrics, and whose objects with plan and score are evaluators. Needs --allow-code.',
    './my-metrics.mjs',
  ),
  answers: optionalField(
    z.array(mapOf(cell)).min(1),
    'Answers that were collected before, as a list of rows with the columns of answers_path. They are scored, and no request is sent.',
    [
      { item: '1', gender: 'woman', answer: 'She is kind.' },
      { item: '1', gender: 'man', answer: 'He is able.' },
    ],
  ),
  answers_path: optionalField(
    filePath,
    'A file of answers that were collected before: CSV, TSV, Parquet or JSON lines with the columns answer, item, and one column for each dimension; optional prompt, name, template and repeat. They are scored, and no request is sent.',
    'answers.csv',
  ),
  prompts_path: optionalField(
    filePath,
    'A file of prompts to send, with the columns of answers_path, without answer and with prompt.',
    'prompts.csv',
  ),
  dimensions: optionalField(
    z.array(ownName),
    'The columns of answers or prompts that are compared. Default: all columns that have no other meaning, and between 2 and 20 values.',
    ['gender', 'age'],
  ),
  cluster: optionalField(
    ownName,
    'A column of answers or prompts. Rows with the same value may depend on each other and count as one unit.',
    'person',
  ),
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
  benchmarks: optionalField(
    benchmarks,
    'The files of published benchmarks. Each value is a file, a list of files, or a mapping with path, limit and seed.',
    { crows_pairs: 'crows_pairs_anonymized.csv' },
  ),
  embedding: optionalField(
    embedding,
    'The model whose embeddings compare the answers (embedding_excess). Each different answer is one request, which the limits of a run and a dry run do not count.',
    { provider: 'ollama', model: 'nomic-embed-text' },
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
  targets: optionalField(
    z.array(target).min(2),
    'Several models or prompts that are compared in one run. Each has a name and the keys in which it differs from the rest of the configuration.',
    [
      { name: 'old', system_prompt: 'Answer in one sentence.' },
      { name: 'new', system_prompt: 'Answer in one sentence. Treat everybody alike.' },
    ],
  ),
} as const;

/** The keys of the section `counterfactual`. */
export const COUNTERFACTUAL_KEYS = Object.keys(counterfactual.shape);

/** The keys of an entry of `outcome`, of its parts, and of `judge`. */
export const OUTCOME_KEYS = Object.keys(outcome.shape);
export const NUMBER_KEYS = Object.keys(numberSource.shape);
export const RUBRIC_KEYS = Object.keys(rubric.shape);
export const JUDGE_KEYS = Object.keys(judge.shape);
/** The names of the benchmarks. */
export const BENCHMARK_NAMES = Object.keys(benchmarks.shape) as readonly BenchmarkName[];
/** The keys of a target. */
export const TARGET_KEYS = Object.keys(target.shape);
/** The keys of the section `http`. */
export const HTTP_KEYS = Object.keys(http.shape);

/** The keys of the section `embedding`. */
export const EMBEDDING_KEYS = Object.keys(embedding.shape);

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
export type EvaluatorName = 'counterfactual' | 'refusal' | 'toxicity_sentiment' | 'stereotype' | 'benchmarks';

/** The name of a benchmark whose files the user provides. */
export type BenchmarkName = keyof typeof benchmarks.shape;

/** The files of a benchmark, and the subsample of its items. */
export interface BenchmarkSource {
  readonly path: readonly string[];
  /**
   * The number of items of a random subsample.
   * @defaultValue all items
   */
  readonly limit?: number;
  /** The seed of the subsample. */
  readonly seed: number;
}

/** The format of BBQ's questions: question first, context first, or without context. */
export type BbqFormat = 'race' | 'arc' | 'qonly';

/** A language whose pronouns are known. */
export type PromptLanguage = (typeof PROMPT_LANGUAGES)[number];

/** A published list of names. */
export type NameSource = (typeof NAME_SOURCES)[number];

/** The parameters of a request, named as in the provider's API; `max_tokens` works for every provider. */
export type LLMParams = Readonly<Record<string, unknown>>;

/** The embedding model that compares answers. */
export interface EmbeddingConfig {
  readonly provider: (typeof EMBEDDING_PROVIDERS)[number];
  readonly model: string;
  /**
   * The URL of the provider, without a trailing slash.
   * @defaultValue the address of the provider
   */
  readonly baseUrl?: string;
  /**
   * The maximum number of texts that are sent.
   * @defaultValue no limit
   */
  readonly maxRequests?: number;
}

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
  /**
   * Names that represent a value, for `{name}`. A key is a value of one dimension, or the values of several dimensions
   * separated by commas, such as `woman, Black`.
   */
  readonly namePools: Readonly<Record<string, readonly string[]>>;
  /** The published list that the names are from. */
  readonly nameSource?: NameSource | undefined;
  /**
   * The maximum number of names of each pool that are used.
   * @defaultValue all names
   */
  readonly maxNames?: number | undefined;
  /**
   * Lists of dimensions whose combined values are compared with each other, besides the values of each dimension.
   * @defaultValue the dimensions of the name pools, if the keys combine several dimensions
   */
  readonly intersections?: readonly (readonly string[])[] | undefined;
  /** @defaultValue en */
  readonly language?: PromptLanguage | undefined;
  /**
   * Pronouns and other words of a value, by form. They take precedence over the pronouns of the language.
   * @defaultValue none
   */
  readonly pronouns?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
  /**
   * A dimension that should not affect the answers (for example, days of the week). The divergence of this dimension is
   * the noise floor.
   */
  readonly controlDimension?: string | undefined;
}

/** Where the number of a score is, and its range. */
export interface NumberSource {
  readonly jsonPath?: string | undefined;
  readonly regex?: string | undefined;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** A rubric with which the judge grades each answer. */
export interface JudgeRubric {
  readonly rubric: string;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly choices?: readonly string[] | undefined;
}

/** How an outcome is read from an answer. */
export interface OutcomeSpec {
  readonly jsonPath?: string | undefined;
  readonly regex?: string | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly number?: NumberSource | undefined;
  readonly judge?: JudgeRubric | undefined;
  /** The templates to which this applies; undefined for all templates. */
  readonly templates?: readonly string[] | undefined;
}

/** The declared outcomes, each with a list of ways to read it. The first way that applies to a template is used. */
export type OutcomeConfig = Readonly<Partial<Record<OutcomeName, readonly OutcomeSpec[]>>>;

/** The model that grades answers. */
export interface JudgeConfig {
  readonly provider: LLMProvider;
  readonly model: string;
  readonly baseUrl: string | null;
  readonly params: LLMParams;
  /** Whether names, values of dimensions and gendered words are neutralized before the judge reads a text. */
  readonly blind: boolean;
  readonly repeats: number;
  /** The question about two answers; null if answers are not compared. */
  readonly pairwise: string | null;
  /** The number of answers with which position and verbosity bias are measured. */
  readonly controls: number;
}
/** A row of collected answers, by column. */
export type AnswerCells = Readonly<Record<string, string | number | boolean | null>>;

/**
 * A model or a prompt that is compared with others. Its fields replace the fields of the configuration with the same
 * name.
 */
export interface LlmTarget {
  /** The name in results. */
  readonly name: string;
  /**
   * If it differs from the provider of the configuration, the target does not inherit its model, address, endpoint and
   * program.
   */
  readonly provider?: LLMProvider | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly http?: HttpEndpointConfig | undefined;
  readonly command?: readonly string[] | undefined;
  readonly commandInput?: CommandInput | undefined;
  readonly replayPath?: string | undefined;
  readonly systemPrompt?: string | undefined;
  readonly params?: LLMParams | undefined;
  readonly promptTemplates?: Readonly<Record<string, PromptTemplate>> | undefined;
  /** The templates that replace the `template` of `counterfactual`. */
  readonly template?: readonly PromptTemplate[] | undefined;
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
  /** How outcomes are read from answers; empty if none is declared. */
  readonly outcome: OutcomeConfig;
  /** The model that grades answers; null if no outcome needs a judge. */
  readonly judge: JudgeConfig | null;
  /** The path of a JavaScript module with metrics; null for none. */
  readonly metrics: string | null;
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
  /** Answers to score instead of sending requests, as rows; null if there are none. */
  readonly answers: readonly AnswerCells[] | null;
  /** The path of a file of answers to score instead of sending requests. */
  readonly answersPath: string | null;
  /** The path of a file of prompts to send. */
  readonly promptsPath: string | null;
  /** The columns of the file of answers or prompts that are compared; null to choose them by their values. */
  readonly dimensions: readonly string[] | null;
  /** The column of the file of answers or prompts whose values are the independent units. */
  readonly cluster: string | null;
  /** The path of a file of BBQ items, with or without a model's answers. */
  readonly bbqPath: string | null;
  readonly bbqFormats: readonly BbqFormat[];
  /** The files of benchmarks, by the name of the benchmark; null if there are none. */
  readonly benchmarks: Readonly<Partial<Record<BenchmarkName, BenchmarkSource>>> | null;
  /** The embedding model; null for none. */
  readonly embedding: EmbeddingConfig | null;
  /** Prices by model; they take precedence over the built-in prices. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  /** Whether to include groups with few answers. */
  readonly allowSmallSamples: boolean;
  /** The models or prompts that are compared in one run; null if the configuration has only one. */
  readonly targets: readonly LlmTarget[] | null;
}

const fileSchema = z.strictObject(LLM_EVAL_FIELDS).meta({
  title: 'An evaluation of a language model with evenhand',
  description: 'The model, the prompts and repeats, the scores, and the limits of an evaluation.',
  anyOf: [
    'counterfactual',
    'prompt_templates',
    'bbq_path',
    'benchmarks',
    'answers',
    'answers_path',
    'prompts_path',
    'targets',
  ].map((name) => ({ required: [name] })),
});

/**
 * Returns the JSON Schema (draft 2020-12) of configurations of language-model evaluations, for editors. Requirements
 * that involve several keys (placeholders, defaults, name pools) are only checked when a file is read.
 */
export function llmEvalJsonSchema(): Record<string, unknown> {
  return fileJsonSchema(fileSchema);
}
