import {
  alertTimelineChart,
  TIMELINE_MARKS,
  type TimelineAlert,
  type TimelineMark,
} from '../../charts/alert-timeline-chart.ts';
import type { Chart } from '../../charts/chart.ts';
import { readEchartsScript, toScript } from '../../charts/render-chart.ts';
import { withoutInheritedNames } from '../../charts/render-svg.ts';
import { DARK, LIGHT } from '../../charts/palette.ts';
import { tableToHtml } from '../../document/document-to-html.ts';
import type { ReportTable } from '../../document/report-document.ts';
import { pageScript } from '../../document/page-script.ts';
import { reportPage } from '../../document/report-page.ts';
import { headerCell } from '../../document/report-table.ts';
import { plainText } from '../../document/report-text.ts';
import { DependencyError } from '../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/arguments.ts';
import { type Html, markup, trusted } from '../../internal/html.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import type { AlertHistory } from '../alarms/alert-event.ts';
import { statusText, reportOrder } from './alert-words.ts';
import { heatTable, MAX_CROSSINGS } from './crossed-table.ts';
import {
  alertsToHtml,
  attributesOf,
  attributeTitle,
  cardToHtml,
  coverageToHtml,
  problemsToHtml,
  headlineToHtml,
  stateToHtml,
} from './dashboard-parts.ts';
import { DASHBOARD_STYLE } from './dashboard-style.ts';
import { minuteText, timeText, watchedText, withoutSmallCells } from './dashboard-words.ts';
import { attributeGroups, HistoryIndex, measuresOf } from './drawn-groups.ts';
import { type DashboardFigure, type FigurePosition, figureToHtml } from './figure-html.ts';
import { metricFigures } from './metric-figures.ts';
import { awaitsLabels, groupTable, stateTable, withinTable, worstFirst } from './metric-tables.ts';
import { DEFAULT_TITLE, madeOf, readingOf, subjectOf } from './monitoring-document.ts';
import type { CrossedCells, MonitoringView, WatchedMetric } from './monitoring-view.ts';
import { counted, formatCount } from '../../internal/format.ts';
import { sentenceAfterState } from './state-words.ts';

/** The maximum number of alerts in a timeline. */
const MAX_DRAWN = 15;

const MARK_WORDS: Readonly<Record<TimelineMark, string>> = {
  suspected: 'Suspected start of the change',
  raised: 'Raised',
  repeated: 'Repeated',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved by a person',
  cleared: 'Cleared by the data',
};

/** Returns the figure of alerts over time. Returns undefined if no alert was raised. */
function alertFigure(view: MonitoringView): DashboardFigure | undefined {
  const { shown, total } = reportOrder(view);
  if (shown.length === 0 || view.timestamp === null) return undefined;
  const drawn = shown.slice(0, MAX_DRAWN);
  const alerts = drawn.map(timelineOf);
  const end = Date.parse(view.timestamp);
  const used = TIMELINE_MARKS.filter((wanted) => alerts.some(({ marks }) => marks.some(({ mark }) => mark === wanted)));
  return {
    caption: 'Alerts over time',
    legend: used.map((mark) => ({ label: MARK_WORDS[mark], shape: { kind: 'mark', mark } })),
    remark:
      total > drawn.length
        ? `Showing ${String(drawn.length)} of ${formatCount(total)} alerts: open alerts first, then the latest.`
        : undefined,
    draw: (palette) => alertTimelineChart(alerts, end, { palette, isFramed: false }),
    table: alertTable(drawn),
  };
}

function timelineOf({ alert, isOpen, changes }: AlertHistory): TimelineAlert {
  const suspected = alert.changedAt === null ? [] : [{ mark: 'suspected' as const, time: Date.parse(alert.changedAt) }];
  return {
    label: `${alert.tier === 'watch' ? 'Watch' : 'Alarm'}: ${watchedText(alert)}`,
    marks: [...suspected, ...changes.map(({ change, timestamp }) => ({ mark: change, time: Date.parse(timestamp) }))],
    isOpen,
  };
}

