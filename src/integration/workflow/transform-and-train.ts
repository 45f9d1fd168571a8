import type { FairnessPipeline, PipelineMetadata } from '../../pipeline/index.ts';
import { assemblePipeline } from '../../pipeline/run-pipeline.ts';
import { nameSome } from '../../pipeline/transformers/read-columns.ts';
import type { PipelineConfig } from '../../schemas/pipeline/pipeline-document.ts';
import { type CategoricalColumn, type Table, takeRows } from '../../table/index.ts';
import { countGroups } from '../../training/data/row-splits.ts';
import type { WorkflowMetrics } from '../workflow-result.ts';
import { type Baseline, encodeRows, judgedRows, metricOptions, remainingFeatures, takeValues } from './baseline.ts';
import { measurePredictions, type ModelOutputs } from './measure-predictions.ts';
import { TRAINING_METHODS } from './methods/index.ts';
import type { EncodedRows, TrainedModel } from './methods/training-method.ts';
import type { RowSplit } from './split-workflow.ts';
import type { FilledWorkflowOptions } from './workflow-options.ts';
import type { WorkflowRows } from './workflow-rows.ts';

/** What two weights may differ by in rounding, as a share. */
const SAME_WEIGHT = 1e-9;

/** What the second step leaves to the third. */
export interface TrainedWorkflow {
  readonly pipeline: FairnessPipeline;
  /** What each step did to the training rows. */
  readonly metadata: PipelineMetadata;
  readonly trained: TrainedModel;
  /** The features that were trained on. */
  readonly features: readonly string[];
  /** The held-out rows as the model takes them. */
  readonly test: EncodedRows;
  readonly outputs: ModelOutputs;
  readonly metrics: WorkflowMetrics;
  /** All rows, transformed by what was learned from the training rows. */
  readonly transformed: Table;
  /** Weights of all rows; null where the pipeline gives none. */
  readonly weights: Float64Array | null;
  readonly warnings: readonly string[];
}

/**
 * Step 2: fits the pipeline on the training rows alone, trains on what it makes
 * of them in the encoding of the first step, and measures on the held-out rows.
 */
export async function transformAndTrain(
  config: PipelineConfig,
  rows: WorkflowRows,
  { train, test }: RowSplit,
  { specs }: Pick<Baseline, 'specs'>,
  options: FilledWorkflowOptions,
): Promise<TrainedWorkflow> {
  const { signal, onProgress, classWeight, randomState, backend, decisionThreshold } = options;
  const pipeline = assemblePipeline({ ...config, features: rows.features });
  const fitted = await pipeline.fitTransform(rows.table.take(train), { signal, onProgress });
  const groups = takeRows(rows.groups, train);
  const kept = remainingFeatures(specs, fitted.data);
  const settings = {
    params: rows.training.params,
    task: rows.task,
    classWeight,
    decisionThreshold,
    seed: randomState,
    backend,
    onProgress,
    signal,
  };
  const trained = await TRAINING_METHODS[rows.training.method].train(
    {
      ...encodeRows(fitted.data, kept),
      specs: kept,
      y: takeValues(rows.y, train),
      groups,
      sampleWeight: fitted.sampleWeight ?? undefined,
    },
    settings,
  );
  signal?.throwIfAborted();
  const all = await pipeline.transform(rows.table);
  const held = encodeRows(all.data.take(test), kept);
  const outputs = await trained.predict(held, decisionThreshold);
  return {
    pipeline,
    metadata: fitted.metadata,
    trained,
    features: kept.map(({ name }) => name),
    test: held,
    outputs,
    metrics: measurePredictions(rows.metric, judgedRows(rows, test), outputs, metricOptions(options)),
    transformed: all.data,
    weights: all.sampleWeight,
    warnings: [
      ...pipeline.warnings,
      ...weightWarning(fitted.sampleWeight, groups),
      ...classWarning(rows, options),
      ...smallGroupWarning(rows, groups),
      ...trained.warnings,
    ],
  };
}

/** Weights that differ within a group change its rates, and so what the constraint holds for. */
function weightWarning(weights: Float64Array | null, { codes }: CategoricalColumn): string[] {
  if (weights === null) return [];
  const ofGroup = new Map<number, number>();
  for (const [row, weight] of weights.entries()) {
    const code = codes[row] as number;
    const first = ofGroup.get(code) ?? weight;
    ofGroup.set(code, first);
    if (Math.abs(weight - first) <= SAME_WEIGHT * first) continue;
    return [
      'the weights of the pipeline enter the constraint too: it holds for rows so weighed, and on rows as they come the gap may be larger',
    ];
  }
  return [];
}

/** Class weights are for the baseline and reductions; a network's rates differ from the baseline's for that as well. */
function classWarning({ training, task }: WorkflowRows, { classWeight }: FilledWorkflowOptions): string[] {
  if (training.method === 'reductions' || task === 'regression' || classWeight === null) return [];
  return [
    `class weights enter the baseline and not ${training.method} training, so that accuracy and rates differ for that too; compare with class weights off (classWeight null, --class-weight none)`,
  ];
}

/** Rows of a group from which on its rates are more than chance. */
const FEW_ROWS = 30;

/** Reductions constrain every group, however few its rows; the networks' trainers say themselves which they leave out. */
function smallGroupWarning({ training }: WorkflowRows, groups: CategoricalColumn): string[] {
  if (training.method !== 'reductions') return [];
  const small = Object.entries(countGroups({ groups })).flatMap(([label, rows]) => (rows < FEW_ROWS ? [label] : []));
  if (small.length === 0) return [];
  return [
    `the constraint also binds groups of fewer than ${String(FEW_ROWS)} training rows, whose rates are mostly chance, at the price of accuracy: ${nameSome(small)}`,
  ];
}
