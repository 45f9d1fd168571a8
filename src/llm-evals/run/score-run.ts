import { ConfigValidationError, DataValidationError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { type AnswerRecord, answerRecord, type Transcript } from '../client/transcript.ts';
import { createEvaluators, planPrompts } from '../evaluators/create-evaluators.ts';
import type { KeyedPrompt, PlannedPrompt } from '../plan/planned-prompt.ts';
import { readAnswers, readPrompts, rowsFor } from '../rows/read-prompt-rows.ts';
import { adjustForMany } from '../scoring/adjust-for-many.ts';
import type { LLMEvaluator, OwnMetric } from '../scoring/llm-evaluator.ts';
import { llmMetric, LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { type ScoreSettings, scoreSettings } from '../scoring/score-settings.ts';
import { embedderOf } from './get-embedder.ts';
import { customMetrics, metricsByDimension } from './prepare-run.ts';
import type { PreparedRun } from './prepared-run.ts';
import type { PlanOptions } from './run-options.ts';

/** Joins every planned prompt with the record of its answer. */
export function joinTranscripts(
  prompts: readonly KeyedPrompt[],
  records: ReadonlyMap<string, AnswerRecord>,
  model: string,
): Transcript[] {
  return prompts.map((prompt) => {
    const record = records.get(prompt.key) ?? notSent(prompt, model);
    return Object.freeze({ ...record, ...prompt });
  });
}

/**
 * Computes the metrics of all evaluators, by name. The p-values are adjusted for the total number of metrics.
 * @throws {DataValidationError} if two evaluators give a metric the same name
 */
export async function scoreRun(
  { evaluators }: Pick<PreparedRun, 'evaluators'>,
  transcripts: readonly Transcript[],
  settings: ScoreSettings,
): Promise<Record<string, LlmMetricResult>> {
  const results: LlmMetricResult[] = [];
  for (const evaluator of evaluators) {
    const own = transcripts.filter((transcript) => transcript.evaluator === evaluator.name);
    await evaluator.prepare?.(own);
    results.push(...resultsOf(evaluator.name, await evaluator.score(own, settings)));
  }
  const named = new Map<string, LlmMetricResult>();
  for (const result of adjustForMany(results, settings.controlDimension)) {
    if (named.has(result.key)) {
      throw new DataValidationError(`Two metrics have the name '${result.key}'.`, {
        code: 'duplicate-column',
        context: { metric: result.key },
        suggestion: 'Give the metrics of your evaluator unique names.',
      });
    }
    named.set(result.key, result);
  }
  return Object.fromEntries(named);
}

/**
 * Converts the metrics that an evaluator returned to `LlmMetricResult` objects. If a metric is a plain object, its
 * missing fields get their defaults.
 * @throws {ConfigValidationError} if an entry is not a metric with a value
 */
function resultsOf(evaluator: string, given: readonly OwnMetric[]): LlmMetricResult[] {
  const list: readonly unknown[] | undefined = Array.isArray(given) ? given : undefined;
  const bad = list?.findIndex((each) => !isMetric(each)) ?? 0;
  if (list !== undefined && bad < 0) {
    return given.map((each) => {
      if (each instanceof LlmMetricResult) return each;
      // A metric whose value is NaN needs a reason.
      const undefinedReason = Number.isNaN(each.value) ? 'the evaluator returned no number' : null;
      return llmMetric({ undefinedReason, ...each, evaluator });
    });
  }
  throw new ConfigValidationError(
    `The evaluator '${evaluator}' must return a list of metrics, each with a metric (its name) and a value (a number, NaN if undefined)${list === undefined ? '' : `; entry ${String(bad)} does not have a metric and a value`}.`,
    { context: { evaluator }, suggestion: 'Return [{ metric: "my_metric", value: 0.5 }], for example.' },
  );
}

function isMetric(each: unknown): boolean {
  const { metric, value } = (typeof each === 'object' && each !== null ? each : {}) as Record<string, unknown>;
  return typeof metric === 'string' && metric !== '' && typeof value === 'number';
}

function notSent(prompt: KeyedPrompt, model: string): AnswerRecord {
  const error = { kind: 'not_sent', message: 'The run ended before this prompt was sent.' } as const;
  return answerRecord(prompt, { model, error });
}

/**
 * Returns why collected answers have no metric of this name, although their evaluators compute it for groups: the notes
 * about the columns that cannot be compared.
 * @returns null if the answers are compared, or if the metric does not compare groups
 */
export async function whyUncompared(
  config: LLMEvalConfig,
  name: string,
  options: PlannedMetricsOptions = {},
): Promise<string | null> {
  const answers = await readAnswers(config);
  if (answers === null) return null;
  const evaluators = createEvaluators(config, options.evaluators, await customMetrics(config, options));
  const gap = evaluators
    .flatMap((evaluator) => metricsByDimension(evaluators, evaluator.name, config))
    .find((metric) => name === metric || name.startsWith(`${metric}.`));
  if (gap === undefined) return null;
  const isUncompared = answers.uncompared.includes(name.slice(gap.length + 1));
  return answers.dimensions.length === 0 || isUncompared ? answers.notes.join(' ') : null;
}

type PlannedMetricsOptions = Pick<PlanOptions, 'evaluators' | 'metrics' | 'allowCode'>;

const PLANNED_METRICS_OPTION_NAMES: OptionNames<PlannedMetricsOptions> = {
  evaluators: true,
  metrics: true,
  allowCode: true,
};

/**
 * Lists the metrics of a run by name, without values. Use this function to check the name of a metric before you pay
 * for answers.
 */
export async function plannedMetrics(
  config: LLMEvalConfig,
  options: PlannedMetricsOptions = {},
): Promise<Readonly<Record<string, LlmMetricResult>>> {
  assertKnownOptions('plannedMetrics', options, PLANNED_METRICS_OPTION_NAMES);
  const metrics = await customMetrics(config, options);
  const evaluators = createEvaluators(config, options.evaluators, metrics, embedderOf(config));
  const prompts = await allPrompts(evaluators, config);
  const keyed = prompts.map((prompt) => ({ ...prompt, key: '' }));
  return scoreRun({ evaluators }, joinTranscripts(keyed, new Map(), ''), scoreSettings());
}

/** Returns the prompts of templates and files. If answers are given, returns the prompts of the answers. */
async function allPrompts(evaluators: readonly LLMEvaluator[], config: LLMEvalConfig): Promise<PlannedPrompt[]> {
  const answers = await readAnswers(config);
  if (answers !== null) return evaluators.flatMap(({ name }) => rowsFor(answers, name).map(({ prompt }) => prompt));
  const names = evaluators.map(({ name }) => name);
  return [...planPrompts(evaluators, config), ...(await readPrompts(config, names)).prompts];
}
