import { snakeFields, type SnakeFields } from '../../internal/arguments.ts';
import { finiteOrNull } from '../../internal/values.ts';
import type { ValueRange } from '../../metrics/threshold-range.ts';
import { MetricResult, type MetricResultFields, type MetricResultJson } from '../../metrics/index.ts';

/** One of the values by unit behind a metric. */
export interface UnitValue {
  /** The independent unit. Items with the same name, or with the same template, are one unit. */
  readonly unit: string;
  /** The item, or the prompt of an item. Runs of the same plan have the same items. */
  readonly item: string;
  readonly value: number;
  /** The prompt, if the value is of one prompt. */
  readonly prompt?: string | undefined;
}

/** The values by unit behind a metric. With them, the metrics of two runs can be compared on the same items. */
export interface UnitValues {
  /**
   * How the metric is computed from the values: `mean` for the mean of the means of units, `jackknife` for a statistic
   * of all units, of which the values are the pseudo-values.
   */
  readonly kind: 'mean' | 'jackknife';
  readonly values: readonly UnitValue[];
  /** For rates: the smallest nonzero size that the value of a unit can have; null for other measures. */
  readonly step: number | null;
}

/** The difference between two values of a dimension. */
export interface PairComparison {
  /**
   * The first value of the dimension. `value` is the value of `first` minus the value of `second`, or the distance
   * between them minus the noise floor.
   */
  readonly first: string;
  readonly second: string;
  /** The difference. An undefined difference is NaN, and `undefinedReason` states the reason. */
  readonly value: number;
  readonly ci: readonly [low: number, high: number] | null;
  readonly pValue: number | null;
  /** The number of items that have answers for both values. */
  readonly n: number;
  readonly undefinedReason: string | null;
  /** The differences by item; missing if they are not known. They are not part of the JSON. */
  readonly units?: UnitValues | undefined;
}

/** The fields that a metric of a language model's answers has in addition to those of other metrics. */
export interface LlmMetricFields extends MetricResultFields {
  readonly evaluator: string;
  /** The varied dimension; null for a metric of all answers. */
  readonly dimension: string | null;
  /** The number of independent items included. Items with the same name, or with the same template, count once. */
  readonly n: number;
  /** The number of excluded answers, by reason. */
  readonly exclusions: Readonly<Record<string, number>>;
  /** The p-value, adjusted for the number of metrics of the run; null if there is no p-value. */
  readonly adjustedPValue: number | null;
  /** The adjustment method and the number of tests in the adjustment. Null if there is no adjusted p-value. */
  readonly adjustment: string | null;
  /**
   * The value that would be expected from noise alone; null if unknown. For a gap, the noise floor is the mean absolute
   * value if there is no effect. For an excess, the noise floor is the distance within one group, which was subtracted.
   * The scale of the noise floor can therefore differ from the scale of the value.
   */
  readonly noiseFloor: number | null;
  /**
   * The mean of this metric if there is no effect; null if unknown. For a gap, this is the mean of the absolute value.
   */
  readonly nullMean: number | null;
  /**
   * The 95th percentile of this metric if there is no effect; null if unknown. For a gap, this is the percentile of the
   * absolute value.
   */
  readonly nullQuantile: number | null;
  /** The standard error of the value; null if unknown. */
  readonly standardError: number | null;
  /**
   * The degrees of freedom of the standard error. Null if a normal distribution is used, or if the degrees are unknown.
   */
  readonly degrees: number | null;
  /** The smallest p-value that the test can return for data of this size; null if unknown. */
  readonly leastPValue: number | null;
  readonly pairs: readonly PairComparison[];
  /**
   * The values of the prompts, with the name of the measure; null if they are not known. They are not part of the JSON.
   */
  readonly units: (UnitValues & { readonly measure: string }) | null;
  /** The range of values that the metric can have, if it follows from the configuration. It is not part of the JSON. */
  readonly range?: ValueRange | undefined;
}

/**
 * A metric of a language model's answers; frozen. The key of the metric in a run is `metric`. If a dimension is varied,
 * the key is `metric.dimension`.
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging -- the constructor assigns every field
export class LlmMetricResult extends MetricResult {
  // eslint-disable-next-line @typescript-eslint/no-useless-constructor -- it narrows the type of its parameter
  constructor(fields: LlmMetricFields) {
    super(fields);
  }

  /** The key of the metric in a run, such as `sentiment_gap.gender`. */
  get key(): string {
    return this.dimension === null ? this.metric : `${this.metric}.${this.dimension}`;
  }

  /** Converts the result to its wire format, in snake_case. An undefined value is null. */
  override toJSON(): LlmMetricResultJson {
    const { evaluator, dimension, n, exclusions, adjustedPValue, adjustment, noiseFloor, nullMean } = this;
    const { nullQuantile, standardError, degrees, leastPValue, pairs } = this;
    return {
      ...super.toJSON(),
      ...snakeFields({ evaluator, dimension, n, exclusions, adjustedPValue, adjustment, noiseFloor, nullMean }),
      null_quantile_95: nullQuantile,
      ...snakeFields({ standardError, degrees, leastPValue }),
      pairs: pairs.map(pairToJson),
    };
  }
}

type PairComparisonJson = SnakeFields<Omit<PairComparison, 'value' | 'units'>> & { readonly value: number | null };

function pairToJson({ first, second, value, ci, pValue, n, undefinedReason }: PairComparison): PairComparisonJson {
  return snakeFields({ first, second, value: finiteOrNull(value), ci, pValue, n, undefinedReason });
}

type OwnFields = Omit<LlmMetricFields, keyof MetricResultFields | 'nullQuantile' | 'pairs' | 'units' | 'range'>;

/** The wire format of {@link LlmMetricResult}. */
export interface LlmMetricResultJson extends MetricResultJson, SnakeFields<OwnFields> {
  readonly null_quantile_95: number | null;
  readonly pairs: readonly PairComparisonJson[];
}

/**
 * The fields of the class. The fields are declared in an interface, because class fields would overwrite the fields
 * that the constructor of the parent assigned and froze.
 */
// eslint-disable-next-line @typescript-eslint/no-unsafe-declaration-merging, @typescript-eslint/no-empty-object-type -- see above
export interface LlmMetricResult extends LlmMetricFields {}

/** The required fields of a metric of a language model's answers. All other fields have defaults. */
type LlmMetricGiven = Pick<LlmMetricFields, 'metric' | 'evaluator' | 'value'> & Partial<LlmMetricFields>;

/** Builds a result from the given fields and defaults. If the value is not a number, `undefinedReason` is required. */
export function llmMetric(given: LlmMetricGiven): LlmMetricResult {
  return new LlmMetricResult({ ...NOTHING, ...given });
}

const NOTHING: Omit<LlmMetricFields, 'metric' | 'evaluator' | 'value'> = {
  ...{ ci: null, ciLevel: null, ciMethod: null, effectSize: null, effectSizeName: null },
  ...{ pValue: null, pValueMethod: null, minimumDetectableGap: null, method: 'between_groups' },
  ...{ referenceGroup: null, agg: null, compat: null, nPerGroup: {}, perGroup: {}, perGroupCi: null, excluded: {} },
  ...{ first: null, second: null, nDropped: 0, missing: null, undefinedReason: null, warnings: [], seed: null },
  ...{ dimension: null, n: 0, exclusions: {}, adjustedPValue: null, adjustment: null, noiseFloor: null },
  ...{
    nullMean: null,
    nullQuantile: null,
    standardError: null,
    degrees: null,
    leastPValue: null,
    pairs: [],
    units: null,
  },
};
