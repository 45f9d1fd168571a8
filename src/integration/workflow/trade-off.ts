import { metricDefinition, metricKind } from '../../metrics/metric-definitions.ts';
import { judgedRows, metricOptions } from './baseline.ts';
import { measureOne, quality, unfairness } from './measure-predictions.ts';
import type { TrainedWorkflow } from './transform-and-train.ts';
import type { RowSplit } from './split-workflow.ts';
import type { FilledWorkflowOptions } from './workflow-options.ts';
import type { TradeOffPoint, WorkflowMetrics } from './workflow-result.ts';
import type { WorkflowRows } from './workflow-rows.ts';

/**
 * Accuracy against unfairness: the baseline, the final model, and each predictor
 * that a mixture draws from. Points without a defined metric are left out; a
 * regression has none.
 */
export async function tradeOffOf(
  rows: WorkflowRows,
  { test }: RowSplit,
  baseline: WorkflowMetrics,
  final: TrainedWorkflow,
  options: FilledWorkflowOptions,
): Promise<readonly TradeOffPoint[]> {
  const { metric } = rows;
  const judged = judgedRows(rows, test);
  const pointOf = (label: string, kind: TradeOffPoint['kind'], metrics: WorkflowMetrics): TradeOffPoint => ({
    label,
    kind,
    accuracy: metrics.accuracy ?? NaN,
    unfairness: unfairness(metric, metrics.metrics[metric]?.value ?? NaN),
  });
  // Decisions are no scores: beside gaps of scores they would be on another axis.
  const isOfScores = metricKind(metricDefinition(metric)) === 'scores';
  const drawnFrom = isOfScores ? [] : await final.trained.candidates(final.test);
  const plain = { ...metricOptions(options), withCi: false };
  const candidates = drawnFrom.map((decisions, index): TradeOffPoint => {
    const outputs = { decisions, scores: null };
    const gaps = Object.values(judged.attributes).map((groups) => {
      const { value } = measureOne(metric, judged.y, groups, outputs, plain);
      return unfairness(metric, value);
    });
    return {
      label: `predictor ${String(index + 1)}`,
      kind: 'candidate',
      accuracy: quality(judged, outputs).accuracy ?? NaN,
      unfairness: Math.max(...gaps),
    };
  });
  const points = [pointOf('baseline', 'baseline', baseline), ...candidates, pointOf('final', 'final', final.metrics)];
  return Object.freeze(points.filter((point) => Number.isFinite(point.accuracy) && Number.isFinite(point.unfairness)));
}
