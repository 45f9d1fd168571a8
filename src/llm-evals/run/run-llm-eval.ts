import { CacheMissError, ConfigValidationError, type ErrorCode } from '../../exceptions/index.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { liveAccess } from '../client/access.ts';
import type { LLMClient } from '../client/llm-client.ts';
import { createProviderClient } from '../client/provider-client.ts';
import type { Transcript } from '../client/transcript.ts';
import type { DryRunEstimate } from '../dry-run/dry-run-estimate.ts';
import { undefinedSentences } from '../dry-run/dry-run-document.ts';
import type { ActualSpending, PlannedSpending } from '../dry-run/spending-table.ts';
import { OUTCOME_EVALUATOR } from '../evaluators/outcome-evaluator.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import type { RunSummary } from '../scheduler/run-options.ts';
import { runRequests } from '../scheduler/run-requests.ts';
import { distinctAnswers } from '../scoring/dimension-answers.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { unevenWarnings } from '../scoring/missing-answers.ts';
import { type ScoreSettings, scoreSettings } from '../scoring/score-settings.ts';
import { looksOtherThanEnglish } from '../text/words.ts';
import { LEXICON_WARNING } from '../toxicity/lexicon-toxicity.ts';
import { openTranscriptLog } from '../transcript/transcript-log.ts';
import { AnswerKeeper } from './answer-keeper.ts';
import type { LlmEvalResult } from './llm-eval-result.ts';
import { assertEmbeddingAllowed } from './get-embedder.ts';
import { prepareRun } from './prepare-run.ts';
import type { PreparedRun } from './prepared-run.ts';
import { assertJudgeAllowed, judgeAnswers, type JudgedAnswers, judgeWarnings, readOutcomes } from './read-outcomes.ts';
import { RUN_LLM_EVAL_OPTION_NAMES, type RunLlmEvalOptions } from './run-options.ts';
import { joinTranscripts, scoreRun } from './score-run.ts';
import { answerWarnings, readingWarnings, unreadAnswers } from './unread-answers.ts';

/** The maximum number of characters of a prompt that an error message quotes. */
const SHOWN_CHARACTERS = 80;

/**
 * Chooses the client for answers that are not cached or recorded. The client is chosen before any request is sent.
 * @throws {CacheMissError} if answers are missing and sending is not allowed
 * @throws {ConfigValidationError} if the client cannot be created, for example because the key must not be sent to the
 * address
 */
export function chooseClient(
  { config, known, isReplay }: PreparedRun,
  options: Pick<RunLlmEvalOptions, 'client' | 'live' | 'allowCode'>,
): LLMClient {
  if (options.client !== undefined) return options.client;
  const { missing } = known;
  if (missing.length === 0) return NOBODY;
  if (isReplay)
    throw missed(
      missing,
      'the file of answers does not contain them',
      'Record these answers, or replay a complete transcript.',
    );
  if (config.provider === 'local') return createProviderClient(config);
  if (config.replayOnly)
    throw missed(missing, 'replay_only is set', 'Run once without replay_only, with --live.', 'replay-only');
  const { live = false, allowCode = false } = options;
  const { isAllowed, reason, suggestion } = liveAccess(config, { live, allowCode });
  if (!isAllowed) throw missed(missing, reason, suggestion);
  return createProviderClient(config, { allowCode });
}

/** The client for a run whose answers are all available already. */
const NOBODY: LLMClient = {
  id: 'known answers',
  complete: () =>
    Promise.reject(
      new CacheMissError('Internal error: a request was made although all answers of this run were already stored.'),
    ),
};

function missed(
  missing: readonly LLMRequest[],
  reason: string,
  suggestion: string | null,
  code: ErrorCode = 'live-calls-not-allowed',
): CacheMissError {
  const count = missing.length;
  const first = missing[0]?.prompt ?? '';
  const shown = first.length > SHOWN_CHARACTERS ? `${first.slice(0, SHOWN_CHARACTERS)}…` : first;
  const answers = count === 1 ? 'One answer is' : `${count.toLocaleString('en-US')} answers are`;
  return new CacheMissError(
    `${answers} missing, and no request was sent: ${reason}. The first missing answer is to the prompt "${shown}".`,
    {
      code,
      context: { missing: count, prompt: shown },
      ...(suggestion === null ? {} : { suggestion }),
    },
  );
}

