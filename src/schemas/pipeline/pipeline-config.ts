import type { TrainingMethod } from './training-params.ts';
import type { TransformerKind } from './transformer-params.ts';

export type { TrainingMethod } from './training-params.ts';

/** One step of a pipeline. */
export interface PipelineStepConfig {
  /** What the step is called in errors and reports. */
  readonly name: string;
  readonly transformer: TransformerKind;
  /** The transformer's options, in camelCase. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** How a model is trained, and what it predicts. */
export interface TrainingConfig {
  readonly method: TrainingMethod;
  readonly targetColumn: string;
  /** The label of the target that counts as 1, where it is not 0/1. */
  readonly positiveLabel?: string | undefined;
  /** The method's constructor options, in camelCase. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** A pipeline's configuration, parsed: every default filled in, frozen. */
export interface PipelineConfig {
  /** The sensitive attributes; each is analysed apart. At least one. */
  readonly sensitive: readonly string[];
  /** Crossings of attributes that are analysed too. */
  readonly intersections: readonly (readonly string[])[];
  /** Expected proportions of groups, by attribute. */
  readonly benchmarks: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly alpha: number;
  readonly proxyThreshold: number;
  /** Where `evenhand pipeline` writes the detectors' report: a .md, .json or .html file below the current folder. */
  readonly reportOut?: string | undefined;
  readonly pipeline: readonly PipelineStepConfig[];
  readonly features?: readonly string[] | undefined;
  /** Texts that are missing values, in all columns; left out, those of pandas. */
  readonly naValues?: readonly string[] | undefined;
  readonly training?: TrainingConfig | undefined;
  readonly fairnessMetric?: string | undefined;
  readonly validationThreshold?: number | undefined;
  /** Whether rows that are missing more often in some groups than in others, beyond chance, fail the gate. */
  readonly strictMissing?: boolean | undefined;
}
