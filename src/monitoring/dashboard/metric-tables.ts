import { bothEnds } from '../../charts/chart.ts';
import { numberColumn, type ReportTable, valueColumn } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { metricDefinition, metricNeedsTruth } from '../../metrics/metric-definitions.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import { attributeText } from '../attribute-text.ts';
import type { MonitoringRecord } from '../records/monitoring-record.ts';
import { rangeText, rateText, valueText, watchedText } from './dashboard-words.ts';
import { groupsOf } from './drawn-groups.ts';
import type { MonitoringView, WatchedMetric } from './monitoring-view.ts';
import { counted, formatCount } from '../../internal/format.ts';
import { STATE_WORDS, STATES } from './state-words.ts';

/** The maximum number of attributes with a coverage table. */
const MAX_ATTRIBUTES = 8;

/** The maximum number of reasons in the table of problems. */
const MAX_PROBLEMS = 40;

/** Returns whether labels are expected, because a metric needs them or because some have arrived. */
export function awaitsLabels({ coverage, watched }: MonitoringView): boolean {
  if (coverage.length === 0) return false;
  const isNeeded = watched.some(({ metric }) => metricNeedsTruth(metricDefinition(metric)));
  return isNeeded || coverage.some(({ labelled }) => labelled > 0);
}

/**
 * Returns one table per attribute with the number of predictions and the number of labelled predictions of each group.
 * The group with the lowest share of labelled predictions comes first.
 */
export function coverageTables(view: MonitoringView): ReportTable[] {
  const coverage = awaitsLabels(view) ? view.coverage : [];
  const attributes = [...new Set(coverage.map(({ attribute }) => attribute))];
  return attributes.slice(0, MAX_ATTRIBUTES).map((attribute, index) => {
    const isCut = index === MAX_ATTRIBUTES - 1 && attributes.length > MAX_ATTRIBUTES;
    const more = isCut ? ` (and of ${formatCount(attributes.length - MAX_ATTRIBUTES)} more attributes, not shown)` : '';
    const groups = coverage
      .filter((one) => one.attribute === attribute)
      .sort((a, b) => (a.share ?? 2) - (b.share ?? 2) || (a.group < b.group ? -1 : 1))
      .map((one) => ({ ...one, label: one.group }));
    return {
      kind: 'table',
      caption: `True labels by ${attributeText(attribute)}${more}`,
      columns: [{ name: 'Group' }, numberColumn('Predictions'), numberColumn('With a label'), numberColumn('Share')],
      rows: bothEnds(groups).map(({ label, group }) =>
        group === undefined
          ? [label, '', '', '']
          : [labelText(label), formatCount(group.n), formatCount(group.labelled), valueText(group.share, 'share')],
      ),
    };
  });
}

/** Returns the table of problems; undefined if every event was counted. */
export function problemTable({ faults: problems }: MonitoringView): ReportTable | undefined {
  const found = Object.entries(problems)
    .filter(([, count]) => count > 0)
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  if (found.length === 0) return undefined;
  const rows = found.slice(0, MAX_PROBLEMS).map(([name, count]) => [labelText(inWords(name)), formatCount(count)]);
  const cut = found.length - rows.length;
  const rest = found.slice(MAX_PROBLEMS).reduce((sum, [, count]) => sum + count, 0);
  return {
    kind: 'table',
    caption: 'Not counted, and why',
    columns: [{ name: 'Why' }, numberColumn('Times')],
    rows: cut === 0 ? rows : [...rows, [`\u2026 and ${counted(cut, 'other reason')}`, formatCount(rest)]],
  };
}

/** The maximum number of metrics in the table of states. */
const MAX_ROWS = 100;

/**
 * Returns the table of all watched metrics, worst first. The table shows the gap of each metric over all events and in
 * the sliding window.
 */
