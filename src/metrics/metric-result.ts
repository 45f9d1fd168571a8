import type { MeasureName } from './measures/index.ts';
import { metricToMarkdown } from './metric-markdown.ts';

/** Why a group, or one rate of it, took no part. */
export interface Exclusion {
  /** Rows of the group. */
  readonly n: number;
  readonly reason: string;
  /** Weighted rows above the line of the rate that the reason speaks of; null where the metric compares no rates. */
  readonly numerator: number | null;
  /** Weighted rows below that line. */
  readonly denominator: number | null;
}

/** A group's measures, by name; null for one that it does not have. */
export type GroupRates = Readonly<PerMeasure<number>>;

/** Values by measure; other names are measures of one class (`precision of 'x'`) and disparities (`precision_disparity`). */
type PerMeasure<T> = Partial<Record<MeasureName, T | null>> & Partial<Record<string, T | null>>;

/** Intervals of a group's measures, by name; null for one that has none. */
export type GroupIntervals = Readonly<PerMeasure<readonly [low: number, high: number]>>;

/** Everything a metric result carries. */
export interface MetricResultFields {
  /** The metric's name in snake_case. */
  readonly metric: string;
  /** The metric; NaN where it is undefined, and then `undefinedReason` says why. */
  readonly value: number;
  /** The interval around `value`, or null where none was asked for or can be given. */
  readonly ci: readonly [low: number, high: number] | null;
  readonly ciLevel: number | null;
  readonly ciMethod: string | null;
  /** Risk ratio of the extreme groups for rates, Cohen's d for mean errors; null where not asked for or undefined. */
  readonly effectSize: number | null;
  /** The probability of a gap at least as large where all groups are alike; null where not asked for. */
  readonly pValue: number | null;
  /** `permutation` of group labels on the counts (exact but for chance), or `max-t` (approximate). */
  readonly pValueMethod: string | null;
  /** The smallest gap of the extreme groups that data of this size show with probability 0.8; null where unknown. */
  readonly minimumDetectableGap: number | null;
  /** Rows per group that took part. */
  readonly nPerGroup: Readonly<Record<string, number>>;
  /** Measures per group that took part. */
  readonly perGroup: Readonly<Record<string, GroupRates>>;
  /** Each group's own intervals at `ciLevel` (Wilson for rates, normal for means); null without intervals. */
  readonly perGroupCi: Readonly<Record<string, GroupIntervals>> | null;
  /** Groups, or single rates of groups, that took no part, with the reason. */
  readonly excluded: Readonly<Record<string, Exclusion>>;
  /** Rows left out because a value that the metric needs is missing. */
  readonly nDropped: number;
  readonly undefinedReason: string | null;
  /** What a careful reader should know before quoting the value. */
  readonly warnings: readonly string[];
  readonly seed: number | null;
}

/** A metric with all that is needed to question it. Frozen. */
export class MetricResult implements MetricResultFields {
  readonly metric!: string;
  readonly value!: number;
  readonly ci!: readonly [low: number, high: number] | null;
  readonly ciLevel!: number | null;
  readonly ciMethod!: string | null;
  readonly effectSize!: number | null;
  readonly pValue!: number | null;
  readonly pValueMethod!: string | null;
  readonly minimumDetectableGap!: number | null;
  readonly nPerGroup!: Readonly<Record<string, number>>;
  readonly perGroup!: Readonly<Record<string, GroupRates>>;
  readonly perGroupCi!: Readonly<Record<string, GroupIntervals>> | null;
  readonly excluded!: Readonly<Record<string, Exclusion>>;
  readonly nDropped!: number;
  readonly undefinedReason!: string | null;
  readonly warnings!: readonly string[];
  readonly seed!: number | null;

  constructor(fields: MetricResultFields) {
    Object.assign(this, fields);
    freezeDeep(this);
  }

  /** The result as the wire has it: snake_case, an undefined value as null. */
  toJSON(): MetricResultJson {
    return {
      metric: this.metric,
      value: finiteOrNull(this.value),
      ci: this.ci === null ? null : [this.ci[0], finiteOrNull(this.ci[1])],
      ci_level: this.ciLevel,
      ci_method: this.ciMethod,
      effect_size: this.effectSize,
      p_value: this.pValue,
      p_value_method: this.pValueMethod,
      minimum_detectable_gap: this.minimumDetectableGap,
      n_per_group: this.nPerGroup,
      per_group: this.perGroup,
      per_group_ci: this.perGroupCi,
      excluded: this.excluded,
      n_dropped: this.nDropped,
      undefined_reason: this.undefinedReason,
      warnings: this.warnings,
      seed: this.seed,
    };
  }

  /** The result as a Markdown section: the value, then a table of groups. */
  toMarkdown(): string {
    return metricToMarkdown(this);
  }
}

function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function freezeDeep(value: object): void {
  for (const part of Object.values(value) as unknown[]) {
    if (typeof part === 'object' && part !== null) freezeDeep(part);
  }
  Object.freeze(value);
}

/** A {@link MetricResult} on the wire. */
export interface MetricResultJson {
  readonly metric: string;
  readonly value: number | null;
  /** An end that is infinite (of a ratio) is null. */
  readonly ci: readonly [low: number, high: number | null] | null;
  readonly ci_level: number | null;
  readonly ci_method: string | null;
  readonly effect_size: number | null;
  readonly p_value: number | null;
  readonly p_value_method: string | null;
  readonly minimum_detectable_gap: number | null;
  readonly n_per_group: Readonly<Record<string, number>>;
  readonly per_group: Readonly<Record<string, GroupRates>>;
  readonly per_group_ci: Readonly<Record<string, GroupIntervals>> | null;
  readonly excluded: Readonly<Record<string, Exclusion>>;
  readonly n_dropped: number;
  readonly undefined_reason: string | null;
  readonly warnings: readonly string[];
  readonly seed: number | null;
}
