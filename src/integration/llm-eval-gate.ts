import { FairnessAssertionError, ValueError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames, suggestNames } from '../internal/arguments.ts';
import { listOf } from '../internal/values.ts';
import { type LlmEvalVerdict, type LlmMetricVerdict, NO_VERDICT } from '../llm-evals/report/report-words.ts';
import { BASELINE } from '../llm-evals/config/check-targets.ts';
import type { LlmEvalResult } from '../llm-evals/run/llm-eval-result.ts';
import { type LlmTargetsResult, targetMetrics } from '../llm-evals/run/llm-targets-result.ts';
import type { LlmMetricResult } from '../llm-evals/scoring/llm-metric-result.ts';
import { MISSING_ANSWERS } from '../llm-evals/scoring/missing-answers.ts';
import { LlmTargetDifference } from '../llm-evals/scoring/llm-target-difference.ts';
import type { plannedMetrics } from '../llm-evals/run/score-run.ts';
import { type MetricGate, parseMetricGate } from '../schemas/gates.ts';
import type { LLMEvalConfig } from '../schemas/llm-eval/llm-eval-document.ts';
import { judge } from './assertions.ts';

/** The metrics of an evaluation by name. */
export type LlmMetrics = Readonly<Record<string, LlmMetricResult>>;

/** Options of {@link judgeLlmEval}. */
export interface JudgeLlmEvalOptions {
  /**
   * A threshold for all metrics that `metric` names, or an object with a threshold for each metric name.
   * @defaultValue none: there is no verdict
   */
  readonly threshold?: number | Readonly<Record<string, number>> | undefined;
  /**
   * The metrics to judge. A name is a metric of one dimension (`sentiment_gap.gender`) or of every dimension
   * (`sentiment_gap`). Several names form a list. Required if `threshold` is a number. With several targets, these
   * names stand for every target; `sentiment_gap[new]` is the metric of one target, and `sentiment_gap[new-old]` the
   * difference between two. A name with a condition, such as `sentiment_gap<=0.1`, has its own threshold and
   * comparator.
   */
  readonly metric?: string | readonly string[] | undefined;
  /**
   * `<=`, `<`, `>=` or `>`.
   * @defaultValue `>=` for accuracies and ratios, `<=` for all other metrics. An excess is compared with its sign,
   * because a negative excess is not a difference; other values are compared without their sign
   */
  readonly comparator?: string | undefined;
}

/** A metric of an evaluation with its threshold. */
type LlmGate = MetricGate & { readonly threshold: number };

const JUDGE_LLM_EVAL_OPTION_NAMES: OptionNames<JudgeLlmEvalOptions> = {
  threshold: true,
  metric: true,
  comparator: true,
};

/**
 * Applies the gate to an evaluation of a language model, by the rules of {@link judge}. The gate judges the point
 * estimate. An undefined metric fails, and the message gives the reason. If the interval contains the threshold, the
 * message says so. All judged metrics must pass. Without a threshold there is no verdict.
 *
 * A metric name without a dimension applies to every dimension, including the control. If only the control fails, the
 * noise is larger than the threshold. The data are then insufficient for a verdict at this threshold.
 * @throws {ValueError} if only one of threshold and metric is given, a metric does not exist, the comparator is
 *   unknown, or the threshold is not a number
 */
export function judgeLlmEval(metrics: LlmMetrics, options: JudgeLlmEvalOptions = {}): LlmEvalVerdict {
  assertKnownOptions('judgeLlmEval', options, JUDGE_LLM_EVAL_OPTION_NAMES);
  const { threshold, comparator } = options;
  const gates = gatesOf(options);
  if (gates === undefined) return NO_VERDICT;
  const verdicts = gates.flatMap((gate) =>
    namesOf(metrics, gate.metric).map((key): [string, LlmMetricVerdict] => [
      key,
      verdictOn(metrics[key] as LlmMetricResult, key, gate.threshold, gate.comparator ?? comparator),
    ]),
  );
  assertJudgedOnce(verdicts);
  return Object.freeze({
    passed: verdicts.every(([, { passed }]) => passed),
    threshold:
      typeof threshold === 'number' && gates.every((gate) => gate.threshold === threshold)
        ? threshold
        : Object.freeze(Object.fromEntries(gates.map((gate) => [gate.metric, gate.threshold]))),
    metrics: Object.freeze(Object.fromEntries(verdicts)),
  });
}

/**
 * Checks the gate of a run of one model before its prompts are sent.
 * @throws {ValueError} as {@link judgeLlmEval}. If a metric is unknown because no answers can be compared, the error
 *   states the reason
 */
