import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { LLMClient } from '../client/llm-client.ts';
import type { AnswerRecord, Transcript } from '../client/transcript.ts';
import { BASELINE } from '../config/check-targets.ts';
import { createEvaluators } from '../evaluators/create-evaluators.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import { BudgetAccount } from '../scheduler/budget.ts';
import type { RunSummary } from '../scheduler/run-options.ts';
import { runRequests } from '../scheduler/run-requests.ts';
import type { ScoreSettings } from '../scoring/score-settings.ts';
import { unevenWarnings } from '../scoring/missing-answers.ts';
import { targetDifferences } from '../scoring/target-differences.ts';
import { openTranscriptLog, type TranscriptLog } from '../transcript/transcript-log.ts';
import { totalSpending } from './estimate-targets.ts';
import { AnswerKeeper } from './answer-keeper.ts';
import { assertEmbeddingAllowed } from './get-embedder.ts';
import type { LlmEvalResult } from './llm-eval-result.ts';
import type { LlmTargetsResult } from './llm-targets-result.ts';
import { customMetrics } from './prepare-run.ts';
import type { PreparedRun } from './prepared-run.ts';
import {
  namedConfigs,
  type PreparedTarget,
  type PreparedTargets,
  prepareTargets,
  TARGETS_PLAN_OPTION_NAMES,
  type TargetsPlanOptions,
} from './prepare-targets.ts';
import {
  actualSpending,
  chooseClient,
  conclude,
  plannedSpending,
  settingsOf,
  warnOfUndefined,
} from './run-llm-eval.ts';
import { assertJudgeAllowed, judgeAnswers, readOutcomes } from './read-outcomes.ts';
import { RUN_LLM_EVAL_OPTION_NAMES, type RunLlmEvalOptions } from './run-options.ts';
import { joinTranscripts, plannedMetrics } from './score-run.ts';

/** Options of {@link runLlmTargets}. */
export interface RunLlmTargetsOptions
  extends TargetsPlanOptions, Omit<RunLlmEvalOptions, keyof TargetsPlanOptions | 'client'> {}

const { client: _, ...RUN_OPTION_NAMES } = RUN_LLM_EVAL_OPTION_NAMES;

const RUN_LLM_TARGETS_OPTION_NAMES: OptionNames<RunLlmTargetsOptions> = {
  ...RUN_OPTION_NAMES,
  ...TARGETS_PLAN_OPTION_NAMES,
};

/**
 * Evaluates several models or prompts in one run, and computes how they differ. The configuration has `targets`, or the
 * option `baselinePath` names the answers of an earlier run.
 *
 * The prompts of the targets are sent in turn, with one cache and one transcript. The limits of the configuration hold
 * for all targets together. A request that several targets need is sent once.
 *
 * A difference is the value of the first target minus the value of the second, on the items that both have answered.
 * Answers to the same item are similar, so the comparison by item is more precise than the comparison of two values.
 * The interval is a paired interval over independent units. If there are more than two targets, the intervals hold
 * simultaneously. The p-values are adjusted for the number of all differences.
 *
 * - For each metric: `refusal_rate[new-old]`, `decision_gap.gender[new-old]`.
 * - For each gap also the difference of its size: `decision_gap_size.gender[new-old]`. If it is above 0, the gap of the
 *   first target is larger.
 * - For all prompts that vary a dimension: `mean_sentiment[new-old]`, `mean_words[new-old]`, `yes_rate[new-old]`.
 * @throws {ConfigValidationError} if there is nothing to compare, or in the cases of `runLlmEval`
 * @throws {DataValidationError} if the baseline has no answer to any prompt
 * @throws the other errors of `runLlmEval`
 * @example
 * ```ts
 * import { LLMEvalAdapter, parseLlmEvalConfig, runLlmTargets } from 'evenhand/llm-evals';
 *
 * const config = parseLlmEvalConfig({
 *   evaluators: ['counterfactual'],
 *   counterfactual: {
 *     template: ['cook', 'pilot', 'nurse', 'judge', 'clerk', 'baker'].map((job) => `Praise a {gender}, a ${job}.`),
 *     dimensions: { gender: ['woman', 'man'] },
 *   },
 *   targets: [{ name: 'new', system_prompt: 'Be fair.' }, { name: 'old', system_prompt: 'Be brief.' }],
 * });
 * const fair = new LLMEvalAdapter(() => 'A good one.', { id: 'fair' });
 * const biased = new LLMEvalAdapter((prompt) => (/woman/.test(prompt) ? 'Kind.' : 'A strong leader.'), { id: 'biased' });
 * const { differences } = await runLlmTargets(config, { clients: { new: fair, old: biased } });
 * console.log(differences['length_gap.gender[new-old]']?.value, differences['length_gap_size.gender[new-old]']?.value);
 * // 2 -2
 * ```
 */
