import { takeRows } from '../../table/index.ts';
import type { Estimator } from '../../training/estimators/estimator.ts';
import { type FeatureSpec, fitFeatures } from '../../training/data/feature-encoder.ts';
import { decide } from '../../training/estimators/estimator-rows.ts';
import { LinearRegression } from '../../training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../training/estimators/logistic-regression.ts';
import { encodeRows } from './encode-rows.ts';
import { type JudgedRows, measurePredictions, type ModelOutputs } from './measure-predictions.ts';
import type { EncodedRows } from './methods/training-method.ts';
import type { RowSplit } from './split-workflow.ts';
import type { FilledWorkflowOptions } from './workflow-options.ts';
import type { WorkflowMetrics } from './workflow-result.ts';
import type { WorkflowRows } from './workflow-rows.ts';

/** What the first step leaves to the others. */
export interface Baseline {
  /** Learned from the training rows, and only applied afterwards. */
  readonly specs: readonly FeatureSpec[];
  readonly model: Estimator;
  readonly outputs: ModelOutputs;
  readonly metrics: WorkflowMetrics;
  readonly warnings: readonly string[];
}

/** Step 1: learns the encoding, trains without any constraint, and measures on the held-out rows. */
export async function measureBaseline(
  rows: WorkflowRows,
  { train, test }: RowSplit,
  options: FilledWorkflowOptions,
): Promise<Baseline> {
  const { signal, onProgress } = options;
  onProgress?.({ stage: 'baseline', done: 0, total: 1 });
  const { specs, warnings } = fitFeatures(rows.table.take(train), rows.features);
  const model = await createModel(rows, options).fit(
    encodeRows(rows.table.take(train), specs).x,
    takeValues(rows.y, train),
    {
      signal,
    },
  );
  const outputs = await predictWith(
    model,
    encodeRows(rows.table.take(test), specs),
    rows.task,
    options.decisionThreshold,
  );
  const metrics = measurePredictions(rows.metric, judgedRows(rows, test), outputs, metricOptions(options));
  onProgress?.({ stage: 'baseline', done: 1, total: 1 });
  return { specs, model, outputs, metrics, warnings };
}

/** What the metrics need to know of some rows. */
export function judgedRows({ task, y, attributes }: WorkflowRows, part: Int32Array): JudgedRows {
  return {
    task,
    y: takeValues(y, part),
    attributes: Object.fromEntries(Object.entries(attributes).map(([name, groups]) => [name, takeRows(groups, part)])),
  };
}

/** How the workflow measures. */
export function metricOptions({ minGroupSize, randomState }: FilledWorkflowOptions): {
  minGroupSize: number;
  seed: number;
} {
  return { minGroupSize, seed: randomState };
}

/** Some of the values. */
export function takeValues<Values extends Uint8Array | Float64Array>(values: Values, rows: Int32Array): Values {
  const taken = values.slice(0, rows.length);
  rows.forEach((row, place) => {
    taken[place] = values[row] as number;
  });
  return taken as Values;
}

function createModel({ task }: WorkflowRows, { classWeight }: FilledWorkflowOptions): Estimator {
  // On the host, so that the baseline is the same whatever backend trains.
  return task === 'regression'
    ? new LinearRegression({ precision: 'float64' })
    : new LogisticRegression({ precision: 'float64', classWeight });
}

async function predictWith(
  model: Estimator,
  { x }: EncodedRows,
  task: WorkflowRows['task'],
  threshold: number | null,
): Promise<ModelOutputs> {
  if (task === 'regression') return { decisions: Float64Array.from(await model.predict(x)), scores: null };
  const scores = await model.predictProba(x);
  return { decisions: decide(scores, threshold ?? 0.5), scores };
}