export async function assertPlannedGate(
  config: LLMEvalConfig,
  gate: JudgeLlmEvalOptions,
  options: Parameters<typeof plannedMetrics>[1] = {},
): Promise<void> {
  // Loaded here, because gates on results that exist need no evaluators.
  const { plannedMetrics: plan, whyUncompared } = await import('../llm-evals/run/score-run.ts');
  const planned = await plan(config, options);
  try {
    judgeLlmEval(planned, gate);
  } catch (error) {
    const name = error instanceof ValueError && 'known' in error.context ? error.context['value'] : undefined;
    const reason = typeof name === 'string' ? await whyUncompared(config, name, options) : null;
    if (reason === null) throw error;
    throw new ValueError(`The metric parameter is '${String(name)}', but no answers can be compared. ${reason}`, {
      context: { parameter: 'metric', value: name },
      suggestion: 'Give the rows that ask the same question about different groups the same item.',
    });
  }
}

/** Returns the gates that the options describe, in their order; undefined if there are none. */
function gatesOf({ threshold, metric, comparator }: JudgeLlmEvalOptions): readonly LlmGate[] | undefined {
  const named = metric === undefined ? [] : listOf(metric).map(parseMetricGate);
  const own = named.filter((gate) => gate.threshold !== undefined);
  if (threshold === undefined) {
    if (named.length > 0 && own.length === named.length && comparator === undefined) return own as LlmGate[];
    assertNothingJudged({ metric, comparator });
    return undefined;
  }
  if (typeof threshold === 'number') {
    if (named.length > 0) return named.map((gate) => ({ ...gate, threshold: gate.threshold ?? threshold }));
    throw new ValueError(
      'The metric parameter is required with a threshold, because metrics have different scales. Got none.',
      {
        context: { parameter: 'metric' },
        suggestion: "Name the metric of the threshold, for example 'sentiment_gap' or 'sentiment_gap.gender'.",
      },
    );
  }
  const limits = Object.entries(threshold);
  if (limits.length > 0 && metric === undefined) return limits.map(([name, limit]) => ({ metric: name, threshold: limit })); // prettier-ignore
  throw new ValueError(
    limits.length === 0
      ? 'The threshold parameter must name at least one metric. Got none.'
      : 'The metric parameter must be omitted if threshold names the metrics. Got both.',
    { context: { parameter: limits.length === 0 ? 'threshold' : 'metric' } },
  );
}

function assertNothingJudged({ metric, comparator }: JudgeLlmEvalOptions): void {
  const given = comparator !== undefined ? 'comparator' : metric !== undefined ? 'metric' : undefined;
  if (given === undefined) return;
  throw new ValueError(`The ${given} parameter must come with a threshold. Got none.`, {
    context: { parameter: given },
    suggestion:
      given === 'metric'
        ? "Pass a threshold, or write it after the name, as in 'sentiment_gap<=0.1'. Without a threshold there is no verdict."
        : 'Pass a threshold, or omit comparator: without a threshold there is no verdict.',
  });
}

/** A second threshold for a metric would replace the verdict of the first. */
function assertJudgedOnce(verdicts: readonly (readonly [key: string, verdict: LlmMetricVerdict])[]): void {
  const first = new Map<string, LlmMetricVerdict>();
  for (const [key, verdict] of verdicts) {
    const known = first.get(key) ?? verdict;
    first.set(key, known);
    if (known.threshold === verdict.threshold && known.comparator === verdict.comparator) continue;
    throw new ValueError(
      `The metric parameter has two thresholds for '${key}': ${known.comparator} ${String(known.threshold)} and ${verdict.comparator} ${String(verdict.threshold)}.`,
      {
        context: { parameter: 'metric', value: key },
        suggestion: 'Name each metric once. A name without a dimension stands for every dimension.',
      },
    );
  }
}

/**
 * Returns the names that stand for a key. The name of a metric without a target stands for the metric of each target,
 * except the target of earlier answers, which are not judged.
 */
function familiesOf(key: string, metric: LlmMetricResult): string[] {
  const target = /\[[^\]]*\]$/.exec(key)?.[0] ?? '';
  const explicit = [key, `${metric.metric}${target}`];
  if (metric instanceof LlmTargetDifference || target === `[${BASELINE}]`) return explicit;
  return [...explicit, metric.metric, key.slice(0, key.length - target.length)];
}

/** Returns the key with this name, or all keys that consist of this name and a dimension or target. */
function namesOf(metrics: LlmMetrics, name: string): string[] {
  if (Object.hasOwn(metrics, name)) return [name];
  const named = Object.entries(metrics).flatMap(([key, metric]) =>
    familiesOf(key, metric).includes(name) ? [key] : [],
  );
  if (named.length > 0) return named;
  const known = [...new Set(Object.entries(metrics).flatMap(([key, metric]) => familiesOf(key, metric)))];
  throw new ValueError(`The metric parameter must name a metric of this evaluation. Got '${name}' instead.`, {
    context: { parameter: 'metric', value: name, known },
    suggestion: known.length === 0 ? 'This evaluation has no metrics.' : suggestNames(name, known, 'metrics'),
  });
}