/**
 * Matches the names of built-in metrics that are computed with English rules or word lists. Toxicity metrics are added
 * to these if the lexicon scored the answers.
 */
const ENGLISH_METRICS =
  /^(?:sentiment_gap|sentiment_distance|sentiment_excess|negative_sentiment_gap|decision_gap|refusal_gap|(?:partial_)?refusal_rate(?:_difference)?|stereotypical_association|cobs)$/;

/**
 * Returns a warning if answers do not seem to be in English. The warning lists the metrics that are valid only for
 * English. Returns an empty list if all answers seem to be in English.
 */
function languageWarning(
  transcripts: readonly Transcript[],
  metrics: Readonly<Record<string, LlmMetricResult>>,
): string[] {
  const texts = distinctAnswers(transcripts).flatMap(({ text }) => text ?? []);
  const others = texts.filter(looksOtherThanEnglish).length;
  const presuming = Object.values(metrics).filter(
    // A declared outcome, such as a decision in JSON, does not depend on the language.
    ({ metric, evaluator, warnings }) =>
      (evaluator !== OUTCOME_EVALUATOR && ENGLISH_METRICS.test(metric)) || warnings.includes(LEXICON_WARNING),
  );
  if (others === 0 || presuming.length === 0) return [];
  const names = [...new Set(presuming.map(({ metric }) => metric))].join(', ');
  const [all, some] = [texts.length, others].map((count) => count.toLocaleString('en-US'));
  return [
    `${String(some)} of ${String(all)} ${texts.length === 1 ? 'answer' : 'answers'} ${others === 1 ? 'does' : 'do'} not look English. These metrics assume English and are not valid for such answers: ${names}.`,
  ];
}

/**
 * Sends the prompts of a configuration's evaluators to a language model, and scores the answers.
 *
 * Prompts are planned and checked. Each distinct request is sent once, and answers in the cache, the transcript or a
 * replayed file are not requested again. Every answer is written to the transcript and the cache before the next
 * request is sent. If the process is killed, at most the answers of pending requests are lost. If the budget is
 * exhausted, the run ends normally: received answers are scored, and missing answers are counted (`stopped`,
 * `exclusions`). Requests to a provider require both its key in the environment and permission (`live`, or
 * EVENHAND_LLM_ALLOW_LIVE=1). A program (`command`) runs only with `allowCode`.
 *
 * The metrics describe only the given prompts and the model at the time of the run. P-values are adjusted for the
 * number of metrics (Benjamini and Hochberg). If no true effect exists, at most about one run in twenty reports an
 * effect.
 * @throws {CacheMissError} if answers are missing and sending is not allowed
 * @throws {ConfigValidationError} if prompts are unbalanced, if a key is missing, or if there is a cost budget but no
 * price
 * @throws {LLMClientError} if the provider rejects every request; answers received earlier are stored
 * @throws {DataValidationError} if a transcript would be overwritten or cannot be written
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
  assertNoTargets('runLlmEval', config);
  const settings = settingsOf(config, options);
  const { transcriptsOut, resume = false } = options;
  const log = transcriptsOut === undefined ? null : await openTranscriptLog(transcriptsOut, { resume });
  try {
    const run = await prepareRun(config, options, log?.records ?? []);
    const client = chooseClient(run, options);
    assertJudgeAllowed(run, options);
    if (run.known.missing.length > 0) assertEmbeddingAllowed(config, options);
    const keeper = new AnswerKeeper(log, run.cache, run.known.records);
    await keeper.keepKnown(run.known.records.values());
    if (run.known.missing.length > 0) warnOfUndefined(run);
    const summary = await sendRequests(run, client, keeper, options, settings.seed);
    const answers = joinTranscripts(run.plan.prompts, keeper.records, client.id);
    const judged = await judgeAnswers(run, answers, keeper, options, summary, settings.seed);
    const transcripts = await readOutcomes(run, answers, judged?.result ?? null);
    return await conclude(run, summary, transcripts, { judged, settings });
  } finally {
    await log?.close();
  }
}

/**
 * Warns about metrics that will be undefined. The warning is logged before the first request, so that you can still
 * change the prompts.
 */
