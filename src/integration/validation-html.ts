import type { Chart } from '../charts/chart.ts';
import { type Html, markup, trusted } from '../internal/html.ts';
import { controlSection } from './html/control-section.ts';
import { metricSection } from './html/metric-section.ts';
import { HOW_TO_READ, reproducibility, type ReportSettings } from './html/report-ending.ts';
import { entriesOf, type ReportedValidation, type ReportEntry } from './html/report-entries.ts';
import { own } from './html/report-numbers.ts';
import { overview, verdictBox } from './html/report-opening.ts';
import { drawAll, drawSvg, type Drawn } from './html/report-pictures.ts';
import { REPORT_STYLE } from './html/report-style.ts';

export type { ReportSettings } from './html/report-ending.ts';
export type { ReportedValidation } from './html/report-entries.ts';

/** Options of {@link validationToHtml}. */
export interface ValidationHtmlOptions {
  /**
   * Options of the validation by name, listed at the end, so that it can be run again.
   * @defaultValue none
   */
  readonly settings?: ReportSettings | undefined;
  /**
   * Draws a chart as SVG.
   * @defaultValue ECharts, on the host
   */
  readonly draw?: ((chart: Chart) => Promise<string>) | undefined;
}

/** Nothing is loaded, run or sent. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/**
 * A validation as an HTML page that stands alone: nothing is loaded from
 * elsewhere, and the same validation gives the same bytes. The verdict comes
 * first, then each attribute's metrics with pictures and tables.
 *
 * Without echarts the page has tables only, and says so.
 * @param source what was validated, for the first line
 */
export async function validationToHtml(
  validation: ReportedValidation,
  source: string,
  options: ValidationHtmlOptions = {},
): Promise<string> {
  const entries = entriesOf(validation);
  const drawn = await drawAll(entries, options.draw ?? drawSvg);
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Fairness validation: ${source}</title>
<style>${trusted(REPORT_STYLE)}</style>
</head>
<body>
<header>
<h1>Fairness validation</h1>
<p class="source">Source: <bdi>${source}</bdi></p>
</header>
<main>
${verdictBox(validation)}
${drawn.problem !== undefined && markup`<p class="note">${drawn.problem}</p>`}
${overview(entries)}
${Object.keys(validation.attributes).map((attribute, index) => attributeSection(attribute, index, entries, drawn, validation))}
${HOW_TO_READ}
</main>
<footer>
${reproducibility(
  entries.map(({ result }) => result),
  source,
  options.settings ?? {},
)}
</footer>
</body>
</html>
`;
  return page.text;
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