export async function runLlmTargets(
  config: LLMEvalConfig,
  options: RunLlmTargetsOptions = {},
): Promise<LlmTargetsResult> {
  assertKnownOptions('runLlmTargets', options, RUN_LLM_TARGETS_OPTION_NAMES);
  const settings = settingsOf(config, options);
  const { transcriptsOut, resume = false } = options;
  const log = transcriptsOut === undefined ? null : await openTranscriptLog(transcriptsOut, { resume });
  try {
    const prepared = await prepareTargets(config, planOptionsOf(options), log?.records ?? []);
    const asked = await askTargets(prepared, config, options, log, settings.seed);
    return await concludeTargets(prepared, asked, { config, options, log, settings });
  } finally {
    await log?.close();
  }
}

function planOptionsOf(options: RunLlmTargetsOptions): TargetsPlanOptions {
  const entries = Object.entries(options).filter(([name]) => Object.hasOwn(TARGETS_PLAN_OPTION_NAMES, name));
  return Object.fromEntries(entries);
}

/** The answers of the targets, and what they cost. */
interface AskedTargets {
  readonly summary: RunSummary;
  readonly clients: ReadonlyMap<string, LLMClient>;
  readonly accounts: ReadonlyMap<string, BudgetAccount>;
  /** For each request that was sent, the name of its target. */
  readonly owners: ReadonlyMap<string, string>;
  /** The answers and failures of all targets, by key. */
  readonly records: ReadonlyMap<string, AnswerRecord>;
}

async function askTargets(
  { targets }: PreparedTargets,
  config: LLMEvalConfig,
  options: RunLlmTargetsOptions,
  log: TranscriptLog | null,
  seed: number,
): Promise<AskedTargets> {
  const { clients: given = {}, live, allowCode, retry, signal, onProgress, maxCostUsd = config.maxCostUsd } = options;
  const clients = new Map(
    targets.map(({ name, run }) => {
      const client = Object.hasOwn(given, name) ? given[name] : undefined;
      return [name, chooseClient(run, { client, live, allowCode })];
    }),
  );
  for (const { run } of targets) {
    assertJudgeAllowed(run, options);
    if (run.known.missing.length > 0) assertEmbeddingAllowed(run.config, options);
  }
  const keepers = new Map(targets.map(({ name, run }) => [name, new AnswerKeeper(log, run.cache, run.known.records)]));
  const accounts = new Map(targets.map(({ name, run }) => [name, new BudgetAccount(run.price)]));
  const written = new Set<string>();
  for (const { name, run } of targets) {
    const fresh = new Map([...run.known.records].filter(([key]) => !written.has(key)));
    await keepers.get(name)?.keepKnown(fresh.values());
    for (const key of fresh.keys()) written.add(key);
  }
  const [first] = targets.filter(({ run }) => run.known.missing.length > 0);
  if (first !== undefined) warnOfUndefined(first.run);
  const { requests, owners } = inTurn(targets);
  const runs = new Map(targets.map(({ name, run }) => [name, run]));
  const ownerOf = ({ key }: Pick<LLMRequest, 'key'>): string => owners.get(key) ?? '';
  const { concurrency, timeoutMillis, maxRequestsPerRun, maxTokensPerRun, maxMinutes } = config;
  const summary = await runRequests(requests, {
    ...{ ...retry, concurrency, timeoutMillis, signal, onProgress, seed },
    client: [...clients.values()][0] as LLMClient,
    clientOf: (request) => clients.get(ownerOf(request)) as LLMClient,
    price: targets.find(({ run }) => run.price !== null)?.run.price ?? null,
    limits: { requests: maxRequestsPerRun, tokens: maxTokensPerRun, costUsd: maxCostUsd, minutes: maxMinutes },
    estimateTokens: (request) => ({
      input: runs.get(ownerOf(request))?.tokens.inputTokens(request) ?? 0,
      outputCeiling: runs.get(ownerOf(request))?.maxTokens ?? 0,
      account: accounts.get(ownerOf(request)),
    }),
    onAnswer: (record) => keepers.get(ownerOf(record))?.keep(record),
  });
  const records = new Map([...keepers.values()].flatMap((keeper) => [...keeper.records]));
  return { summary, clients, accounts, owners, records };
}

/**
 * Returns the missing requests of all targets, one of each target in turn. If a limit stops the run, the targets then
 * have answers to the same prompts.
 */
