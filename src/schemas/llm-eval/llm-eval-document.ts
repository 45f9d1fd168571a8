import { z } from 'zod';

import { described, optionalField } from '../fields.ts';
import { fileJsonSchema, ownName, recordOf } from '../pipeline/values.ts';
import { FILLED, NO_CONTROLS } from '../text-values.ts';

/** The names of providers. */
const LLM_PROVIDERS = ['openai', 'anthropic', 'compatible', 'local', 'replay'] as const;

/** The names of evaluators. */
export const EVALUATOR_NAMES = ['counterfactual', 'refusal', 'toxicity_sentiment', 'stereotype', 'benchmarks'] as const;

/** The names of the BBQ formats. */
const BBQ_FORMATS = ['race', 'arc', 'qonly'] as const;

const prompt = z.string().regex(FILLED);
const prompts = z.array(prompt).min(1);
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
    z.union([prompt, prompts]),
    'Texts with placeholders for values, such as {gender}, {gender.possessive} or {name}; {{ and }} are braces. Texts of prompt_templates with placeholders are used too. In a text without placeholders, gendered words are swapped if a dimension has the values of women and men.',
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
    'The provider of answers. local is a stub that needs no network. replay reads the answers from a file.',
  ),
  model: optionalField(
    ownName,
    "The name of the model at its provider. Default: 'stub' for local, 'replay' for replay.",
  ),
  base_url: optionalField(
    filePath,
    'The URL of the provider, if it is not the default one. It must not contain a key.',
    'http://127.0.0.1:11434/v1',
  ),
  system_prompt: optionalField(prompt, 'The text before every prompt. Default: none.'),
  evaluators: optionalField(
    z.array(z.enum(EVALUATOR_NAMES)).min(1),
    'The evaluators that score the answers. Default: all evaluators for which the file has data. counterfactual and benchmarks need their sections, refusal and toxicity_sentiment need a template, and stereotype needs a template or bbq_path.',
  ),
  prompt_templates: optionalField(
    mapOf(prompt),
    'Prompts by name. Placeholders such as {gender} are filled with each value.',
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
} as const;

/** The keys of the section `counterfactual`. */
export const COUNTERFACTUAL_KEYS = Object.keys(counterfactual.shape);

/** The names of the benchmarks. */
export const BENCHMARK_NAMES = Object.keys(benchmarks.shape) as readonly BenchmarkName[];

/** The keys of the section `embedding`. */
export const EMBEDDING_KEYS = Object.keys(embedding.shape);

/** The keys of a price. */
export const PRICE_KEYS = Object.keys(price.shape);

/** The configuration of an evaluation, as written in a file. */
export type LLMEvalDocument = z.output<z.ZodObject<typeof LLM_EVAL_FIELDS>>;

/** The provider of answers. `local` is a built-in stub that needs no network. `replay` reads answers from a file. */
export type LLMProvider = 'openai' | 'anthropic' | 'compatible' | 'local' | 'replay';

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
   * which gendered words are swapped.
   */
  readonly template: readonly string[];
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
  /** The system prompt that is sent with every prompt; null for none. */
  readonly systemPrompt: string | null;
  readonly evaluators: readonly EvaluatorName[];
  /**
   * Prompts by name. All evaluators score their answers. A placeholder for a dimension is replaced by each of its
   * values.
   */
  readonly promptTemplates: Readonly<Record<string, string>>;
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
  /** The files of benchmarks, by the name of the benchmark; null if there are none. */
  readonly benchmarks: Readonly<Partial<Record<BenchmarkName, BenchmarkSource>>> | null;
  /** The embedding model; null for none. */
  readonly embedding: EmbeddingConfig | null;
  /** Prices by model; they take precedence over the built-in prices. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  /** Whether to include groups with few answers. */
  readonly allowSmallSamples: boolean;
}

const fileSchema = z.strictObject(LLM_EVAL_FIELDS).meta({
  title: 'An evaluation of a language model with evenhand',
  description: 'The model, the prompts and repeats, the scores, and the limits of an evaluation.',
  anyOf: [
    { required: ['counterfactual'] },
    { required: ['prompt_templates'] },
    { required: ['bbq_path'] },
    { required: ['benchmarks'] },
  ],
});

/**
 * Returns the JSON Schema (draft 2020-12) of configurations of language-model evaluations, for editors. Requirements
 * that involve several keys (placeholders, defaults, name pools) are only checked when a file is read.
 */
export function llmEvalJsonSchema(): Record<string, unknown> {
  return fileJsonSchema(fileSchema);
}
