import type { Chart } from '../charts/chart.ts';
import {
  blocksToHtml,
  type DrawChart,
  drawSvg,
  madeSection,
  tableToHtml,
  VERDICT_SIGNS,
} from '../document/document-to-html.ts';
import type { Provenance } from '../document/provenance.ts';
import { noteBlocks, type ReportDocument } from '../document/report-document.ts';
import { type PageData, reportPage } from '../document/report-page.ts';
import { cell, headerCell, scrollingTable } from '../document/report-table.ts';
import { DependencyError } from '../exceptions/index.ts';
import { capital, rangeText, tableCount, tableNumber } from '../internal/format.ts';
import { type Html, markup, trusted } from '../internal/html.ts';
import { isMapping, own, parseObject } from '../internal/values.ts';
import { inWords } from '../metrics/metric-markdown.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import { metricCharts } from './html/metric-charts.ts';
import { controlSection, metricSection } from './html/metric-section.ts';
import type { ValidationChanges } from './validation-changes.ts';
import { changeBlocks } from './validation-changes-document.ts';
import {
  BEFORE_QUOTING,
  commonIntervalName,
  failuresFirst,
  hasIntervals,
  HOW_TO_READ,
  labelBlocks,
  measureTable,
  passWarning,
  type ReportedValidation,
  validationMade,
  validationVerdict,
} from './validation-document.ts';

/** Options by name, as given by the caller. */
export type ReportSettings = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>
>;

/** Options of {@link validationToHtml}. */
export interface ValidationHtmlOptions {
  /**
   * The options of the validation by name. The report lists these options at its end, so that you can repeat the
   * validation.
   * @defaultValue none
   */
  readonly settings?: ReportSettings | undefined;
  /**
   * The date, the input files and the command that reproduces the report.
   * @defaultValue none: the same validation gives the same bytes
   */
  readonly provenance?: Provenance | undefined;
  /**
   * What changed since an earlier validation.
   * @defaultValue none
   */
  readonly changes?: ValidationChanges | undefined;
  /**
   * The result with its manifest, as `validationToJson` and `createManifest` return them. The page then holds them as data,
   * so that `verifyReport` can check it. It needs `provenance`.
   * @defaultValue none
   */
  readonly report?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Draws a chart as SVG.
   * @defaultValue ECharts, on the host
   */
  readonly draw?: DrawChart | undefined;
}

/**
 * Renders a validation as a self-contained HTML page, which loads no external resource. The verdict comes first, then
 * the metrics of each attribute with charts and tables.
 *
 * If echarts is not installed, the page has a note about the missing package, and tables instead of charts.
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
${blocksToHtml(noteBlocks(BEFORE_QUOTING, (validation.notes ?? []).map(capital)))}
${options.changes !== undefined && changeSection(options.changes)}
${overview(entries)}
${labelBlocks(validation.labels).map((table) => markup`<section aria-label="Labels">${tableToHtml(table)}</section>`)}
${Object.keys(validation.attributes).map((attribute, index) => attributeSection(attribute, index, entries, drawn, validation))}
${HOW_TO_READ_SECTION}`,
    data: embeddedData(source, options),
    footer: madeSection({
      made: madeOf(
        entries.map(({ result }) => result),
        source,
        options.settings ?? {},
      ),
      provenance: options.provenance,
    }),
  });
}

/** The data that a page holds. */
export interface EmbeddedReport {
  readonly source: string;
  /** The date of the page (ISO 8601). */
  readonly date: string;
  readonly report: Readonly<Record<string, unknown>>;
}

function embeddedData(source: string, { report, provenance }: ValidationHtmlOptions): PageData | undefined {
  if (report === undefined || provenance === undefined) return undefined;
  return { id: EMBEDDED_ID, value: { source, date: provenance.date.toISOString(), report } satisfies EmbeddedReport };
}

const EMBEDDED_ID = 'evenhand-report';

