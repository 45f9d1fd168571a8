import { CacheMissError, type ErrorCode } from '../../exceptions/index.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import { getLogger } from '../../internal/logger.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { liveAccess } from '../client/access.ts';
import type { Completion, LLMClient } from '../client/llm-client.ts';
import { createProviderClient } from '../client/provider-client.ts';
import type { AnswerRecord, Transcript } from '../client/transcript.ts';
import type { DryRunEstimate } from '../dry-run/dry-run-estimate.ts';
import { undefinedSentences } from '../dry-run/dry-run-markdown.ts';
import { requestTokens } from '../dry-run/estimate-tokens.ts';
import type { ActualSpending, PlannedSpending } from '../dry-run/spending-table.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import type { RunSummary } from '../scheduler/run-options.ts';
import { runRequests } from '../scheduler/run-requests.ts';
import { distinctAnswers } from '../scoring/dimension-answers.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { type ScoreSettings, scoreSettings } from '../scoring/score-settings.ts';
import { looksOtherThanEnglish } from '../text/words.ts';
import { LEXICON_WARNING } from '../toxicity/lexicon-toxicity.ts';
import { openTranscriptLog, type TranscriptLog } from '../transcript/transcript-log.ts';
import type { LlmEvalResult } from './llm-eval-result.ts';
import { type PreparedRun, prepareRun } from './prepare-run.ts';
import { RUN_LLM_EVAL_OPTION_NAMES, type RunLlmEvalOptions } from './run-options.ts';
import { joinTranscripts, scoreRun } from './score-run.ts';

/** Keeps answers as they come: first in the transcript, then in the cache, each whatever becomes of the other. */
export class AnswerKeeper {
  readonly #log: TranscriptLog | null;
  readonly #cache: ResponseCache | null;
  readonly #records: Map<string, AnswerRecord>;
  #hasToldUnkept = false;

  constructor(log: TranscriptLog | null, cache: ResponseCache | null, known: ReadonlyMap<string, AnswerRecord>) {
    this.#log = log;
    this.#cache = cache;
    this.#records = new Map(known);
  }

  /** By key. */
  get records(): ReadonlyMap<string, AnswerRecord> {
    return this.#records;
  }

