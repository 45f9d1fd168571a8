import type { MetricResult } from '../metrics/index.ts';
import type { FairnessPipeline, PipelineMetadata } from '../pipeline/index.ts';
import type { PipelineConfig } from '../schemas/pipeline/pipeline-document.ts';
import type { CategoricalColumn, Table } from '../table/index.ts';
import type { SavableModel } from '../training/models/describe-model.ts';
import type { Verdict } from './assertions.ts';

/** The partition into training rows and held-out rows. All three steps of the workflow use the same partition. */
export interface WorkflowSplit {
  /** Row indices of the training rows in the input data, ascending. */
  readonly train: Int32Array;
  /** Row indices of the held-out rows. */
  readonly test: Int32Array;
  /** Share of the rows used for training. */
  readonly trainSize: number;
  readonly seed: number;
  /** Rows excluded because the target or a sensitive attribute is missing. */
  readonly nDropped: number;
}

/** Metrics of predictions on the held-out rows. */
export interface WorkflowMetrics {
  /** The number of rows evaluated. */
  readonly n: number;
  /** Share of correct decisions; null for a regression. */
  readonly accuracy: number | null;
  /**
   * The 95% interval of the accuracy, if the rows come in clusters; null if all rows are in one cluster. Without
   * clusters, Wilson's interval needs only the accuracy and the number of rows.
   */
  readonly accuracyCi?: readonly [number, number] | null | undefined;
  /** The mean absolute error in the units of the target; null for decisions. */
  readonly meanAbsoluteError: number | null;
  /** The metrics by name. With several attributes, each metric has its worst value over the attributes. */
  readonly metrics: Readonly<Record<string, MetricResult>>;
  /** The metrics of each attribute and intersection (its columns joined by `||`), by name. */
  readonly attributes: Readonly<Record<string, Readonly<Record<string, MetricResult>>>>;
}

/** The verdict of the gate on the final model, compared with the baseline. */
export interface ValidationResult {
  /** Whether the gate passed; null without a threshold, false if the metric is undefined. */
  readonly passed: boolean | null;
  /** The metric that the gate checked. */
  readonly metric: string;
  /** The attribute or intersection with the worst final value, which determines the verdict. */
  readonly attribute: string;
  /** The worst value over attributes before mitigation; NaN if undefined. */
  readonly baselineMetricValue: number;
  /** The worst value over attributes after mitigation; NaN if undefined. */
  readonly finalMetricValue: number;
  readonly threshold: number | null;
  /** 100 (final - baseline) / |baseline|, negative if unfairness falls; null if the baseline is 0 or undefined. */
  readonly improvementPercent: number | null;
  /** The verdict in one sentence. */
  readonly message: string;
  readonly verdict: Verdict;
}

/** Predictions for the held-out rows. */
export interface HeldOutPredictions {
  /** Decisions (0 or 1), or the values of a regression: [rows]. */
  readonly baseline: Uint8Array | Float64Array;
  readonly final: Uint8Array | Float64Array;
  /** Probabilities of class 1, or of decision 1 for a mixture; null for a regression. */
  readonly baselineScores: Float64Array | null;
  readonly finalScores: Float64Array | null;
}

/** A point of the chart of accuracy against unfairness. */
export interface TradeOffPoint {
  readonly label: string;
  readonly accuracy: number;
  /** Distance of the judged metric from parity, the largest over attributes: |difference|, or 1 minus the ratio. */
  readonly unfairness: number;
  /** The model of the point. 'candidate' is a single predictor of a mixture. */
  readonly kind: 'baseline' | 'final' | 'candidate';
}

/** The outcome of tracking. */
export interface TrackingOutcome {
  readonly logged: boolean;
  /** The reason why nothing was logged; null if the results were logged. */
  readonly reason: string | null;
  /** The identifier of the run; null if nothing was logged. */
  readonly runId: string | null;
  /** The URL of a page that shows the run; null if none is known. */
  readonly url: string | null;
}

/** The files and the tracking outcome of a workflow. */
export interface WorkflowArtifacts {
  /** The output folder; null if no output was written. */
  readonly outputDir: string | null;
  /** The files and folders in the output folder. */
  readonly files: readonly string[];
  /** The outcome of tracking; null if tracking was not requested. */
  readonly tracking: TrackingOutcome | null;
}

/**
 * The results of a workflow that its reports show. `executeWorkflow` returns these findings together with the model.
 */
export interface WorkflowFindings {
  readonly config: PipelineConfig;
  readonly seed: number;
  readonly task: 'binary' | 'regression';
  /** The target label that counts as 1; null if the target is 0/1 or a number. */
  readonly positiveLabel: string | null;
  readonly minGroupSize: number;
  /** Class weights in training. */
  readonly classWeight: 'balanced' | Readonly<Partial<Record<0 | 1, number>>> | null;
  /** The probability threshold for decisions; null if the model's own `predict` makes the decisions. */
  readonly decisionThreshold: number | null;
  /** The training features before and after the pipeline. */
  readonly features: { readonly baseline: readonly string[]; readonly final: readonly string[] };
  readonly split: WorkflowSplit;
  readonly baselineMetrics: WorkflowMetrics;
  readonly finalMetrics: WorkflowMetrics;
  readonly validation: ValidationResult;
  /** The constraint, as the parameters of the method. */
  readonly constraint: Readonly<Record<string, unknown>> | null;
  /** Names of the pipeline's steps, in order. */
  readonly transformersApplied: readonly string[];
  readonly predictions: HeldOutPredictions;
  /** True values of the held-out rows: 0 or 1, or numbers. */
  readonly yTest: Uint8Array | Float64Array;
  /** The group of each held-out row, by attribute or intersection. */
  readonly groupsTest: Readonly<Record<string, CategoricalColumn>>;
  /**
   * Points of the chart of accuracy against unfairness: the baseline, the final model, and the predictors of a mixture.
   * An empty list for a regression.
   */
  readonly tradeOff: readonly TradeOffPoint[];
  readonly warnings: readonly string[];
}

/** The findings of a workflow, and its model, pipeline and data. Frozen. */
export interface WorkflowResult extends WorkflowFindings {
  /**
   * The constrained model. A model of a reduction expects encoded features, and a model of a trainer expects a table.
   */
  readonly model: SavableModel;
  /** The pipeline, fitted on the training rows. */
  readonly pipeline: FairnessPipeline;
  /** The effect of each pipeline step on the training rows. */
  readonly pipelineMetadata: PipelineMetadata;
  /**
   * All rows with a target and a group, in input order. They are transformed by the pipeline that was fitted on the
   * training rows.
   */
  readonly transformedData: Table;
  /** The weights that the pipeline gives the rows of `transformedData`; null if the pipeline gives no weights. */
  readonly sampleWeight: Float64Array | null;
  readonly artifacts: WorkflowArtifacts;
}

/** Lists the results of all attributes and metrics. */
export function resultsOf({ attributes }: Pick<WorkflowMetrics, 'attributes'>): {
  readonly attribute: string;
  readonly metric: string;
  readonly result: MetricResult;
}[] {
  return Object.entries(attributes).flatMap(([attribute, results]) =>
    Object.entries(results).map(([metric, result]) => ({ attribute, metric, result })),
  );
}

/**
 * Returns the distance of a value from parity: |difference|, or 1 - min(ratio, 1 / ratio). The gate ranks values in the
 * same way. The distance of an undefined value is NaN.
 */
export function unfairness(metric: string, value: number): number {
  return metric.endsWith('_ratio') ? 1 - Math.min(value, 1 / value) : Math.abs(value);
}
