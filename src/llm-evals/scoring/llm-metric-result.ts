import { MetricResult, type MetricResultFields, type MetricResultJson } from '../../metrics/index.ts';

/** How two values of a dimension differ. */
export interface PairComparison {
  /** `first` minus `second`, or how far they are apart beyond the noise floor. */
  readonly first: string;
  readonly second: string;
  /** NaN where undefined, and then `undefinedReason` says why. */
  readonly value: number;
  readonly ci: readonly [low: number, high: number] | null;
  readonly pValue: number | null;
  /** Items in which both were answered. */
  readonly n: number;
  readonly undefinedReason: string | null;
}

/** What a result of an evaluation of a language model has beyond a metric's. */
export interface LlmMetricFields extends MetricResultFields {
  readonly evaluator: string;
  /** What was varied; null for a metric of all answers. */
  readonly dimension: string | null;
  /** Independent items that took part: items of one name, or of one template, count once. */
  readonly n: number;
  /** Answers that took no part, by reason. */
  readonly exclusions: Readonly<Record<string, number>>;
  /** The p-value after all metrics of the run are allowed for; null where there is none. */
  readonly adjustedPValue: number | null;
  /** How many tests that allows for, and by what. */
  readonly adjustment: string | null;
  /**
   * What noise alone gives: of a gap its mean size by chance, of an excess the distance within one group that was taken
   * off, and so on another scale than the value; null where not known.
   */
  readonly noiseFloor: number | null;
  /** Mean of this very metric without an effect (of a gap, of its size); null where not known. */
  readonly nullMean: number | null;
  /** Without an effect the metric (of a gap, its size) lies below this with probability 0.95; null where not known. */
  readonly nullQuantile: number | null;
  /** Of the value; null where not known. */
  readonly standardError: number | null;
  /** Degrees of freedom of the standard error; null for those of a normal distribution, or where not known. */
  readonly degrees: number | null;
  /** The least p value that data of this size can have, whatever the answers; null where not known. */
  readonly leastPValue: number | null;
  readonly pairs: readonly PairComparison[];
}

/**
 * A metric of a language model's answers. The name under which a run keeps it
 * is `metric`, with `.dimension` after it where something is varied. Frozen.
 */
export class LlmMetricResult extends MetricResult implements LlmMetricFields {
  // Declared only: fields of their own would undo what the parent's constructor assigned and froze.
  declare readonly evaluator: string;
  declare readonly dimension: string | null;
  declare readonly n: number;
  declare readonly exclusions: Readonly<Record<string, number>>;
  declare readonly adjustedPValue: number | null;
  declare readonly adjustment: string | null;
  declare readonly noiseFloor: number | null;
  declare readonly nullMean: number | null;
  declare readonly nullQuantile: number | null;
  declare readonly standardError: number | null;
  declare readonly degrees: number | null;
  declare readonly leastPValue: number | null;
  declare readonly pairs: readonly PairComparison[];

  // eslint-disable-next-line @typescript-eslint/no-useless-constructor -- narrows what it takes
  constructor(fields: LlmMetricFields) {
    super(fields);
  }

  /** What a run calls it: `sentiment_gap.gender`. */
  get key(): string {
    return this.dimension === null ? this.metric : `${this.metric}.${this.dimension}`;
  }

  /** The result as the wire has it: snake_case, an undefined value as null. */
  override toJSON(): LlmMetricResultJson {
    return {
      ...super.toJSON(),
      evaluator: this.evaluator,
      dimension: this.dimension,
      n: this.n,
      exclusions: this.exclusions,
      adjusted_p_value: this.adjustedPValue,
      adjustment: this.adjustment,
      noise_floor: this.noiseFloor,
      null_mean: this.nullMean,
      null_quantile_95: this.nullQuantile,
      standard_error: this.standardError,
      degrees: this.degrees,
      least_p_value: this.leastPValue,
      pairs: this.pairs.map(({ first, second, value, ci, pValue, n, undefinedReason }) => ({
        first,
        second,
        value: Number.isFinite(value) ? value : null,
        ci,
        p_value: pValue,
        n,
        undefined_reason: undefinedReason,
      })),
    };
  }
}

/** A {@link PairComparison} on the wire. */
interface PairComparisonJson {
  readonly first: string;
  readonly second: string;
  readonly value: number | null;
  readonly ci: readonly [low: number, high: number] | null;
  readonly p_value: number | null;
  readonly n: number;
  readonly undefined_reason: string | null;
}

/** An {@link LlmMetricResult} on the wire. */
export interface LlmMetricResultJson extends MetricResultJson {
  readonly evaluator: string;
  readonly dimension: string | null;
  readonly n: number;
  readonly exclusions: Readonly<Record<string, number>>;
  readonly adjusted_p_value: number | null;
  readonly adjustment: string | null;
  readonly noise_floor: number | null;
  readonly null_mean: number | null;
  readonly null_quantile_95: number | null;
  readonly standard_error: number | null;
  readonly degrees: number | null;
  readonly least_p_value: number | null;
  readonly pairs: readonly PairComparisonJson[];
}

/** What a metric of a language model's answers must say; the rest has a default. */
type LlmMetricGiven = Pick<LlmMetricFields, 'metric' | 'evaluator' | 'value'> & Partial<LlmMetricFields>;

/**
 * A result from the fields that matter to it. A value that is no number needs its reason.
 */
export function llmMetric(given: LlmMetricGiven): LlmMetricResult {
  return new LlmMetricResult({ ...NOTHING, ...given });
}

const NOTHING: Omit<LlmMetricFields, 'metric' | 'evaluator' | 'value'> = {
  ci: null,
  ciLevel: null,
  ciMethod: null,
  effectSize: null,
  effectSizeName: null,
  pValue: null,
  pValueMethod: null,
  minimumDetectableGap: null,
  method: 'between_groups',
  referenceGroup: null,
  agg: null,
  compat: null,
  nPerGroup: {},
  perGroup: {},
  perGroupCi: null,
  excluded: {},
  first: null,
  second: null,
  nDropped: 0,
  missing: null,
  undefinedReason: null,
  warnings: [],
  seed: null,
  dimension: null,
  n: 0,
  exclusions: {},
  adjustedPValue: null,
  adjustment: null,
  noiseFloor: null,
  nullMean: null,
  nullQuantile: null,
  standardError: null,
  degrees: null,
  leastPValue: null,
  pairs: [],
};