/** Returns the table of alerts and of the times of their changes. */
function alertTable(alerts: readonly AlertHistory[]): ReportTable {
  return {
    kind: 'table',
    caption: 'Changes of each alert, with times (UTC)',
    columns: [{ name: 'Alert' }, { name: 'Status' }, ...TIMELINE_MARKS.map((mark) => ({ name: MARK_WORDS[mark] }))],
    rows: alerts.map((history) => [
      `${history.alert.tier}: ${watchedText(history.alert)}`,
      statusText(history),
      ...TIMELINE_MARKS.map((mark) => markTimes(history, mark)),
    ]),
  };
}

function markTimes({ alert, changes }: AlertHistory, mark: TimelineMark): string {
  const times =
    mark === 'suspected'
      ? [alert.changedAt].filter((time) => time !== null)
      : changes.filter(({ change }) => change === mark).map(({ timestamp }) => timestamp);
  const text = mark === 'suspected' ? minuteText : timeText;
  return times.length === 0 ? '\u2013' : times.map(text).join(', ');
}

/**
 * The script of a dashboard. The script draws each chart from the page's data. It uses dark colours if the reader
 * prefers them, and light colours for printing. It redraws the charts when the page's width changes. The text of the
 * script is constant, because the content security policy allows the script by its hash.
 */
const DASHBOARD_SCRIPT = `
(() => {
  'use strict';
  const charts = JSON.parse(document.getElementById('chart-data').textContent);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const isObject = (value) => typeof value === 'object' && value !== null;
  // Dark colours are given as differences from the light option, by position.
  const changed = (base, changes) => {
    if (!isObject(base) || !isObject(changes)) return changes;
    const copy = Array.isArray(base) ? base.slice() : Object.assign({}, base);
    for (const key of Object.keys(changes)) copy[key] = changed(base[key], changes[key]);
    return copy;
  };
  const said = (unit) => (value) => {
    const number = Array.isArray(value) ? value[1] : value;
    if (typeof number !== 'number') return 'undefined';
    return unit === 'share' ? number.toFixed(1) + '%' : number.toFixed(3);
  };
  const drawn = Array.from(document.querySelectorAll('[data-chart]'), (box) => {
    const { option, darkChanges, unit } = charts[Number(box.dataset.chart)];
    return { box, option, darkChanges, unit, chart: echarts.init(box, null, { renderer: 'svg' }) };
  });
  const draw = (isDark) => {
    for (const { chart, option, darkChanges, unit } of drawn) {
      const shown = isDark ? changed(option, darkChanges) : option;
      const tooltip = Object.assign({}, shown.tooltip, unit === null ? {} : { valueFormatter: said(unit) });
      chart.setOption(Object.assign({}, shown, { tooltip }), true);
    }
  };
  let isPrinting = false;
  draw(dark.matches);
  dark.addEventListener('change', () => draw(dark.matches && !isPrinting));
  const print = (isStarting) => {
    isPrinting = isStarting;
    // Redrawn immediately after resizing, because printing does not wait for the next frame.
    for (const { chart } of drawn) chart.resize({ width: isStarting ? 680 : 'auto' });
    draw(!isStarting && dark.matches);
  };
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
  const resized = new ResizeObserver(() => {
    if (isPrinting) return;
    for (const { chart, box } of drawn) {
      if (box.clientWidth > 0 && box.clientWidth !== chart.getWidth()) chart.resize();
    }
  });
  for (const { box } of drawn) resized.observe(box);
})();
`;

/** Options of {@link dashboardToHtml}. */
export interface DashboardOptions {
  /** @defaultValue 'Fairness of a monitored stream' */
  readonly title?: string | undefined;
  /**
   * Returns the script of ECharts as text.
   * @defaultValue the script of the package `echarts`
   */
  readonly readScript?: (() => Promise<string>) | undefined;
}