function inTurn(targets: readonly PreparedTarget[]): {
  readonly requests: readonly LLMRequest[];
  readonly owners: ReadonlyMap<string, string>;
} {
  const owners = new Map<string, string>();
  const requests: LLMRequest[] = [];
  const longest = Math.max(...targets.map(({ run }) => run.known.missing.length));
  for (let index = 0; index < longest; index++) {
    for (const { name, run } of targets) {
      const request = run.known.missing[index];
      if (request === undefined || owners.has(request.key)) continue;
      owners.set(request.key, name);
      requests.push(request);
    }
  }
  return { requests, owners };
}

async function concludeTargets(
  { targets, baseline }: PreparedTargets,
  asked: AskedTargets,
  { config, options, log, settings }: Concluding,
): Promise<LlmTargetsResult> {
  const results: [string, LlmEvalResult][] = [];
  const reader = new TargetReader(asked, options, log, settings);
  for (const target of targets) results.push([target.name, await concludeTarget(target, asked, reader)]);
  if (baseline !== null) results.push([BASELINE, await concludeBaseline(baseline, reader)]);
  const metrics = results.map(([name, result]) => ({ name, metrics: result.metrics }));
  const known = new Map(targets.flatMap(({ run }) => [...run.known.records]));
  return Object.freeze({
    targets: Object.freeze(Object.fromEntries(results)),
    differences: Object.freeze(targetDifferences(metrics, settings)),
    planned: plannedSpending(totalSpending(targets.map(({ run }) => run.estimate))),
    actual: actualSpending(asked.summary, { known: { records: known, missing: [] }, collected: null }),
    stopped: asked.summary.stopped,
    config,
    seed: settings.seed,
    warnings: Object.freeze(comparisonWarnings(results)),
  });
}

interface Concluding {
  readonly config: LLMEvalConfig;
  readonly options: RunLlmTargetsOptions;
  readonly log: TranscriptLog | null;
  readonly settings: ScoreSettings;
}

/**
 * Reads the outcomes of targets, and asks the judge about their answers. The limits of the run hold for the answers and
 * the grades of all targets together.
 */
class TargetReader {
  readonly #options: RunLlmTargetsOptions;
  readonly #grades: AnswerKeeper;
  readonly #settings: ScoreSettings;
  #spent: RunSummary;

  constructor(
    { summary }: AskedTargets,
    options: RunLlmTargetsOptions,
    log: TranscriptLog | null,
    settings: ScoreSettings,
  ) {
    this.#spent = summary;
    this.#options = options;
    // One keeper for all targets, so that equal texts are graded once.
    this.#grades = new AnswerKeeper(log, null, new Map());
    this.#settings = settings;
  }

