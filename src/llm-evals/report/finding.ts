import { counted, formatLevel, formatNumber, pValuePhrase } from '../../internal/format.ts';
import { labelText, listed } from '../../document/report-text.ts';
import { groupBy } from '../../internal/values.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { metricName, metricPairTitle, metricTitle } from './report-words.ts';

/**
 * The significance level at which a sentence reports an effect as shown. This level is independent of the confidence
 * level of intervals.
 */
export const ALPHA = 0.05;

/** The power at which the minimum detectable difference is computed. */
const POWER = '0.8';

/**
 * Whether an effect is statistically distinguishable from sampling noise. `not_shown` does not prove that there is no
 * effect. `not_tested` means that the metric has no test. `undefined` means that the metric has no value.
 */
export type Finding = 'shown' | 'not_shown' | 'not_tested' | 'undefined';

/**
 * Classifies a metric by comparing its p-value with 0.05. If the metric has an adjusted p-value, the adjusted p-value
 * is used.
 */
export function findingOf(metric: LlmMetricResult): Finding {
  if (metric.undefinedReason !== null || Number.isNaN(metric.value)) return 'undefined';
  const p = testedP(metric);
  if (p === null) return 'not_tested';
  return p <= ALPHA ? 'shown' : 'not_shown';
}

/** The words with which tables describe findings. */
export const FINDING_WORDS: Readonly<Record<Finding, string>> = {
  shown: 'yes',
  not_shown: 'not shown',
  not_tested: 'no test',
  undefined: 'undefined',
};

/** Describes a metric and its finding in one sentence. */
export function findingSentence(metric: LlmMetricResult): string {
  const title = metricPairTitle(metric);
  const value = formatNumber(metric.value);
  switch (findingOf(metric)) {
    case 'undefined':
      return `${title}: undefined (${metric.undefinedReason ?? 'the value is not a number'}).`;
    case 'not_tested':
      return `${title}: ${value} (${basis(metric)}). It was not tested.`;
    case 'shown':
      return `${title}: ${value}, statistically distinguishable from sampling noise (${basis(metric)}).`;
    case 'not_shown':
      return `${title}: ${value}; no effect beyond noise was shown (${basis(metric)}), and ${detectable(metric)}.`;
  }
}

/**
 * Returns the p-value with which a finding is determined. If the metric has an adjusted p-value, the adjusted p-value
 * is returned. Returns null if there is no p-value.
 */
export function testedP({ adjustedPValue, pValue }: LlmMetricResult): number | null {
  return adjustedPValue ?? pValue;
}

/** Lists the interval, the number of items and the p-value of a metric. Omits values that are unknown. */
function basis(metric: LlmMetricResult): string {
  const { ci, ciLevel, n, adjustedPValue } = metric;
  const level = ciLevel === null ? 'interval' : `${formatLevel(ciLevel)} interval`;
  const p = testedP(metric);
  return [
    ...(ci === null ? [] : [`${level} ${formatNumber(ci[0])} to ${formatNumber(ci[1])}`]),
    counted(n, 'item'),
    ...(p === null ? [] : [`${adjustedPValue === null ? 'p' : 'adjusted p'} ${pValuePhrase(p)}`]),
  ].join(', ');
}

function detectable({ minimumDetectableGap }: LlmMetricResult): string {
  return minimumDetectableGap === null
    ? 'the minimum detectable difference is unknown'
    : `the minimum detectable difference is ${String(Number(minimumDetectableGap.toPrecision(2)))} (power ${POWER})`;
}

/**
 * The maximum number of metrics that are all described by separate sentences. If there are more metrics, each metric
 * with a shown effect is described in a sentence, and the other metrics are summarized.
 */
const MAX_SENTENCES = 10;

/** The maximum number of names that a sentence lists. */
const MAX_NAMES = 4;

/**
 * Describes the findings of metrics in sentences. If there are more than {@link MAX_SENTENCES} metrics, summarizes the
 * metrics without a shown effect.
 */
export function findingSentences(metrics: readonly LlmMetricResult[]): string[] {
  if (metrics.length <= MAX_SENTENCES) return metrics.map(findingSentence);
  const of = (finding: ReturnType<typeof findingOf>): LlmMetricResult[] =>
    metrics.filter((metric) => findingOf(metric) === finding);
  return [
    ...of('shown').map(findingSentence),
    ...togetherByDimension(of('not_shown')),
    ...(of('not_tested').length === 0 ? [] : [`Not tested: ${listed(of('not_tested').map(metricTitle), MAX_NAMES)}.`]),
    ...undefinedByReason(of('undefined'), metricTitle),
  ];
}

function togetherByDimension(metrics: readonly LlmMetricResult[]): string[] {
  return [...groupBy(metrics, ({ dimension, evaluator }) => (evaluator === 'stereotype' ? null : dimension))].map(
    ([dimension, members]) => {
      const where = dimension === null ? 'Without a dimension' : `By ${labelText(dimension)}`;
      const which = `${counted(members.length, 'metric')} (${listed(members.map(metricName), MAX_NAMES)})`;
      return `${where}: no effect beyond noise was shown by ${which}; the table lists their minimum detectable differences.`;
    },
  );
}

/** Groups undefined metrics by reason, with one sentence for each reason. */
export function undefinedByReason(
  metrics: readonly LlmMetricResult[],
  nameOf: (metric: LlmMetricResult) => string,
): string[] {
  return [...groupBy(metrics, ({ undefinedReason }) => undefinedReason ?? 'the value is not a number')].map(
    ([reason, members]) => `Undefined: ${listed(members.map(nameOf), MAX_NAMES)}: ${reason}.`,
  );
}
