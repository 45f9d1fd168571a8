import { type BandedLine, type BandTimeline, timelineBandChart } from '../../charts/timeline-band-chart.ts';
import { numberColumn, type ReportTable } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import { attributeText } from '../attribute-text.ts';
import { rangeText, rateText, timeText, valueText, watchedText } from './dashboard-words.ts';
import {
  type DrawnGroup,
  drawnGroups,
  type HistoryIndex,
  measuresOf,
  type SeriesPosition,
  thinned,
} from './drawn-groups.ts';
import type { DashboardFigure, LegendEntry } from './figure-html.ts';
import type { MonitoringView, WatchedMetric } from './monitoring-view.ts';
import { formatCount, formatSignificant, type Unit } from '../../internal/format.ts';
import { raisedAt } from './state-words.ts';

/** The maximum number of timestamps in the table below a chart. */
const TABLE_TIMES = 12;

/**
 * The maximum number of alarms marked in one chart, and also the maximum number of suspected changes. If there are
 * more, only the latest ones are marked.
 */
const MAX_MARKS = 8;

/** The input of the figures of one metric. */
export interface FigureSource {
  readonly view: MonitoringView;
  readonly history: HistoryIndex;
  readonly watched: WatchedMetric;
  /** The labels of all groups of the attribute. */
  readonly labels: readonly string[];
  /** The maximum number of timestamps in a chart. */
  readonly maxTimes: number;
}

/** Returns the figures of a metric: first its gap over time, and then the rates that it compares. */
export function metricFigures(source: FigureSource): DashboardFigure[] {
  const figures = [gapFigure(source), ...measuresOf(source.watched).map((measure) => rateFigure(source, measure))];
  return figures.filter((figure) => figure !== undefined);
}

function gapFigure({ view, history, watched, maxTimes: mostTimes }: FigureSource): DashboardFigure | undefined {
  const { attribute, metric, limit } = watched;
  const index = (window: SeriesPosition['window']): SeriesPosition => ({ attribute, metric, group: null, window });
  const times = history.times([index('sliding'), index('cumulative')], mostTimes);
  if (times.length === 0) return undefined;
  const [now, overall] = [history.at(index('sliding'), times), history.at(index('cumulative'), times)];
  const inWindow = `In the last ${formatCount(view.windowSize)} events`;
  const lines: BandedLine[] = [
    { label: 'Over all events', values: valuesOf(overall), low: endsOf(overall, 'low'), high: endsOf(overall, 'high') },
    { label: inWindow, values: valuesOf(now) },
  ];
  const marks = marksOf(view, watched);
  const timeline: BandTimeline = {
    title: watchedText(watched),
    unit: 'number',
    times: times.map(Date.parse),
    lines,
    limit,
    ...marks,
  };
  return {
    caption: `Gap: ${inWords(metric).toLowerCase()}`,
    legend: [
      {
        label: 'Over all events, with a band that holds at all times',
        shape: { kind: 'line', look: 0, hasBand: true },
      },
      { label: inWindow, shape: { kind: 'line', look: 1, hasBand: false } },
      { label: `Limit ${formatSignificant(limit, 3)}`, shape: { kind: 'limit' } },
      ...markLegend(marks),
    ],
    remark: undefined,
    draw: (palette) => timelineBandChart(timeline, { palette, isFramed: false }),
    table: timeTable('The gap', times, [
      valueColumn(inWindow, now),
      valueColumn('Over all events', overall),
      boundsColumn('Bounds at all times', overall, 'number'),
    ]),
  };
}

type Series = ReturnType<HistoryIndex['at']>;

/**
 * A column of the table below a chart: a name, and a function that returns the text of a cell, given the index of the
 * timestamp.
 */
type TimeColumn = readonly [name: string, text: (row: number) => string];

function timeTable(name: string, times: readonly string[], columns: readonly TimeColumn[]): ReportTable {
  const rows = thinned(Array.from(times.keys()), TABLE_TIMES);
  return {
    kind: 'table',
    caption:
      rows.length === times.length
        ? `${name} over time`
        : `${name} at ${String(rows.length)} of the ${String(times.length)} times shown`,
    columns: [{ name: 'Time (UTC)' }, ...columns.map(([column]) => numberColumn(column))],
    rows: rows.map((row) => [timeText(times[row] as string), ...columns.map(([, text]) => text(row))]),
  };
}

function valueColumn(name: string, series: Series): TimeColumn {
  return [name, (row) => valueText(series[row]?.value ?? null, 'number')];
}

