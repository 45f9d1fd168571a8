import { CacheMissError } from '../../exceptions/index.ts';
import type { JudgeConfig, LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { OUTCOME_NAMES } from '../../schemas/llm-eval/llm-eval-document.ts';
import { liveAccess } from '../client/access.ts';
import type { LLMClient } from '../client/llm-client.ts';
import { createProviderClient } from '../client/provider-client.ts';
import { isApiProvider } from '../client/provider-hosts.ts';
import type { OutcomeReading, Transcript } from '../client/transcript.ts';
import { tokenCounter } from '../dry-run/token-counter.ts';
import { priceOf } from '../dry-run/model-prices.ts';
import { ResponseCache } from '../cache/response-cache.ts';
import { OUTCOME_EVALUATOR } from '../evaluators/outcome-evaluator.ts';
import { type JudgeReport, type JudgeResult, planJudge, specFor } from '../outcome/judge.ts';
import { applyMetric } from '../outcome/metric-functions.ts';
import { isPartOfNumber, readOutcome } from '../outcome/read-outcome.ts';
import { maxTokenCount, modelId } from '../plan/planned-prompt.ts';
import type { RunSummary } from '../scheduler/run-options.ts';
import { runRequests } from '../scheduler/run-requests.ts';
import { isAnswered } from '../scoring/dimension-answers.ts';
import type { AnswerKeeper } from './answer-keeper.ts';
import type { PreparedRun } from './prepared-run.ts';
import type { RunLlmEvalOptions } from './run-options.ts';

/** Adds the declared outcomes and custom metrics to the answers that the outcome evaluator scores. */
export async function readOutcomes(
  { config, metrics }: Pick<PreparedRun, 'config' | 'metrics'>,
  transcripts: readonly Transcript[],
  judged: JudgeResult | null,
): Promise<Transcript[]> {
  const own = transcripts.filter(({ evaluator }) => evaluator === OUTCOME_EVALUATOR);
  const byMetric = new Map<string, ReadonlyMap<string, OutcomeReading>>();
  for (const [name, metric] of Object.entries(metrics.functions)) {
    byMetric.set(name, await applyMetric(name, metric, own));
  }
  const known = new Map<string, Readonly<Record<string, OutcomeReading>>>();
  const parts = new Map<string, OutcomeReading>();
  return transcripts.map((transcript) => {
    if (transcript.evaluator !== OUTCOME_EVALUATOR || !isAnswered(transcript)) return transcript;
    const { key, template, text } = transcript;
    const id = JSON.stringify([key, template]);
    const readings = known.get(id) ?? {
      ...declaredReadings(config, template, text, parts),
      ...Object.fromEntries([...byMetric].flatMap(([name, read]) => entryOf(name, read.get(key)))),
      ...judged?.readings.get(key),
    };
    known.set(id, readings);
    return Object.freeze({ ...transcript, readings });
  });
}

function entryOf<Value>(name: string, value: Value | undefined): (readonly [string, Value])[] {
  return value === undefined ? [] : [[name, value]];
}

/** @param parts the first reading, by outcome, of a part of a number. All such answers share its reason and its number */
function declaredReadings(
  { outcome }: LLMEvalConfig,
  template: string,
  text: string,
  parts: Map<string, OutcomeReading>,
): Record<string, OutcomeReading> {
  return Object.fromEntries(
    OUTCOME_NAMES.flatMap((name) => {
      const spec = specFor(outcome[name], template);
      if (spec === undefined) return [];
      // The grade of a judge replaces this reading.
      if (spec.judge !== undefined) return [[name, { kind: name, unread: 'not judged' }]];
      const reading = readOutcome(name, spec, text);
      if (!isPartOfNumber(reading)) return [[name, reading]];
      const first = parts.get(name) ?? reading;
      parts.set(name, first);
      return [[name, first]];
    }),
  );
}

/** The judge's readings, its report and its spending. */
export interface JudgedAnswers {
  readonly result: JudgeResult;
  readonly summary: RunSummary | null;
  /** The number of grades that were cached or recorded. */
  readonly cached: number;
}

/**
 * Throws if the judge of a run needs requests that are not allowed. Called before the first prompt is sent, so that no
 * answers are paid for that cannot be judged.
 * @throws {CacheMissError} if live calls to the judge are not allowed
 */
export function assertJudgeAllowed({ config, known, isReplay }: PreparedRun, options: RunLlmEvalOptions): void {
  const { judge } = config;
  if (judge === null || isReplay || known.missing.length === 0 || ownClient(judge, config, options) !== undefined)
    return;
  assertLive(judge, config, options);
}

function assertLive(judge: JudgeConfig, { replayOnly }: LLMEvalConfig, { live = false }: RunLlmEvalOptions): void {
  const { isAllowed, reason, suggestion } = liveAccess({ provider: judge.provider, replayOnly }, { live });
  if (isAllowed) return;
  throw new CacheMissError(`The answers cannot be judged by ${modelId(judge)}: ${reason}.`, {
    context: { parameter: 'judge', model: judge.model },
    suggestion,
  });
}

/** Returns the client that was passed for the judge, or the client of the run if the run's model is the judge. */
function ownClient(
  judge: JudgeConfig,
  { provider, model }: LLMEvalConfig,
  { client, judgeClient }: RunLlmEvalOptions,
): LLMClient | undefined {
  if (judgeClient !== undefined) return judgeClient;
  return judge.provider === provider && judge.model === model ? client : undefined;
}

/**
 * Asks the judge about the answers of a run. Grades in the cache, the transcript or a replayed file are not requested
 * again. The limits of the run apply to the answers and the grades together.
 * @throws {CacheMissError} if grades are missing and requests to the judge are not allowed
 */
export async function judgeAnswers(
  run: PreparedRun,
  transcripts: readonly Transcript[],
  keeper: AnswerKeeper,
  options: RunLlmEvalOptions,
  spent: RunSummary,
  seed: number,
): Promise<JudgedAnswers | null> {
  const { config, isReplay } = run;
  const { judge } = config;
  if (judge === null) return null;
  const own = transcripts.filter(({ evaluator }) => evaluator === OUTCOME_EVALUATOR);
  const plan = planJudge(config, judge, own);
  const client = ownClient(judge, config, options);
  const cache = client === undefined && isApiProvider(judge.provider) ? cacheOfJudge(run, config) : null;
  // The judge may have graded the same texts for another target.
  const grades = new Map(plan.requests.flatMap(({ key }) => entryOf(key, keeper.records.get(key))));
  const others = plan.requests.filter(({ key }) => !grades.has(key));
  const { records, missing } = await run.findKnown(others, cache, modelId(judge));
  for (const [key, record] of records) grades.set(key, record);
  await keeper.keepKnown(records.values());
  const cached = grades.size;
  if (missing.length === 0) return { result: plan.read(grades), summary: null, cached };
  if (isReplay) throw missingGrades(missing.length);
  if (client === undefined) assertLive(judge, config, options);
  const price = priceOf({ ...judge, prices: config.prices });
  const maxTokens = maxTokenCount(judge.params);
  const tokens = await tokenCounter({ ...judge, systemPrompt: null });
  const { concurrency, timeoutMillis } = config;
  const summary = await runRequests(missing, {
    ...{ ...options.retry, concurrency, timeoutMillis, price, seed },
    client: client ?? createProviderClient({ ...judge, timeoutMillis }),
    signal: options.signal,
    limits: remainingLimits(config, spent),
    estimateTokens: (request) => ({ input: tokens.inputTokens(request), outputCeiling: maxTokens }),
    onAnswer: async (record) => {
      grades.set(record.key, record);
      await keeper.keep(record, cache);
    },
  });
  return { result: plan.read(grades), summary, cached };
}

function cacheOfJudge({ cache }: PreparedRun, { cacheDir }: LLMEvalConfig): ResponseCache {
  return cache ?? new ResponseCache({ cacheDir });
}

function missingGrades(count: number): CacheMissError {
  return new CacheMissError(
    `${count === 1 ? 'One grade of the judge is' : `${String(count)} grades of the judge are`} missing, and no request was sent: the file of answers does not contain them.`,
    {
      context: { missing: count },
      suggestion: 'Replay the transcript of a run that was judged, or remove the rubrics from the configuration.',
    },
  );
}

/** Returns what the answers left of the limits of a run. */
function remainingLimits(config: LLMEvalConfig, spent: RunSummary): Record<string, number | null> {
  const left = (limit: number | null, used: number): number | null => limit && Math.max(0, limit - used);
  return {
    requests: left(config.maxRequestsPerRun, spent.sent),
    tokens: left(config.maxTokensPerRun, spent.inputTokens + spent.outputTokens),
    costUsd: left(config.maxCostUsd, spent.costUsd ?? 0),
    minutes: left(config.maxMinutes, spent.seconds / 60),
  };
}

/** Returns warnings about the judge: about its biases, unreadable grades, and grades by the evaluated model itself. */
export function judgeWarnings(report: JudgeReport, { judge, provider, model }: LLMEvalConfig): string[] {
  const { positionBias, verbosityBias, graded, ungraded } = report;
  const isBiased = (bias: JudgeReport['positionBias']): boolean =>
    bias?.ci !== null && bias?.ci !== undefined && (bias.ci[0] > 0 || bias.ci[1] < 0);
  const shown = (bias: JudgeReport['positionBias']): string => (bias?.value ?? 0).toFixed(2);
  return [
    ...(judge?.provider === provider && judge.model === model
      ? ['The judge is the evaluated model. Models tend to prefer their own answers, so use another model as judge.']
      : []),
    ...(ungraded === 0
      ? []
      : [`${String(ungraded)} of ${String(graded + ungraded)} replies of the judge are missing or cannot be read.`]),
    ...(isBiased(positionBias)
      ? [
          `The judge prefers an answer by its position (bias ${shown(positionBias)}). Comparisons are made in both orders, so this bias cancels out.`,
        ]
      : []),
    ...(isBiased(verbosityBias)
      ? [
          `The judge prefers ${(verbosityBias?.value ?? 0) > 0 ? 'longer' : 'shorter'} answers (bias ${shown(verbosityBias)}). If the lengths of answers differ between groups, its grades can differ for this reason alone.`,
        ]
      : []),
    ...(judge?.blind === false
      ? ['The judge was not blind: its grades can depend on names and on other words that show the group.']
      : []),
  ];
}
