import { axisLabel, COLOURS, countLabel, FONT_FAMILY, type GroupRow, labelWidth } from './chart.ts';

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
  readonly unit: 'share' | 'number';
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
export function valueAxis(unit: ChartedMeasure['unit'], fromZero: boolean): unknown {
  return {
    type: 'value',
    scale: !fromZero,
    splitNumber: 5,
    axisLabel: {
      fontFamily: FONT_FAMILY,
      fontSize: 12,
      color: COLOURS.quiet,
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
    axisLabel: { interval: 0, margin: 12, fontFamily: FONT_FAMILY, fontSize: 12, color: index.color },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { show: false },
  };
}

/** Returns a value as it is drawn: shares in percent. */
export function onAxis(value: number, unit: ChartedMeasure['unit']): number {
  return unit === 'share' ? 100 * value : value;
}

/** Returns the whiskers. Their caps are points, so that the range of the axis includes them. */
export function intervals(unit: ChartedMeasure['unit'], rows: readonly Row[]): unknown {
  const ends = rows.flatMap(({ group }, row) =>
    group?.ci?.every(Number.isFinite) === true ? [group.ci.map((end) => [onAxis(end, unit), row])] : [],
  );
  return {
    name: 'intervals',
    type: 'scatter',
    silent: true,
    clip: false,
    data: ends.flat(),
    symbol: 'rect',
    symbolSize: [1.6, 9],
    itemStyle: { color: COLOURS.main, opacity: 1 },
    z: 3,
    markLine: {
      silent: true,
      animation: false,
      symbol: 'none',
      label: { show: false },
      lineStyle: { color: COLOURS.main, width: 1.6, type: 'solid' },
      data: ends.map(([from, to]) => [{ coord: from }, { coord: to }]),
    },
  };
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
    markLine: {
      silent: true,
      animation: false,
      symbol: 'none',
      lineStyle: { color: COLOURS.main, width: 1, type: [4, 3] },
      label: { show: false },
      data: [...(smallest === undefined ? [] : edges), ...overallLine(unit, overall)],
    },
  };
}

function overallLine(unit: ChartedMeasure['unit'], overall: number | undefined): unknown[] {
  if (overall === undefined || !Number.isFinite(overall)) return [];
  return [
    {
      xAxis: onAxis(overall, unit),
      lineStyle: { color: COLOURS.ink, width: 1, type: 'solid' },
      label: {
        show: true,
        position: 'end',
        formatter: `all rows ${axisLabel(overall, unit)}`,
        fontFamily: FONT_FAMILY,
        fontSize: 12,
        color: COLOURS.ink,
      },
    },
  ];
}
