import type { OptionNames } from '../../internal/arguments.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { LiveAccessOptions } from '../client/access.ts';
import type { LLMClient } from '../client/llm-client.ts';
import type { CustomMetrics } from '../outcome/metric-functions.ts';
import type { RowOptions } from '../rows/read-prompt-rows.ts';
import type { RetryOptions } from '../scheduler/retry-policy.ts';
import type { RunRequestsOptions } from '../scheduler/run-options.ts';
import type { LLMEvaluator, ScoreOptions } from '../scoring/llm-evaluator.ts';

/** Options that determine which requests a run sends. */
export interface PlanOptions extends RowOptions, Pick<ScoreOptions, 'minGroupSize' | 'allowSmallSamples'> {
  /**
   * The client to use instead of the configuration's provider. The caller is responsible for the permission to send
   * requests.
   * @defaultValue the provider's client
   */
  readonly client?: LLMClient | undefined;
  /**
   * The cache. Answers are first looked up in the cache, and new answers are stored in it. Use null to turn caching
   * off.
   * @defaultValue the folder `cache_dir`; none for `local`, `replay` and a custom client
   */
  readonly cache?: ResponseCache | null | undefined;
  /**
   * Additional evaluators. An evaluator replaces the evaluator of the configuration with the same name. Pass built-in
   * evaluators with a custom scorer or custom word lists, or any object with `name`, `plan` and `score`.
   * @defaultValue the evaluators of the configuration
   */
  readonly evaluators?: readonly LLMEvaluator[] | undefined;
  /**
   * Custom metrics by name: functions `(answer, prompt) => number | boolean | string`, which may be async, or objects
   * with `plan` and `score`. They are added to the metrics of the configuration's module.
   * @defaultValue none
   */
  readonly metrics?: CustomMetrics | undefined;
  /**
   * The path of the transcript, an NDJSON file with one line per answer. Each line is written when the answer arrives.
   * @defaultValue none
   */
  readonly transcriptsOut?: string | undefined;
  /**
   * Whether to continue an existing transcript and reuse its answers.
   * @defaultValue false
   */
  readonly resume?: boolean | undefined;
  /**
   * Whether prompts that failed in the transcript are sent again.
   * @defaultValue false
   */
  readonly retryErrors?: boolean | undefined;
  /**
   * A file of answers to use instead of sending requests: a transcript, or BBQ's items with answers. A missing answer
   * causes an error.
   * @defaultValue `replay_path`
   */
  readonly replayPath?: string | undefined;
  /**
   * The maximum cost in US dollars, which replaces `max_cost_usd` of the configuration.
   * @defaultValue `max_cost_usd`
   */
  readonly maxCostUsd?: number | undefined;
  /**
   * Whether code that the configuration names may run on this machine: the module `metrics`, and the program of the
   * provider `command`. Use it only with a configuration that you trust.
   * @defaultValue false
   */
  readonly allowCode?: boolean | undefined;
}

/** Lists the options of {@link PlanOptions}. */
export const PLAN_OPTION_NAMES: OptionNames<PlanOptions> = {
  client: true,
  minGroupSize: true,
  allowSmallSamples: true,
  cache: true,
  evaluators: true,
  metrics: true,
  allowCode: true,
  transcriptsOut: true,
  resume: true,
  retryErrors: true,
  replayPath: true,
  maxCostUsd: true,
  answersPath: true,
  dimensions: true,
  cluster: true,
};

/** Options of `runLlmEval`. */
export interface RunLlmEvalOptions
  extends
    PlanOptions,
    Omit<ScoreOptions, 'controlDimension'>,
    Pick<LiveAccessOptions, 'live'>,
    Pick<RunRequestsOptions, 'signal' | 'onProgress'> {
  /** @defaultValue three retries, starting with a delay of one second */
  readonly retry?: RetryOptions | undefined;
  /**
   * The client of the judge. The caller is responsible for the permission to send requests.
   * @defaultValue the judge of the configuration; `client`, if the configuration names no other model as judge
   */
  readonly judgeClient?: LLMClient | undefined;
}

/** Lists the options of {@link RunLlmEvalOptions}. */
export const RUN_LLM_EVAL_OPTION_NAMES: OptionNames<RunLlmEvalOptions> = {
  ...PLAN_OPTION_NAMES,
  live: true,
  retry: true,
  judgeClient: true,
  signal: true,
  onProgress: true,
  seed: true,
  withCi: true,
  ciLevel: true,
  ciSamples: true,
};
