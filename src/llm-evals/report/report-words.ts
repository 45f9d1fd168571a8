import type { ReportBlock, ReportColumn, ReportTable } from '../../document/report-document.ts';
import { formatLevel, formatNumber, NOTHING, rangeText } from '../../internal/format.ts';
import { cutItems, labelText } from '../../document/report-text.ts';
import type { OptionNames } from '../../internal/arguments.ts';
import { groupBy } from '../../internal/values.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';

/** The gate's verdict on one metric of an evaluation. */
export interface LlmMetricVerdict {
  readonly passed: boolean;
  /**
   * A metric fails if it is undefined or on the wrong side of its threshold. The status shows which of these is the
   * case.
   */
  readonly status: 'pass' | 'fail' | 'undefined';
  readonly threshold: number;
  readonly comparator: string;
  /** The verdict in one sentence. */
  readonly message: string;
  /** Whether the metric's interval contains the threshold. If so, another sample could change the verdict. */
  readonly straddles: boolean;
}

/** The verdict of the gate on an evaluation; frozen. */
export interface LlmEvalVerdict {
  /** Whether every metric that has a threshold passed; null if there is no threshold. */
  readonly passed: boolean | null;
  /**
   * One threshold for all metrics that the gate checks, or a threshold for each metric name; null if there is no
   * threshold.
   */
  readonly threshold: number | Readonly<Record<string, number>> | null;
  /** The verdicts, by metric name. Empty if there is no threshold. */
  readonly metrics: Readonly<Record<string, LlmMetricVerdict>>;
}

/** The verdict of an evaluation without a threshold. */
export const NO_VERDICT: LlmEvalVerdict = Object.freeze({ passed: null, threshold: null, metrics: Object.freeze({}) });

/** Options of the reports of an evaluation. */
export interface LlmEvalReportOptions {
  /**
   * The verdict of the gate; see `judgeLlmEval` of `evenhand/integration`.
   * @defaultValue no threshold and no verdict
   */
  readonly verdict?: LlmEvalVerdict | undefined;
}

/** Lists the options of {@link LlmEvalReportOptions}. */
export const LLM_EVAL_REPORT_OPTION_NAMES: OptionNames<LlmEvalReportOptions> = { verdict: true };

/**
 * Returns the title of a metric, such as "Sentiment gap by gender". The title of a stereotype metric contains the
 * format of the question, in brackets, instead of a dimension.
 */
export function metricTitle(result: LlmMetricResult): string {
  const { dimension, evaluator } = result;
  const name = metricName(result);
  if (dimension === null) return name;
  const isPart = evaluator === 'stereotype' || evaluator === 'benchmarks';
  return isPart ? `${name} (${labelText(dimension)})` : `${name} by ${labelText(dimension)}`;
}

/** Returns the name of a metric, such as "Sentiment gap". */
export function metricName({ metric }: LlmMetricResult): string {
  return inWords(metric)
    .replace('Rouge l', 'ROUGE-L')
    .replace(/^(?:Bbq|Bleu|Cobs)\b/, (name) => name.toUpperCase())
    .replace('Crows pairs', 'CrowS-Pairs')
    .replace('Winobias', 'WinoBias');
}

/** Formats an interval as "0.0123 to 0.0456", or as a dash if it is null. */
export function intervalText(ci: readonly [number, number] | null): string {
  return ci === null ? NOTHING : rangeText(ci, (end) => formatNumber(end));
}

/** Formats a number, or a dash if it is null. */
export function numberText(value: number | null): string {
  // A number that rounds to 0 is shown without a sign.
  return value === null ? NOTHING : formatNumber(value).replace(/^-(?=0\.0*$)/, '');
}

/**
 * Returns the model and the provider that answered. The names are from the client that was passed, or else from the
 * configuration. The model of collected answers is not known, so the name of their file is returned.
 */
export function answeredBy({ client, config, collected }: Pick<LlmEvalResult, 'client' | 'config' | 'collected'>): {
  readonly model: string;
  readonly provider: string;
} {
  if (collected !== undefined && collected !== null) return { model: collected.source, provider: 'collected answers' };
  const isClient = client !== undefined && client !== null;
  return isClient ? { model: client, provider: 'client' } : { model: config.model, provider: config.provider };
}

