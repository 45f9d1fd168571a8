import { FairnessAssertionError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { LlmMetricVerdict } from '../../llm-evals/report/report-words.ts';
import type { LlmEvalResult } from '../../llm-evals/run/llm-eval-result.ts';
import { judgeLlmEval, type LlmMetrics } from './judge-llm-eval.ts';

/** Options of {@link assertLlmFairness}. */
export interface AssertLlmFairnessOptions {
  /**
   * The metrics to judge: `sentiment_gap.gender`, or `sentiment_gap` for every dimension. Required if `threshold` is a
   * number.
   */
  readonly metric?: string | readonly string[] | undefined;
  /**
   * `<=`, `<`, `>=` or `>`.
   * @defaultValue `<=` on the absolute value; for an excess `<=` on the value, since an excess below noise is not a
   *   difference; `>=` for accuracies and ratios
   */
  readonly comparator?: string | undefined;
  /**
   * Whether an undefined metric passes.
   * @defaultValue false
   */
  readonly allowUndefined?: boolean | undefined;
  /**
   * Whether an evaluation that ended early, for example because of its budget, may pass on the answers received.
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
 * Throws if a judged metric of an evaluation does not meet its threshold; for tests and CI gates. The rules are those
 * of {@link judgeLlmEval}: the gate judges the point estimate, and passing is not proof of equal treatment.
 * @param evaluated the result of `runLlmEval`, or metrics by name
 * @param threshold a number for the metrics that `metric` names, or a number for each name
 * @throws {FairnessAssertionError} if a metric fails; the error names every failed metric
 * @throws {ValueError} if a number comes without `metric`, a metric does not exist, or the comparator is unknown
 */
export function assertLlmFairness(
  evaluated: Pick<LlmEvalResult, 'metrics' | 'stopped'> | LlmMetrics,
  threshold: number | Readonly<Record<string, number>>,
  options: AssertLlmFairnessOptions = {},
): void {
  assertKnownOptions('assertLlmFairness', options, ASSERT_LLM_FAIRNESS_OPTION_NAMES);
  const { metric, comparator, allowUndefined = false, allowStopped = false } = options;
  const isRun = isEvaluation(evaluated);
  const verdict = judgeLlmEval(isRun ? evaluated.metrics : evaluated, { threshold, metric, comparator });
  const failed = Object.entries(verdict.metrics).filter(
    ([, { passed, status }]) => !passed && !(status === 'undefined' && allowUndefined),
  );
  if (isRun && evaluated.stopped !== null && !allowStopped) throw stoppedError(evaluated.stopped, failed);
  if (failed.length > 0) throw failedError(failed, threshold);
}

function isEvaluation(evaluated: object): evaluated is Pick<LlmEvalResult, 'metrics' | 'stopped'> {
  return 'metrics' in evaluated && 'stopped' in evaluated;
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
    suggestion: 'Compare the answers in the report. If the threshold is wrong, agree on a new one and change it there.',
    expected: threshold,
    operator: failed[0]?.[1].comparator ?? '<=',
  });
}

function messagesOf(failed: Failed): string[] {
  return failed.map(([, { message }]) => message);
}
