/**
 * The colours of a chart. The contrast with the background is at least 4.5 to 1 for text and at least 3 to 1 for marks.
 */
export interface Palette {
  /** The colour of the background. */
  readonly surface: string;
  readonly ink: string;
  readonly quiet: string;
  /** The colour of grid lines. The contrast of grid lines is low. */
  readonly grid: string;
  /** The colour of axis lines. */
  readonly axis: string;
  readonly main: string;
  /** The colour of limits and alarms. */
  readonly alarm: string;
  /** The colour of resolved and cleared alerts. */
  readonly calm: string;
  /** One colour for each line. Lines also differ in their dashes. */
  readonly series: readonly string[];
}

/** The palette for a light background. */
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

/** The palette for a dark background. */
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

/** Lengths of dashes and of the spaces between them. An empty list means a solid line. */
export type Dash = readonly number[];

/** The dashes of the lines of a chart. */
export const DASHES: readonly Dash[] = [[], [8, 4], [2, 3], [10, 3, 2, 3], [4, 2], [14, 4], [6, 2, 2, 2, 2, 2], [1, 2]];

/** The maximum number of lines with different colours and dashes. */
export const MAX_LINES = 8;
