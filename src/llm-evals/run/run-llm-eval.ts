import { assertKnownOptions } from '../../internal/known-options.ts';
import { getLogger } from '../../internal/logger.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-config.ts';
import type { LLMClient } from '../client/llm-client.ts';
import { undefinedSentences } from '../dry-run/dry-run-markdown.ts';
import { requestTokens } from '../dry-run/request-tokens.ts';
import { runRequests } from '../scheduler/run-requests.ts';
import type { RunSummary } from '../scheduler/run-summary.ts';
import { type ScoreSettings, scoreSettings } from '../scoring/score-settings.ts';
import { openTranscriptLog } from '../transcript/transcript-log.ts';
import type { Transcript } from '../transcript/transcript.ts';
import { chooseClient } from './choose-client.ts';
import { AnswerKeeper } from './answer-keeper.ts';
import type { LlmEvalResult } from './llm-eval-result.ts';
import { languageWarning } from './language-warning.ts';
import { prepareRun, type PreparedRun } from './prepare-run.ts';
import { RUN_LLM_EVAL_OPTION_NAMES, type RunLlmEvalOptions } from './run-options.ts';
import { joinTranscripts, scoreRun } from './score-run.ts';
import { actualSpending, plannedSpending } from './spending.ts';

/**
 * Asks a language model all that the evaluators of a configuration need, and scores the answers.
 *
 * Prompts are planned and checked, each request is made once, whoever needs its answer; what the
 * cache, the transcript or a replayed file knows is not asked again. Every answer is written to
 * the transcript and the cache before the next is asked for, so that a run that is
 * killed loses at most what was under way. A spent budget ends the run cleanly: what was answered is
 * scored, what was not is counted (`stopped`, `exclusions`). Nothing is sent to a provider without both its key
 * in the environment and permission (`live`, or EVENHAND_LLM_ALLOW_LIVE=1).
 *
 * Metrics are of these prompts at this time. P values allow for the number of metrics (Benjamini and
 * Hochberg): without any effect at most about one run in twenty shows one.
 * @throws {CacheMissError} where answers are missing and nothing may be sent
 * @throws {ConfigValidationError} for unbalanced prompts, a missing key, or a budget of money without a price
 * @throws {LLMClientError} where the provider refuses every request; what was answered before is kept
 * @throws {DataValidationError} where a transcript would be overwritten, or cannot be written
 * @example
 * ```ts
 * import { parseLlmEvalConfig, LLMEvalAdapter, runLlmEval } from 'evenhand/llm-evals';
 *
 * const config = await parseLlmEvalConfig({
 *   counterfactual: { template: 'Write a reference for {name}.', dimensions: { gender: ['female', 'male'] },
 *     name_pools: { female: ['Ada', 'Eve', 'Ida', 'Mia', 'Zoe'], male: ['Ben', 'Dan', 'Ian', 'Max', 'Tom'] } },
 *   evaluators: ['counterfactual'],
 * });
 * const biased = (prompt: string) => (/Ada|Eve|Ida|Mia|Zoe/.test(prompt) ? 'She is kind.' : 'He is a brilliant leader.');
 * const { metrics } = await runLlmEval(config, { client: new LLMEvalAdapter(biased) });
 * console.log(metrics['length_gap.gender']?.value, metrics['length_gap.gender']?.n);
 * // -2 5
 * ```
 */
export async function runLlmEval(config: LLMEvalConfig, options: RunLlmEvalOptions = {}): Promise<LlmEvalResult> {
  assertKnownOptions('runLlmEval', options, RUN_LLM_EVAL_OPTION_NAMES);
  const settings = scoreSettings({
    ...options,
    allowSmallSamples: options.allowSmallSamples ?? config.allowSmallSamples,
    controlDimension: config.counterfactual?.controlDimension,
  });
  const { transcriptsOut, resume = false } = options;
  const log = transcriptsOut === undefined ? null : await openTranscriptLog(transcriptsOut, { resume });
  try {
    const run = await prepareRun(config, options, log?.records ?? []);
    const client = chooseClient(run, options);
    const keeper = new AnswerKeeper(log, run.cache, run.known.records);
    await keeper.keepKnown(run);
    if (run.known.missing.length > 0) warnOfUndefined(run);
    const summary = await sendRequests(run, client, keeper, options, settings.seed);
    return await conclude(run, summary, joinTranscripts(run.plan.prompts, keeper.records, client.id), settings);
  } finally {
    await log?.close();
  }
}

