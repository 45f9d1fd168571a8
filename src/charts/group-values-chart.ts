import { chartValue, formatCompact, type Unit } from '../internal/format.ts';
import {
  axisLines,
  bothEnds,
  type Chart,
  CHART_WIDTH,
  COLOURS,
  countLabel,
  DRAWN_AT_EACH_END,
  font,
  FRAME,
  type GroupRow,
  headline,
  labelWidth,
  LINE_HEIGHT,
  NO_AXIS_LINES,
  plotLines,
  shortenLabel,
} from './chart.ts';

/** The data of a group in a chart. */
export interface ChartedGroup {
  readonly label: string;
  readonly n: number;
  readonly value: number;
  readonly ci: readonly [low: number, high: number] | null;
}

/** The values of a measure for every group. */
export interface ChartedMeasure {
  readonly title: string;
  /** The unit of the values. Shares are drawn in percent. */
  readonly unit: Unit;
  readonly groups: readonly ChartedGroup[];
}

/** Texts of the chart. */
interface GroupValuesText {
  /** The first line under the title. A second line shows the difference between the largest and the smallest value. */
  readonly subtitle?: string | undefined;
  /**
   * Whether the chart has a title. A page that has a heading above the chart needs none.
   * @defaultValue true
   */
  readonly hasTitle?: boolean | undefined;
  /**
   * The width of the chart in pixels. A narrow chart has shorter labels, and no column of counts.
   * @defaultValue CHART_WIDTH
   */
  readonly width?: number | undefined;
}

/** The texts and the size of a chart of groups. */
export type GroupValuesLayout = Pick<GroupValuesText, 'hasTitle' | 'width'>;

/** The width in pixels below which a chart is narrow, and the maximum width of its labels, in lower-case letters. */
const NARROW = 560;
const NARROW_LABEL = 15;

/** The width in pixels below which an axis has few labels. */
const VERY_NARROW = 400;

const ROW_HEIGHT = 24;

/**
 * Draws a row for each group, with a dot and an interval. The group with the largest value is at the top. A band from
 * the smallest to the largest value shows the gap.
 *
 * Groups without a finite value are not drawn. If there are more than 40 groups, only the 20 groups with the lowest and
 * the 20 groups with the highest values are drawn. In this case, the chart contains a note.
 */
export function groupValuesChart(
  measure: ChartedMeasure,
  { subtitle, hasTitle = true, width = CHART_WIDTH }: GroupValuesText = {},
): Chart {
  const sorted = measure.groups.filter(({ value }) => Number.isFinite(value)).sort(byValue);
  const rows = bothEnds(sorted);
  const [smallest, largest] = [sorted[0], sorted.at(-1)];
  const ends = sorted.flatMap(({ value, ci }) => [value, ...(ci ?? [])]);
  const fromZero = startsAtZero(ends);
  const lines = [
    subtitle,
    gapSentence(measure.unit, smallest, largest),
    fromZero ? undefined : 'The axis does not start at 0.',
    omission(sorted.length, 'values'),
  ].filter((line) => line !== undefined);
  const isNarrow = width < NARROW;
  const labels = rows.map(({ label }) => shortenLabel(label, isNarrow ? NARROW_LABEL : undefined));
  const top = hasTitle ? 54 + lines.length * LINE_HEIGHT : 12;
  return {
    width,
    height: top + rows.length * ROW_HEIGHT + 44,
    description: describe(measure, smallest, largest, sorted.length),
    option: {
      ...FRAME,
      ...(hasTitle ? { title: headline(measure.title, lines) } : {}),
      tooltip: { trigger: 'item' },
      grid: { ...besideGroups(labels, !isNarrow), top, height: rows.length * ROW_HEIGHT, outerBoundsMode: 'none' },
      xAxis: valueAxis(measure.unit, fromZero ? [] : ends, isNarrow ? (width < VERY_NARROW ? 2 : 3) : undefined),
      yAxis: groupColumns(labels, rows, ({ value }) => chartValue(value, measure.unit), !isNarrow),
      series: [intervals(measure.unit, rows), values(measure.unit, rows, smallest, largest)],
    },
  };
}

