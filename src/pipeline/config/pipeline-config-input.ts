import type { DecimalSeparator } from '../../schemas/data-source.ts';
import type { TrainingMethod } from '../../schemas/pipeline/pipeline-document.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';

/** A configuration in code. Keys that you omit get their default values. The output of `loadConfig` is also valid. */
export interface PipelineConfigInput {
  /** The names of the sensitive attributes, at least one. Each attribute is analysed separately. */
  readonly sensitive: string | readonly string[];
  /**
   * Intersections of attributes that are also analysed.
   * @defaultValue none
   */
  readonly intersections?: readonly (readonly string[])[] | undefined;
  /**
   * Expected proportions of groups, by attribute.
   * @defaultValue none
   */
  readonly benchmarks?: Readonly<Record<string, Readonly<Record<string, number>>>> | undefined;
  /**
   * The significance level of the detectors' tests.
   * @defaultValue 0.05
   */
  readonly alpha?: number | undefined;
  /**
   * A column counts as a proxy if its association with an attribute is at least this value.
   * @defaultValue 0.3
   */
  readonly proxyThreshold?: number | undefined;
  /**
   * The path to which `evenhand pipeline` writes the detectors' report. It is the relative path of a .md, .json or
   * .html file below the current folder.
   */
  readonly reportOut?: string | undefined;
  /**
   * The steps, in order.
   * @defaultValue none
   */
  readonly pipeline?: readonly PipelineStepInput[] | undefined;
  /**
   * The columns used as features.
   * @defaultValue every numeric column except the target and the sensitive columns
   */
  readonly features?: readonly string[] | undefined;
  /**
   * Texts that are read as missing values, in all columns.
   * @defaultValue the same texts as in pandas; in sensitive columns, only the empty text
   */
  readonly naValues?: readonly string[] | undefined;
  /**
   * The decimal separator of numbers in text files. Only commands that read a file use this option, because the numbers
   * of a table have already been read.
   * @defaultValue '.'
   */
  readonly decimal?: DecimalSeparator | undefined;
  /** The training of a model. This section is not needed to run only the pipeline. */
  readonly training?: TrainingInput | undefined;
  /**
   * The metric that is evaluated.
   * @defaultValue 'demographic_parity_difference'
   */
  readonly fairnessMetric?: string | undefined;
  /**
   * The threshold of the metric: the largest difference or the smallest ratio that passes.
   * @defaultValue none: the metric is reported without a verdict
   */
  readonly validationThreshold?: number | undefined;
  readonly strictMissing?: boolean | undefined;
  /**
   * The column that says which rows belong together, such as the rows of a person. Training rows and held-out rows have
   * no cluster in common, and intervals count clusters instead of rows.
   * @defaultValue none: all rows are independent
   */
  readonly cluster?: string | undefined;
  /**
   * The column of strata, if the sample was drawn separately in each stratum. Without `cluster`, each row is a cluster.
   * @defaultValue none
   */
  readonly strata?: string | undefined;
}

/** A step in code. */
export interface PipelineStepInput {
  /** @defaultValue the transformer's name */
  readonly name?: string | undefined;
  readonly transformer: TransformerKind;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** The training section of a configuration, as an object. */
export interface TrainingInput {
  readonly method: TrainingMethod;
  readonly targetColumn: string;
  /** @defaultValue the less frequent label, if the column has two text labels */
  readonly positiveLabel?: string | undefined;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}
