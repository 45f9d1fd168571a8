import type { Chart } from '../../charts/chart.ts';
import type { Palette } from '../../charts/palette.ts';
import type { TimelineMark } from '../../charts/alert-timeline-chart.ts';
import type { ReportTable } from '../../document/report-document.ts';

/** What a chart's line, band or mark means. */
export interface LegendEntry {
  readonly label: string;
  readonly shape:
    | { readonly kind: 'line'; readonly look: number; readonly hasBand: boolean }
    | { readonly kind: 'limit' | 'alarm' | 'change' }
    | { readonly kind: 'mark'; readonly mark: TimelineMark };
}

/** A chart of a dashboard, with all that stands around it. */
export interface DashboardFigure {
  readonly caption: string;
  readonly legend: readonly LegendEntry[];
  /** What one must know to read it. */
  readonly remark: string | undefined;
  readonly draw: (palette: Palette) => Chart;
  /** The numbers of the chart. */
  readonly table: ReportTable;
}