/** Returns a sentence with the difference between the largest and the smallest value; undefined for a single group. */
export function gapSentence(
  unit: Unit,
  smallest: ChartedGroup | undefined,
  largest: ChartedGroup | undefined,
): string | undefined {
  if (smallest === undefined || largest === undefined || smallest === largest) return undefined;
  const gap = largest.value - smallest.value;
  const size = unit === 'share' ? `${formatCompact(100 * gap)} percentage points` : formatCompact(gap);
  return `From ${shortenLabel(smallest.label)} to ${shortenLabel(largest.label)}: a gap of ${size}`;
}

function describe(
  { title: name, unit }: ChartedMeasure,
  smallest: ChartedGroup | undefined,
  largest: ChartedGroup | undefined,
  groups: number,
): string {
  if (smallest === undefined || largest === undefined) return `${name}: no group has a value.`;
  const end = ({ label, value }: ChartedGroup): string => `${chartValue(value, unit)} (${shortenLabel(label)})`;
  return `${name} of ${String(groups)} ${groups === 1 ? 'group' : 'groups'}, from ${end(smallest)} to ${end(largest)}.`;
}

/** Returns the dots, and the band from the smallest to the largest value. */
function values(
  unit: Unit,
  rows: readonly Row[],
  smallest: ChartedGroup | undefined,
  largest: ChartedGroup | undefined,
): unknown {
  const edges = [smallest, largest].map((group) => ({ xAxis: onAxis(group?.value ?? 0, unit) }));
  const data = rows.flatMap(({ group, label }, row) =>
    group === undefined ? [] : [{ name: label, value: [onAxis(group.value, unit), row] }],
  );
  return {
    ...groupDots('values', data),
    markArea: {
      silent: true,
      animation: false,
      itemStyle: { color: COLOURS.mainSoft, opacity: 0.22 },
      data: smallest === undefined ? [] : [edges],
    },
    markLine: plotLines({ color: COLOURS.main, width: 1, type: [4, 3] }, smallest === undefined ? [] : edges),
  };
}

/** Returns a series of dots. */
export function groupDots(name: string, data: readonly unknown[]): object {
  return {
    name,
    type: 'scatter',
    clip: false,
    data,
    symbolSize: 10,
    itemStyle: { color: COLOURS.main, opacity: 1, borderColor: '#ffffff', borderWidth: 1.5 },
    emphasis: { disabled: true },
    z: 4,
  };
}

/** A row of a chart of values. */
export type Row = GroupRow<ChartedGroup>;

/**
 * The widths of a lower-case letter, of the column of counts, of the space around labels, and of the column of values,
 * in pixels.
 */
const LETTER = 7;
const COUNTS = 92;
const SPACE = 36;
const RIGHT = 84;

/** Returns the margins of a plot with a row for each group: label and count on the left, value on the right. */
export function besideGroups(
  labels: readonly string[],
  hasCounts = true,
): { readonly left: number; readonly right: number } {
  const counts = hasCounts ? COUNTS : 0;
  return { left: Math.ceil(LETTER * Math.max(0, ...labels.map(labelWidth))) + counts + SPACE, right: RIGHT };
}

/** Returns the text columns in the margins that {@link besideGroups} returns. */
export function groupColumns<Group extends { readonly n: number }>(
  labels: readonly string[],
  rows: readonly GroupRow<Group>[],
  valueText: (group: Group) => string,
  hasCounts = true,
): unknown[] {
  const textsOf = (textOf: (group: Group) => string): string[] =>
    rows.map(({ group }) => (group === undefined ? '' : textOf(group)));
  return [
    column(labels, COLOURS.ink, { position: 'left', offset: hasCounts ? COUNTS : 0 }),
    column(
      textsOf(({ n }) => (hasCounts ? countLabel(n) : '')),
      COLOURS.quiet,
      { position: 'left' },
    ),
    column(textsOf(valueText), COLOURS.ink, { position: 'right' }),
  ];
}

