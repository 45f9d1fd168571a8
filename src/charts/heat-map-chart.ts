import {
  type Chart,
  type ChartText,
  COLOURS,
  font,
  FRAME,
  headline,
  labelWidth,
  LINE_HEIGHT,
  NO_AXIS_LINES,
  shortenLabel,
} from './chart.ts';

/** Values from 0 to 1 in rows and columns. */
export interface HeatMap {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  /** The value of a cell is `values[row][column]`. If the value is NaN, the cell is empty. */
  readonly values: readonly (readonly number[])[];
  /** Values at or above the threshold are highlighted. */
  readonly threshold: number;
}

/** The maximum number of rows. If there are more rows, the rows with the largest values are drawn. */
const MAX_ROWS = 60;

const ROW_HEIGHT = 24;
const LETTER = 7;
const MIN_CELL = 72;
const MIN_WIDTH = 740;

/**
 * The maximum widths, as numbers of lower-case letters: of the title, a line under the title, a row label and a column
 * label.
 */
const WIDTHS = { title: 62, line: 92 };
const ROW_WIDTH = 40;
const COLUMN_WIDTH = 22;

/**
 * Colours below and above the threshold, each from weak to strong. The colours are distinguishable without colour
 * vision.
 */
const WEAK = ['#f4f7fa', '#dcebf5', '#b9d7ea'];
const STRONG = ['#fde0b6', '#fbbd70', '#ec9338'];

/**
 * Draws a table of values from 0 to 1. Each cell contains its value as a number. Cells below the threshold are blue.
 * Cells at or above the threshold are orange, and their numbers are bold. The rows with the largest values come first.
 * If there are more than 60 rows, only the first 60 are drawn, and the chart contains a note.
 */
export function heatMapChart(map: HeatMap, text: ChartText = {}): Chart {
  const order = strongestFirst(map);
  const drawn = order.slice(0, MAX_ROWS);
  const rows = drawn.map((row) => shortenLabel(map.rows[row] as string, ROW_WIDTH));
  const columns = map.columns.map((name) => shortenLabel(name, COLUMN_WIDTH));
  const cell = Math.max(MIN_CELL, Math.ceil(LETTER * Math.max(0, ...columns.map(labelWidth))) + 20);
  const left = Math.ceil(LETTER * Math.max(8, ...rows.map(labelWidth))) + 36;
  const lines = [text.subtitle, omission(order.length), emptyNote(map)].filter((line) => line !== undefined);
  const top = 76 + lines.length * LINE_HEIGHT;
  const plot = { left, top, width: columns.length * cell, height: rows.length * ROW_HEIGHT };
  return {
    width: Math.max(MIN_WIDTH, left + plot.width + 32),
    height: top + plot.height + 64,
    description: describe(map, order),
    option: {
      ...FRAME,
      title: headline(text.title ?? 'Associations', lines, WIDTHS),
      tooltip: { trigger: 'item' },
      grid: { ...plot, outerBoundsMode: 'none' },
      xAxis: names(columns, 700, { position: 'top' }),
      yAxis: names(rows, 400, { position: 'left', inverse: true }),
      visualMap: legend(map.threshold),
      series: [{ name: 'values', type: 'heatmap', data: cellsOf(map, drawn), emphasis: { disabled: true } }],
    },
  };
}

/** Returns the row indices, sorted by the largest value of each row, then by name. */
function strongestFirst({ rows, values }: HeatMap): number[] {
  const largest = values.map((row) => row.reduce((most, value) => (value > most ? value : most), -1));
  const byName = (a: number, b: number): number => ((rows[a] as string) < (rows[b] as string) ? -1 : 1);
  return Array.from(rows.keys()).sort((a, b) => (largest[b] as number) - (largest[a] as number) || byName(a, b));
}

function cellsOf({ values, threshold }: HeatMap, drawn: readonly number[]): unknown[] {
  return drawn.flatMap((row, y) =>
    (values[row] as readonly number[]).flatMap((value, x) =>
      Number.isNaN(value)
        ? []
        : [
            {
              value: [x, y, value],
              label: {
                show: true,
                formatter: value.toFixed(2),
                ...font(12, COLOURS.ink),
                fontWeight: value >= threshold ? 700 : 400,
              },
              itemStyle: { borderColor: '#ffffff', borderWidth: 2 },
            },
          ],
    ),
  );
}

/** Returns the legend below the plot: each colour with its range of values. */
function legend(threshold: number): unknown {
  return {
    type: 'piecewise',
    orient: 'horizontal',
    left: 16,
    bottom: 14,
    itemWidth: 16,
    itemHeight: 12,
    itemGap: 14,
    selectedMode: false,
    dimension: 2,
    textStyle: font(12, COLOURS.quiet),
    pieces: [...pieces(0, threshold, WEAK, false), ...pieces(threshold, 1, STRONG, true)],
    outOfRange: { color: '#ffffff' },
  };
}

/**
 * Divides a range into equal parts, one for each colour. If `isClosed` is true, the last part includes its upper end.
 */
function pieces(low: number, high: number, colours: readonly string[], isClosed: boolean): unknown[] {
  if (high === low) return isClosed ? [{ gte: low, lte: high, color: colours.at(-1), label: low.toFixed(2) }] : [];
  const ends = [...colours, ''].map((_, index) => low + ((high - low) * index) / colours.length);
  return colours.map((color, index) => {
    const [from, to] = [ends[index] as number, index === colours.length - 1 ? high : (ends[index + 1] as number)];
    const isLast = isClosed && index === colours.length - 1;
    return { gte: from, [isLast ? 'lte' : 'lt']: to, color, label: `${from.toFixed(2)} to ${to.toFixed(2)}` };
  });
}

function names(data: readonly string[], fontWeight: number, side: object): unknown {
  return {
    type: 'category',
    data,
    ...side,
    axisLabel: { interval: 0, margin: 10, ...font(12, COLOURS.ink), fontWeight },
    ...NO_AXIS_LINES,
  };
}

function omission(rows: number): string | undefined {
  return rows <= MAX_ROWS
    ? undefined
    : `Shows the ${String(MAX_ROWS)} rows with the largest values, of ${String(rows)} rows.`;
}

function emptyNote({ values }: HeatMap): string | undefined {
  return values.some((row) => row.some(Number.isNaN)) ? 'Empty cells were not tested, or are undefined.' : undefined;
}

function describe({ rows, columns, values, threshold }: HeatMap, order: readonly number[]): string {
  const strong = order.flatMap((row) =>
    (values[row] as readonly number[]).flatMap((value, column) =>
      value >= threshold
        ? [`${shortenLabel(rows[row] as string)} with ${shortenLabel(columns[column] as string)} ${value.toFixed(2)}`]
        : [],
    ),
  );
  const shown = strong.slice(0, 10).join('; ');
  const more = strong.length > 10 ? `; and ${String(strong.length - 10)} more` : '';
  const found = strong.length === 0 ? 'none' : `${shown}${more}`;
  return `Associations of ${String(rows.length)} columns with ${String(columns.length)} attributes. At least ${String(threshold)}: ${found}.`;
}