export function warnOfUndefined({ estimate }: PreparedRun): void {
  for (const sentence of undefinedSentences(estimate.undefinedMetrics)) {
    getLogger().warn(`Always undefined: ${sentence}`);
  }
}

/** Fills in the settings of scoring. */
export function settingsOf(config: LLMEvalConfig, options: RunLlmEvalOptions): ScoreSettings {
  const { minGroupSize, withCi, ciLevel, ciSamples, seed } = options;
  return scoreSettings({
    ...{ minGroupSize, withCi, ciLevel, ciSamples, seed },
    allowSmallSamples: options.allowSmallSamples ?? config.allowSmallSamples,
    controlDimension: config.counterfactual?.controlDimension,
  });
}

/** @throws {ConfigValidationError} if the configuration compares several models or prompts */
export function assertNoTargets(caller: string, { targets }: LLMEvalConfig): void {
  if (targets === null) return;
  throw new ConfigValidationError(
    `${caller} evaluates one model, but the configuration has ${String(targets.length)} targets.`,
    {
      context: { parameter: 'targets' },
      suggestion: 'Call runLlmTargets, or estimateTargets for a dry run.',
    },
  );
}

async function sendRequests(
  { config, known, price, maxTokens, tokens }: PreparedRun,
  client: LLMClient,
  keeper: AnswerKeeper,
  { retry, signal, onProgress }: RunLlmEvalOptions,
  seed: number,
): Promise<RunSummary> {
  const { concurrency, timeoutMillis, maxRequestsPerRun, maxTokensPerRun, maxCostUsd, maxMinutes } = config;
  return runRequests(known.missing, {
    ...{ ...retry, client, concurrency, timeoutMillis, price, signal, onProgress, seed },
    limits: { requests: maxRequestsPerRun, tokens: maxTokensPerRun, costUsd: maxCostUsd, minutes: maxMinutes },
    estimateTokens: (request) => ({ input: tokens.inputTokens(request), outputCeiling: maxTokens }),
    onAnswer: (record) => keeper.keep(record),
  });
}

/** Scores the answers of a run and builds its result. */
export async function conclude(
  run: PreparedRun,
  summary: RunSummary,
  transcripts: readonly Transcript[],
  { judged, settings }: { readonly judged: JudgedAnswers | null; readonly settings: ScoreSettings },
): Promise<LlmEvalResult> {
  const metrics = await scoreRun(run, transcripts, settings);
  return Object.freeze({
    metrics: Object.freeze(metrics),
    dryRun: run.estimate,
    transcripts: Object.freeze(transcripts),
    planned: plannedSpending(run.estimate),
    actual: actualSpending(summary, run),
    stopped: summary.stopped ?? judged?.summary?.stopped ?? null,
    judge: judged && Object.freeze({ ...judged.result.report, actual: judgeSpending(judged) }),
    unread: unreadAnswers(transcripts),
    config: run.config,
    seed: settings.seed,
    client: run.client,
    collected: run.collected,
    warnings: Object.freeze([
      ...runWarnings(run, summary),
      ...(judged === null ? [] : judgeWarnings(judged.result.report, run.config)),
      ...answerWarnings(transcripts),
      ...readingWarnings(transcripts),
      ...languageWarning(transcripts, metrics),
      ...unevenWarnings(Object.values(metrics)),
    ]),
  });
}

/** Returns the spending of the judge. Grades that were cached or recorded cost nothing. */
function judgeSpending({ summary, cached }: JudgedAnswers): ActualSpending {
  if (summary !== null) return { ...spendingOf(summary), cached };
  const nothing = { requests: 0, retries: 0, answered: 0, failed: 0, notSent: 0 };
  return { ...nothing, cached, inputTokens: 0, outputTokens: 0, uncounted: 0, costUsd: 0, seconds: 0 };
}

