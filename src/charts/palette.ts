/** The colours of a chart on one ground. Text has a contrast of at least 4.5 to 1 with it, marks of at least 3 to 1. */
export interface Palette {
  /** What charts are drawn on. */
  readonly surface: string;
  readonly ink: string;
  readonly quiet: string;
  /** Lines that only guide the eye, without contrast. */
  readonly grid: string;
  /** Lines of axes. */
  readonly axis: string;
  readonly main: string;
  /** Limits and alarms. */
  readonly alarm: string;
  /** What was dealt with. */
  readonly calm: string;
  /** One for each line; beside them lines differ in their dashes. */
  readonly series: readonly string[];
}

/** For white ground. */
export const LIGHT: Palette = {
  surface: '#ffffff',
  ink: '#1f2933',
  quiet: '#52606d',
  grid: '#e4e7eb',
  axis: '#7b8794',
  main: '#0072b2',
  alarm: '#b3261e',
  calm: '#00795b',
  series: ['#0072b2', '#c04f00', '#00795b', '#a3478a', '#1f2933', '#7a6000', '#5b53c4', '#a1343a'],
};

/** For dark ground. */
export const DARK: Palette = {
  surface: '#14191f',
  ink: '#e6ebf0',
  quiet: '#aab6c2',
  grid: '#2c353f',
  axis: '#7b8896',
  main: '#5ab4f0',
  alarm: '#ff8a80',
  calm: '#4fd1a5',
  series: ['#5ab4f0', '#ff9d57', '#4fd1a5', '#e79ccb', '#e6ebf0', '#e0c341', '#a9a2ff', '#ff8a80'],
};

/** Lengths of dashes and of the spaces between them; none is a solid line. */
export type Dash = readonly number[];

/** How the lines of one chart differ beside their colours. */
export const DASHES: readonly Dash[] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 2], [14, 4], [6, 2, 2, 2, 2, 2], [1, 2]];

/** The most lines that a chart has colours and dashes for. */
export const MAX_LINES = 8;
