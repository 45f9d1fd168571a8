import type { PipelineConfig } from '../../schemas/pipeline/pipeline-config.ts';
import { describeModel } from '../../training/models/describe-model.ts';
import { type Baseline, judgedRows } from './baseline.ts';
import { onSameGroups } from './same-groups.ts';
import { describeSplit, type RowSplit } from './split-workflow.ts';
import { tradeOffOf } from './trade-off.ts';
import type { TrainedWorkflow } from './transform-and-train.ts';
import { validateWorkflow } from './validate-workflow.ts';
import type { FilledWorkflowOptions } from './workflow-options.ts';
import type { HeldOutPredictions, WorkflowFindings, WorkflowMetrics } from './workflow-result.ts';
import type { WorkflowRows } from './workflow-rows.ts';

/** What the first two steps leave to the third. */
interface FinishedSteps {
  readonly config: PipelineConfig;
  readonly rows: WorkflowRows;
  readonly split: RowSplit;
  readonly baseline: Baseline;
  readonly trained: TrainedWorkflow;
  readonly options: FilledWorkflowOptions;
}

/** Step 3: puts the final model before the gate, and gathers all that reports show. */
export async function gatherFindings(steps: FinishedSteps): Promise<WorkflowFindings> {
  const { config, rows, split, baseline, trained, options } = steps;
  const { metric, task, positiveLabel } = rows;
  const { randomState: seed, minGroupSize, classWeight, decisionThreshold } = options;
  const finalMetrics = onSameGroups(baseline.metrics, trained.metrics);
  const { y: yTest, attributes: groupsTest } = judgedRows(rows, split.test);
  const onFinal = { ...trained, metrics: finalMetrics };
  const warnings = [
    ...rows.warnings,
    ...baseline.warnings,
    ...trained.warnings,
    ...constantAnswerWarning(finalMetrics, yTest),
  ];
  return {
    config,
    seed,
    task,
    positiveLabel,
    minGroupSize,
    classWeight,
    decisionThreshold,
    features: Object.freeze({ baseline: baseline.specs.map(({ name }) => name), final: trained.features }),
    split: describeSplit(split, rows, options),
    baselineMetrics: baseline.metrics,
    finalMetrics,
    validation: validateWorkflow(metric, baseline.metrics, finalMetrics, config.validationThreshold, {
      strictMissing: config.strictMissing,
      missing: rows.missing,
    }),
    constraint: describeModel(trained.trained.model).constraint,
    transformersApplied: Object.freeze(trained.pipeline.steps.map(({ name }) => name)),
    predictions: predictionsOf(baseline, trained),
    yTest,
    groupsTest,
    tradeOff: task === 'binary' ? await tradeOffOf(rows, split, baseline.metrics, onFinal, options) : [],
    warnings: Object.freeze([...new Set(warnings)]),
  };
}

function predictionsOf({ outputs: baseline }: Baseline, { outputs: final }: TrainedWorkflow): HeldOutPredictions {
  return Object.freeze({
    baseline: baseline.decisions,
    final: final.decisions,
    baselineScores: baseline.scores,
    finalScores: final.scores,
  });
}

/** A model that decides worse than a constant has paid for its evenness with all that it knew. */
function constantAnswerWarning({ accuracy }: WorkflowMetrics, y: ArrayLike<number>): string[] {
  let positives = 0;
  for (let row = 0; row < y.length; row++) positives += y[row] as number;
  const share = Math.max(positives, y.length - positives) / y.length;
  if (accuracy === null || accuracy >= share) return [];
  const percent = (value: number): string => `${(100 * value).toFixed(1)}%`;
  return [
    `the final model is right in ${percent(accuracy)} of rows, and the same answer for all would be right in ${percent(share)}`,
  ];
}