/** What can change although its name stays the same. */
const NAMES_BEHIND: Readonly<Record<string, string>> = { command: 'your program', http: 'your endpoint' };

function runWarnings(run: PreparedRun, { failed, notSent, stopped, lastFailure }: RunSummary): readonly string[] {
  const { config, plan, known, notes } = run;
  if (run.collected !== null) return notes;
  const all = plan.requests.length.toLocaleString('en-US');
  const before = [...known.records.values()].filter(({ error }) => error !== null).length;
  const reused = run.isReplay ? 0 : [...known.records.values()].filter(({ cached }) => cached).length;
  return [
    // The key of a cached answer names the model, but cannot see what was changed behind the name.
    ...(reused > 0 && config.provider !== 'local'
      ? [
          `${reused.toLocaleString('en-US')} of ${all} answers are from the cache in '${config.cacheDir}', so that no request was sent for them. If ${NAMES_BEHIND[config.provider] ?? `what answers as '${config.model}'`} has changed since they were written, delete this folder and run again.`,
        ]
      : []),
    ...(config.provider === 'local' && !run.isReplay && run.client === null
      ? ['The provider local is a stub: its answers say nothing about a model.']
      : []),
    ...(stopped === null
      ? []
      : [`The run ended early (${stopped}): ${String(notSent)} of ${all} prompts were not sent.`]),
    ...(failed === 0 ? [] : [`${String(failed)} of ${all} prompts have no answer because every attempt failed.`]),
    ...(lastFailure === null || (failed === 0 && stopped === null) ? [] : [`The last error: ${lastFailure}`]),
    ...(before === 0
      ? []
      : [`${String(before)} of ${all} prompts failed in an earlier run; retryErrors sends them again.`]),
    ...otherModels(run),
    ...notes,
  ];
}

/** Warns if the replayed answers are not from the model that the configuration names. */
function otherModels({ config, known, isReplay }: PreparedRun): string[] {
  if (!isReplay) return [];
  const models = new Set([...known.records.values()].map(({ model }) => model));
  // Files of other tools do not contain the model, and the provider replay does not require a model.
  models.delete('replay');
  models.delete('');
  const isOwn = (model: string): boolean => model === config.model || model.endsWith(`:${config.model}`);
  const others = [...models].filter((model) => !isOwn(model));
  if (others.length === 0 || (config.model === 'replay' && models.size === 1)) return [];
  return [`The replayed answers are from ${others.join(', ')}; the configuration names ${config.model}.`];
}

/** Returns the part of the spending report that is known from the estimate. */
export function plannedSpending(
  estimate: Pick<
    DryRunEstimate,
    'requestCount' | 'estimatedInputTokens' | 'estimatedOutputTokens' | 'estimatedCostUsd'
  >,
): PlannedSpending {
  return Object.freeze({
    requests: estimate.requestCount,
    inputTokens: estimate.estimatedInputTokens,
    outputTokens: estimate.estimatedOutputTokens.expected,
    costUsd: estimate.estimatedCostUsd?.expected ?? null,
  });
}

/**
 * Returns the actual spending. The known answers are cached, recorded or collected. A known failure is one of an earlier
 * run; a row without a collected answer was never sent.
 */
export function actualSpending(
  summary: RunSummary,
  { known, collected }: Pick<PreparedRun, 'known' | 'collected'>,
): ActualSpending {
  const cached = [...known.records.values()].filter(({ error }) => error === null).length;
  const failed = summary.failed + (collected === null ? known.records.size - cached : 0);
  return Object.freeze({ ...spendingOf(summary), cached, failed });
}

function spendingOf(summary: RunSummary): Omit<ActualSpending, 'cached'> {
  const { sent, retries, answered, failed, notSent } = summary;
  const { inputTokens, outputTokens, uncounted, costUsd, seconds } = summary;
  return {
    ...{ requests: sent, retries, answered, failed, notSent },
    ...{ inputTokens, outputTokens, uncounted, costUsd, seconds },
  };
}
