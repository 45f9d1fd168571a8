import type { TrainingMethod } from '../../schemas/pipeline/pipeline-document.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';

/** A configuration as code writes it: what is left out gets its default. What `loadConfig` gave is one too. */
export interface PipelineConfigInput {
  /** The sensitive attributes; each is analysed apart. At least one. */
  readonly sensitive: string | readonly string[];
  /**
   * Crossings of attributes that are analysed too.
   * @defaultValue none
   */
  readonly intersections?: readonly (readonly string[])[] | undefined;
  /**
   * Expected proportions of groups, by attribute.
   * @defaultValue none
   */
  readonly benchmarks?: Readonly<Record<string, Readonly<Record<string, number>>>> | undefined;
  /**
   * The level of the detectors' tests.
   * @defaultValue 0.05
   */
  readonly alpha?: number | undefined;
  /**
   * From which association on a column counts as a proxy.
   * @defaultValue 0.3
   */
  readonly proxyThreshold?: number | undefined;
  /** Where `evenhand pipeline` writes the detectors' report: a .md, .json or .html file, relative to the current folder and below it. */
  readonly reportOut?: string | undefined;
  /**
   * The steps, in order.
   * @defaultValue none
   */
  readonly pipeline?: readonly PipelineStepInput[] | undefined;
  /**
   * The columns to learn from.
   * @defaultValue every numeric column that is neither target nor sensitive
   */
  readonly features?: readonly string[] | undefined;
  /**
   * Texts that are missing values, in all columns.
   * @defaultValue those of pandas, and in sensitive columns the empty text alone
   */
  readonly naValues?: readonly string[] | undefined;
  /** How a model is trained; a pipeline alone needs none. */
  readonly training?: TrainingInput | undefined;
  /**
   * The metric that is judged.
   * @defaultValue 'demographic_parity_difference'
   */
  readonly fairnessMetric?: string | undefined;
  /**
   * The largest difference, or smallest ratio, that passes.
   * @defaultValue none: there is no verdict
   */
  readonly validationThreshold?: number | undefined;
  readonly strictMissing?: boolean | undefined;
}

/** A step as code writes it. */
export interface PipelineStepInput {
  /** @defaultValue the transformer's name */
  readonly name?: string | undefined;
  readonly transformer: TransformerKind;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** A training section as code writes it. */
export interface TrainingInput {
  readonly method: TrainingMethod;
  readonly targetColumn: string;
  /** @defaultValue of text the rarer of two labels */
  readonly positiveLabel?: string | undefined;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}
