import { camelFields, type SnakeFields, snakeFields, toSnakeCase } from '../internal/arguments.ts';
import { formatLevel, formatNumber, pValueWords, rangeText } from '../internal/format.ts';
import { finiteOrNull, freezeDeep } from '../internal/values.ts';
import type { MeasureName } from './measures/index.ts';
import { escapeMarkdown, inWords, markdownTable } from './metric-markdown.ts';
import type { Compat, GapAggregate, GapMethod } from './options.ts';

/** The reason why a group, or one of its rates, was excluded. */
export interface Exclusion {
  /** The number of rows of the group. */
  readonly n: number;
  readonly reason: string;
  /**
   * The weighted numerator of the rate that the reason refers to. The numerator is null if the metric does not compare
   * rates or the sum overflows.
   */
  readonly numerator: number | null;
  /** The weighted denominator of the rate that the reason refers to. */
  readonly denominator: number | null;
}

/** The rows of compared groups in which a value that the metric needs is missing. */
export interface MissingRows {
  /** The number of rows with missing values. Rows without a group are not included; `nDropped` includes them. */
  readonly n: number;
  /** The number of rows with missing values in each group. */
  readonly byGroup: Readonly<Record<string, number>>;
  /** The p-value of the hypothesis that all groups have the same share of missing rows; null if no row is missing. */
  readonly pValue: number | null;
  /**
   * The smallest and largest value that the metric could have if no value were missing; null if bounds are not
   * available.
   */
  readonly worstCase: readonly [low: number, high: number] | null;
}

/** The measures of one group, by name; an undefined measure is null. */
export type GroupRates = Readonly<PerMeasure<number>>;

/**
 * Values by measure. Besides `MeasureName`, there are names for measures of one class (`precision of 'x'`) and for
 * disparities (`precision_disparity`).
 */
type PerMeasure<T> = Partial<Record<MeasureName, T | null>> & Partial<Record<string, T | null>>;

/** The intervals of the measures of one group, by name; an interval that is not available is null. */
export type GroupIntervals = Readonly<PerMeasure<readonly [low: number, high: number]>>;

/** The result of a metric, with its interval, exclusions and warnings. Frozen. */
export class MetricResult {
  /** The metric's name in snake_case. */
  readonly metric!: string;
  /**
   * The value of the metric. An undefined value is NaN (or infinite, for a ratio over 0 by AIF360's conventions), and
   * `undefinedReason` gives the reason.
   */
  readonly value!: number;
  /** The interval around `value`, or null if it was not requested or is not available. */
  readonly ci!: readonly [low: number, high: number] | null;
  readonly ciLevel!: number | null;
  readonly ciMethod!: string | null;
  /**
   * The effect size of the gap: the risk ratio of the extreme groups for rates, or Cohen's d for mean errors. The
   * effect size is null if it was not requested or is undefined.
   */
  readonly effectSize!: number | null;
  readonly effectSizeName!: 'risk_ratio' | 'cohens_d' | null;
  /** The p-value: the probability of a gap at least this large if the groups do not differ; null if not requested. */
  readonly pValue!: number | null;
  /**
   * The method by which the p-value was computed. `permutation` (of group labels) is exact except for sampling error.
   * `max-t` and, for many groups, `bonferroni` are approximate.
   */
  readonly pValueMethod!: string | null;
  /**
   * The minimum detectable difference between the extreme groups at their sample sizes (80% power); null if unknown.
   */
  readonly minimumDetectableGap!: number | null;
  /** How groups were compared: `between_groups`, `to_overall` or `to_reference`. */
  readonly method!: GapMethod;
  /** The group with which all other groups were compared, if `method` is `to_reference`. */
  readonly referenceGroup!: string | null;
  /** The aggregation of several gaps; null if there is only one gap. */
  readonly agg!: GapAggregate | null;
  /** The library whose conventions were followed. */
  readonly compat!: Compat | null;
  /** The number of rows of each compared group. */
  readonly nPerGroup!: Readonly<Record<string, number>>;
  /** The measures of each compared group. */
  readonly perGroup!: Readonly<Record<string, GroupRates>>;
  /**
   * The intervals of each group at `ciLevel` (Wilson for rates, normal for means); null if intervals were not
   * requested.
   */
  readonly perGroupCi!: Readonly<Record<string, GroupIntervals>> | null;
  /** The groups that were excluded, completely or from single rates, with the reason. */
  readonly excluded!: Readonly<Record<string, Exclusion>>;
  /**
   * One of the two groups of the gap: the group with the higher value, or the first group of a signed gap (AIF360,
   * language models). The field is null if no single pair of groups determines the value, or if the value is undefined.
   */
  readonly first!: string | null;
  /** The other group of the gap; also null if groups are compared with all rows. */
  readonly second!: string | null;
  /** The number of rows excluded because a value that the metric needs is missing. */
  readonly nDropped!: number;
  /**
   * The number of rows with missing values by group, and the range of values that the metric could have if no value
   * were missing. The field is null for a metric that is not computed from rows.
   */
  readonly missing!: MissingRows | null;
  readonly undefinedReason!: string | null;
  /**
   * The smallest and the largest value that the metric can have; present only if small counts were left out. `value` is
   * then NaN, unless both are equal.
   */
  declare readonly bounds?: readonly [low: number, high: number] | undefined;
  /** The smallest and the largest value of each group's measures; present only if small counts were left out. */
  declare readonly perGroupBounds?: Readonly<Record<string, GroupIntervals>> | undefined;
  /** The number of clusters of each compared group; present only if rows come in clusters. */
  declare readonly nClusters?: Readonly<Record<string, number>> | undefined;
  /** Warnings to consider before you quote the value. */
  readonly warnings!: readonly string[];
  readonly seed!: number | null;