  async conclude(run: PreparedRun, summary: RunSummary, answers: readonly Transcript[]): Promise<LlmEvalResult> {
    const settings = this.#settings;
    const judged = await judgeAnswers(run, answers, this.#grades, this.#options, this.#spent, settings.seed);
    const grading = judged?.summary;
    if (grading !== null && grading !== undefined) this.#spent = addSpending(this.#spent, grading);
    const transcripts = await readOutcomes(run, answers, judged?.result ?? null);
    return conclude(run, summary, transcripts, { judged, settings });
  }
}

function addSpending(first: RunSummary, second: RunSummary): RunSummary {
  const sum = (field: 'sent' | 'inputTokens' | 'outputTokens' | 'seconds'): number => first[field] + second[field];
  const costUsd =
    first.costUsd === null && second.costUsd === null ? null : (first.costUsd ?? 0) + (second.costUsd ?? 0);
  return {
    ...first,
    ...{ sent: sum('sent'), inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens'), costUsd },
    seconds: sum('seconds'),
  };
}

function concludeTarget(
  { name, run }: PreparedTarget,
  asked: AskedTargets,
  reader: TargetReader,
): Promise<LlmEvalResult> {
  const { summary, owners, records, accounts, clients } = asked;
  const { missing } = run.known;
  // The record of a conversation that the end of the run interrupted is neither an answer nor a failure.
  const ended = missing.filter(({ key }) => records.has(key) && records.get(key)?.error?.kind !== 'not_sent');
  const own = ended.flatMap(({ key }) => (owners.get(key) === name ? (records.get(key) ?? []) : []));
  const notSent = missing.length - ended.length;
  const failed = own.filter(({ error }) => error !== null).length;
  const spent = {
    ...summary,
    ...(accounts.get(name) ?? new BudgetAccount(run.price)).spent,
    retries: missing.reduce(
      (sum, request) => sum + (owners.get(request.key) === name ? retriesOf(request, records.get(request.key)) : 0),
      0,
    ),
    ...{ answered: own.length - failed, failed, notSent },
    stopped: notSent > 0 ? summary.stopped : null,
  };
  return reader.conclude(run, spent, joinTranscripts(run.plan.prompts, records, clients.get(name)?.id ?? name));
}

/** Returns the number of attempts after the first attempt of each turn that this run has sent. */
function retriesOf({ turns: earlier = [] }: LLMRequest, record: AnswerRecord | undefined): number {
  const { attempts = 0, turns = [], error = null } = record ?? {};
  const sent = turns.length - earlier.length + (error?.kind === 'not_sent' ? 0 : 1);
  return Math.max(0, attempts - sent);
}

const NOTHING_SENT: RunSummary = {
  ...{ sent: 0, inputTokens: 0, outputTokens: 0, uncounted: 0, costUsd: 0, retries: 0, answered: 0, failed: 0 },
  ...{ notSent: 0, seconds: 0, stopped: null, maxConcurrent: 0, rateLimited: 0, lastFailure: null },
};

/** Scores the answers of the earlier run. */
async function concludeBaseline(run: PreparedRun, reader: TargetReader): Promise<LlmEvalResult> {
  const { records, missing } = run.known;
  const models = [...new Set([...records.values()].map(({ model }) => model))].join(', ');
  const earlier: PreparedRun = { ...run, config: { ...run.config, provider: 'replay', model: models }, client: null };
  const transcripts = joinTranscripts(run.plan.prompts, records, models);
  const result = await reader.conclude(earlier, { ...NOTHING_SENT, notSent: missing.length }, transcripts);
  const count = missing.length;
  const all = run.plan.requests.length;
  const warnings = count === 0 ? [] : [`The baseline has no answer to ${String(count)} of ${String(all)} prompts.`];
  return Object.freeze({ ...result, planned: Object.freeze({ ...result.planned, requests: 0 }), warnings });
}

/** Warns if two targets have the same answers to all prompts. */
function comparisonWarnings(results: readonly (readonly [string, LlmEvalResult])[]): string[] {
  const answers = results.map(([, { transcripts }]) => JSON.stringify(transcripts.map(({ text }) => text)));
  return results.flatMap(([name, { metrics }], index) => {
    const uneven = unevenWarnings(Object.values(metrics)).map((warning) => `${name}: ${warning}`);
    const first = answers.indexOf(answers[index] ?? '');
    if (first === index) return uneven;
    return [
      ...uneven,
      `The answers of ${results[first]?.[0] ?? ''} and ${name} are identical. Are they from the same run?`,
    ];
  });
}

/**
 * Lists the metrics and differences of a run with several targets by name, without values. Use this function to check
 * the name of a metric before you pay for answers.
 * @example
 * ```ts
 * import { parseLlmEvalConfig, plannedTargetMetrics } from 'evenhand/llm-evals';
 *
 * const config = parseLlmEvalConfig({
 *   prompt_templates: { raise: 'How do I ask for a raise?' },
 *   targets: [{ name: 'a', params: { temperature: 0 } }, { name: 'b', params: { temperature: 1 } }],
 * });
 * const { targets, differences } = await plannedTargetMetrics(config);
 * console.log(Object.keys(targets), Object.keys(differences)[0]);
 * // [ 'a', 'b' ] refusal_rate[a-b]
 * ```
 */
export async function plannedTargetMetrics(
  config: LLMEvalConfig,
  options: Pick<TargetsPlanOptions, 'evaluators' | 'metrics' | 'allowCode' | 'baselinePath'> = {},
): Promise<PlannedTargetMetrics> {
  assertKnownOptions('plannedTargetMetrics', options, {
    evaluators: true,
    metrics: true,
    allowCode: true,
    baselinePath: true,
  });
  const { baselinePath, ...own } = options;
  createEvaluators(config, own.evaluators, await customMetrics(config, own));
  const configs = Object.entries(namedConfigs(config, baselinePath !== undefined));
  const [first] = configs;
  const all = [
    ...configs,
    ...(baselinePath === undefined || first === undefined ? [] : [[BASELINE, first[1]] as const]),
  ];
  const targets: [string, Pick<LlmEvalResult, 'metrics'>][] = [];
  for (const [name, each] of all) targets.push([name, { metrics: await plannedMetrics(each, own) }]);
  const metrics = targets.map(([name, result]) => ({ name, metrics: result.metrics }));
  return { targets: Object.fromEntries(targets), differences: targetDifferences(metrics, settingsOf(config, {})) };
}

/** The metrics and differences of a run with several targets. */
export interface PlannedTargetMetrics extends Pick<LlmTargetsResult, 'differences'> {
  readonly targets: Readonly<Record<string, Pick<LlmEvalResult, 'metrics'>>>;
}
