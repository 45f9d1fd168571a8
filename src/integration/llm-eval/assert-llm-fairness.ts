import { FairnessAssertionError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { LlmMetricVerdict } from '../../llm-evals/report/report-words.ts';
import type { LlmEvalResult } from '../../llm-evals/run/llm-eval-result.ts';
import { judgeLlmEval, type LlmMetrics } from './judge-llm-eval.ts';

/** Options of {@link assertLlmFairness}. */
export interface AssertLlmFairnessOptions {
  /** What is judged: `sentiment_gap.gender`, or `sentiment_gap` for each dimension; needed where `threshold` is a number. */
  readonly metric?: string | readonly string[] | undefined;
  /**
   * `<=`, `<`, `>=` or `>`.
   * @defaultValue `<=` by the size of the value; for an excess `<=` by the value, since below noise is no difference; `>=` for accuracies and ratios
   */
  readonly comparator?: string | undefined;
  /**
   * Whether an undefined metric passes.
   * @defaultValue false
   */
  readonly allowUndefined?: boolean | undefined;
  /**
   * Whether an evaluation that ended early, by its budget say, may pass on the answers that came.
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
 * Throws unless every judged metric of an evaluation meets its threshold; for tests and CI gates. The rules are those of
 * {@link judgeLlmEval}: the point estimate decides, and a value below the threshold is no proof of equal treatment.
 * @param evaluated what `runLlmEval` returned, or metrics by name
 * @param threshold a number for what `metric` names, or a number for each name
 * @throws {FairnessAssertionError} naming every metric that fails
 * @throws {ValueError} for a number without `metric`, a name that no metric has, or an unknown comparator
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
  const message = `FAIL: the evaluation ended early (${stopped}), so that not all of its prompts were answered.`;
  return new FairnessAssertionError([message, ...messagesOf(failed)].join('\n'), {
    context: { stopped, failed: failed.map(([name]) => name) },
    suggestion: 'Raise the limit and resume, or pass allowStopped: true to judge the answers that came.',
  });
}

function failedError(failed: Failed, threshold: number | Readonly<Record<string, number>>): FairnessAssertionError {
  return new FairnessAssertionError(messagesOf(failed).join('\n'), {
    context: { failed: failed.map(([name]) => name), threshold },
    suggestion: 'Read the answers side by side in the report; if the threshold is wrong, change it where it is agreed.',
    expected: threshold,
    operator: failed[0]?.[1].comparator ?? '<=',
  });
}

function messagesOf(failed: Failed): string[] {
  return failed.map(([, { message }]) => message);
}
