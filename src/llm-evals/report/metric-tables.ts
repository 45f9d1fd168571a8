import { formatCount, NOTHING, pValueText } from '../../internal/format.ts';
import { numberColumn, type ReportBlock, type ReportTable } from '../../document/report-document.ts';
import { cutItems, labelText } from '../../document/report-text.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { LlmMetricResult } from '../scoring/llm-metric-result.ts';
import { FINDING_WORDS, findingOf, findingSentences } from './finding.ts';
import {
  intervalText,
  intervalTitle,
  metricName,
  metricPairTitle,
  metricTitle,
  nullText,
  numberText,
  pairLabel,
  signSentences,
  tableOf,
} from './report-words.ts';

/** The maximum number of rows in a table of groups or pairs. A longer table is truncated, and a note states this. */
const MAX_ROWS = 60;

/** Builds the section on findings: sentences, followed by a table with a row for each metric. */
export function findingBlocks(metrics: readonly LlmMetricResult[]): ReportBlock[] {
  if (metrics.length === 0) return [{ kind: 'paragraph', text: 'No metric was computed.' }];
  return [
    { kind: 'list', items: cutItems(findingSentences(metrics)) },
    ...signSentences(metrics).map((text) => ({ kind: 'paragraph' as const, text })),
    ...metricsTable(metrics),
  ];
}

function metricsTable(metrics: readonly LlmMetricResult[]): ReportTable[] {
  const detectable = 'Minimum detectable difference (80% power)';
  const numbers = ['Value', intervalTitle(metrics), 'Without an effect', 'Adjusted p', 'Items', detectable];
  return tableOf(
    'All metrics',
    ['Metric', ...numbers.map(numberColumn), 'Significant'],
    metrics.map((metric) => [
      ...[metricPairTitle(metric), numberText(metric.value), intervalText(metric.ci), nullText(metric)],
      ...[adjustedText(metric), formatCount(metric.n), numberText(metric.minimumDetectableGap)],
      FINDING_WORDS[findingOf(metric)],
    ]),
  );
}

function adjustedText({ adjustedPValue, pValue }: LlmMetricResult): string {
  return adjustedPValue === null && pValue !== null ? `${pValueText(pValue)} (unadjusted)` : pValueText(adjustedPValue);
}

/** Builds a table of the metrics that compare values of a dimension, with a row for each pair of values. */
export function pairsTable(metrics: readonly LlmMetricResult[]): ReportBlock[] {
  const pairs = metrics.flatMap((metric) => metric.pairs.map((pair) => ({ metric, ...pair })));
  const isUndefined = pairs.some(({ undefinedReason }) => undefinedReason !== null);
  const numbers = ['Difference', intervalTitle(metrics), 'p (this pair alone)', 'Items'].map(numberColumn);
  return cutTable(
    'Pairs of values',
    ['Metric', 'Pair', ...numbers, ...(isUndefined ? ['Undefined because'] : [])],
    pairs.map(({ metric, first, second, value, ci, pValue, n, undefinedReason }) => [
      ...[metricName(metric), pairLabel(metric, first, second), numberText(value), intervalText(ci)],
      ...[pValueText(pValue), formatCount(n), ...(isUndefined ? [undefinedReason ?? NOTHING] : [])],
    ]),
  );
}

/** Builds a table of the measures of each group. Includes only metrics that have such measures. */
export function groupsTable(metrics: readonly LlmMetricResult[], caption: string): ReportBlock[] {
  const rows = metrics.flatMap((metric) =>
    Object.entries(metric.perGroup).flatMap(([group, values]) =>
      Object.entries(values).map(([measure, value]) => [
        metricTitle(metric),
        labelText(group),
        inWords(measure),
        Object.hasOwn(metric.nPerGroup, group) ? formatCount(metric.nPerGroup[group] ?? 0) : NOTHING,
        numberText(value ?? null),
        intervalText(metric.perGroupCi?.[group]?.[measure] ?? null),
      ]),
    ),
  );
  const numbers = ['Answers', 'Value', intervalTitle(metrics)].map(numberColumn);
  return cutTable(caption, ['Metric', 'Group', 'Measure', ...numbers], rows);
}

function cutTable(...[caption, columns, rows]: Parameters<typeof tableOf>): ReportBlock[] {
  const table = tableOf(caption, columns, rows.slice(0, MAX_ROWS));
  if (rows.length <= MAX_ROWS) return table;
  const text = `${formatCount(rows.length - MAX_ROWS)} more rows of this table are in the JSON.`;
  return [...table, { kind: 'paragraph', text }];
}
