import type { OptionNames } from '../../internal/arguments.ts';
import type { OnProgress } from '../../internal/progress.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { LLMClient } from '../client/llm-client.ts';
import type { RetryOptions } from '../scheduler/retry-policy.ts';
import type { LLMEvaluator, ScoreOptions } from '../scoring/llm-evaluator.ts';

/** What decides which requests a run sends. */
export interface PlanOptions extends Pick<ScoreOptions, 'minGroupSize' | 'allowSmallSamples'> {
  /**
   * Who answers, instead of the configuration's provider; its calls are the caller's to allow.
   * @defaultValue the provider's client
   */
  readonly client?: LLMClient | undefined;
  /**
   * Where answers are kept and looked up first; null for nowhere.
   * @defaultValue the folder `cache_dir`; none for `local`, `replay` and a client of one's own
   */
  readonly cache?: ResponseCache | null | undefined;
  /**
   * Evaluators that run beside those of the configuration; one takes the place of that of its name. Built-in ones with a
   * scorer or word lists of your own, or any object with `name`, `plan` and `score`.
   * @defaultValue those of the configuration, as they come
   */
  readonly evaluators?: readonly LLMEvaluator[] | undefined;
  /**
   * The transcript: a file of NDJSON with a line for each answer, written as it comes.
   * @defaultValue none
   */
  readonly transcriptsOut?: string | undefined;
  /**
   * Whether the transcript may be there already, and its answers are taken instead of asked for again.
   * @defaultValue false
   */
  readonly resume?: boolean | undefined;
  /**
   * Whether what failed in the transcript is asked again.
   * @defaultValue false
   */
  readonly retryErrors?: boolean | undefined;
  /**
   * A file of answers (a transcript, or BBQ's items with answers) to take instead of asking anyone; one that is not in it is an error.
   * @defaultValue `replay_path`
   */
  readonly replayPath?: string | undefined;
  /**
   * Dollars at most, instead of the configuration's `max_cost_usd`.
   * @defaultValue `max_cost_usd`
   */
  readonly maxCostUsd?: number | undefined;
}

/** Lists the options of {@link PlanOptions}. */
export const PLAN_OPTION_NAMES: OptionNames<PlanOptions> = {
  client: true,
  minGroupSize: true,
  allowSmallSamples: true,
  cache: true,
  evaluators: true,
  transcriptsOut: true,
  resume: true,
  retryErrors: true,
  replayPath: true,
  maxCostUsd: true,
};

/** Options of `runLlmEval`. */
export interface RunLlmEvalOptions extends PlanOptions, Omit<ScoreOptions, 'controlDimension'> {
  /**
   * Whether requests may be sent to a provider, beside EVENHAND_LLM_ALLOW_LIVE=1.
   * @defaultValue false
   */
  readonly live?: boolean | undefined;
  /** @defaultValue three retries from a second on */
  readonly retry?: RetryOptions | undefined;
  /** Ends the run; what was answered is kept and scored. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** Lists the options of {@link RunLlmEvalOptions}. */
export const RUN_LLM_EVAL_OPTION_NAMES: OptionNames<RunLlmEvalOptions> = {
  ...PLAN_OPTION_NAMES,
  live: true,
  retry: true,
  signal: true,
  onProgress: true,
  seed: true,
  withCi: true,
  ciLevel: true,
  ciSamples: true,
};