export function stateTable({ watched, windowSize }: MonitoringView): ReportTable {
  const rest = watched.length - MAX_ROWS;
  return {
    kind: 'table',
    caption:
      rest > 0
        ? `The ${String(MAX_ROWS)} worst of ${formatCount(watched.length)} watched metrics`
        : 'Every watched metric',
    columns: [
      { name: 'Metric', wraps: true },
      { name: 'State', isEssential: true },
      numberColumn('Limit'),
      valueColumn(`Gap in the last ${formatCount(windowSize)}`),
      numberColumn('Gap over all events'),
      numberColumn('Bounds that hold at all times'),
    ],
    rows: worstFirst(watched)
      .slice(0, MAX_ROWS)
      .map((one) => {
        const [now, overall] = [gapOf(one, one.now), gapOf(one, one.overall)];
        return [
          watchedText(one),
          `${STATE_WORDS[one.state].sign} ${STATE_WORDS[one.state].word}`,
          valueText(one.limit, 'number'),
          valueText(now?.value ?? null, 'number'),
          valueText(overall?.value ?? null, 'number'),
          rangeText(overall?.low ?? null, overall?.high ?? null, 'number'),
        ];
      }),
  };
}

/** Returns the table of gaps within strata; undefined if there are none. */
export function withinTable({ within = [] }: MonitoringView): ReportTable | undefined {
  if (within.length === 0) return undefined;
  return {
    kind: 'table',
    caption: 'Gaps within strata, from pairs of events of two groups in the same stratum',
    columns: [
      { name: 'Metric', wraps: true },
      { name: 'State', isEssential: true },
      numberColumn('Limit'),
      valueColumn('Gap'),
      numberColumn('Interval at this check'),
      numberColumn('Pairs'),
    ],
    rows: within
      .slice(0, MAX_ROWS)
      .map(({ attribute, metric, state, limit, value, low, high, n }) => [
        watchedText({ attribute, metric }),
        `${STATE_WORDS[state].sign} ${STATE_WORDS[state].word}`,
        valueText(limit, 'number'),
        valueText(value, 'number'),
        rangeText(low, high, 'number'),
        formatCount(n ?? 0),
      ]),
  };
}

/** Returns the watched metrics, worst first. Metrics that are in the same state keep their order. */
export function worstFirst(watched: readonly WatchedMetric[]): WatchedMetric[] {
  return STATES.flatMap((state) => watched.filter((one) => one.state === state));
}

/** Returns the record of a metric's gap; undefined if `records` does not contain it. */
export function gapOf({ metric }: WatchedMetric, records: readonly MonitoringRecord[]): MonitoringRecord | undefined {
  return records.find((record) => record.group === null && record.metric === metric);
}

/**
 * Returns a table with a measure's value for every group, over all events and in the sliding window. Rows are in
 * descending order of the value over all events. If there are too many groups, only the first and the last rows are
 * shown.
 */
export function groupTable(watched: WatchedMetric, measure: string, windowSize: number): ReportTable {
  const byGroup = (records: readonly MonitoringRecord[]): Map<string | null, MonitoringRecord> =>
    new Map(records.filter(({ metric }) => metric === measure).map((record) => [record.group, record]));
  const [overall, now] = [byGroup(watched.overall), byGroup(watched.now)];
  const sorted = groupsOf(watched, measure)
    .sort((a, b) => (b.value ?? -1) - (a.value ?? -1) || ((a.group ?? '') < (b.group ?? '') ? -1 : 1))
    .map(({ group }) => ({ label: group ?? '' }));
  const unit = unitOf(measure);
  const numbers = (record: MonitoringRecord | undefined): string[] =>
    record === undefined
      ? ['0', 'undefined', '\u2013']
      : [formatCount(record.n), rateText(record, unit), rangeText(record.low, record.high, unit)];
  return {
    kind: 'table',
    caption: `${inWords(measure)} by ${attributeText(watched.attribute)}, over all events and in the last ${formatCount(windowSize)}`,
    columns: [
      { name: 'Group' },
      ...['Events', inWords(measure), 'Bounds at all times'].map(numberColumn),
      ...['Events in window', 'In window', 'Interval at this time'].map(numberColumn),
    ],
    rows: bothEnds(sorted).map(({ label, group }) =>
      group === undefined
        ? [label, '', '', '', '', '', '']
        : [labelText(label), ...numbers(overall.get(label)), ...numbers(now.get(label))],
    ),
  };
}
