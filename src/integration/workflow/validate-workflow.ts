import type { MissingRows } from '../../metrics/index.ts';
import { judge, type JudgeOptions } from '../assertions.ts';
import { groupsLost } from './same-groups.ts';
import { unfairness, worst } from './measure-predictions.ts';
import type { ValidationResult, WorkflowMetrics } from './workflow-result.ts';

/** How the gate treats rows that were left out. */
export interface WorkflowGateOptions extends JudgeOptions {
  /** Rows of each attribute's groups that were left out before the rows were split. */
  readonly missing?: Readonly<Record<string, MissingRows>> | undefined;
}

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
  { strictMissing, missing = {} }: WorkflowGateOptions = {},
): ValidationResult {
  const [attribute, result] = worst(metric, final.attributes);
  const [, beforeResult] = worst(metric, baseline.attributes);
  const before = beforeResult.value;
  const areSame = Object.entries(final.attributes).every(([name, metrics]) => {
    const [first, second] = [baseline.attributes[name]?.[metric], metrics[metric]];
    return first === undefined || second === undefined || groupsLost(second, first).length === 0;
  });
  const { value, ci, undefinedReason, compat } = result;
  const judged = { metric: result.metric, value, ci, undefinedReason, compat, missing: missing[attribute] ?? null };
  const verdict = judge(judged, threshold, undefined, { strictMissing });
  return Object.freeze({
    passed: verdict.passed,
    metric,
    attribute,
    baselineMetricValue: before,
    finalMetricValue: result.value,
    threshold: verdict.threshold,
    // A gap that is now of more groups than before has not changed by so much: it is another one.
    improvementPercent: areSame ? changeInPercent(unfairness(metric, before), unfairness(metric, result.value)) : null,
    message: `${verdict.message} Judged by '${attribute}'.`,
    verdict: Object.freeze(verdict),
  });
}

/** null where the first is 0, or either is undefined. */
function changeInPercent(before: number, after: number): number | null {
  const change = (100 * (after - before)) / Math.abs(before);
  return Number.isFinite(change) ? change : null;
}
