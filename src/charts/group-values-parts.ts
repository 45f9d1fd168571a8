import { chartValue, type Unit } from '../internal/format.ts';
import {
  COLOURS,
  countLabel,
  DRAWN_AT_EACH_END,
  font,
  type GroupRow,
  labelWidth,
  NO_AXIS_LINES,
  plotLines,
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
  /** Shares are drawn in percent. */
  readonly unit: Unit;
  readonly groups: readonly ChartedGroup[];
  /** The value over all rows. */
  readonly overall?: number | undefined;
}

/** A row of a chart of values. */
export type Row = GroupRow<ChartedGroup>;

/** Widths in pixels: of a lower-case letter, the counts, the space around labels, and the values. */
const LETTER = 7;
const COUNTS = 92;
const SPACE = 36;
const RIGHT = 84;

/** Returns the margins of a plot with a row for each group: label and count on the left, value on the right. */
export function besideGroups(labels: readonly string[]): { readonly left: number; readonly right: number } {
  return { left: Math.ceil(LETTER * Math.max(0, ...labels.map(labelWidth))) + COUNTS + SPACE, right: RIGHT };
}

/** Returns the text columns in these margins. */
export function groupColumns<Group extends { readonly n: number }>(
  labels: readonly string[],
  rows: readonly GroupRow<Group>[],
  valueText: (group: Group) => string,
): unknown[] {
  const texts = (textOf: (group: Group) => string): string[] =>
    rows.map(({ group }) => (group === undefined ? '' : textOf(group)));
  return [
    column(labels, { position: 'left', offset: COUNTS, color: COLOURS.ink }),
    column(
      texts(({ n }) => countLabel(n)),
      { position: 'left', offset: 0, color: COLOURS.quiet },
    ),
    column(texts(valueText), { position: 'right', offset: 0, color: COLOURS.ink }),
  ];
}

/** Compares by value, then by label, so that the order does not depend on the order of the data. */
export function byValue(a: ChartedGroup, b: ChartedGroup): number {
  return a.value - b.value || (a.label < b.label ? -1 : 1);
}

/** Returns the axis of values; shares in percent. */
export function valueAxis(unit: Unit, fromZero: boolean): unknown {
  return {
    type: 'value',
    scale: !fromZero,
    splitNumber: 5,
    axisLabel: {
      ...font(12, COLOURS.quiet),
      hideOverlap: true,
      ...(unit === 'share' ? { formatter: '{value}%' } : {}),
    },
    axisLine: { show: true, onZero: false, lineStyle: { color: COLOURS.other } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: COLOURS.grid } },
  };
}

/** Returns a column of text next to the plot, with one line per row. */
function column(
  data: readonly string[],
  index: { readonly position: 'left' | 'right'; readonly offset: number; readonly color: string },
): unknown {
  return {
    type: 'category',
    data,
    position: index.position,
    offset: index.offset,
    axisLabel: { interval: 0, margin: 12, ...font(12, index.color) },
    ...NO_AXIS_LINES,
  };
}

/** Returns a value as it is drawn: shares in percent. */
export function onAxis(value: number, unit: Unit): number {
  return unit === 'share' ? 100 * value : value;
}

/** The interval of a group at its height in the plot. */
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

/** Returns the whiskers. Their caps are points, so that the range of the axis includes them. */
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

/** Returns the whiskers of a chart with one value for each group. */
export function intervals(unit: Unit, rows: readonly Row[]): unknown {
  const all = rows.map(({ group }, row) => ({ ci: group?.ci, row }));
  return whiskers(unit, all, { name: 'intervals', color: COLOURS.main, capHeight: 9, z: 3 });
}

/** Returns a line that says which of many groups are drawn. */
export function omission(groups: number, values: string): string | undefined {
  if (groups <= 2 * DRAWN_AT_EACH_END) return undefined;
  const each = String(DRAWN_AT_EACH_END);
  return `Shows the ${each} groups with the lowest and the ${each} with the highest ${values}, of ${String(groups)} groups.`;
}

/** Returns whether the axis starts at 0: unless the values are so close that differences would not be visible. */
export function startsAtZero(ends: readonly number[]): boolean {
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  return ends.length === 0 || low <= 0 || high === low || high - low > 0.15 * high;
}

/** Returns the dots, the band from the smallest to the largest value, and the line of all rows. */
export function values(
  { unit, overall }: ChartedMeasure,
  rows: readonly Row[],
  smallest: ChartedGroup | undefined,
  largest: ChartedGroup | undefined,
): unknown {
  const edges = [smallest, largest].map((group) => ({ xAxis: onAxis(group?.value ?? 0, unit) }));
  return {
    name: 'values',
    type: 'scatter',
    clip: false,
    data: rows.flatMap(({ group, label }, row) =>
      group === undefined ? [] : [{ name: label, value: [onAxis(group.value, unit), row] }],
    ),
    symbolSize: 10,
    itemStyle: { color: COLOURS.main, opacity: 1, borderColor: '#ffffff', borderWidth: 1.5 },
    emphasis: { disabled: true },
    z: 4,
    markArea: {
      silent: true,
      animation: false,
      itemStyle: { color: COLOURS.mainSoft, opacity: 0.22 },
      data: smallest === undefined ? [] : [edges],
    },
    markLine: plotLines({ color: COLOURS.main, width: 1, type: [4, 3] }, [
      ...(smallest === undefined ? [] : edges),
      ...overallLine(unit, overall),
    ]),
  };
}

function overallLine(unit: Unit, overall: number | undefined): unknown[] {
  if (overall === undefined || !Number.isFinite(overall)) return [];
  return [
    {
      xAxis: onAxis(overall, unit),
      lineStyle: { color: COLOURS.ink, width: 1, type: 'solid' },
      label: {
        show: true,
        position: 'end',
        formatter: `all rows ${chartValue(overall, unit)}`,
        ...font(12, COLOURS.ink),
      },
    },
  ];
}
