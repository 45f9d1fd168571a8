import {
  bottomLegend,
  type Chart,
  CHART_WIDTH,
  font,
  frame,
  headline,
  plotLines,
  rangeAxis,
  shortenLabel,
} from './chart.ts';
import { type Dash, DASHES, LIGHT, type Palette } from './palette.ts';
import { chartValue, type Unit } from '../internal/format.ts';

/** The free space before the first time and after the last time, as a share of the time range. */
const MARGIN = 0.01;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The formats of time labels. A format is used if the time range has at least the length in its entry. */
const FORMATS: readonly (readonly [least: number, format: string])[] = [
  [900 * DAY, '{yyyy}'],
  [90 * DAY, '{MMM} {yyyy}'],
  [3 * DAY, '{MMM} {d}'],
  [2 * HOUR, '{MMM} {d}, {HH}:{mm}'],
  // With at most five labels, no two are equal.
  [5000, '{HH}:{mm}:{ss}'],
  [0, '{HH}:{mm}:{ss}.{SSS}'],
];

/**
 * Returns a time axis in UTC.
 * @param times milliseconds since 1970. For a single time, the axis also includes one minute before and one minute
 *   after it. For an empty list, the axis shows a day of 1970
 */
export function timeAxis(times: readonly number[], palette: Palette): unknown {
  const first = times.reduce((least, time) => Math.min(least, time), times[0] ?? 0);
  const last = times.reduce((most, time) => Math.max(most, time), times[0] ?? DAY);
  const margin = last > first ? Math.ceil(MARGIN * (last - first)) : MINUTE;
  const formatter = FORMATS.find(([least]) => last - first >= least)?.[1];
  return {
    type: 'time',
    min: first - margin,
    max: last + margin,
    splitNumber: 4,
    axisLabel: { formatter, ...font(12, palette.quiet), hideOverlap: true },
    axisLine: { show: true, onZero: false, lineStyle: { color: palette.axis } },
    axisTick: { show: true, lineStyle: { color: palette.axis } },
    splitLine: { show: false },
  };
}

/** Returns a tooltip with numbers. */
export function timelineTooltip(trigger: 'axis' | 'item', palette: Palette): unknown {
  return {
    trigger,
    confine: true,
    transitionDuration: 0,
    backgroundColor: palette.surface,
    borderColor: palette.axis,
    textStyle: font(12, palette.ink),
  };
}

/** A value over time, with a band around this value or around another value of the same quantity. */
export interface BandedLine {
  readonly label: string;
  /** The value at each time; null if there is no value. */
  readonly values: readonly (number | null)[];
  /** The lower end of the band for each time. Without both ends, the band is not drawn. */
  readonly low?: readonly (number | null)[] | undefined;
  /** The upper end of the band for each time. */
  readonly high?: readonly (number | null)[] | undefined;
  /**
   * The index of the colour and the dashes of the line, from 0 to 7.
   * @defaultValue the index of the line
   */
  readonly look?: number | undefined;
}

/** Values over time. */
export interface BandTimeline {
  readonly title: string;
  /**
   * The unit of the values. Shares are drawn in percent, on an axis that fits the range of the shares. The axis of
   * numbers starts at 0.
   */
  readonly unit: Unit;
  /** The times in milliseconds since 1970, ascending. */
  readonly times: readonly number[];
  /** The lines to draw, at most eight. */
  readonly lines: readonly BandedLine[];
  /** The limit, drawn as a line. */
  readonly limit?: number | undefined;
  /** Times of alarms, drawn as vertical lines. */
  readonly alarms?: readonly number[] | undefined;
  /** Times of suspected changes, drawn as dotted vertical lines. */
  readonly changes?: readonly number[] | undefined;
}

/** The style of a timeline. */
export interface TimelineStyle {
  /** @defaultValue LIGHT */
  readonly palette?: Palette | undefined;
  /**
   * Whether the title and the legend are drawn. Use false if the page around the chart shows them.
   * @defaultValue true
   */
  readonly isFramed?: boolean | undefined;
}

const PLOT = 230;

/**
 * The share of the earliest times whose bands do not affect the range of the axis. Bands are wide early in a stream.
 */
const SETTLED = 0.5;

/**
 * Draws lines over time, with bands behind the lines, and the limit as a dashed line. Bands are wide early in a stream.
 * The range of the axis therefore covers all lines, and only the later half of each band. The earlier half may be cut
 * off.
 */
export function timelineBandChart(timeline: BandTimeline, style: TimelineStyle = {}): Chart {
  const palette = style.palette ?? LIGHT;
  const isFramed = style.isFramed ?? true;
  const { top, bottom } = isFramed ? { top: 64, bottom: 72 } : { top: 16, bottom: 32 };
  return {
    width: CHART_WIDTH,
    height: top + PLOT + bottom,
    description: describe(timeline),
    option: {
      ...frame(palette),
      useUTC: true,
      ...(isFramed
        ? {
            title: headline(timeline.title, []),
            legend: bottomLegend(timeline.lines.map(({ label }) => shortenLabel(label))),
          }
        : {}),
      tooltip: timelineTooltip('axis', palette),
      grid: { left: 56, right: 20, top, bottom },
      xAxis: timeAxis(timeline.times, palette),
      yAxis: valueAxis(timeline, palette),
      dataset: { sourceHeader: false, source: rowsOf(timeline) },
      series: timeline.lines.flatMap((line, index) => [
        ...bandSeries(line, index, columnOf(timeline.lines, index), palette),
        lineSeries(line, index, timeline, palette),
      ]),
    },
  };
}

/**
 * Returns a data row for each time. The row contains the time and, for each line, the value, the lower end of the band
 * and its height.
 */
