import { pValuePhrase } from '../../internal/format.ts';
import { labelText, listed } from '../../document/report-text.ts';
import { formatNumber, formatPercent } from '../../metrics/metric-markdown.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { counted, metricName, metricPairTitle, metricTitle } from './report-words.ts';

/** The share of false claims that sentences accept, whatever the level of intervals is. */
export const ALPHA = 0.05;

/** The probability with which an effect of the minimum detectable size is found. */
const POWER = '0.8';

/**
 * Whether an effect is told from sampling noise: `shown`, `not_shown` (which is no proof that there is none),
 * `not_tested` for a metric without a test, `undefined`.
 */
export type Finding = 'shown' | 'not_shown' | 'not_tested' | 'undefined';

/** What a metric says of an effect: its p-value, adjusted where that is known, against 0.05. */
export function findingOf(metric: LlmMetricResult): Finding {
  if (metric.undefinedReason !== null || Number.isNaN(metric.value)) return 'undefined';
  const p = testedP(metric);
  if (p === null) return 'not_tested';
  return p <= ALPHA ? 'shown' : 'not_shown';
}

/** What is read in a table. */
export const FINDING_WORDS: Readonly<Record<Finding, string>> = {
  shown: 'yes',
  not_shown: 'not shown',
  not_tested: 'no test',
  undefined: 'undefined',
};

/** The same in a sentence. */
export function findingSentence(metric: LlmMetricResult): string {
  const title = metricPairTitle(metric);
  const value = formatNumber(metric.value);
  switch (findingOf(metric)) {
    case 'undefined':
      return `${title}: undefined (${metric.undefinedReason ?? 'the value is not a number'}).`;
    case 'not_tested':
      return `${title}: ${value} (${basis(metric)}). No test was made of it.`;
    case 'shown':
      return `${title}: ${value}, told from sampling noise (${basis(metric)}).`;
    case 'not_shown':
      return `${title}: ${value}; no effect beyond noise was shown (${basis(metric)}), and ${detectable(metric)}.`;
  }
}

/** The p-value that findings go by; null where there is none. */
export function testedP({ adjustedPValue, pValue }: LlmMetricResult): number | null {
  return adjustedPValue ?? pValue;
}

/** Interval, items and p-value, as far as they are known. */
function basis(metric: LlmMetricResult): string {
  const { ci, ciLevel, n, adjustedPValue } = metric;
  const level = ciLevel === null ? 'interval' : `${formatPercent(ciLevel)} interval`;
  const p = testedP(metric);
  return [
    ...(ci === null ? [] : [`${level} ${formatNumber(ci[0])} to ${formatNumber(ci[1])}`]),
    counted(n, 'item'),
    ...(p === null ? [] : [`${adjustedPValue === null ? 'p' : 'adjusted p'} ${pValuePhrase(p)}`]),
  ].join(', ');
}

function detectable({ minimumDetectableGap }: LlmMetricResult): string {
  return minimumDetectableGap === null
    ? 'how large an effect these data would have shown is not known'
    : `differences above ${String(Number(minimumDetectableGap.toPrecision(2)))} would have been found with probability ${POWER}`;
}

/** So many metrics have a sentence each; of more only what is told from noise has, and the others are told together. */
const MAX_SENTENCES = 10;

/** Names in one sentence. */
const MAX_NAMES = 4;

/** What metrics say, in as many sentences as are still read. */
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
  return [...grouped(metrics, ({ dimension, evaluator }) => (evaluator === 'stereotype' ? null : dimension))].map(
    ([dimension, members]) => {
      const where = dimension === null ? 'Without a dimension' : `By ${labelText(dimension)}`;
      const which = `${counted(members.length, 'metric')} (${listed(members.map(metricName), MAX_NAMES)})`;
      return `${where}: no effect beyond noise was shown by ${which}; the table says which differences would have been found with probability 0.8.`;
    },
  );
}

/** Metrics that are undefined for one reason, in one sentence. */
export function undefinedByReason(
  metrics: readonly LlmMetricResult[],
  nameOf: (metric: LlmMetricResult) => string,
): string[] {
  return [...grouped(metrics, ({ undefinedReason }) => undefinedReason ?? 'the value is not a number')].map(
    ([reason, members]) => `Undefined: ${listed(members.map(nameOf), MAX_NAMES)}: ${reason}.`,
  );
}

function grouped<Key>(
  metrics: readonly LlmMetricResult[],
  keyOf: (metric: LlmMetricResult) => Key,
): Map<Key, LlmMetricResult[]> {
  const groups = new Map<Key, LlmMetricResult[]>();
  for (const metric of metrics) {
    const members = groups.get(keyOf(metric));
    if (members === undefined) groups.set(keyOf(metric), [metric]);
    else members.push(metric);
  }
  return groups;
}
