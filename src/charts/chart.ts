/** A chart as plain data: an ECharts option object with the size it is drawn at. */
export interface Chart {
  readonly width: number;
  readonly height: number;
  /** What the chart shows, in one sentence, for those who cannot see it. */
  readonly description: string;
  readonly option: Readonly<Record<string, unknown>>;
}

/** The family that every chart is set in; it ships with the package. */
export const FONT_FAMILY = 'Inter, Helvetica, Arial, sans-serif';

/** Colours told apart also without colour vision (Okabe and Ito 2008). */
export const COLOURS = {
  ink: '#1f2933',
  quiet: '#616e7c',
  grid: '#e4e7eb',
  main: '#0072b2',
  mainSoft: '#8fbfdc',
  other: '#9aa5b1',
} as const;