/**
 * Describes how the metric would be distributed without an effect, such as "0.00, 95% below 0.12". Returns a dash if
 * this is unknown.
 */
export function nullText({ nullMean, nullQuantile }: Pick<LlmMetricResult, 'nullMean' | 'nullQuantile'>): string {
  if (nullMean === null || nullQuantile === null) return NOTHING;
  return `${numberText(nullMean)}, 95% below ${numberText(nullQuantile)}`;
}

/** Returns "95% interval". Returns "Interval" if the confidence levels differ or are unknown. */
export function intervalTitle(metrics: readonly LlmMetricResult[]): string {
  const levels = new Set(metrics.flatMap(({ ciLevel }) => ciLevel ?? []));
  const [level] = levels;
  return levels.size === 1 && level !== undefined ? `${formatLevel(level)} interval` : 'Interval';
}

/** Matches the names of metrics that measure a distance between two values. A distance has no direction. */
const WITHOUT_DIRECTION = /_(?:excess|distance)$/;

/**
 * Returns the label of a pair of values: "woman \u2212 man" for a difference, "woman / man" for a metric without a
 * direction.
 */
export function pairLabel({ metric }: Pick<LlmMetricResult, 'metric'>, first: string, second: string): string {
  return `${labelText(first)} ${WITHOUT_DIRECTION.test(metric) ? '/' : '\u2212'} ${labelText(second)}`;
}

/**
 * Returns the label of the pair from which the metric has its value, in brackets and preceded by a space. Returns '' if
 * there is no such pair.
 */
export function pairSuffix(metric: LlmMetricResult): string {
  const pair = metric.pairs.find(({ value }) => value === metric.value);
  return pair === undefined ? '' : ` (${pairLabel(metric, pair.first, pair.second)})`;
}

/** Returns the title of a metric and its pair, such as "Sentiment gap by gender (woman \u2212 man)". */
export function metricPairTitle(metric: LlmMetricResult): string {
  return `${metricTitle(metric)}${pairSuffix(metric)}`;
}

/** Explains the sign of values. Returns an empty list if no metric has pairs. */
export function signSentences(metrics: readonly LlmMetricResult[]): string[] {
  return metrics.some(({ pairs }) => pairs.length > 0) ? [SIGN_WORDS] : [];
}

const SIGN_WORDS =
  'A pair "woman \u2212 man" is the first value minus the second: above 0 the first value has more, below 0 the second. A pair with "/" has no direction: its value is a distance, for an excess the distance beyond noise.';

/** Returns a table, or an empty list if there are no rows. A column that is given only as a name contains text. */
export function tableOf(
  caption: string,
  columns: readonly (string | ReportColumn)[],
  rows: ReportTable['rows'],
): ReportTable[] {
  const named = columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  return rows.length === 0 ? [] : [{ kind: 'table', caption, columns: named, rows }];
}

/** Returns the number of answers without a value of each group. Metrics of a dimension with equal counts are one entry. */
export function missingByGroup(metrics: readonly LlmMetricResult[]): {
  readonly metrics: readonly LlmMetricResult[];
  readonly byGroup: readonly (readonly [group: string, count: number])[];
}[] {
  const lacking = metrics.filter(({ missing }) => missing !== null && missing.n > 0);
  const same = groupBy(lacking, ({ dimension, missing }) => JSON.stringify([dimension, missing?.byGroup]));
  return Array.from(same.values(), (those) => ({
    metrics: those,
    byGroup: Object.entries(those[0]?.missing?.byGroup ?? {}),
  }));
}

/** Returns a note with the warnings of a run; nothing if there are none. */
export function warningNote(warnings: readonly string[]): ReportBlock[] {
  return warnings.length === 0 ? [] : [{ kind: 'note', title: 'Warnings', items: cutItems(warnings) }];
}

/** Joins the different texts of a list; returns 'none' if there are none. */
export function distinctTexts(texts: readonly (string | null)[]): string {
  return [...new Set(texts.filter((text) => text !== null))].join('; ') || 'none';
}