function rowsOf({ times, lines, unit }: BandTimeline): (number | null)[][] {
  return times.map((time, row) => [
    time,
    ...lines.flatMap(({ values, low, high }) => {
      const value = onAxis(values[row], unit);
      if (low === undefined || high === undefined) return [value];
      const [from, to] = [onAxis(low[row], unit), onAxis(high[row], unit)];
      return from === null || to === null ? [value, null, null] : [value, from, rounded(to - from)];
    }),
  ]);
}

/** Returns the column index of the value of a line. The next two columns contain the band of the line. */
function columnOf(lines: readonly BandedLine[], index: number): number {
  return lines.slice(0, index).reduce((column, line) => column + (hasBand(line) ? 3 : 1), 1);
}

function hasBand({ low, high }: BandedLine): boolean {
  return low !== undefined && high !== undefined;
}

function lineSeries(
  line: BandedLine,
  index: number,
  { lines, limit, alarms, changes }: BandTimeline,
  palette: Palette,
): unknown {
  const { color, dash } = styleOf(line, index, palette);
  return {
    name: shortenLabel(line.label),
    type: 'line',
    encode: { x: 0, y: columnOf(lines, index) },
    symbol: hasLonePoint(line.values) ? 'circle' : 'none',
    symbolSize: 5,
    lineStyle: { color, width: 2, type: dash.length === 0 ? 'solid' : [...dash] },
    itemStyle: { color },
    emphasis: { disabled: true },
    z: 4,
    ...(index === 0 ? { markLine: marks({ limit, alarms, changes }, palette) } : {}),
  };
}

/**
 * Returns an invisible line at the lower end of the band, and a filled area stacked on this line up to the upper end.
 */
function bandSeries(line: BandedLine, index: number, column: number, palette: Palette): unknown[] {
  if (!hasBand(line)) return [];
  const common = {
    type: 'line',
    stack: `band ${String(index)}`,
    stackStrategy: 'all',
    symbol: 'none',
    silent: true,
    lineStyle: { opacity: 0 },
    tooltip: { show: false },
    emphasis: { disabled: true },
    z: 2,
  };
  const { color } = styleOf(line, index, palette);
  return [
    { ...common, encode: { x: 0, y: column + 1 } },
    { ...common, encode: { x: 0, y: column + 2 }, areaStyle: { color, opacity: 0.18 } },
  ];
}

function styleOf({ look }: BandedLine, position: number, palette: Palette): { color: string; dash: Dash } {
  const index = (look ?? position) % palette.series.length;
  return { color: palette.series[index] as string, dash: DASHES[index] as Dash };
}

function marks({ limit, alarms = [], changes = [] }: Partial<BandTimeline>, palette: Palette): unknown {
  return plotLines({ color: palette.alarm, width: 1.5 }, [
    ...(limit === undefined ? [] : [{ yAxis: limit, lineStyle: { type: [6, 4] } }]),
    ...alarms.map((time) => ({ xAxis: time, lineStyle: { type: 'solid' } })),
    ...changes.map((time) => ({ xAxis: time, lineStyle: { type: [2, 3] } })),
  ]);
}

function valueAxis({ unit, lines, limit, times }: BandTimeline, palette: Palette): unknown {
  const settled = Math.floor(SETTLED * times.length);
  const drawn = lines
    .flatMap(({ values, low, high }) => [...values, ...(low ?? []).slice(settled), ...(high ?? []).slice(settled)])
    .map((value) => onAxis(value, unit))
    .filter((value) => value !== null);
  if (unit === 'number') drawn.push(0, 1.1 * (limit ?? 0));
  const ends = drawn.length === 0 ? [0, 1] : [drawn.reduce(smaller), drawn.reduce(larger)];
  const { axisLabel: label, ...axis } = rangeAxis('', 0, ends, rangeOf(unit), palette);
  const format = unit === 'share' ? { formatter: '{value}%' } : {};
  return { ...axis, axisLabel: { ...(label as object), ...format } };
}

const smaller = (a: number, b: number): number => Math.min(a, b);
const larger = (a: number, b: number): number => Math.max(a, b);

function rangeOf(unit: Unit): readonly [number, number] {
  return unit === 'share' ? [0, 100] : [0, Infinity];
}

/** Returns a value as it is drawn, rounded to the visible digits. */
function onAxis(value: number | null | undefined, unit: Unit): number | null {
  if (value === null || value === undefined || !Number.isFinite(value)) return null;
  return rounded(unit === 'share' ? 100 * value : value);
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

/**
 * Returns whether there is a value without a neighbouring value directly before or after it. A line cannot show such a
 * value, so it needs a dot.
 */
function hasLonePoint(values: readonly (number | null)[]): boolean {
  const isMissing = (value: number | null | undefined): boolean => value === null || value === undefined;
  return values.some((value, row) => !isMissing(value) && isMissing(values[row - 1]) && isMissing(values[row + 1]));
}

function describe({ title: name, unit, times, lines, limit, alarms = [] }: BandTimeline): string {
  if (times.length === 0) return `${name}: no values recorded yet.`;
  const ends = lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null && Number.isFinite(value)) as number[];
    const [first, last] = [known[0], known.at(-1)];
    if (first === undefined || last === undefined) return `${shortenLabel(label)} has no value`;
    return `${shortenLabel(label)} from ${chartValue(first, unit)} to ${chartValue(last, unit)}`;
  });
  const held = limit === undefined ? '' : ` The limit is ${chartValue(limit, unit)}.`;
  const raised = alarms.length === 0 ? '' : ` Alarms raised: ${String(alarms.length)}.`;
  return `${name} at ${String(times.length)} times: ${ends.join('; ')}.${held}${raised}`;
}