/** Said before the first request, since it is too late after the last. */
function warnOfUndefined({ estimate }: PreparedRun): void {
  for (const sentence of undefinedSentences(estimate.undefinedMetrics)) {
    getLogger().warn(`Can only end undefined: ${sentence}`);
  }
}

async function sendRequests(
  { config, known, price, maxTokens }: PreparedRun,
  client: LLMClient,
  keeper: AnswerKeeper,
  { retry, signal, onProgress }: RunLlmEvalOptions,
  seed: number,
): Promise<RunSummary> {
  const tokensOf = requestTokens(config.systemPrompt);
  return runRequests(known.missing, {
    ...retry,
    client,
    concurrency: config.concurrency,
    timeoutMillis: config.timeoutMillis,
    limits: {
      requests: config.maxRequestsPerRun,
      tokens: config.maxTokensPerRun,
      costUsd: config.maxCostUsd,
      minutes: config.maxMinutes,
    },
    price,
    estimateTokens: ({ prompt }) => ({ input: tokensOf(prompt), outputCeiling: maxTokens }),
    onAnswer: (record) => keeper.keep(record),
    signal,
    onProgress,
    seed,
  });
}

async function conclude(
  run: PreparedRun,
  summary: RunSummary,
  transcripts: readonly Transcript[],
  settings: ScoreSettings,
): Promise<LlmEvalResult> {
  const metrics = await scoreRun(run, transcripts, settings);
  return Object.freeze({
    metrics: Object.freeze(metrics),
    dryRun: run.estimate,
    transcripts: Object.freeze(transcripts),
    planned: plannedSpending(run.estimate),
    actual: actualSpending(summary, run.known.records),
    stopped: summary.stopped,
    config: run.config,
    seed: settings.seed,
    client: run.client,
    warnings: Object.freeze([...runWarnings(run, summary), ...languageWarning(transcripts, metrics)]),
  });
}

function runWarnings(run: PreparedRun, { failed, notSent, stopped, lastFault }: RunSummary): string[] {
  const { config, plan, known } = run;
  const all = plan.requests.length.toLocaleString('en-US');
  const before = [...known.records.values()].filter(({ error }) => error !== null).length;
  return [
    ...(config.provider === 'local' && !run.isReplay && run.client === null
      ? ['The provider local is a stub: its answers say nothing of any model.']
      : []),
    ...(stopped === null
      ? []
      : [`The run ended early (${stopped}): ${String(notSent)} of ${all} prompts were not asked.`]),
    ...(failed === 0 ? [] : [`${String(failed)} of ${all} prompts have no answer, since every attempt failed.`]),
    ...(lastFault === null || (failed === 0 && stopped === null) ? [] : [`The last fault: ${lastFault}`]),
    ...(before === 0
      ? []
      : [
          `${String(before)} of ${all} prompts failed in an earlier run; --retry-errors (retryErrors) asks them again.`,
        ]),
    ...otherModels(run),
  ];
}

/** Whose answers were replayed, where that is not the model of the configuration. */
function otherModels({ config, known, isReplay }: PreparedRun): string[] {
  if (!isReplay) return [];
  const models = new Set([...known.records.values()].map(({ model }) => model));
  // Files of other tools do not say, and the provider replay need not name a model.
  models.delete('replay');
  models.delete('');
  const isOwn = (model: string): boolean => model === config.model || model.endsWith(`:${config.model}`);
  const others = [...models].filter((model) => !isOwn(model));
  if (others.length === 0 || (config.model === 'replay' && models.size === 1)) return [];
  return [`The replayed answers are of ${others.join(', ')}; the configuration names ${config.model}.`];
}