/** Lists the options of {@link DashboardOptions}. */
export const DASHBOARD_OPTION_NAMES: OptionNames<DashboardOptions> = { title: true, readScript: true };

/**
 * The maximum number of metrics with charts. The worst metrics come first. The other metrics appear only in a table.
 */
const MAX_DRAWN_METRICS = 8;

/**
 * The maximum number of times in one chart. `SHARED_TIMES` is the maximum number of times in all charts together. The
 * two limits keep the page small.
 */
const MAX_TIMES = 240;
const SHARED_TIMES = 800;

/**
 * Renders a view as a self-contained HTML page. It works from disk without a server, and makes no requests. The page
 * draws its charts in the browser, in light or dark colours as the reader prefers. Each chart has a table of its
 * numbers. If the package `echarts` is not installed, the page has only tables, and a note explains why.
 *
 * Charts show at most eight metrics (worst first) and eight groups each. If there are more than forty groups, a table
 * shows the groups with the lowest and the highest values, and the number of omitted groups. The page contains no rate
 * of a group with fewer than twenty events. The same view always gives an identical page.
 * @example
 * ```ts
 * import { dashboardToHtml, type MonitoringView } from 'evenhand/monitoring';
 *
 * const view: MonitoringView = {
 *   timestamp: null, firstTimestamp: null, nEvents: 0, windowSize: 1000, minGroupSize: 30, level: 0.95, alpha: 0.05,
 *   watched: [], history: [], alerts: [], coverage: [], crossings: [], faults: {}, notes: [],
 * };
 * const page = await dashboardToHtml(view, { title: 'Loans' });
 * console.log(/<title>(.*)<\/title>/.exec(page)?.[1]);
 * // Loans: Before the first event
 * ```
 */
export async function dashboardToHtml(view: MonitoringView, options: DashboardOptions = {}): Promise<string> {
  assertKnownOptions('dashboardToHtml', options, DASHBOARD_OPTION_NAMES);
  const title = options.title ?? DEFAULT_TITLE;
  const { script, problem } = await readScript(options.readScript ?? readEchartsScript);
  return pageOf(withoutSmallCells(view), title, script, problem);
}

interface ReadScript {
  readonly script: string | undefined;
  readonly problem: string | undefined;
}

async function readScript(read: () => Promise<string>): Promise<ReadScript> {
  try {
    return { script: await read(), problem: undefined };
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    const next = error.suggestion === undefined ? '' : ` ${error.suggestion}`;
    return { script: undefined, problem: `This page has tables but no charts: ${error.message}${next}` };
  }
}

/** The part of the page for one metric. */
interface MetricPart {
  readonly id: string;
  readonly watched: WatchedMetric;
  readonly figures: readonly DashboardFigure[];
}

function pageOf(view: MonitoringView, title: string, script: string | undefined, problem: string | undefined): string {
  const parts = metricParts(view);
  const alerts = alertFigure(view);
  const figures = [...(alerts === undefined ? [] : [alerts]), ...parts.flatMap((part) => part.figures)];
  const drawn = script === undefined ? [] : figures.map(liveChart);
  const indices = new Map<DashboardFigure, FigurePosition>(
    drawn.map(({ light }, index) => [
      figures[index] as DashboardFigure,
      { index, height: light.height, description: light.description },
    ]),
  );
  const show = (figure: DashboardFigure): Html => figureToHtml(figure, indices.get(figure));
  return reportPage({
    title: plainText(`${title}: ${subjectOf(view)}`),
    skipLink: markup`<a class="skip" href="#state">Skip to the state of the stream</a>\n`,
    header: markup`<h1>${plainText(title)}</h1>
<p class="source">${subjectOf(view)}</p>`,
    main: markup`${headlineToHtml(view)}
${problem !== undefined && markup`<p class="note">${problem}</p>`}
${script !== undefined && markup`<noscript><p class="note">The charts need JavaScript. The tables below contain their numbers.</p><style>.chart { display: none; }</style></noscript>`}
${contents(view, parts)}
${metricsSection(view, parts)}
<section aria-labelledby="alerts">
<h2 id="alerts">Alerts</h2>
${alerts !== undefined && show(alerts)}
${alertsToHtml(view)}
</section>
${attributesOf(view).map((attribute) => attributeSection(view, attribute, parts, show))}
${crossingsSection(view)}
${coverageToHtml(view)}
<section aria-labelledby="faults">
<h2 id="faults">What was not counted</h2>
${problemsToHtml(view)}
</section>
<section aria-labelledby="reading">
<h2 id="reading">How to read this</h2>
<ul>${readingOf(view).map((text) => markup`<li>${text}</li>\n`)}</ul>
</section>
${script !== undefined && chartData(drawn.map(({ live }) => live))}`,
    footer: markup`<h2 id="made">How this was made</h2>
<dl class="made">
${madeOf(view).map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
<p>The same stream, version and settings always produce this page, byte for byte.</p>`,
    style: DASHBOARD_STYLE,
    scripts: script === undefined ? [] : [script, DASHBOARD_SCRIPT].map(pageScript),
  });
}

