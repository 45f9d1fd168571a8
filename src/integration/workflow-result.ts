import type { MetricResult } from '../metrics/index.ts';
import type { PipelineConfig } from '../schemas/pipeline/pipeline-document.ts';
import type { CategoricalColumn } from '../table/index.ts';
import type { Verdict } from './assertions.ts';

/** One partition of the rows into those trained on and those held out, shared by all three steps. */
export interface WorkflowSplit {
  /** Places of the rows trained on, ascending, counted in the data as given. */
  readonly train: Int32Array;
  /** Places of the rows held out. */
  readonly test: Int32Array;
  /** Share of the rows that is trained on. */
  readonly trainSize: number;
  readonly seed: number;
  /** Rows left out because the target or a sensitive attribute is missing. */
  readonly nDropped: number;
}

/** What predictions on the held-out rows come to. */
export interface WorkflowMetrics {
  /** Rows judged. */
  readonly n: number;
  /** Share of right decisions; null for a regression. */
  readonly accuracy: number | null;
  /** In the target's units; null for decisions. */
  readonly meanAbsoluteError: number | null;
  /** Each metric by its name; of several attributes the worst one's. */
  readonly metrics: Readonly<Record<string, MetricResult>>;
  /** The metrics of each attribute and intersection (its columns joined by `||`), by name. */
  readonly attributes: Readonly<Record<string, Readonly<Record<string, MetricResult>>>>;
}

/** The verdict of the gate on the final model, beside the baseline. */
export interface ValidationResult {
  /** true or false; null without a threshold. An undefined metric is false. */
  readonly passed: boolean | null;
  /** The metric that was judged. */
  readonly metric: string;
  /** The attribute or intersection whose final value is the worst, and decides. */
  readonly attribute: string;
  /** The worst value over attributes before mitigation; NaN where undefined. */
  readonly baselineMetricValue: number;
  /** The worst value over attributes after it; NaN where undefined. */
  readonly finalMetricValue: number;
  readonly threshold: number | null;
  /** 100 (final - baseline) / |baseline|, negative when unfairness falls; null where the baseline is 0 or undefined. */
  readonly improvementPercent: number | null;
  /** The verdict in one sentence. */
  readonly message: string;
  readonly verdict: Verdict;
}

/** What was predicted for the held-out rows. */
export interface HeldOutPredictions {
  /** Decisions 0 or 1, or a regression's values: [rows]. */
  readonly baseline: Uint8Array | Float64Array;
  readonly final: Uint8Array | Float64Array;
  /** Probabilities of 1 (a mixture's: of the decision 1); null for a regression. */
  readonly baselineScores: Float64Array | null;
  readonly finalScores: Float64Array | null;
}

/** A point of the picture of accuracy against unfairness. */
export interface TradeOffPoint {
  readonly label: string;
  readonly accuracy: number;
  /** The judged metric's distance from even, the largest over attributes: |difference|, or 1 less the ratio. */
  readonly unfairness: number;
  /** 'candidate': a predictor that a mixture draws from. */
  readonly kind: 'baseline' | 'final' | 'candidate';
}

/** How tracking went. */
export interface TrackingOutcome {
  readonly logged: boolean;
  /** Why nothing was logged; null where it was. */
  readonly reason: string | null;
  /** The run, where it was logged. */
  readonly runId: string | null;
  /** A page that shows the run, where one is known. */
  readonly url: string | null;
}

/** What a workflow left behind. */
export interface WorkflowArtifacts {
  /** The folder that was written; null without one. */
  readonly outputDir: string | null;
  /** The files and folders in it. */
  readonly files: readonly string[];
  /** null where nothing was to be tracked. */
  readonly tracking: TrackingOutcome | null;
}

/** Everything that a workflow's reports show; `executeWorkflow` returns it with the model. */
export interface WorkflowFindings {
  readonly config: PipelineConfig;
  readonly seed: number;
  readonly task: 'binary' | 'regression';
  /** The label of the target that counts as 1; null where the target is 0/1 or a number. */
  readonly positiveLabel: string | null;
  readonly minGroupSize: number;
  /** How classes were weighed in training. */
  readonly classWeight: 'balanced' | Readonly<Partial<Record<0 | 1, number>>> | null;
  /** The probability that decides; null where the model's own `predict` does. */
  readonly decisionThreshold: number | null;
  /** The features that were trained on before and after the pipeline. */
  readonly features: { readonly baseline: readonly string[]; readonly final: readonly string[] };
  readonly split: WorkflowSplit;
  readonly baselineMetrics: WorkflowMetrics;
  readonly finalMetrics: WorkflowMetrics;
  readonly validation: ValidationResult;
  /** What the method constrained, in its own terms. */
  readonly constraint: Readonly<Record<string, unknown>> | null;
  /** Names of the pipeline's steps, in order. */
  readonly transformersApplied: readonly string[];
  readonly predictions: HeldOutPredictions;
  /** True values of the held-out rows: 0 or 1, or numbers. */
  readonly yTest: Uint8Array | Float64Array;
  /** The group of each held-out row, by attribute or intersection. */
  readonly groupsTest: Readonly<Record<string, CategoricalColumn>>;
  /** For a picture: the baseline, the final model, and what a mixture draws from. Empty for a regression. */
  readonly tradeOff: readonly TradeOffPoint[];
  readonly warnings: readonly string[];
}