function verdictOn(
  result: LlmMetricResult,
  key: string,
  threshold: number,
  comparator: string | undefined,
): LlmMetricVerdict {
  const { metric, value, ci, undefinedReason, missing, range, excluded } = result;
  const isDifference = result instanceof LlmTargetDifference;
  const verdict = judge(
    {
      metric,
      key,
      value,
      ci,
      undefinedReason,
      isDifference,
      range,
      missing,
      missingName: MISSING_ANSWERS,
      excluded,
      entryName: 'answer',
    },
    threshold,
    comparator,
  );
  return Object.freeze({
    passed: verdict.passed === true,
    status: verdict.status ?? 'undefined',
    threshold,
    comparator: verdict.comparator ?? '<=',
    message: verdict.message,
    straddles: verdict.straddles,
  });
}

/** Options of {@link assertLlmFairness}. */
export interface AssertLlmFairnessOptions extends Pick<JudgeLlmEvalOptions, 'metric' | 'comparator'> {
  /**
   * Whether an undefined metric passes.
   * @defaultValue false
   */
  readonly allowUndefined?: boolean | undefined;
  /**
   * Whether an evaluation that ended early may pass, based on the answers received. An evaluation ends early, for
   * example, if its budget is used up.
   * @defaultValue false
   */
  readonly allowStopped?: boolean | undefined;
}

const ASSERT_LLM_FAIRNESS_OPTION_NAMES: OptionNames<AssertLlmFairnessOptions> = {
  metric: true,
  comparator: true,
  allowUndefined: true,
  allowStopped: true,
};

/**
 * Throws if a judged metric of an evaluation does not meet its threshold; for tests and CI gates. The rules are the
 * same as in {@link judgeLlmEval}. The gate judges the point estimate, and passing is not proof of equal treatment.
 * @param evaluated the result of `runLlmEval` or `runLlmTargets`, or metrics by name
 * @param threshold a number for all metrics that `metric` names, or an object with a number for each metric name
 * @throws {FairnessAssertionError} if a metric fails; the error names every failed metric
 * @throws {ValueError} if a number is given without `metric`, a metric does not exist, or the comparator is unknown
 */
export function assertLlmFairness(
  evaluated: Pick<LlmEvalResult, 'metrics' | 'stopped'> | LlmTargetsResult | LlmMetrics,
  threshold: number | Readonly<Record<string, number>>,
  options: AssertLlmFairnessOptions = {},
): void {
  assertKnownOptions('assertLlmFairness', options, ASSERT_LLM_FAIRNESS_OPTION_NAMES);
  const { metric, comparator, allowUndefined = false, allowStopped = false } = options;
  const isRun = isEvaluation(evaluated);
  const verdict = judgeLlmEval(isRun ? metricsOf(evaluated) : evaluated, { threshold, metric, comparator });
  const failed = Object.entries(verdict.metrics).filter(
    ([, { passed, status }]) => !passed && !(status === 'undefined' && allowUndefined),
  );
  if (isRun && evaluated.stopped !== null && !allowStopped) throw stoppedError(evaluated.stopped, failed);
  if (failed.length > 0) throw failedError(failed, threshold);
}

type Evaluated = Pick<LlmEvalResult, 'metrics' | 'stopped'> | LlmTargetsResult;

function isEvaluation(evaluated: object): evaluated is Evaluated {
  return 'stopped' in evaluated && ('metrics' in evaluated || 'targets' in evaluated);
}

function metricsOf(evaluated: Evaluated): LlmMetrics {
  return 'metrics' in evaluated ? evaluated.metrics : targetMetrics(evaluated);
}

type Failed = readonly (readonly [name: string, verdict: LlmMetricVerdict])[];

function stoppedError(stopped: string, failed: Failed): FairnessAssertionError {
  const message = `FAIL: the evaluation ended early (${stopped}), so not all prompts were answered.`;
  return new FairnessAssertionError([message, ...messagesOf(failed)].join('\n'), {
    context: { stopped, failed: failed.map(([name]) => name) },
    suggestion: 'Raise the limit and resume, or pass allowStopped: true to judge the answers received.',
  });
}

function failedError(failed: Failed, threshold: number | Readonly<Record<string, number>>): FairnessAssertionError {
  return new FairnessAssertionError(messagesOf(failed).join('\n'), {
    context: { failed: failed.map(([name]) => name), threshold },
    suggestion:
      'Compare the answers in the report. If the threshold is wrong, agree on a new threshold and set it in this call.',
    expected: threshold,
    operator: failed[0]?.[1].comparator ?? '<=',
  });
}

function messagesOf(failed: Failed): string[] {
  return failed.map(([, { message }]) => message);
}
