import { markColour, type TimelineMark } from '../../charts/alert-timeline-chart.ts';
import type { Chart } from '../../charts/chart.ts';
import { DASHES, type Palette } from '../../charts/palette.ts';
import { tableToHtml } from '../../document/document-to-html.ts';
import type { ReportTable } from '../../document/report-document.ts';
import { type Html, markup } from '../../internal/html.ts';

/** The index, the height and the description of a chart, which the page's script needs to draw it. */
export interface FigurePosition {
  readonly index: number;
  readonly height: number;
  readonly description: string;
}

/** Renders a chart with its caption, legend and remark, and its numbers in a collapsible table. */
export function figureToHtml(figure: DashboardFigure, position: FigurePosition | undefined): Html {
  const { caption, legend, remark, table } = figure;
  if (position === undefined) return tableToHtml(table);
  return markup`<figure>
<figcaption><bdi>${caption}</bdi></figcaption>
<ul class="legend">${legend.map(({ label, shape }) => markup`<li>${swatch(shape)}<bdi>${label}</bdi></li>\n`)}</ul>
${remark !== undefined && markup`<p class="remark">${remark}</p>\n`}<div class="chart" role="img" aria-label="${position.description}" data-chart="${position.index}" style="height:${position.height}px"></div>
<details><summary>Numbers of this chart: <bdi>${caption}</bdi></summary>
${tableToHtml(table)}
</details>
</figure>`;
}

/** Returns a small drawing of a line or mark, followed by its label. */
function swatch(shape: LegendEntry['shape']): Html {
  return markup`<svg width="32" height="14" viewBox="0 0 32 14" aria-hidden="true" focusable="false">${shapeOf(shape)}</svg>`;
}

function shapeOf(shape: LegendEntry['shape']): Html {
  switch (shape.kind) {
    case 'line': {
      const colour = `var(--series-${String(shape.look)})`;
      const band = shape.hasBand && markup`<rect y="1" width="32" height="12" fill="${colour}" fill-opacity=".18"/>`;
      return markup`${band}${lineAcross(colour, DASHES[shape.look] ?? [])}`;
    }
    case 'limit':
      return lineAcross('var(--alarm)', [6, 4]);
    case 'alarm':
      return lineDown([]);
    case 'change':
      return lineDown([2, 3]);
    case 'mark':
      return markShape(shape.mark);
  }
}

function lineAcross(colour: string, dash: readonly number[]): Html {
  return markup`<line x1="0" y1="7" x2="32" y2="7" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash.join(' ')}"/>`;
}

function lineDown(dash: readonly number[]): Html {
  return markup`<line x1="16" y1="0" x2="16" y2="14" stroke="var(--alarm)" stroke-width="2" stroke-dasharray="${dash.join(' ')}"/>`;
}

/** Returns a mark's shape as drawn in the chart. */
function markShape(mark: TimelineMark): Html {
  const colour = `var(--${markColour(mark)})`;
  switch (mark) {
    case 'suspected':
      return markup`<circle cx="16" cy="7" r="5" fill="none" stroke="${colour}" stroke-width="2"/>`;
    case 'raised':
      return markup`<path d="M16 1L22 13H10Z" fill="${colour}"/>`;
    case 'repeated':
      return markup`<path d="M16 2L20 12L16 9L12 12Z" fill="${colour}"/>`;
    case 'acknowledged':
      return markup`<circle cx="16" cy="7" r="6" fill="${colour}"/>`;
    case 'resolved':
      return markup`<rect x="10" y="1" width="12" height="12" fill="${colour}"/>`;
    case 'cleared':
      return markup`<path d="M16 0L22 7L16 14L10 7Z" fill="${colour}"/>`;
  }
}

/** An entry of a chart's legend: the meaning of a line, band or mark. */
export interface LegendEntry {
  readonly label: string;
  readonly shape:
    | { readonly kind: 'line'; readonly look: number; readonly hasBand: boolean }
    | { readonly kind: 'limit' | 'alarm' | 'change' }
    | { readonly kind: 'mark'; readonly mark: TimelineMark };
}

/** A chart of a dashboard, with its caption, legend, remark and table. */
export interface DashboardFigure {
  readonly caption: string;
  readonly legend: readonly LegendEntry[];
  /** A note that is needed to read the chart correctly. */
  readonly remark: string | undefined;
  readonly draw: (palette: Palette) => Chart;
  /** The numbers of the chart. */
  readonly table: ReportTable;
}
