import {
  axisLabel,
  bothEnds,
  type Chart,
  COLOURS,
  compactNumber,
  DRAWN_AT_EACH_END,
  FONT_FAMILY,
  headline,
  type HeadlineWidths,
  LINE_HEIGHT,
  shortenLabel,
} from './chart.ts';
import {
  besideGroups,
  byValue,
  type ChartedGroup,
  type ChartedMeasure,
  groupColumns,
  intervals,
  valueAxis,
  values,
} from './group-values-parts.ts';

export type { ChartedGroup, ChartedMeasure } from './group-values-parts.ts';

/** Texts of the chart. */
export interface GroupValuesText {
  readonly title?: string | undefined;
  /** A line under the title. The next line has the gap between the extreme groups. */
  readonly subtitle?: string | undefined;
}

const WIDTH = 760;
const ROW_HEIGHT = 24;

/** The widths of the title and of a line under it, in lower-case letters. */
const WIDTHS: HeadlineWidths = { title: 78, line: 108 };

/**
 * Draws dots with intervals, a row for each group, the largest value at the top. A band from the smallest to the
 * largest value shows the gap.
 *
 * Groups without a finite value are not drawn. Of more than 40 groups, the 20 smallest and the 20 largest are drawn,
 * and the chart says so.
 */
export function groupValuesChart(measure: ChartedMeasure, text: GroupValuesText = {}): Chart {
  const sorted = measure.groups.filter(({ value }) => Number.isFinite(value)).sort(byValue);
  const rows = bothEnds(sorted);
  const [smallest, largest] = [sorted[0], sorted.at(-1)];
  const fromZero = startsAtZero(sorted, measure.overall);
  const lines = [
    text.subtitle,
    gapSentence(measure.unit, smallest, largest),
    fromZero ? undefined : 'The axis does not start at 0.',
    omission(sorted.length),
  ].filter((line) => line !== undefined);
  const labels = rows.map(({ label }) => shortenLabel(label));
  const top = 54 + lines.length * LINE_HEIGHT + (measure.overall === undefined ? 0 : LINE_HEIGHT);
  return {
    width: WIDTH,
    height: top + rows.length * ROW_HEIGHT + 44,
    description: describe(measure, smallest, largest, sorted.length),
    option: {
      animation: false,
      backgroundColor: '#ffffff',
      textStyle: { fontFamily: FONT_FAMILY, color: COLOURS.ink },
      title: headline(text.title ?? measure.title, lines, WIDTHS),
      tooltip: { trigger: 'item' },
      grid: { ...besideGroups(labels), top, height: rows.length * ROW_HEIGHT, outerBoundsMode: 'none' },
      xAxis: valueAxis(measure.unit, fromZero),
      yAxis: groupColumns(labels, rows, ({ value }) => axisLabel(value, measure.unit)),
      series: [intervals(measure.unit, rows), values(measure, rows, smallest, largest)],
    },
  };
}

function omission(groups: number): string | undefined {
  if (groups <= 2 * DRAWN_AT_EACH_END) return undefined;
  const each = String(DRAWN_AT_EACH_END);
  return `Shows the ${each} groups with the lowest and the ${each} with the highest values, of ${String(groups)} groups.`;
}

function gapSentence(
  unit: ChartedMeasure['unit'],
  smallest: ChartedGroup | undefined,
  largest: ChartedGroup | undefined,
): string | undefined {
  if (smallest === undefined || largest === undefined || smallest === largest) return undefined;
  const gap = largest.value - smallest.value;
  const size = unit === 'share' ? `${compactNumber(100 * gap)} percentage points` : compactNumber(gap);
  return `From ${shortenLabel(smallest.label)} to ${shortenLabel(largest.label)}: a gap of ${size}`;
}

function describe(
  { title: name, unit }: ChartedMeasure,
  smallest: ChartedGroup | undefined,
  largest: ChartedGroup | undefined,
  groups: number,
): string {
  if (smallest === undefined || largest === undefined) return `${name}: no group has a value.`;
  const end = ({ label, value }: ChartedGroup): string => `${axisLabel(value, unit)} (${shortenLabel(label)})`;
  return `${name} of ${String(groups)} ${groups === 1 ? 'group' : 'groups'}, from ${end(smallest)} to ${end(largest)}.`;
}

/** Returns whether the axis starts at 0: unless the values are so close that differences would not be visible. */
function startsAtZero(groups: readonly ChartedGroup[], overall: number | undefined): boolean {
  const ends = groups.flatMap(({ value, ci }) => [value, ...(ci ?? [])]).concat(overall ?? []);
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  return groups.length === 0 || low <= 0 || high === low || high - low > 0.15 * high;
}