  constructor(fields: MetricResultFields) {
    Object.assign(this, fields);
    freezeDeep(this);
  }

  /** Returns the result in its wire format: snake_case keys, with null for an undefined value. */
  toJSON(): MetricResultJson {
    const json: Record<string, unknown> = {};
    for (const [name, snakeName] of FIELD_NAMES) json[snakeName] = this[name];
    // A field that is set again keeps its position.
    json['value'] = finiteOrNull(this.value);
    json['ci'] = this.ci === null ? null : [this.ci[0], finiteOrNull(this.ci[1])];
    json['missing'] = this.missing === null ? null : snakeFields(this.missing);
    if (this.bounds !== undefined) json['bounds'] = this.bounds;
    if (this.nClusters !== undefined) json['n_clusters'] = this.nClusters;
    if (this.perGroupBounds !== undefined) json['per_group_bounds'] = this.perGroupBounds;
    return json as unknown as MetricResultJson;
  }

  /** Renders the result as a Markdown section: the value, then a table of groups. */
  toMarkdown(): string {
    return metricToMarkdown(this);
  }
}

/** All fields of a metric result. */
export type MetricResultFields = Omit<MetricResult, 'toJSON' | 'toMarkdown'>;

/** The names of the fields with their names in JSON, in the order of the wire format. */
const FIELD_NAMES = (Object.keys(new MetricResult({} as MetricResultFields)) as (keyof MetricResultFields)[]).map(
  (name) => [name, toSnakeCase(name)] as const,
);

/** The wire format of a {@link MetricResult}. An undefined value and an infinite end of `ci` (of a ratio) are null. */
export interface MetricResultJson extends SnakeFields<Omit<MetricResultFields, 'value' | 'ci' | 'missing'>> {
  readonly value: number | null;
  readonly ci: readonly [low: number, high: number | null] | null;
  readonly missing: SnakeFields<MissingRows> | null;
}

/** The wire format of a result. In the format of earlier versions, the {@link NewField} fields are missing. */
type EarlierJson = Omit<MetricResultJson, NewField> & Partial<Pick<MetricResultJson, NewField>>;

type NewField = 'first' | 'second' | 'missing';

/**
 * Creates a result from the output of its `toJSON`: null becomes NaN, and a null end of an interval becomes infinite.
 */
export function metricResultFromJson(json: EarlierJson): MetricResult {
  const { first = null, second = null, missing = null, n_clusters: nClusters, ...others } = json;
  return new MetricResult({
    ...camelFields(others),
    value: json.value ?? NaN,
    ci: json.ci === null ? null : [json.ci[0], json.ci[1] ?? Infinity],
    first,
    second,
    missing: missing && camelFields(missing),
    ...(nClusters === undefined ? {} : { nClusters }),
  });
}

