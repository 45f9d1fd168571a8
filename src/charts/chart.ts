import { charactersOf } from '../internal/format.ts';
import type { Palette } from './palette.ts';

/** The maximum width of a label in a chart, as a number of lower-case letters. */
const LABEL_WIDTH = 28;

/** Widths of characters relative to a lower-case letter. The first matching pattern determines the width. */
const WIDTHS: readonly (readonly [pattern: RegExp, width: number])[] = [
  [/^[ .,:;'|!ijlIftr()[\]]$/, 0.55],
  [/^[MWmw@%]$/, 1.6],
  [/^\p{Lu}$/u, 1.25],
  // Emoji and East Asian scripts.
  [/\p{Extended_Pictographic}|\p{Regional_Indicator}/u, 2],
  [/^[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]/u, 1.9],
];

/** Matches control characters, halves of surrogate pairs, and characters that change the text direction. */
const UNPRINTABLE = /[\p{Cc}\p{Surrogate}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFFFE\uFFFF]+/gu;

/** Returns a label on one line. If the label is too long for a chart, it is cut and ends with an ellipsis. */
export function shortenLabel(label: string, width: number = LABEL_WIDTH): string {
  const text = label.replaceAll(UNPRINTABLE, ' ').replaceAll(/\s+/g, ' ').trim();
  if (text === '') return '(blank)';
  const characters = charactersOf(text.slice(0, 40 * width));
  if (widthOf(characters) <= width) return text;
  let taken = 0;
  const cut = characters.findIndex((character) => (taken += widthOf([character])) > width - 1);
  return `${characters.slice(0, cut).join('').trimEnd()}\u2026`;
}

/** Estimates the width of a text, as a number of lower-case letters. */
export function labelWidth(text: string): number {
  return widthOf(charactersOf(text));
}

function widthOf(characters: readonly string[]): number {
  return characters.reduce(
    (width, character) => width + (WIDTHS.find(([pattern]) => pattern.test(character))?.[1] ?? 1),
    0,
  );
}

/** Formats a number of rows for a chart. */
export function countLabel(n: number): string {
  const isLong = n >= 1e7;
  return `n = ${n.toLocaleString('en-US', isLong ? { notation: 'compact', maximumSignificantDigits: 4 } : {})}`;
}

/** The number of groups drawn at the top and at the bottom of a chart if not all groups fit. */
export const DRAWN_AT_EACH_END = 20;

/** A row of a chart. If `group` is undefined, the row shows the number of omitted groups. */
export interface GroupRow<Group> {
  readonly label: string;
  readonly group: Group | undefined;
}

/**
 * Returns a row for each group. If there are many groups, returns only the first and the last groups, with a row
 * between them that shows the number of omitted groups.
 */
export function bothEnds<Group extends { readonly label: string }>(sorted: readonly Group[]): GroupRow<Group>[] {
  const rows = sorted.map((group): GroupRow<Group> => ({ label: group.label, group }));
  const between = rows.length - 2 * DRAWN_AT_EACH_END;
  if (between <= 0) return rows;
  const gap: GroupRow<Group> = { label: `\u22EE ${String(between)} more groups`, group: undefined };
  return [...rows.slice(0, DRAWN_AT_EACH_END), gap, ...rows.slice(-DRAWN_AT_EACH_END)];
}

/** A chart as plain data: an ECharts option object and its size. */
export interface Chart {
  readonly width: number;
  readonly height: number;
  /** A description of the chart for screen readers. */
  readonly description: string;
  readonly option: Readonly<Record<string, unknown>>;
}

/** The width of most charts, in pixels. */
export const CHART_WIDTH = 760;

/** The font family of all charts. The package includes the font Inter. */
export const FONT_FAMILY = 'Inter, Helvetica, Arial, sans-serif';

/** Colours that are distinguishable without colour vision (Okabe and Ito 2008). */
export const COLOURS = {
  ink: '#1f2933',
  quiet: '#616e7c',
  grid: '#e4e7eb',
  main: '#0072b2',
  mainSoft: '#8fbfdc',
  other: '#9aa5b1',
} as const;

/** Returns the style of a text. */
export function font(fontSize: number, color: string): Record<string, unknown> {
  return { fontFamily: FONT_FAMILY, fontSize, color };
}

/** Returns the options that every chart has. */
export function frame({ surface, ink }: { readonly surface: string; readonly ink: string }): Record<string, unknown> {
  return { animation: false, backgroundColor: surface, textStyle: { fontFamily: FONT_FAMILY, color: ink } };
}

/** The colours of the lines of an axis. */
const AXIS_COLOURS = { line: COLOURS.other as string, grid: COLOURS.grid as string };

/** The options that every chart on a white background has. */
export const FRAME = frame({ surface: '#ffffff', ink: COLOURS.ink });

/**
 * Returns options for lines over a plot that have no labels and no tooltips. By default, ECharts rounds the positions of
 * lines to two decimals.
 */
export function plotLines(lineStyle: object, data: readonly unknown[]): Record<string, unknown> {
  return { silent: true, animation: false, precision: -1, symbol: 'none', label: { show: false }, lineStyle, data };
}

/** Returns a series that draws only lines over the plot. The series has no tooltips and no entry in the legend. */
export function linesOnly(name: string, markLine: object): object {
  return { name, type: 'line', data: [], silent: true, markLine };
}

/** Returns the style of the lines and labels of a numeric axis. */
export function axisLines(label: object, colours = AXIS_COLOURS): object {
  return {
    axisLabel: label,
    axisLine: { show: true, onZero: false, lineStyle: { color: colours.line } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: colours.grid } },
  };
}

/** The options of an axis without lines. */
export const NO_AXIS_LINES = { axisLine: { show: false }, axisTick: { show: false }, splitLine: { show: false } };

/** Returns the options that draw the name of an axis centred beside the axis. */
export function axisName(name: string, nameGap: number, fontSize = 12, color: string = COLOURS.ink): object {
  return { name, nameLocation: 'middle', nameGap, nameTextStyle: font(fontSize, color) };
}

/** The height of a line under a title. */
export const LINE_HEIGHT = 18;

/** The texts above a chart. */
export interface ChartText {
  readonly title?: string | undefined;
  /** A line under the title. */
  readonly subtitle?: string | undefined;
}

/**
 * The maximum widths of a title and of a line under the title, as numbers of lower-case letters. The widths apply to
 * charts with the width {@link CHART_WIDTH}.
 */
const HEADLINE_WIDTHS = { title: 78, line: 108 };

/** Returns a title. */
export function title(text: string): Record<string, unknown> {
  return { text, left: 16, top: 12, textStyle: { ...font(16, COLOURS.ink), fontWeight: 700 } };
}

/** Returns a title and the lines of text under it. Each text is cut to its maximum width. */
export function headline(name: string, lines: readonly string[], widths = HEADLINE_WIDTHS): unknown {
  return {
    ...title(shortenLabel(name, widths.title)),
    subtext: lines.map((line) => shortenLabel(line, widths.line)).join('\n'),
    itemGap: 6,
    subtextStyle: { ...font(12, COLOURS.quiet), lineHeight: LINE_HEIGHT },
  };
}

/**
 * Returns a legend below the plot. A click on the legend has no effect.
 * @param data names of series, or entries with their own style
 */
export function bottomLegend(data: readonly unknown[]): Record<string, unknown> {
  return {
    left: 16,
    bottom: 10,
    itemGap: 24,
    selectedMode: false,
    textStyle: font(12, COLOURS.ink),
    data,
  };
}

/** The free space at each end of an axis, as a share of the range of the data. */
const MARGIN = 0.06;

/** The ends of an axis. */
export interface AxisRange {
  readonly min: number;
  readonly max: number;
}

/** The colours of an axis. */
type AxisColours = Pick<Palette, 'ink' | 'quiet' | 'grid' | 'axis'>;

const USUAL: AxisColours = { ...COLOURS, axis: COLOURS.quiet };

/** Returns an axis with round steps. The axis extends slightly beyond the data, but not beyond the possible values. */
export function rangeAxis(
  name: string,
  nameGap: number,
  values: readonly number[],
  [least, most]: readonly [number, number],
  colours: AxisColours = USUAL,
): Record<string, unknown> & AxisRange {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = MARGIN * (high - low || 0.1);
  const step = niceStep((high - low + 2 * margin) / 6);
  // Without rounding, 41 x 0.02 would appear on the axis as 0.8200000000000001.
  const stepsOf = (count: number): number => Number((count * step).toFixed(9));
  return {
    type: 'value',
    ...axisName(name, nameGap, 13, colours.ink),
    min: Math.max(least, stepsOf(Math.floor((low - margin) / step))),
    max: Math.min(most, stepsOf(Math.ceil((high + margin) / step))),
    interval: step,
    ...axisLines(font(12, colours.quiet), { line: colours.axis, grid: colours.grid }),
  };
}

/** Rounds a step up to 1, 2 or 5 times a power of ten. */
function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5].find((candidate) => candidate * power >= rough) ?? 10;
  return factor * power;
}
