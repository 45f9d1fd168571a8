import { formatNumber, formatPercent, inWords } from '../../metrics/metric-markdown.ts';
import type { LlmMetricResult } from '../evaluators/llm-metric-result.ts';
import { labelText } from '../../document/report-text.ts';
import type { LlmEvalResult } from '../run/llm-eval-result.ts';

/** Where a cell has nothing to say. */
export const NOTHING = '\u2013';

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

/** A p-value for a table; below what most tables print, as a bound. */
export function pValueText(p: number | null): string {
  if (p === null) return NOTHING;
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** A p-value in a sentence. */
export function pValuePhrase(p: number): string {
  return p < 0.001 ? '< 0.001' : `= ${p.toFixed(3)}`;
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