function metricParts(view: MonitoringView): MetricPart[] {
  const history = new HistoryIndex(view.history);
  const drawn = worstFirst(view.watched).slice(0, MAX_DRAWN_METRICS);
  const maxTimes = Math.min(MAX_TIMES, Math.floor(SHARED_TIMES / drawn.length));
  return drawn.map((watched, index) => {
    const labels = attributeGroups(view.watched, watched.attribute);
    return {
      id: `metric-${String(index + 1)}`,
      watched,
      figures: metricFigures({ view, history, watched, labels, maxTimes }),
    };
  });
}

function contents(view: MonitoringView, parts: readonly MetricPart[]): Html {
  const link = (id: string, text: string): Html => markup`<li><a href="#${id}">${text}</a></li>\n`;
  return markup`<nav aria-labelledby="contents">
<h2 id="contents">On this page</h2>
<ul>${view.watched.length > 0 && link('metrics', 'Every metric')}${link('alerts', 'Alerts')}
${attributesOf(view).map((attribute) => {
  const own = parts.filter(({ watched }) => watched.attribute === attribute);
  return markup`<li>${plainText(attributeTitle(attribute))}<ul>${own.map(({ id, watched }) => link(id, inWords(watched.metric)))}</ul></li>\n`;
})}
${view.crossings.length > 0 && link('crossed', 'Intersections')}${awaitsLabels(view) && link('labels', 'True labels')}${link('faults', 'What was not counted')}${link('reading', 'How to read this')}${link('made', 'How this was made')}</ul>
</nav>`;
}

function metricsSection(view: MonitoringView, parts: readonly MetricPart[]): Html | undefined {
  if (view.watched.length === 0) return undefined;
  const isCut = view.watched.length > parts.length;
  const within = withinTable(view);
  return markup`<section aria-labelledby="metrics">
<h2 id="metrics">Every metric</h2>
<ul class="cards">${parts.map(({ id, watched }) => cardToHtml(watched, id))}</ul>
${isCut && markup`<p>The charts below show the ${parts.length} worst metrics. All metrics, by state:</p>${tableToHtml(stateTable(view))}`}
${within !== undefined && tableToHtml(within)}
</section>`;
}

function attributeSection(
  view: MonitoringView,
  attribute: string,
  parts: readonly MetricPart[],
  show: (figure: DashboardFigure) => Html,
): Html | undefined {
  const own = parts.filter(({ watched }) => watched.attribute === attribute);
  if (own.length === 0) return undefined;
  const first = own[0]?.id;
  return markup`<section aria-labelledby="by-${first}">
<h2 id="by-${first}"><bdi>${attributeTitle(attribute)}</bdi></h2>
${own.map(
  ({ id, watched, figures }) => markup`<h3 id="${id}">${inWords(watched.metric)}</h3>
<p>${stateToHtml(watched.state)}: ${plainText(sentenceAfterState(watched))}</p>
${figures.length === 0 && markup`<p>No records yet.</p>`}
${figures.map((figure) => markup`${show(figure)}\n`)}
${measuresOf(watched).map((measure) => markup`${tableToHtml(groupTable(watched, measure, view.windowSize))}\n`)}`,
)}</section>
`;
}

