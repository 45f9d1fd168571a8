import { finiteOrNull } from '../internal/values.ts';
import { metricToMarkdown } from './metric-markdown.ts';
import type { Exclusion, GroupIntervals, GroupRates, MetricResultFields, MissingRows } from './metric-result-fields.ts';
import type { Compat, GapAggregate, GapMethod } from './options.ts';

/** The result of a metric, with its interval, exclusions and warnings. Frozen. */
export class MetricResult implements MetricResultFields {
  readonly metric!: string;
  readonly value!: number;
  readonly ci!: readonly [low: number, high: number] | null;
  readonly ciLevel!: number | null;
  readonly ciMethod!: string | null;
  readonly effectSize!: number | null;
  readonly effectSizeName!: 'risk_ratio' | 'cohens_d' | null;
  readonly pValue!: number | null;
  readonly pValueMethod!: string | null;
  readonly minimumDetectableGap!: number | null;
  readonly method!: GapMethod;
  readonly referenceGroup!: string | null;
  readonly agg!: GapAggregate | null;
  readonly compat!: Compat | null;
  readonly nPerGroup!: Readonly<Record<string, number>>;
  readonly perGroup!: Readonly<Record<string, GroupRates>>;
  readonly perGroupCi!: Readonly<Record<string, GroupIntervals>> | null;
  readonly excluded!: Readonly<Record<string, Exclusion>>;
  readonly first!: string | null;
  readonly second!: string | null;
  readonly nDropped!: number;
  readonly missing!: MissingRows | null;
  readonly undefinedReason!: string | null;
  readonly warnings!: readonly string[];
  readonly seed!: number | null;

  constructor(fields: MetricResultFields) {
    Object.assign(this, fields);
    freezeDeep(this);
  }

  /** Returns the result in its wire format: snake_case keys, with null for an undefined value. */
  toJSON(): MetricResultJson {
    return {
      metric: this.metric,
      value: finiteOrNull(this.value),
      ci: this.ci === null ? null : [this.ci[0], finiteOrNull(this.ci[1])],
      ci_level: this.ciLevel,
      ci_method: this.ciMethod,
      effect_size: this.effectSize,
      effect_size_name: this.effectSizeName,
      p_value: this.pValue,
      p_value_method: this.pValueMethod,
      minimum_detectable_gap: this.minimumDetectableGap,
      method: this.method,
      reference_group: this.referenceGroup,
      agg: this.agg,
      compat: this.compat,
      n_per_group: this.nPerGroup,
      per_group: this.perGroup,
      per_group_ci: this.perGroupCi,
      excluded: this.excluded,
      first: this.first,
      second: this.second,
      n_dropped: this.nDropped,
      missing: this.missing === null ? null : missingToJson(this.missing),
      undefined_reason: this.undefinedReason,
      warnings: this.warnings,
      seed: this.seed,
    };
  }

  /** Renders the result as a Markdown section: the value, then a table of groups. */
  toMarkdown(): string {
    return metricToMarkdown(this);
  }
}

function missingToJson({ n, byGroup, pValue, worstCase }: MissingRows): MissingRowsJson {
  return { n, by_group: byGroup, p_value: pValue, worst_case: worstCase };
}

function freezeDeep(value: object): void {
  for (const part of Object.values(value) as unknown[]) {
    if (typeof part === 'object' && part !== null) freezeDeep(part);
  }
  Object.freeze(value);
}

/** The wire format of {@link MissingRows}. */
interface MissingRowsJson {
  readonly n: number;
  readonly by_group: Readonly<Record<string, number>>;
  readonly p_value: number | null;
  readonly worst_case: readonly [low: number, high: number] | null;
}

/** The wire format of a {@link MetricResult}. */
export interface MetricResultJson {
  readonly metric: string;
  readonly value: number | null;
  /** An infinite end (of a ratio) is null. */
  readonly ci: readonly [low: number, high: number | null] | null;
  readonly ci_level: number | null;
  readonly ci_method: string | null;
  readonly effect_size: number | null;
  readonly effect_size_name: 'risk_ratio' | 'cohens_d' | null;
  readonly p_value: number | null;
  readonly p_value_method: string | null;
  readonly minimum_detectable_gap: number | null;
  readonly method: GapMethod;
  readonly reference_group: string | null;
  readonly agg: GapAggregate | null;
  readonly compat: Compat | null;
  readonly n_per_group: Readonly<Record<string, number>>;
  readonly per_group: Readonly<Record<string, GroupRates>>;
  readonly per_group_ci: Readonly<Record<string, GroupIntervals>> | null;
  readonly excluded: Readonly<Record<string, Exclusion>>;
  readonly first: string | null;
  readonly second: string | null;
  readonly n_dropped: number;
  readonly missing: MissingRowsJson | null;
  readonly undefined_reason: string | null;
  readonly warnings: readonly string[];
  readonly seed: number | null;
}

/** The wire format of results written before these fields existed. */
type EarlierJson = Omit<MetricResultJson, NewField> & Partial<Pick<MetricResultJson, NewField>>;

type NewField = 'first' | 'second' | 'missing';

/**
 * Creates a result from the output of its `toJSON`: null becomes NaN, and a null end of an interval becomes infinite.
 */
export function metricResultFromJson(json: EarlierJson): MetricResult {
  return new MetricResult({
    metric: json.metric,
    value: json.value ?? NaN,
    ci: json.ci === null ? null : [json.ci[0], json.ci[1] ?? Infinity],
    ciLevel: json.ci_level,
    ciMethod: json.ci_method,
    effectSize: json.effect_size,
    effectSizeName: json.effect_size_name,
    pValue: json.p_value,
    pValueMethod: json.p_value_method,
    minimumDetectableGap: json.minimum_detectable_gap,
    method: json.method,
    referenceGroup: json.reference_group,
    agg: json.agg,
    compat: json.compat,
    nPerGroup: json.n_per_group,
    perGroup: json.per_group,
    perGroupCi: json.per_group_ci,
    excluded: json.excluded,
    first: json.first ?? null,
    second: json.second ?? null,
    nDropped: json.n_dropped,
    missing: missingFromJson(json.missing ?? null),
    undefinedReason: json.undefined_reason,
    warnings: json.warnings,
    seed: json.seed,
  });
}

function missingFromJson(json: MetricResultJson['missing']): MissingRows | null {
  if (json === null) return null;
  return { n: json.n, byGroup: json.by_group, pValue: json.p_value, worstCase: json.worst_case };
}