  /** Writes what was known before into the transcript too, so that it is whole by itself. */
  async keepKnown({ known }: PreparedRun): Promise<void> {
    if (this.#log === null) return;
    const written = new Set(this.#log.records.map(({ key }) => key));
    for (const [key, record] of known.records) {
      if (!written.has(key)) await this.#log.append(record);
    }
  }

  /** @throws {DataValidationError} where the transcript cannot be written; the cache has the answer all the same */
  async keep(record: AnswerRecord): Promise<void> {
    try {
      await this.#log?.append(record);
    } finally {
      await this.#cacheAnswer(record);
    }
    this.#records.set(record.key, record);
  }

  /** Never rejects. */
  async #cacheAnswer(record: AnswerRecord): Promise<void> {
    if (record.text === null) return;
    try {
      await this.#cache?.set(record.key, completionOf(record, record.text));
    } catch (error) {
      // The answer is scored, and in the transcript where there is one: a full cache must not end a run that is paid for.
      if (!this.#hasToldUnkept) getLogger().warn(`Answers are not kept in the cache: ${String(error)}`);
      this.#hasToldUnkept = true;
    }
  }
}

function completionOf(record: AnswerRecord, text: string): Completion {
  const { inputTokens, outputTokens } = record;
  return {
    text,
    finishReason: record.finishReason ?? 'other',
    isRefusal: record.isRefusal ?? undefined,
    usage: inputTokens === null || outputTokens === null ? null : { inputTokens, outputTokens },
    cached: false,
    latencyMillis: record.latencyMillis,
  };
}

/** Characters of a prompt that are enough to know it by. */
const SHOWN_CHARACTERS = 80;

/**
 * Who answers what is not known; checked before anything is sent.
 * @throws {CacheMissError} where answers are missing and nobody may be asked
 * @throws {ConfigValidationError} for a client that cannot be made: no key, an address that a key must not go to
 */
function chooseClient({ config, known, isReplay }: PreparedRun, options: RunLlmEvalOptions): LLMClient {
  if (options.client !== undefined) return options.client;
  const { missing } = known;
  if (missing.length === 0) return NOBODY;
  if (isReplay)
    throw missed(missing, 'the file of answers does not hold them', 'Record them, or replay a whole transcript.');
  if (config.provider === 'local') return createProviderClient(config);
  if (config.replayOnly)
    throw missed(missing, 'replay_only is set', 'Run once without replay_only, with --live.', 'replay-only');
  const { isAllowed, reason, suggestion } = liveAccess(config, { live: options.live ?? false });
  if (!isAllowed) throw missed(missing, reason, suggestion);
  return createProviderClient(config);
}

/** For a run whose answers are all known. */
const NOBODY: LLMClient = {
  id: 'known answers',
  complete: () => Promise.reject(new CacheMissError('Every answer of this run was known.')),
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
  const answers = count === 1 ? 'An answer is' : `${count.toLocaleString('en-US')} answers are`;
  return new CacheMissError(`${answers} not known, and nothing was asked: ${reason}. The first is to "${shown}".`, {
    code,
    context: { missing: count, prompt: shown },
    ...(suggestion === null ? {} : { suggestion }),
  });
}

/** Metrics of built-in evaluators whose rules and word lists are English; toxicity only where it is by the lexicon. */
const ENGLISH_METRICS =
  /^(?:sentiment_gap|sentiment_distance|sentiment_excess|negative_sentiment_gap|decision_gap|refusal_gap|(?:partial_)?refusal_rate(?:_difference)?|stereotypical_association|cobs)$/;

/** Says how many answers do not look English, and which metrics presume that they are; nothing where all do. */
function languageWarning(
  transcripts: readonly Transcript[],
  metrics: Readonly<Record<string, LlmMetricResult>>,
): string[] {
  const texts = distinctAnswers(transcripts).flatMap(({ text }) => text ?? []);
  const others = texts.filter(looksOtherThanEnglish).length;
  const presuming = Object.values(metrics).filter(
    ({ metric, warnings }) => ENGLISH_METRICS.test(metric) || warnings.includes(LEXICON_WARNING),
  );
  if (others === 0 || presuming.length === 0) return [];
  const names = [...new Set(presuming.map(({ metric }) => metric))].join(', ');
  const [all, some] = [texts.length, others].map((count) => count.toLocaleString('en-US'));
  return [
    `${String(some)} of ${String(all)} ${texts.length === 1 ? 'answer' : 'answers'} ${others === 1 ? 'does' : 'do'} not look English. These metrics presume English, and what they say of such answers is not valid: ${names}.`,
  ];
}

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
      : [`${String(before)} of ${all} prompts failed in an earlier run; retryErrors asks them again.`]),
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

/** What the estimate expected a run to take. */
function plannedSpending(estimate: DryRunEstimate): PlannedSpending {
  return Object.freeze({
    requests: estimate.requestCount,
    inputTokens: estimate.estimatedInputTokens,
    outputTokens: estimate.estimatedOutputTokens.expected,
    costUsd: estimate.estimatedCostUsd?.expected ?? null,
  });
}

/**
 * What it took.
 * @param known what was known before: answers, and prompts that had failed
 */
function actualSpending(summary: RunSummary, known: ReadonlyMap<string, AnswerRecord>): ActualSpending {
  const cached = [...known.values()].filter(({ error }) => error === null).length;
  const failed = summary.failed + known.size - cached;
  const { sent, retries, answered, notSent, inputTokens, outputTokens, uncounted, costUsd, seconds } = summary;
  return Object.freeze({
    requests: sent,
    retries,
    answered,
    cached,
    failed,
    notSent,
    inputTokens,
    outputTokens,
    uncounted,
    costUsd,
    seconds,
  });
}
