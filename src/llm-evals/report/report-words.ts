import { NOTHING } from '../../internal/format.ts';
import { labelText } from '../../document/report-text.ts';
import type { OptionNames } from '../../internal/arguments.ts';
import { formatNumber, formatPercent, inWords } from '../../metrics/metric-markdown.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';

/** What the gate found on one metric of an evaluation. */
export interface LlmMetricVerdict {
  readonly passed: boolean;
  /** An undefined metric is told from one on the wrong side; both fail. */
  readonly status: 'pass' | 'fail' | 'undefined';
  readonly threshold: number;
  readonly comparator: string;
  /** The verdict in one sentence. */
  readonly message: string;
  /** Whether the interval has the threshold inside, so that another sample could turn the verdict. */
  readonly straddles: boolean;
}

/** What the gate found on an evaluation; frozen. */
export interface LlmEvalVerdict {
  /** Whether every judged metric passed; null without a threshold. */
  readonly passed: boolean | null;
  /** One for all judged metrics, or by name as it was given; null without one. */
  readonly threshold: number | Readonly<Record<string, number>> | null;
  /** By the metrics' names; empty without a threshold. */
  readonly metrics: Readonly<Record<string, LlmMetricVerdict>>;
}

/** No threshold, no verdict. */
export const NO_VERDICT: LlmEvalVerdict = Object.freeze({ passed: null, threshold: null, metrics: Object.freeze({}) });

/** Options of the reports of an evaluation. */
export interface LlmEvalReportOptions {
  /**
   * What the gate found: see `judgeLlmEval` of `evenhand/integration`.
   * @defaultValue no threshold, no verdict
   */
  readonly verdict?: LlmEvalVerdict | undefined;
}

/** Lists the options of {@link LlmEvalReportOptions}. */
export const LLM_EVAL_REPORT_OPTION_NAMES: OptionNames<LlmEvalReportOptions> = { verdict: true };

/** "Sentiment gap by gender"; what stereotypes are measured in is no group but a form of asking. */
export function metricTitle(result: LlmMetricResult): string {
  const { dimension, evaluator } = result;
  const name = metricName(result);
  if (dimension === null) return name;
  return evaluator === 'stereotype' ? `${name} (${labelText(dimension)})` : `${name} by ${labelText(dimension)}`;
}

/** "Sentiment gap" */
export function metricName({ metric }: LlmMetricResult): string {
  return inWords(metric)
    .replace('Rouge l', 'ROUGE-L')
    .replace(/^(?:Bbq|Bleu|Cobs)\b/, (name) => name.toUpperCase());
}

/** "0.0123 to 0.0456", or nothing. */
export function intervalText(ci: readonly [number, number] | null): string {
  return ci === null ? NOTHING : `${formatNumber(ci[0])} to ${formatNumber(ci[1])}`;
}

/** A number that may be missing. */
export function numberText(value: number | null): string {
  // What is rounded to 0 has no sign.
  return value === null ? NOTHING : formatNumber(value).replace(/^-(?=0\.0*$)/, '');
}

/** Who answered: the model and provider of the configuration, or the client that was passed. */
export function answeredBy({ client, config }: Pick<LlmEvalResult, 'client' | 'config'>): {
  readonly model: string;
  readonly provider: string;
} {
  const isClient = client !== undefined && client !== null;
  return isClient ? { model: client, provider: 'client' } : { model: config.model, provider: config.provider };
}

/** What this very metric gives without an effect: "0.00, 95% below 0.12"; nothing where it is not known. */
export function nullText({ nullMean, nullQuantile }: Pick<LlmMetricResult, 'nullMean' | 'nullQuantile'>): string {
  if (nullMean === null || nullQuantile === null) return NOTHING;
  return `${numberText(nullMean)}, 95% below ${numberText(nullQuantile)}`;
}

/** A whole number with separators. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** "1 item", "2,000 items" */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** "95% interval", or "Interval" where levels differ or are not known. */
export function intervalTitle(metrics: readonly LlmMetricResult[]): string {
  const levels = new Set(metrics.flatMap(({ ciLevel }) => ciLevel ?? []));
  const [level] = levels;
  return levels.size === 1 && level !== undefined ? `${formatPercent(level)} interval` : 'Interval';
}

/** Metrics of how far apart two values are, whichever comes first. */
const WITHOUT_DIRECTION = /_(?:excess|distance)$/;

/** "woman \u2212 man" of a difference, "woman / man" where neither value is taken from the other. */
export function pairLabel({ metric }: Pick<LlmMetricResult, 'metric'>, first: string, second: string): string {
  return `${labelText(first)} ${WITHOUT_DIRECTION.test(metric) ? '/' : '\u2212'} ${labelText(second)}`;
}

/** The pair that a metric's value is of, in brackets after a space; nothing where it has none. */
export function pairSuffix(metric: LlmMetricResult): string {
  const pair = metric.pairs.find(({ value }) => value === metric.value);
  return pair === undefined ? '' : ` (${pairLabel(metric, pair.first, pair.second)})`;
}

/** "Sentiment gap by gender (woman \u2212 man)" */
export function metricPairTitle(metric: LlmMetricResult): string {
  return `${metricTitle(metric)}${pairSuffix(metric)}`;
}

/** What the sign of values means; nothing where no value is one of a pair. */
export function signSentences(metrics: readonly LlmMetricResult[]): string[] {
  return metrics.some(({ pairs }) => pairs.length > 0) ? [SIGN_WORDS] : [];
}

const SIGN_WORDS =
  'A pair "woman \u2212 man" is the first value minus the second: above 0 the first has more, below 0 the second has. A pair with "/" has no direction: its value says how far apart the two are, of an excess beyond noise.';
