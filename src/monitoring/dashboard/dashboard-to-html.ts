import { readEchartsScript, toScript } from '../../charts/echarts-script.ts';
import { tableToHtml } from '../../document/document-to-html.ts';
import { reportPage } from '../../document/report-page.ts';
import { plainText } from '../../document/report-text.ts';
import { DependencyError } from '../../exceptions/index.ts';
import { type Html, markup, trusted } from '../../internal/html.ts';
import { assertKnownOptions, type OptionNames } from '../../internal/known-options.ts';
import { inWords } from '../../metrics/metric-markdown.ts';
import { alertFigure } from './alert-figure.ts';
import type { DashboardFigure } from './dashboard-figure.ts';
import {
  alertsToHtml,
  attributesOf,
  attributeTitle,
  cardToHtml,
  coverageToHtml,
  faultsToHtml,
  headlineToHtml,
  stateToHtml,
} from './dashboard-parts.ts';
import { madeOf, readingOf, subjectOf } from './dashboard-reading.ts';
import { countedText } from './dashboard-words.ts';
import { DASHBOARD_SCRIPT } from './dashboard-script.ts';
import { DASHBOARD_STYLE } from './dashboard-style.ts';
import { attributeGroups, measuresOf } from './drawn-groups.ts';
import { type FigurePlace, figureToHtml } from './figure-html.ts';
import { MOST_CROSSINGS } from './crossed-table.ts';
import { heatToHtml } from './heat-html.ts';
import { HistoryIndex } from './history-index.ts';
import { type LiveChart, liveChart } from './live-charts.ts';
import { metricFigures } from './metric-figures.ts';
import { groupTable, stateTable, worstFirst } from './metric-tables.ts';
import { DEFAULT_TITLE } from './monitoring-document.ts';
import type { MonitoringView, WatchedMetric } from './monitoring-view.ts';
import { sentenceAfterState } from './state-words.ts';
import { awaitsLabels } from './stream-tables.ts';
import { withoutSmallCells } from './without-small-cells.ts';

/** Options of {@link dashboardToHtml}. */
export interface DashboardOptions {
  /** @defaultValue 'Fairness of a monitored stream' */
  readonly title?: string | undefined;
  /**
   * Gives the script of ECharts, as text.
   * @defaultValue that of the package `echarts`
   */
  readonly readScript?: (() => Promise<string>) | undefined;
}

/** Lists the options of {@link DashboardOptions}. */
export const DASHBOARD_OPTION_NAMES: OptionNames<DashboardOptions> = { title: true, readScript: true };

/** Metrics that are drawn, the worst first; the others stand in a table. */
const MOST_DRAWN_METRICS = 8;

/** Times that a chart draws, and that the charts of all metrics share, so that the page stays small. */
const MOST_TIMES = 240;
const SHARED_TIMES = 800;

/**
 * A view as one HTML page that works alone: opened from disk, without a
 * server, with nothing loaded or sent. Charts are drawn by the page itself, in
 * light or dark as the reader prefers, each with its numbers in a table below;
 * without the package `echarts` there are tables only, and one line says so.
 *
 * At most eight metrics (the worst first) and eight groups a chart are drawn;
 * tables of more than forty groups show both ends and count the rest. No rate
 * of a group with fewer than twenty events is in the page. The same view gives
 * the same bytes.
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
    return { script: undefined, problem: `This page has tables and no pictures: ${error.message}${next}` };
  }
}

/** A metric's part of the page. */
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
  const places = new Map<DashboardFigure, FigurePlace>(
    drawn.map(({ light }, index) => [
      figures[index] as DashboardFigure,
      { index, height: light.height, description: light.description },
    ]),
  );
  const show = (figure: DashboardFigure): Html => figureToHtml(figure, places.get(figure));
  return reportPage({
    title: plainText(`${title}: ${subjectOf(view)}`),
    skipLink: markup`<a class="skip" href="#state">Skip to the state of the stream</a>\n`,
    header: markup`<h1>${plainText(title)}</h1>
<p class="source">${subjectOf(view)}</p>`,
    main: markup`${headlineToHtml(view)}
${problem !== undefined && markup`<p class="note">${problem}</p>`}
${script !== undefined && markup`<noscript><p class="note">Pictures are drawn by the page itself, which needs JavaScript; the tables below have their numbers.</p><style>.chart { display: none; }</style></noscript>`}
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
${faultsToHtml(view)}
</section>
<section aria-labelledby="reading">
<h2 id="reading">How to read this</h2>
<ul>${readingOf(view).map((text) => markup`<li>${text}</li>\n`)}</ul>
</section>
${script !== undefined && chartData(drawn.map(({ live }) => live))}`,
    footer: markup`<h2 id="made">How this was made</h2>
<dl class="made">
${madeOf(view).map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
<p>The same stream, version and settings give this page again, byte for byte.</p>`,
    style: DASHBOARD_STYLE,
    scripts: script === undefined ? [] : [script, DASHBOARD_SCRIPT],
  });
}

function metricParts(view: MonitoringView): MetricPart[] {
  const history = new HistoryIndex(view.history);
  const drawn = worstFirst(view.watched).slice(0, MOST_DRAWN_METRICS);
  const mostTimes = Math.min(MOST_TIMES, Math.floor(SHARED_TIMES / drawn.length));
  return drawn.map((watched, place) => {
    const labels = attributeGroups(view.watched, watched.attribute);
    return {
      id: `metric-${String(place + 1)}`,
      watched,
      figures: metricFigures({ view, history, watched, labels, mostTimes }),
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
${view.crossings.length > 0 && link('crossed', 'Crossed attributes')}${awaitsLabels(view) && link('labels', 'True labels')}${link('faults', 'What was not counted')}${link('reading', 'How to read this')}${link('made', 'How this was made')}</ul>
</nav>`;
}

function metricsSection(view: MonitoringView, parts: readonly MetricPart[]): Html | undefined {
  if (view.watched.length === 0) return undefined;
  const isCut = view.watched.length > parts.length;
  return markup`<section aria-labelledby="metrics">
<h2 id="metrics">Every metric</h2>
<ul class="cards">${parts.map(({ id, watched }) => cardToHtml(watched, id))}</ul>
${isCut && markup`<p>The ${parts.length} worst are drawn below. All by their state:</p>${tableToHtml(stateTable(view))}`}
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
${figures.length === 0 && markup`<p>Nothing is recorded yet.</p>`}
${figures.map((figure) => markup`${show(figure)}\n`)}
${measuresOf(watched).map((measure) => markup`${tableToHtml(groupTable(watched, measure, view.windowSize))}\n`)}`,
)}</section>
`;
}

function crossingsSection({ crossings }: MonitoringView): Html | undefined {
  if (crossings.length === 0) return undefined;
  const shown = crossings.slice(0, MOST_CROSSINGS);
  const rest = crossings.length - shown.length;
  return markup`<section aria-labelledby="crossed">
<h2 id="crossed">Crossed attributes</h2>
${shown.map((crossing) => markup`${heatToHtml(crossing)}\n`)}
${rest > 0 && markup`<p>Not shown: ${countedText(rest, 'more crossing')}.</p>`}
</section>`;
}

/** Data is no script: it does not run, and needs no hash. */
function chartData(charts: readonly LiveChart[]): Html {
  return markup`<script type="application/json" id="chart-data">${trusted(toScript(charts))}</script>`;
}
