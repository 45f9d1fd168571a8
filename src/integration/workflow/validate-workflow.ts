import type { MetricResult } from '../../metrics/index.ts';
import { judge } from '../assertions.ts';
import { unfairness, worst } from './measure-predictions.ts';
import type { ValidationResult, WorkflowMetrics } from './workflow-result.ts';

/**
 * Puts the final model before the gate: the worst value over attributes decides,
 * and an undefined one fails. The change is that of the distance from even, so
 * that it is negative whenever unfairness falls, for ratios too.
 */
export function validateWorkflow(
  metric: string,
  baseline: WorkflowMetrics,
  final: WorkflowMetrics,
  threshold: number | undefined,
): ValidationResult {
  const [attribute, result] = worst(metric, final.attributes);
  const before = (baseline.metrics[metric] as MetricResult).value;
  const verdict = judge(result, threshold);
  return Object.freeze({
    passed: verdict.passed,
    metric,
    attribute,
    baselineMetricValue: before,
    finalMetricValue: result.value,
    threshold: verdict.threshold,
    improvementPercent: changeInPercent(unfairness(metric, before), unfairness(metric, result.value)),
    message: `${verdict.message} Judged by '${attribute}'.`,
    verdict: Object.freeze(verdict),
  });
}

/** null where the first is 0, or either is undefined. */
function changeInPercent(before: number, after: number): number | null {
  const change = (100 * (after - before)) / Math.abs(before);
  return Number.isFinite(change) ? change : null;
}
