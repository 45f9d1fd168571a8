import { bothEnds, countLabel, shortenLabel } from '../charts/chart.ts';
import {
  byValue,
  type ChartedGroup,
  type ChartedMeasure,
  gapSentence,
  startsAtZero,
} from '../charts/group-values-chart.ts';
import { chartValue } from '../internal/format.ts';
import { displayWidth, padText } from './text-width.ts';

/** The number of characters of the plot itself, without the columns beside it. */
const PLOT_WIDTH = 41;

/** The number of parts of the axis, before its ends are rounded to multiples of a part. */
const PARTS = 10;

/** A difference that counts as 0: below it, floating-point numbers lose their precision. */
const TINY = 1e-300;

/**
 * Draws the values of a measure with characters, for places that show no pictures: `├──┼──┤` is an interval with its
 * value. The rows, their order and the axis are those of the chart: the group with the largest value is at the top, and
 * if there are more than 40 groups, only those with the 20 lowest and the 20 highest values are drawn.
 * @returns lines without a line break at the end; no lines if no group has a finite value
 */
export function groupPlotText(measure: ChartedMeasure): string[] {
  const { title, unit } = measure;
  const sorted = measure.groups.filter(({ value }) => Number.isFinite(value)).sort(byValue);
  const [smallest, largest] = [sorted[0], sorted.at(-1)];
  if (smallest === undefined || largest === undefined) return [];
  const axis = axisOf(sorted.flatMap(endsOf));
  const rows = bothEnds(sorted)
    .reverse()
    .map(({ label, group }) => ({
      label: shortenLabel(label),
      count: group === undefined ? '' : countLabel(group.n),
      value: group === undefined ? '' : chartValue(group.value, unit),
      bar: group === undefined ? '' : barOf(group, axis),
    }));
  const widthOf = (column: 'label' | 'count' | 'value'): number =>
    Math.max(...rows.map((row) => displayWidth(row[column])));
  const [labels, counts, values] = [widthOf('label'), widthOf('count'), widthOf('value')];
  const lines = rows.map(
    ({ label, count, value, bar }) =>
      `${padText(label, labels, 'end')}  ${padText(count, counts, 'start')}  ${padText(value, values, 'start')}  ${bar}`,
  );
  const [low, high] = [chartValue(axis.low, unit), chartValue(axis.high, unit)];
  const beside = ' '.repeat(labels + counts + values + 6);
  return [
    shortenLabel(title, 2 * PLOT_WIDTH),
    ...[gapSentence(unit, smallest, largest)].filter((line) => line !== undefined),
    '',
    ...lines.map((line) => line.trimEnd()),
    `${beside}${low}${padText(high, PLOT_WIDTH - low.length, 'start')}`,
  ];
}

/** The range of values that a plot shows. */
interface Axis {
  readonly low: number;
  readonly high: number;
}

/** Returns the range from the smallest to the largest end, rounded outwards to a multiple of 1, 2 or 5. */
function axisOf(ends: readonly number[]): Axis {
  const from = startsAtZero(ends) ? Math.min(0, ...ends) : Math.min(...ends);
  const to = Math.max(...ends);
  const rough = (to - from) / PARTS;
  // Steps of such a range would be rounded to 0.
  if (rough < TINY) return { low: from, high: from + (Math.abs(from) < TINY ? 1 : Math.abs(from)) };
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  return { low: Math.floor(from / step) * step, high: Math.ceil(to / step) * step };
}

function endsOf({ value, ci }: ChartedGroup): number[] {
  return [value, ...(ci ?? [])].filter(Number.isFinite);
}

function barOf(group: ChartedGroup, { low, high }: Axis): string {
  const columnOf = (value: number): number => Math.round(((value - low) / (high - low)) * (PLOT_WIDTH - 1));
  const columns = endsOf(group).map(columnOf);
  const [first, last] = [Math.min(...columns), Math.max(...columns)];
  const bar: string[] = Array.from({ length: last + 1 }, (_, column) => (column < first ? ' ' : '─'));
  if (first < last) [bar[first], bar[last]] = ['├', '┤'];
  bar[columnOf(group.value)] = '┼';
  return bar.join('');
}
