import type { Chart } from '../../charts/chart.ts';
import { renderSvg } from '../../charts/render-svg.ts';
import { DependencyError } from '../../exceptions/index.ts';
import { type Html, markup, trusted } from '../../internal/html.ts';
import type { DetectorReportFields } from './detector-report-fields.ts';
import { proxyMap } from './plot-proxies.ts';
import type { ReportSection, ReportTable } from './report-numbers.ts';
import { factsOf, NO_FINDINGS, sectionsOf } from './report-parts.ts';

const STYLE = `
body { margin: 2rem auto; max-width: 72rem; padding: 0 1.5rem; color: #1f2933; background: #fff;
  font: 1rem/1.5 Inter, system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
h2 { margin-top: 2.5rem; border-bottom: 2px solid #1f2933; }
p, ul { max-width: 48rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9375rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #cbd2d9; }
td { max-width: 30rem; overflow-wrap: anywhere; }
.picture svg { max-width: 100%; height: auto; }
`;

/**
 * Formats a report as a self-contained page: the findings as sentences, the heat map, and a table for every detector.
 * @param draw renders a chart as SVG
 */
export async function reportToHtml(
  report: DetectorReportFields,
  draw: (chart: Chart) => Promise<string> = renderSvg,
): Promise<string> {
  const { findings } = report.body.summary;
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Groups in the data</title>
<style>${trusted(STYLE)}</style>
</head>
<body>
<h1>Groups in the data</h1>
<ul>${factsOf(report.meta).map((fact) => markup`<li>${fact}</li>`)}</ul>
${report.meta.warnings.map((warning) => markup`<p><strong>Note:</strong> ${warning}</p>\n`)}
<h2>Findings</h2>
${
  findings.length === 0
    ? markup`<p>${NO_FINDINGS}</p>`
    : markup`<ul>${findings.map((finding) => markup`<li>${finding}</li>`)}</ul>`
}
${await picture(report, draw)}
${sectionsOf(report).map(section)}
</body>
</html>
`;
  return page.text;
}

/** Renders the heat map, or a note if the package for charts is missing. */
async function picture(
  report: DetectorReportFields,
  draw: (chart: Chart) => Promise<string>,
): Promise<Html | undefined> {
  const chart = proxyMap(report);
  if (chart === undefined) return undefined;
  try {
    return markup`<div class="picture scroll">${trusted(await draw(chart))}</div>`;
  } catch (error) {
    if (!(error instanceof DependencyError)) throw error;
    return markup`<p>This report has tables but no chart: ${error.message} ${error.suggestion}</p>`;
  }
}

function section({ title, intro, tables }: ReportSection): Html {
  return markup`<h2>${title}</h2>
<p>${intro}</p>
${tables.length === 0 ? markup`<p>None.</p>` : tables.map(tableHtml)}
`;
}

function tableHtml({ caption, header, rows, notes }: ReportTable): Html {
  return markup`<div class="scroll" role="group" aria-label="${caption}" tabindex="0">
<table>
<caption>${caption}</caption>
<thead><tr>${header.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows.map((cells) => markup`<tr>${cells.map((text) => markup`<td><bdi>${text}</bdi></td>`)}</tr>\n`)}</tbody>
</table>
</div>
${notes.map((note) => markup`<p>${note}</p>\n`)}`;
}