function boundsColumn(name: string, series: Series, unit: Unit): TimeColumn {
  return [name, (row) => rangeText(series[row]?.low ?? null, series[row]?.high ?? null, unit)];
}

function rateColumn(name: string, series: Series, unit: Unit): TimeColumn {
  return [name, (row) => (series[row] === undefined ? 'undefined' : rateText(series[row], unit))];
}

function rateFigure(source: FigureSource, measure: string): DashboardFigure | undefined {
  const { view, history, watched, labels, maxTimes: mostTimes } = source;
  const { attribute } = watched;
  const unit = unitOf(measure);
  const { groups, total } = drawnGroups(watched, measure, labels);
  const positionOf = (group: DrawnGroup, window: SeriesPosition['window']): SeriesPosition => ({
    attribute,
    metric: measure,
    group: group.label,
    window,
  });
  const times = history.times(
    groups.flatMap((group) => [positionOf(group, 'sliding'), positionOf(group, 'cumulative')]),
    mostTimes,
  );
  if (times.length === 0) return undefined;
  const drawn = groups.map((group) => ({
    group,
    now: history.at(positionOf(group, 'sliding'), times),
    overall: history.at(positionOf(group, 'cumulative'), times),
  }));
  const lines = drawn.map(({ group, now, overall }): BandedLine => {
    const line = { label: labelText(group.label), values: valuesOf(now), look: group.look };
    return group.hasBand ? { ...line, low: endsOf(overall, 'low'), high: endsOf(overall, 'high') } : line;
  });
  const timeline: BandTimeline = {
    title: `${inWords(measure)} by ${attributeText(attribute)}`,
    unit,
    times: times.map(Date.parse),
    lines,
  };
  return {
    caption: `${inWords(measure)} by ${attributeText(attribute)}`,
    legend: groups.map(({ label, look: check, hasBand }) => ({
      label: labelText(label),
      shape: { kind: 'line', look: check, hasBand },
    })),
    remark: rateRemark(view, groups, total),
    draw: (palette) => timelineBandChart(timeline, { palette, isFramed: false }),
    table: timeTable(
      `${inWords(measure)} of each group shown`,
      times,
      drawn.flatMap(({ group, now, overall }) => {
        const name = labelText(group.label);
        const rates = rateColumn(name, now, unit);
        return group.hasBand ? [rates, boundsColumn(`${name}: bounds over all events`, overall, unit)] : [rates];
      }),
    ),
  };
}

function rateRemark(view: MonitoringView, groups: readonly DrawnGroup[], total: number): string {
  const lines = `Lines: the last ${formatCount(view.windowSize)} events. Bands: all events, valid at all times simultaneously.`;
  const cut =
    total > groups.length
      ? ` Showing ${String(groups.length)} of ${formatCount(total)} groups: the lowest, the highest and the largest.`
      : '';
  const bands = groups.every(({ hasBand }) => hasBand) ? '' : ' Only the lowest and the highest group have a band.';
  return `${lines}${cut}${bands}`;
}

interface Marks {
  readonly alarms: readonly number[];
  readonly changes: readonly number[];
}

/**
 * Returns the times at which alarms of this metric were raised, and the times at which the changes are suspected to
 * have begun.
 */
function marksOf({ alerts }: MonitoringView, { attribute, metric }: WatchedMetric): Marks {
  const own = alerts
    .filter(({ alert }) => alert.attribute === attribute && alert.metric === metric && alert.tier === 'alarm')
    .map((history) => ({ time: Date.parse(raisedAt(history)), changedAt: history.alert.changedAt }))
    .sort((a, b) => a.time - b.time)
    .slice(-MAX_MARKS);
  return {
    alarms: own.map(({ time }) => time),
    changes: own.flatMap(({ changedAt }) => (changedAt === null ? [] : [Date.parse(changedAt)])),
  };
}

function markLegend({ alarms, changes }: Marks): LegendEntry[] {
  return [
    ...(alarms.length === 0 ? [] : [{ label: 'Alarm raised', shape: { kind: 'alarm' } } as const]),
    ...(changes.length === 0 ? [] : [{ label: 'Suspected start of a change', shape: { kind: 'change' } } as const]),
  ];
}

function valuesOf(series: Series): (number | null)[] {
  return series.map((record) => record?.value ?? null);
}

function endsOf(series: Series, end: 'low' | 'high'): (number | null)[] {
  return series.map((record) => record?.[end] ?? null);
}
