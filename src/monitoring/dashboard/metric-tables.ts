import { bothEnds } from '../../charts/both-ends.ts';
import { numberColumn, type ReportTable } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { MonitoringRecord } from '../records/monitoring-record.ts';
import { attributeText } from '../attribute-text.ts';
import { countText, rangeText, rateText, unitOf, valueText, watchedText } from './dashboard-words.ts';
import { groupsOf } from './drawn-groups.ts';
import type { MonitoringView, WatchedMetric } from './monitoring-view.ts';
import { STATE_WORDS, STATES } from './state-words.ts';

/** Metrics that the table of states has. */
const MOST_ROWS = 100;

/** Every watched metric with its gap in both windows, the worst first. */
export function stateTable({ watched, windowSize }: MonitoringView): ReportTable {
  const rest = watched.length - MOST_ROWS;
  return {
    kind: 'table',
    caption:
      rest > 0
        ? `The ${String(MOST_ROWS)} worst of ${countText(watched.length)} watched metrics`
        : 'Every watched metric',
    columns: [
      { name: 'Metric' },
      { name: 'State' },
      numberColumn('Limit'),
      numberColumn(`Gap in the last ${countText(windowSize)}`),
      numberColumn('Gap over all events'),
      numberColumn('Bounds that hold at all times'),
    ],
    rows: worstFirst(watched)
      .slice(0, MOST_ROWS)
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

/** Watched metrics, the worst first; those in one state as they came. */
export function worstFirst(watched: readonly WatchedMetric[]): WatchedMetric[] {
  return STATES.flatMap((state) => watched.filter((one) => one.state === state));
}

/** The gap of a metric among its records. */
export function gapOf({ metric }: WatchedMetric, records: readonly MonitoringRecord[]): MonitoringRecord | undefined {
  return records.find((record) => record.group === null && record.metric === metric);
}

/** A measure of every group in both windows, the highest over all events first; of very many groups both ends. */
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
      : [countText(record.n), rateText(record, unit), rangeText(record.low, record.high, unit)];
  return {
    kind: 'table',
    caption: `${inWords(measure)} by ${attributeText(watched.attribute)}, over all events and in the last ${countText(windowSize)}`,
    columns: [
      { name: 'Group' },
      numberColumn('Events'),
      numberColumn(inWords(measure)),
      numberColumn('Bounds at all times'),
      numberColumn('Events in window'),
      numberColumn('In window'),
      numberColumn('Interval at this time'),
    ],
    rows: bothEnds(sorted).map(({ label, group }) =>
      group === undefined
        ? [label, '', '', '', '', '', '']
        : [labelText(label), ...numbers(overall.get(label)), ...numbers(now.get(label))],
    ),
  };
}
