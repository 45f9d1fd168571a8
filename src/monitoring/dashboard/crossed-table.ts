import { numberColumn, type ReportTable } from '../../document/report-document.ts';
import { labelText } from '../../document/report-text.ts';
import { inWords, unitOf } from '../../metrics/metric-markdown.ts';
import { attributeText } from '../attribute-text.ts';
import { MIN_SHOWN, rateText } from './dashboard-words.ts';
import { chartValue, formatCount } from '../../internal/format.ts';
import type { CrossedCells } from './monitoring-view.ts';

/**
 * The maximum numbers of rows and columns of an intersection table. The rows and columns with the most events are
 * shown.
 */
const MAX_ROWS = 24;
const MAX_COLUMNS = 12;

/** The maximum number of intersections shown. */
export const MAX_CROSSINGS = 4;

/** The number of colours in the scale of a heat map. */
export const HEAT_STEPS = 6;

/** One cell of an intersection. */
interface HeatCell {
  readonly text: string;
  /**
   * The number of events in the cell, in words. If the cell is small, the text does not contain the number. Null if
   * there are no events.
   */
  readonly events: string | null;
  /** The index of the colour of the cell, from 0 to {@link HEAT_STEPS} - 1; null if no value is shown. */
  readonly step: number | null;
}

/**
 * A table of an intersection of two attributes, with a row for each group of one attribute and a column for each group
 * of the other.
 */
export interface HeatTable {
  readonly title: string;
  readonly rowName: string;
  readonly columnName: string;
  readonly columns: readonly string[];
  readonly rows: readonly { readonly label: string; readonly cells: readonly HeatCell[] }[];
  /** The range of values that each colour represents, lowest range first; empty if no cell has a value. */
  readonly steps: readonly string[];
  /** Notes about data that is not shown. */
  readonly remarks: readonly string[];
}

/**
 * Returns the table of an intersection: its rows and columns with the most events, without the values of small cells.
 */
export function heatTable(crossing: CrossedCells): HeatTable {
  const unit = unitOf(crossing.measure);
  const rows = largest(crossing, 'row', MAX_ROWS);
  const columns = largest(crossing, 'column', MAX_COLUMNS);
  const cells = new Map(crossing.cells.map((cell) => [JSON.stringify([cell.row, cell.column]), cell]));
  const shown = rows.shown.flatMap((row) =>
    columns.shown.flatMap((column) => cells.get(JSON.stringify([row, column])) ?? []),
  );
  const values = shown.flatMap(({ n, value }) => (n < MIN_SHOWN || value === null ? [] : [value]));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const width = (high - low) / HEAT_STEPS;
  return {
    title: `${inWords(crossing.measure)} by ${attributeText(crossing.attribute)}, over all events`,
    rowName: labelText(crossing.rowAttribute),
    columnName: labelText(crossing.columnAttribute),
    columns: columns.shown.map(labelText),
    rows: rows.shown.map((row) => ({
      label: labelText(row),
      cells: columns.shown.map((column) => {
        const cell = cells.get(JSON.stringify([row, column]));
        if (cell === undefined) return { text: '\u2013', events: null, step: null };
        if (cell.n < MIN_SHOWN) return { text: 'too few', events: `under ${String(MIN_SHOWN)}`, step: null };
        return { text: rateText(cell, unit), events: formatCount(cell.n), step: stepOf(cell.value, low, width) };
      }),
    })),
    steps: values.length === 0 ? [] : stepLabels(low, high, width, unit),
    remarks: [
      ...omission('rows', rows),
      ...omission('columns', columns),
      ...(shown.some(({ n }) => n < MIN_SHOWN)
        ? [`Rates of cells with fewer than ${String(MIN_SHOWN)} events are hidden ("too few").`]
        : []),
    ],
  };
}

/** Returns an intersection as a text table, with the same rows and columns as {@link heatTable}. */
export function crossedTable(crossing: CrossedCells): ReportTable {
  const { title, rowName, columns, rows } = heatTable(crossing);
  return {
    kind: 'table',
    caption: title,
    columns: [{ name: rowName }, ...columns.map(numberColumn)],
    rows: rows.map(({ label, cells }) => [
      label,
      ...cells.map(({ text, events, step }) => (step === null ? text : `${text} (n = ${events ?? '0'})`)),
    ]),
  };
}

interface Largest {
  readonly shown: readonly string[];
  readonly total: number;
}

function largest({ cells }: CrossedCells, side: 'row' | 'column', most: number): Largest {
  const sums = new Map<string, number>();
  for (const cell of cells) sums.set(cell[side], (sums.get(cell[side]) ?? 0) + cell.n);
  const bySize = [...sums].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([label]) => label);
  return { shown: bySize.slice(0, most).sort((a, b) => (a < b ? -1 : 1)), total: sums.size };
}

function omission(name: string, { shown, total }: Largest): string[] {
  return total === shown.length
    ? []
    : [`Showing the ${String(shown.length)} ${name} with the most events, of ${formatCount(total)}.`];
}

function stepOf(value: number | null, low: number, width: number): number | null {
  if (value === null || !Number.isFinite(value)) return null;
  return width === 0 ? 0 : Math.min(HEAT_STEPS - 1, Math.floor((value - low) / width));
}

function stepLabels(low: number, high: number, width: number, unit: 'share' | 'number'): string[] {
  if (width === 0) return [chartValue(low, unit)];
  return Array.from({ length: HEAT_STEPS }, (_, step) => {
    const to = step === HEAT_STEPS - 1 ? high : low + (step + 1) * width;
    return `${chartValue(low + step * width, unit)} to ${chartValue(to, unit)}`;
  });
}