function crossingsSection({ crossings }: MonitoringView): Html | undefined {
  if (crossings.length === 0) return undefined;
  const shown = crossings.slice(0, MAX_CROSSINGS);
  const rest = crossings.length - shown.length;
  return markup`<section aria-labelledby="crossed">
<h2 id="crossed">Intersections</h2>
${shown.map((crossing) => markup`${heatToHtml(crossing)}\n`)}
${rest > 0 && markup`<p>Not shown: ${counted(rest, 'more intersection')}.</p>`}
</section>`;
}

/**
 * Embeds the chart data in the page. The content security policy needs no hash for the data, because data is not
 * executed.
 */
function chartData(charts: readonly LiveChart[]): Html {
  return markup`<script type="application/json" id="chart-data">${trusted(toScript(charts))}</script>`;
}

/**
 * Renders an intersection as a table. The rate of a cell determines its colour. The cells contain the numbers, so no
 * other table is needed.
 */
function heatToHtml(crossing: CrossedCells): Html {
  const { title, rowName, columnName, columns, rows, steps, remarks } = heatTable(crossing);
  const caption = `${title}. Rows: ${rowName}; columns: ${columnName}`;
  return markup`<div class="scroll heat" role="group" aria-label="${caption}" tabindex="0">
<table>
<caption><span>${caption}</span></caption>
<thead><tr>${headerCell(rowName, 'col')}${columns.map((name) => headerCell(name, 'col'))}</tr></thead>
<tbody>
${rows.map(
  ({ label, cells }) =>
    markup`<tr>${headerCell(label, 'row')}${cells.map(
      ({ text, events, step }) =>
        markup`<td class="${step === null ? 'none' : `heat-${String(step)}`}">${text}${events !== null && markup`<small>n: ${events}</small>`}</td>`,
    )}</tr>\n`,
)}</tbody>
</table>
</div>
<ul class="legend">${steps.map((label, step) => markup`<li><span class="swatch heat-${step}"></span>${label}</li>\n`)}</ul>
${remarks.map((text) => markup`<p class="remark">${text}</p>\n`)}`;
}

/** A chart in the format of the page's script. */
interface LiveChart {
  readonly option: unknown;
  /** The parts of the chart option that are different in dark colours. */
  readonly darkChanges: unknown;
  /** The unit of the values in tooltips. Null if the chart itself formats the values. */
  readonly unit: 'share' | 'number' | null;
}

/** Returns a chart in the format of the page's script, and the light chart for its size and description. */
function liveChart({ draw }: DashboardFigure): { live: LiveChart; light: Chart } {
  const light = draw(LIGHT);
  const option = withoutInheritedNames(light.option);
  const darkChanges = differences(option, withoutInheritedNames(draw(DARK).option)) ?? {};
  return { live: { option, darkChanges, unit: unitOf(option) }, light };
}

function unitOf(option: Chart['option']): LiveChart['unit'] {
  const { dataset, yAxis } = option as { dataset?: unknown; yAxis?: { axisLabel?: { formatter?: unknown } } };
  if (dataset === undefined) return null;
  return yAxis?.axisLabel?.formatter === undefined ? 'number' : 'share';
}

/**
 * Compares two values with the same structure, and returns the parts of `to` that differ from `from`. Returns undefined
 * if there is no difference.
 */
export function differences(from: unknown, to: unknown): unknown {
  if (Object.is(from, to)) return undefined;
  if (typeof from !== 'object' || typeof to !== 'object' || from === null || to === null) return to;
  const found = Object.entries(to).flatMap(([key, value]: [string, unknown]) => {
    const change = differences((from as Record<string, unknown>)[key], value);
    return change === undefined ? [] : [[key, change] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
