import { escapeMarkdown, markdownTable } from './markdown-table.ts';

/** Names of the rates that groups are compared by. */
export type RateName = 'selection_rate' | 'true_positive_rate' | 'false_positive_rate' | 'mean_absolute_error';

/** Why a group, or one rate of it, took no part. */
export interface Exclusion {
  /** Rows of the group. */
  readonly n: number;
  readonly reason: string;
}

/** A group's rates; null for one that it does not have. */
export type GroupRates = Readonly<Partial<Record<RateName, number | null>>>;

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
  readonly pValue: number | null;
  /** Rows per group that took part. */
  readonly nPerGroup: Readonly<Record<string, number>>;
  /** Rates per group that took part. */
  readonly perGroup: Readonly<Record<string, GroupRates>>;
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
  readonly nPerGroup!: Readonly<Record<string, number>>;
  readonly perGroup!: Readonly<Record<string, GroupRates>>;
  readonly excluded!: Readonly<Record<string, Exclusion>>;
  readonly nDropped!: number;
  readonly undefinedReason!: string | null;
  readonly warnings!: readonly string[];
  readonly seed!: number | null;

  constructor(fields: MetricResultFields) {
    Object.assign(this, fields);
    Object.freeze(this);
  }

  /** The result as the wire has it: snake_case, an undefined value as null. */
  toJSON(): MetricResultJson {
    return {
      metric: this.metric,
      value: Number.isNaN(this.value) ? null : this.value,
      ci: this.ci,
      ci_level: this.ciLevel,
      ci_method: this.ciMethod,
      effect_size: this.effectSize,
      p_value: this.pValue,
      n_per_group: this.nPerGroup,
      per_group: this.perGroup,
      excluded: this.excluded,
      n_dropped: this.nDropped,
      undefined_reason: this.undefinedReason,
      warnings: this.warnings,
      seed: this.seed,
    };
  }

  /** The result as a Markdown section: the value, then a table of groups. */
  toMarkdown(): string {
    const value = this.undefinedReason === null ? formatNumber(this.value) : `undefined (${this.undefinedReason})`;
    const interval =
      this.ci === null
        ? ''
        : `, ${String(Number((100 * (this.ciLevel ?? 0)).toFixed(6)))}% interval ${formatNumber(this.ci[0])} to ${formatNumber(this.ci[1])}`;
    const rates = [...new Set(Object.values(this.perGroup).flatMap((group) => Object.keys(group) as RateName[]))];
    const rows = Object.entries(this.perGroup).map(([label, group]) => [
      escapeMarkdown(label),
      String(this.nPerGroup[label] ?? 0),
      ...rates.map((rate) => formatNumber(group[rate] ?? NaN)),
    ]);
    const table = rows.length === 0 ? [] : ['', markdownTable(['group', 'n', ...rates.map(inWords)], rows)];
    const effect =
      this.effectSize === null
        ? ''
        : `, ${this.metric === 'mae_parity_difference' ? "Cohen's d" : 'risk ratio'} ${formatNumber(this.effectSize, 2)}`;
    const excluded = Object.entries(this.excluded).map(
      ([label, { n, reason }]) => `- Excluded: ${escapeMarkdown(label)} (n = ${String(n)}): ${reason}`,
    );
    const notes = [
      ...excluded,
      ...(this.nDropped > 0
        ? [`- ${String(this.nDropped)} ${this.nDropped === 1 ? 'row' : 'rows'} with missing values left out`]
        : []),
      ...this.warnings.map((warning) => `- Note: ${escapeMarkdown(warning)}`),
    ];
    return [
      `### ${inWords(this.metric)}`,
      '',
      `**${value}**${interval}${effect}`,
      ...table,
      ...(notes.length === 0 ? [] : ['', ...notes]),
    ].join('\n');
  }
}

/** A {@link MetricResult} on the wire. */
export interface MetricResultJson {
  readonly metric: string;
  readonly value: number | null;
  readonly ci: readonly [low: number, high: number] | null;
  readonly ci_level: number | null;
  readonly ci_method: string | null;
  readonly effect_size: number | null;
  readonly p_value: number | null;
  readonly n_per_group: Readonly<Record<string, number>>;
  readonly per_group: Readonly<Record<string, GroupRates>>;
  readonly excluded: Readonly<Record<string, Exclusion>>;
  readonly n_dropped: number;
  readonly undefined_reason: string | null;
  readonly warnings: readonly string[];
  readonly seed: number | null;
}

/** A snake_case name in words. */
function inWords(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A number for people: four decimals, "undefined" for NaN. */
function formatNumber(value: number, decimals = 4): string {
  return Number.isNaN(value) ? 'undefined' : value.toFixed(decimals);
}
