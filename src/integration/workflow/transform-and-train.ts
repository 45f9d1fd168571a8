import { nameSome } from '../../internal/format.ts';
import { assemblePipeline } from '../../pipeline/run-pipeline.ts';
import { DEFAULT_MIN_GROUP_SIZE } from '../../schemas/min-group-size.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { type CategoricalColumn, takeRows } from '../../table/index.ts';
import { countGroups } from '../../training/data/row-splits.ts';
import type { KindStatistics } from '../measure-attributes.ts';
import type { WorkflowMetrics, WorkflowResult } from '../workflow-result.ts';
import { type Baseline, encodeRows, judgedRows, metricOptions, remainingFeatures, takeValues } from './baseline.ts';
import { measurePredictions, type ModelOutputs } from './measure-predictions.ts';
import type { RowSplit } from './split-workflow.ts';
import { type EncodedRows, type TrainedModel, TRAINING_METHODS } from './training-methods.ts';
import type { FilledWorkflowOptions } from './workflow-options.ts';
import type { WorkflowRows } from './workflow-rows.ts';

/** The relative tolerance within which two weights are equal. */
const SAME_WEIGHT = 1e-9;

/** The result of the second step. */
export interface TrainedWorkflow extends Pick<
  WorkflowResult,
  'pipeline' | 'pipelineMetadata' | 'transformedData' | 'sampleWeight'
> {
  readonly trained: TrainedModel;
  /** The training features. */
  readonly features: readonly string[];
  /** The held-out rows, encoded for the model. */
  readonly test: EncodedRows;
  readonly outputs: ModelOutputs;
  readonly metrics: WorkflowMetrics;
  /** What the metrics were computed from. */
  readonly statistics: readonly KindStatistics[];
  readonly warnings: readonly string[];
}

/**
 * Runs step 2. The pipeline is fitted on the training rows only. A model is trained on the transformed rows with the
 * encoding of the first step, and measured on the held-out rows.
 */
export async function transformAndTrain(
  config: PipelineConfig,
  rows: WorkflowRows,
  { train, test }: RowSplit,
  { specs }: Pick<Baseline, 'specs'>,
  options: FilledWorkflowOptions,
): Promise<TrainedWorkflow> {
  const { signal, onProgress, decisionThreshold } = options;
  const { task, training } = rows;
  const pipeline = assemblePipeline({ ...config, features: rows.features });
  const fitted = await pipeline.fitTransform(rows.table.take(train), { signal, onProgress });
  const groups = takeRows(rows.groups, train);
  const kept = remainingFeatures(specs, fitted.data);
  const trained = await TRAINING_METHODS[training.method](
    {
      ...encodeRows(fitted.data, kept),
      specs: kept,
      y: takeValues(rows.y, train),
      groups,
      sampleWeight: fitted.sampleWeight ?? undefined,
    },
    { ...options, params: training.params, task },
  );
  signal?.throwIfAborted();
  const all = await pipeline.transform(rows.table);
  const held = encodeRows(all.data.take(test), kept);
  const outputs = await trained.predict(held, decisionThreshold);
  return {
    pipeline,
    pipelineMetadata: fitted.metadata,
    trained,
    features: kept.map(({ name }) => name),
    test: held,
    outputs,
    ...measurePredictions(rows.metric, judgedRows(rows, test), outputs, metricOptions(options)),
    transformedData: all.data,
    sampleWeight: all.sampleWeight,
    warnings: [
      ...pipeline.warnings,
      ...weightWarning(fitted.sampleWeight, groups),
      ...classWarning(rows, options),
      ...smallGroupWarning(rows, groups),
      ...trained.warnings,
    ],
  };
}

/**
 * Returns a warning if weights differ within a group. Such weights change the rates of the group, and therefore the
 * constraint.
 */
function weightWarning(weights: Float64Array | null, { codes }: CategoricalColumn): string[] {
  if (weights === null) return [];
  const ofGroup = new Map<number, number>();
  for (const [row, weight] of weights.entries()) {
    const code = codes[row] as number;
    const first = ofGroup.get(code) ?? weight;
    ofGroup.set(code, first);
    if (Math.abs(weight - first) <= SAME_WEIGHT * first) continue;
    return [
      'the weights of the pipeline also affect the constraint: it holds for the weighted rows, and the gap on unweighted rows may be larger',
    ];
  }
  return [];
}

/** Returns a warning if class weights are used by the baseline but not by the network training. */
function classWarning({ training, task }: WorkflowRows, { classWeight }: FilledWorkflowOptions): string[] {
  if (training.method === 'reductions' || task === 'regression' || classWeight === null) return [];
  return [
    `class weights are used by the baseline but not by ${training.method} training, so accuracy and rates differ for this reason too; for a direct comparison turn class weights off (classWeight null, --class-weight none)`,
  ];
}

/** The number of training rows below which a group gets a warning, because its rates are mostly chance. */
const FEW_ROWS = DEFAULT_MIN_GROUP_SIZE;

/** Returns a warning about small groups. Reductions constrain every group; network trainers have their own warnings. */
function smallGroupWarning({ training }: WorkflowRows, groups: CategoricalColumn): string[] {
  if (training.method !== 'reductions') return [];
  const small = Object.entries(countGroups({ groups })).flatMap(([label, rows]) => (rows < FEW_ROWS ? [label] : []));
  if (small.length === 0) return [];
  return [
    `the constraint also includes groups with fewer than ${String(FEW_ROWS)} training rows, whose rates are mostly chance, and this costs accuracy: ${nameSome(small)}`,
  ];
}