/** Returns the data of a page; undefined if it holds none. */
export function embeddedReport(page: string): EmbeddedReport | undefined {
  const start = `<script type="application/json" id="${EMBEDDED_ID}">`;
  const from = page.lastIndexOf(start);
  if (from < 0) return undefined;
  const json = parseObject(page.slice(from + start.length, page.indexOf('</script>', from)));
  return isMapping(json?.['report']) ? (json as unknown as EmbeddedReport) : undefined;
}

function changeSection(changes: ValidationChanges): Html {
  return markup`<section aria-labelledby="changes">
<h2 id="changes">What changed</h2>
${blocksToHtml(changeBlocks(changes))}
</section>`;
}

function attributeSection(
  attribute: string,
  index: number,
  entries: readonly ReportEntry[],
  { pictures }: Drawn,
  { frames, measures, gates }: ReportedValidation,
): Html {
  const id = `attribute-${String(index + 1)}`;
  const [control, frame] = [own(frames, attribute), own(measures, attribute)];
  const ofAttribute = entries.filter((entry) => entry.attribute === attribute);
  return markup`<section aria-labelledby="${id}">
<h2 id="${id}">By <bdi>${attribute}</bdi></h2>
${ofAttribute.map((entry) => metricSection(entry.result, entry.id, pictures.get(entry) ?? []))}
${frame !== undefined && tableToHtml(measureTable('Measures of each group', frame))}
${
  control !== undefined &&
  controlSection(control, `${id}-levels`, {
    hasIntervals: hasIntervals(ofAttribute.map(({ result }) => result)),
    hasGates: gates.length > 0,
  })
}
</section>
`;
}

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

/**
 * Draws every chart. If the charting package is not installed, no chart is drawn, and the result contains the problem.
 */
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

/** Renders the verdict with the message of the gate on each attribute. */
function verdictBox(validation: ReportedValidation): Html {
  const { threshold, gates } = validation;
  const { kind, title, sentences } = validationVerdict(validation);
  const items = failuresFirst(gates).map(
    ({ attribute, message }) => markup`<li><strong><bdi>${attribute}</bdi></strong>: ${message}</li>`,
  );
  return markup`<section class="verdict ${kind}" aria-labelledby="verdict">
<h2 id="verdict"><span aria-hidden="true">${VERDICT_SIGNS[kind]}</span> ${title}${threshold !== null && markup` <small>at threshold ${threshold}</small>`}</h2>
${kind === 'none' ? markup`<p>${sentences}</p>` : markup`<ul>${items}</ul>`}
${passWarning(validation).map((sentence) => markup`<p>${sentence}</p>`)}</section>`;
}

/** Renders a table of all metric values; empty for a single metric. */
function overview(entries: readonly ReportEntry[]): Html | false {
  if (entries.length < 2) return false;
  const rows = entries.map(({ attribute, result: { metric, value, ci, excluded }, id }) => [
    headerCell(attribute, 'row'),
    cell(markup`<a href="#${id}">${inWords(metric)}</a>`),
    cell(tableNumber(value), 'number'),
    cell(ci === null ? 'none' : rangeText(ci), 'number'),
    cell(tableCount(Object.keys(excluded).length), 'number'),
  ]);
  const interval = commonIntervalName(entries.map(({ result }) => result));
  const header = [
    headerCell('Attribute', 'col'),
    headerCell('Metric', 'col'),
    ...['Value', interval, 'Groups excluded'].map((name) => headerCell(name, 'col', 'number')),
  ];
  return markup`<section aria-label="All metrics">${scrollingTable('All metrics', header, rows)}</section>`;
}

/** Returns the names and values that are needed to reproduce the numbers. */
function madeOf(results: readonly MetricResult[], source: string, settings: ReportSettings): ReportDocument['made'] {
  const given = Object.entries(settings).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, Array.isArray(value) ? value.join(', ') : String(value)]],
  );
  return [['Source', source], ...validationMade(results), ...given];
}

const HOW_TO_READ_SECTION = markup`<section aria-labelledby="reading">
<h2 id="reading">How to read this</h2>
<ul>
${HOW_TO_READ.map((item) => markup`<li>${item}</li>\n`)}</ul>
</section>`;