/** Compares groups by value, then by label, so that the sorted order does not depend on the order of the data. */
export function byValue(a: ChartedGroup, b: ChartedGroup): number {
  return a.value - b.value || (a.label < b.label ? -1 : 1);
}

/** If a share is above this one, the next tick above it may be more than 100%. */
const NEARLY_ALL = 0.99;

/**
 * Returns the axis of values. Shares are in percent.
 * @param ends the values and the ends of intervals, if the axis does not start at 0
 */
export function valueAxis(unit: Unit, ends: readonly number[] = [], splitNumber = 5): unknown {
  const format = unit === 'share' ? { formatter: '{value}%' } : {};
  return {
    type: 'value',
    scale: ends.length > 0,
    ...(unit === 'share' && Math.max(...ends) > NEARLY_ALL ? { max: 100 } : {}),
    splitNumber,
    ...axisLines({ ...font(12, COLOURS.quiet), hideOverlap: true, ...format }),
  };
}

/** Returns a column of text next to the plot, with one line per row. */
function column(data: readonly string[], color: string, side: object): unknown {
  return {
    type: 'category',
    data,
    ...side,
    axisLabel: { interval: 0, margin: 12, ...font(12, color) },
    ...NO_AXIS_LINES,
  };
}

/** Returns the position of a value on the axis. Shares are in percent. */
export function onAxis(value: number, unit: Unit): number {
  return unit === 'share' ? 100 * value : value;
}

/** The interval of a group and its vertical position in the plot. */
interface Whisker {
  readonly ci: readonly [low: number, high: number] | null | undefined;
  readonly row: number;
}

/** The name and the style of a series of intervals. */
interface WhiskerStyle {
  readonly name: string;
  readonly color: string;
  readonly capHeight: number;
  readonly z: number;
}

/**
 * Returns the lines of intervals. The ends of the intervals are drawn as data points, so that the range of the axis
 * includes them.
 */
export function whiskers(unit: Unit, all: readonly Whisker[], { name, color, capHeight, z }: WhiskerStyle): unknown {
  const ends = all.flatMap(({ ci, row }) =>
    ci?.every(Number.isFinite) === true ? [ci.map((end) => [onAxis(end, unit), row])] : [],
  );
  return {
    name,
    type: 'scatter',
    silent: true,
    clip: false,
    data: ends.flat(),
    symbol: 'rect',
    symbolSize: [1.6, capHeight],
    itemStyle: { color, opacity: 1 },
    z,
    markLine: plotLines(
      { color, width: 1.6, type: 'solid' },
      ends.map(([from, to]) => [{ coord: from }, { coord: to }]),
    ),
  };
}

/** Returns the lines of intervals of a chart with one value for each group. */
export function intervals(unit: Unit, rows: readonly Row[]): unknown {
  const all = rows.map(({ group }, row) => ({ ci: group?.ci, row }));
  return whiskers(unit, all, { name: 'intervals', color: COLOURS.main, capHeight: 9, z: 3 });
}

/** Returns a note that says which groups are drawn, if there are too many groups to draw all of them. */
export function omission(groups: number, values: string): string | undefined {
  if (groups <= 2 * DRAWN_AT_EACH_END) return undefined;
  const each = String(DRAWN_AT_EACH_END);
  return `Shows the ${each} groups with the lowest and the ${each} with the highest ${values}, of ${String(groups)} groups.`;
}

/**
 * Returns whether the axis starts at 0. The result is false if the differences between the values would not be visible.
 */
export function startsAtZero(ends: readonly number[]): boolean {
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  return ends.length === 0 || low <= 0 || high === low || high - low > 0.15 * high;
}
