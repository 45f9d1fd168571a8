import type { Chart } from '../charts/chart.ts';
import { type DrawChart, drawSvg } from '../document/document-to-html.ts';
import { reportPage } from '../document/report-page.ts';
import { cell, headerCell, scrollingTable } from '../document/report-table.ts';
import { DependencyError } from '../exceptions/index.ts';
import { capital, formatLevel, rangeText, tableCount, tableNumber } from '../internal/format.ts';
import { type Html, markup, trusted } from '../internal/html.ts';
import { own } from '../internal/values.ts';
import { VERSION } from '../internal/version.ts';
import { inWords } from '../metrics/metric-markdown.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import { intervalName, metricCharts } from './html/metric-charts.ts';
import { controlSection, metricSection } from './html/metric-section.ts';
import type { FileValidation } from './validate-file.ts';
import { LABEL_HEADER, labelRows } from './validation-report.ts';

/** Options by name, as given by the caller. */
export type ReportSettings = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>
>;

/** Options of {@link validationToHtml}. */
export interface ValidationHtmlOptions {
  /**
   * The options of the validation by name. The report lists them at its end, so that the run can be repeated.
   * @defaultValue none
   */
  readonly settings?: ReportSettings | undefined;
  /**
   * Draws a chart as SVG.
   * @defaultValue ECharts, on the host
   */
  readonly draw?: DrawChart | undefined;
}

/**
 * Renders a validation as a self-contained HTML page: it loads no external resource, and the same validation gives the
 * same bytes. The verdict comes first, then the metrics of each attribute with charts and tables.
 *
 * If echarts is not installed, the page has tables only and a note that says so.
 * @param source the name of the data, for the first line
 */
export async function validationToHtml(
  validation: ReportedValidation,
  source: string,
  options: ValidationHtmlOptions = {},
): Promise<string> {
  const entries = entriesOf(validation);
  const drawn = await drawAll(entries, options.draw ?? drawSvg);
  return reportPage({
    title: `Fairness validation: ${source}`,
    header: markup`<h1>Fairness validation</h1>
<p class="source">Source: <bdi>${source}</bdi></p>`,
    main: markup`${verdictBox(validation)}
${drawn.problem !== undefined && markup`<p class="note">${drawn.problem}</p>`}
${overview(entries)}
${labelTable(validation)}
${Object.keys(validation.attributes).map((attribute, index) => attributeSection(attribute, index, entries, drawn, validation))}
${HOW_TO_READ}`,
    footer: reproducibility(
      entries.map(({ result }) => result),
      source,
      options.settings ?? {},
    ),
  });
}

function labelTable({ labels }: ReportedValidation): Html | false {
  const rows = labelRows(labels);
  if (rows.length === 0) return false;
  const header = LABEL_HEADER.map((name) => headerCell(name, 'col', name === 'Rows' ? 'number' : undefined));
  const lines = rows.map(([column = '', label = '', value = '', count = '']) => [
    headerCell(column, 'row'),
    cell(label),
    cell(value),
    cell(count, 'number'),
  ]);
  return markup`<section aria-label="Labels">${scrollingTable('Labels', header, lines)}</section>`;
}

function attributeSection(
  attribute: string,
  index: number,
  entries: readonly ReportEntry[],
  { pictures }: Drawn,
  { frames }: ReportedValidation,
): Html {
  const id = `attribute-${String(index + 1)}`;
  const frame = own(frames, attribute);
  return markup`<section aria-labelledby="${id}">
<h2 id="${id}">By <bdi>${attribute}</bdi></h2>
${entries
  .filter((entry) => entry.attribute === attribute)
  .map((entry) => metricSection(entry.result, entry.id, pictures.get(entry) ?? []))}
${frame !== undefined && controlSection(frame, `${id}-levels`)}
</section>
`;
}

/** The validation to report; `frames` only if groups were compared within the levels of a control feature. */
export type ReportedValidation = Omit<FileValidation, 'frames' | 'labels'> &
  Partial<Pick<FileValidation, 'frames' | 'labels'>>;

/** A metric with its attribute, its element id and its charts. */
interface ReportEntry {
  readonly attribute: string;
  readonly result: MetricResult;
  readonly id: string;
  readonly charts: readonly Chart[];
}

/** Lists every metric of every attribute, in order. */
function entriesOf({ attributes }: ReportedValidation): ReportEntry[] {
  return Object.entries(attributes).flatMap(([attribute, metrics], position) =>
    Object.values(metrics).map((result, index) => ({
      attribute,
      result,
      id: `metric-${String(position + 1)}-${String(index + 1)}`,
      charts: metricCharts(result, attribute),
    })),
  );
}

/** The rendered charts of each metric, or the problem if no chart can be drawn. */
interface Drawn {
  readonly pictures: ReadonlyMap<ReportEntry, readonly Html[]>;
  readonly problem: string | undefined;
}