/** Renders a metric result as a Markdown section: the value with its interval, a table of groups, and notes. */
export function metricToMarkdown(result: MetricResultFields): string {
  const notes = notesOf(result);
  return [
    `### ${inWords(result.metric)}`,
    '',
    headline(result),
    ...comparisonNote(result),
    ...gapNote(result),
    ...groupTable(result),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ].join('\n');
}

/** Describes how groups were compared. Returns nothing if the defaults were used. */
function comparisonNote({ method, referenceGroup, agg, compat }: MetricResultFields): string[] {
  const parts = [
    ...(referenceGroup === null ? [] : [`compared with ${escapeMarkdown(referenceGroup)}`]),
    ...(method === 'to_overall' ? ['compared with all rows'] : []),
    ...(agg === 'mean' ? ['the mean of the gaps'] : []),
    ...(compat === null ? [] : [`by the conventions of ${compat}`]),
  ];
  return parts.length === 0 ? [] : ['', `${inWords(parts.join(', '))}.`];
}

/** Describes the groups that determine the value. */
function gapNote({ first, second, compat }: MetricResultFields): string[] {
  if (first === null) return [];
  if (second === null) return ['', `Gap between ${escapeMarkdown(first)} and all rows.`];
  const between = `between ${escapeMarkdown(first)} and ${escapeMarkdown(second)}`;
  return ['', `Gap ${between}${compat === 'aif360' ? ', in this order' : ''}.`];
}

function headline(result: MetricResultFields): string {
  const { undefinedReason, value, ci, ciLevel, effectSize, effectSizeName, pValue, minimumDetectableGap } = result;
  const shown = undefinedReason === null ? formatNumber(value) : `undefined (${escapeMarkdown(undefinedReason)})`;
  return [
    `**${shown}**`,
    ...(ci === null ? [] : [`${formatLevel(ciLevel ?? 0)} interval ${rangeText(ci, (end) => formatNumber(end))}`]),
    ...(effectSize === null
      ? []
      : [`${effectSizeName === 'cohens_d' ? "Cohen's d" : 'risk ratio'} ${formatNumber(effectSize, 2)}`]),
    ...(pValue === null ? [] : [pValueWords(pValue)]),
    ...(minimumDetectableGap === null
      ? []
      : [`minimum detectable difference ${formatNumber(minimumDetectableGap, 3)} (80% power)`]),
  ].join(', ');
}

function groupTable({ perGroup, perGroupCi, perGroupBounds, nPerGroup }: MetricResultFields): string[] {
  const measures = [...new Set(Object.values(perGroup).flatMap((group) => Object.keys(group)))];
  const rows = Object.entries(perGroup).map(([label, group]) => [
    escapeMarkdown(label),
    String(nPerGroup[label] ?? 0),
    ...measures.map((measure) => {
      const between = perGroupBounds?.[label]?.[measure];
      if (between !== undefined && between !== null && group[measure] === null)
        return rangeText(between, (end) => formatNumber(end, 3));
      const interval = perGroupCi?.[label]?.[measure];
      const range =
        interval === undefined || interval === null ? '' : ` (${rangeText(interval, (end) => formatNumber(end, 3))})`;
      return `${formatNumber(group[measure] ?? NaN)}${range}`;
    }),
  ]);
  return rows.length === 0 ? [] : ['', markdownTable(['group', 'n', ...measures.map(inWords)], rows)];
}

function notesOf({ excluded, nDropped, missing, warnings }: MetricResultFields): string[] {
  const worstCase = missing === null || missing.n === 0 ? null : missing.worstCase;
  return [
    ...Object.entries(excluded).map(
      ([label, { n, reason }]) => `- Excluded: ${escapeMarkdown(label)} (n = ${String(n)}): ${escapeMarkdown(reason)}`,
    ),
    ...(nDropped > 0 ? [`- ${String(nDropped)} ${nDropped === 1 ? 'row' : 'rows'} with missing values excluded`] : []),
    ...(worstCase === null
      ? []
      : [`- Worst case over the rows with missing values: ${worstCase.map((end) => formatNumber(end)).join(' to ')}`]),
    ...warnings.map((warning) => `- Note: ${escapeMarkdown(warning)}`),
  ];
}
