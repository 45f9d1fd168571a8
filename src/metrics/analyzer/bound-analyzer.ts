import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import type { MetricFrame } from '../frame/index.ts';
import type { MetricResult } from '../metric-result.ts';
import { METRIC_OPTION_NAMES, type MetricOptions } from '../options.ts';
import type { RowOptions } from '../row-options.ts';
import { frameFromSource, metricFromSource, type StatsSource } from './stats-source.ts';

/** Options for one metric of a {@link BoundAnalyzer}. */
export type BoundMetricOptions = MetricOptions & Pick<RowOptions, 'average'>;

const BOUND_METRIC_OPTION_NAMES: OptionNames<BoundMetricOptions> = { ...METRIC_OPTION_NAMES, average: true };

/** Options for a frame of measures of a {@link BoundAnalyzer}. */
export interface BoundFrameOptions extends MetricOptions {
  /** Names of measures, such as `selection_rate`, `true_positive_rate`, `roc_auc`, `mean_absolute_error`, `count`. */
  readonly metrics: readonly string[];
  /**
   * The control feature: one column, or several columns whose combinations are the levels. Groups are also compared
   * within each level of the control feature.
   */
  readonly controlCol?: string | readonly string[] | undefined;
}

const BOUND_FRAME_OPTION_NAMES: OptionNames<BoundFrameOptions> = {
  ...METRIC_OPTION_NAMES,
  metrics: true,
  controlCol: true,
};

/** Computes metrics of data whose columns are already selected. The methods therefore take only options. */
export class BoundAnalyzer {
  readonly #source: StatsSource<readonly string[]>;
  readonly #defaults: MetricOptions;

  constructor(source: StatsSource<readonly string[]>, defaults: MetricOptions) {
    this.#source = source;
    this.#defaults = defaults;
  }

  /** Computes any metric by its name: `equalized_odds_ratio`, or a measure followed by `_difference` or `_ratio`. */
  metric(name: string, options: BoundMetricOptions = {}): Promise<MetricResult> {
    assertKnownOptions('BoundAnalyzer.metric', options, BOUND_METRIC_OPTION_NAMES);
    const { average, ...given } = options;
    return metricFromSource(this.#source, name, withDefaults(this.#defaults, given), average);
  }

  /** See {@link metricFrame}. */
  metricFrame(frameOptions: BoundFrameOptions): Promise<MetricFrame> {
    assertKnownOptions('BoundAnalyzer.metricFrame', frameOptions, BOUND_FRAME_OPTION_NAMES);
    const { metrics, controlCol, ...options } = frameOptions;
    const control = controlCol === undefined ? undefined : [controlCol].flat();
    return frameFromSource(this.#source, metrics, control, withDefaults(this.#defaults, options));
  }

  /** See {@link demographicParityDifference}. */
  demographicParityDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('demographic_parity_difference', options);
  }

  /** See {@link demographicParityRatio}. */
  demographicParityRatio(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('demographic_parity_ratio', options);
  }

  /** See {@link equalizedOddsDifference}. */
  equalizedOddsDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('equalized_odds_difference', options);
  }

  /** See {@link equalizedOddsRatio}. */
  equalizedOddsRatio(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('equalized_odds_ratio', options);
  }

  /** See {@link equalOpportunityDifference}. */
  equalOpportunityDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('equal_opportunity_difference', options);
  }

  /** See {@link falsePositiveRateDifference}. */
  falsePositiveRateDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('false_positive_rate_difference', options);
  }

  /** See {@link predictiveParityDifference}. */
  predictiveParityDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('predictive_parity_difference', options);
  }

  /** See {@link accuracyParityDifference}. */
  accuracyParityDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('accuracy_parity_difference', options);
  }

  /** See {@link calibrationDifference}. */
  calibrationDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('calibration_difference', options);
  }

  /** See {@link rocAucDifference}. */
  rocAucDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('roc_auc_difference', options);
  }

  /** See {@link maeParityDifference}. */
  maeParityDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('mae_parity_difference', options);
  }

  /** See {@link rmseParityDifference}. */
  rmseParityDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('rmse_parity_difference', options);
  }

  /** See {@link meanPredictionDifference}. */
  meanPredictionDifference(options?: BoundMetricOptions): Promise<MetricResult> {
    return this.metric('mean_prediction_difference', options);
  }
}

/** Overrides defaults with the given options; undefined options keep the default. */
export function withDefaults<Options extends object>(defaults: Options, options: Options): Options {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}