/** Draws every chart. If the charting package is not installed, it draws none and returns the problem. */
async function drawAll(entries: readonly ReportEntry[], draw: DrawChart): Promise<Drawn> {
  const pictures = new Map<ReportEntry, Html[]>();
  try {
    for (const entry of entries) {
      const own: Html[] = [];
      for (const chart of entry.charts) own.push(trusted(await draw(chart)));
      pictures.set(entry, own);
    }
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    const next = error.suggestion === undefined ? '' : ` ${error.suggestion}`;
    return { pictures: new Map(), problem: `This report has tables but no charts: ${error.message}${next}` };
  }
  return { pictures, problem: undefined };
}

const VERDICTS = {
  pass: { sign: '\u2713', word: 'PASS' },
  fail: { sign: '\u2717', word: 'FAIL' },
  none: { sign: '\u2013', word: 'No threshold, no verdict' },
} as const;

/** Renders the verdict with the message of the gate on each attribute. */
function verdictBox({ passed, threshold, gates }: ReportedValidation): Html {
  const kind = passed === null ? 'none' : passed ? 'pass' : 'fail';
  const { sign, word } = VERDICTS[kind];
  const sentences = gates.map(
    ({ attribute, message }) => markup`<li><strong><bdi>${attribute}</bdi></strong>: ${message}</li>`,
  );
  return markup`<section class="verdict ${kind}" aria-labelledby="verdict">
<h2 id="verdict"><span aria-hidden="true">${sign}</span> ${word}${threshold !== null && markup` <small>at threshold ${threshold}</small>`}</h2>
${passed === null ? markup`<p>This report measures and does not judge.</p>` : markup`<ul>${sentences}</ul>`}
</section>`;
}

/** Renders a table of all values, if there are at least two metrics. */
function overview(entries: readonly ReportEntry[]): Html | false {
  if (entries.length < 2) return false;
  const levels = new Set(entries.flatMap(({ result: { ciLevel } }) => ciLevel ?? []));
  const rows = entries.map(({ attribute, result: { metric, value, ci, excluded }, id }) => [
    headerCell(attribute, 'row'),
    cell(markup`<a href="#${id}">${inWords(metric)}</a>`),
    cell(tableNumber(value), 'number'),
    cell(ci === null ? 'none' : rangeText(ci), 'number'),
    cell(tableCount(Object.keys(excluded).length), 'number'),
  ]);
  const interval = capital(intervalName(levels.size === 1 ? ([...levels][0] ?? null) : null));
  const header = [
    headerCell('Attribute', 'col'),
    headerCell('Metric', 'col'),
    ...['Value', interval, 'Groups excluded'].map((name) => headerCell(name, 'col', 'number')),
  ];
  return markup`<section aria-label="All metrics">${scrollingTable('All metrics', header, rows)}</section>`;
}

/** Renders what is needed to reproduce the numbers. It contains no time, so that two runs give the same bytes. */
function reproducibility(results: readonly MetricResult[], source: string, settings: ReportSettings): Html {
  const listed = <T>(pick: (result: MetricResult) => T | null, shown: (value: T) => string = String): string =>
    [...new Set(results.map(pick).filter((value) => value !== null))].map(shown).join(', ') || 'none';
  const given = Object.entries(settings).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, Array.isArray(value) ? value.join(', ') : String(value)]],
  );
  const lines: [string, string][] = [
    ['evenhand', VERSION],
    ['Source', source],
    ['Metrics', listed(({ metric }) => metric)],
    ['Interval level', listed(({ ciLevel }) => ciLevel, formatLevel)],
    ['Interval method', listed(({ ciMethod }) => ciMethod)],
    ['p-value method', listed(({ pValueMethod }) => pValueMethod)],
    ['Seed', listed(({ seed }) => seed)],
    ...given,
  ];
  return markup`<h2 id="made">How this was made</h2>
<dl class="made">
${lines.map(([name, value]) => markup`<dt>${name}</dt><dd><bdi>${value}</bdi></dd>\n`)}</dl>
<p>The same data, version and options reproduce this page byte for byte.</p>`;
}

/** Explanations for readers without a background in statistics. */
const HOW_TO_READ = markup`<section aria-labelledby="reading">
<h2 id="reading">How to read this</h2>
<ul>
<li>A difference of 0, or a ratio of 1, means equal rates over the groups compared. It says nothing about excluded groups or about why rates differ. A gap is a reason to investigate; it does not by itself prove unfair treatment, and the absence of a gap does not prove fair treatment.</li>
<li>An interval contains the values that are compatible with the data at its level. If it is wide, the data cannot distinguish a small gap from a large one. The interval of a metric is computed for the gap itself. The lines in the charts are intervals of the individual groups (Wilson for rates, normal for means); even if two of them overlap, the groups can differ.</li>
<li>Small groups have wide intervals, and their rates are more often extreme by chance alone. Among many groups some rates differ widely even if all groups are treated alike: the largest gap grows with the number of groups. The minimum detectable difference (80% power) is the smallest difference that data of this size detect with probability 0.8.</li>
<li>Groups with too few rows are excluded and listed with their counts. An undefined metric does not pass.</li>
</ul>
</section>`;
