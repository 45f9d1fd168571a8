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
} from './report-words.ts';

/** The maximum number of rows in a table of groups or pairs. A longer table is cut, and a note says so. */
const MAX_ROWS = 60;

/** Builds the findings: sentences, then a table with a row for each metric. */
export function findingBlocks(metrics: readonly LlmMetricResult[]): ReportBlock[] {
  if (metrics.length === 0) return [{ kind: 'paragraph', text: 'No metric was computed.' }];
  return [
    { kind: 'list', items: cutItems(findingSentences(metrics)) },
    ...signSentences(metrics).map((text) => ({ kind: 'paragraph' as const, text })),
    metricsTable(metrics),
  ];
}

function metricsTable(metrics: readonly LlmMetricResult[]): ReportTable {
  const numbers = [
    'Value',
    intervalTitle(metrics),
    'Without an effect',
    'Adjusted p',
    'Items',
    'Minimum detectable difference (80% power)',
  ].map(numberColumn);
  return {
    kind: 'table',
    caption: 'All metrics',
    columns: [{ name: 'Metric' }, ...numbers, { name: 'Distinguishable from noise' }],
    rows: metrics.map((metric) => [
      metricPairTitle(metric),
      numberText(metric.value),
      intervalText(metric.ci),
      nullText(metric),
      adjustedText(metric),
      formatCount(metric.n),
      numberText(metric.minimumDetectableGap),
      FINDING_WORDS[findingOf(metric)],
    ]),
  };
}

function adjustedText({ adjustedPValue, pValue }: LlmMetricResult): string {
  return adjustedPValue === null && pValue !== null ? `${pValueText(pValue)} (unadjusted)` : pValueText(adjustedPValue);
}

/** Builds a table with each pair of values of a dimension, for every metric that compares them. */
export function pairsTable(metrics: readonly LlmMetricResult[]): ReportBlock[] {
  const pairs = metrics.flatMap((metric) => metric.pairs.map((pair) => ({ metric, ...pair })));
  if (pairs.length === 0) return [];
  const isUndefined = pairs.some(({ undefinedReason }) => undefinedReason !== null);
  return cutTable({
    kind: 'table',
    caption: 'Pairs of values',
    columns: [
      { name: 'Metric' },
      { name: 'Pair' },
      ...['Difference', intervalTitle(metrics), 'p (this pair alone)', 'Items'].map(numberColumn),
      ...(isUndefined ? [{ name: 'Undefined because' }] : []),
    ],
    rows: pairs.map(({ metric, first, second, value, ci, pValue, n, undefinedReason }) => [
      metricName(metric),
      pairLabel(metric, first, second),
      numberText(value),
      intervalText(ci),
      pValueText(pValue),
      formatCount(n),
      ...(isUndefined ? [undefinedReason ?? NOTHING] : []),
    ]),
  });
}

/** Builds a table of each group's measures, for the metrics that have them. */
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
  if (rows.length === 0) return [];
  const numbers = ['Answers', 'Value', intervalTitle(metrics)].map(numberColumn);
  const columns = [{ name: 'Metric' }, { name: 'Group' }, { name: 'Measure' }, ...numbers];
  return cutTable({ kind: 'table', caption, columns, rows });
}

function cutTable(table: ReportTable): ReportBlock[] {
  if (table.rows.length <= MAX_ROWS) return [table];
  const rest = formatCount(table.rows.length - MAX_ROWS);
  return [
    { ...table, rows: table.rows.slice(0, MAX_ROWS) },
    { kind: 'paragraph', text: `${rest} more rows of this table are in the JSON.` },
  ];
}
