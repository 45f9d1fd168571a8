import type { Chart } from '../charts/chart.ts';
import { drawSvg } from '../document/document-to-html.ts';
import { reportPage } from '../document/report-page.ts';
import { cell, headerCell, scrollingTable } from '../document/report-table.ts';
import { type Html, markup } from '../internal/html.ts';
import {
  controlSection,
  drawAll,
  type Drawn,
  entriesOf,
  HOW_TO_READ,
  metricSection,
  overview,
  type ReportedValidation,
  type ReportEntry,
  type ReportSettings,
  reproducibility,
  verdictBox,
} from './html/report-sections.ts';
import { own } from '../internal/values.ts';
import { LABEL_HEADER, labelRows } from './validation-report.ts';

export type { ReportedValidation, ReportSettings } from './html/report-sections.ts';

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
  readonly draw?: ((chart: Chart) => Promise<string>) | undefined;
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
