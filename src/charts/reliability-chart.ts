import { formatCompact, formatLevel } from '../internal/format.ts';
import {
  axisLines,
  axisName,
  bottomLegend,
  type Chart,
  type ChartText,
  COLOURS,
  countLabel,
  font,
  FRAME,
  headline,
  LINE_HEIGHT,
  NO_AXIS_LINES,
  plotLines,
  shortenLabel,
} from './chart.ts';

/** A bin of rows with similar scores. */
export interface ReliabilityDot {
  readonly n: number;
  readonly meanScore: number;
  readonly positiveRate: number;
  readonly low: number;
  readonly high: number;
}

/** The data of a group in the chart. */
export interface ReliabilityPanel {
  readonly label: string;
  readonly n: number;
  /** Bins in order of score. */
  readonly before: readonly ReliabilityDot[];
  /** The bins of the same rows after calibration. */
  readonly after?: readonly ReliabilityDot[] | undefined;
}

/** Texts of the chart. */
interface ReliabilityChartText extends ChartText {
  /**
   * The confidence level of the intervals.
   * @defaultValue 0.95
   */
  readonly level?: number | undefined;
}

/** The maximum number of groups. If there are more groups, the largest groups are drawn. */
const MAX_PANELS = 16;

/** The approximate width of a letter in a group label. */
const LABEL_LETTER = 7.4;

/** The legend icon of the diagonal. By default, the legend would add a dot. */
const DASHES = 'path://M0 0h5v1.6h-5z M9 0h5v1.6h-5z M18 0h5v1.6h-5z';

/**
 * Draws a panel for each group. For each bin, a dot shows the share of positives against the mean score. On the
 * diagonal, the share equals the mean score. All panels have the same scale, from 0 to the smallest of 0.05, 0.1, 0.2,
 * 0.5 and 1 that includes every dot. Intervals are cut off at the end of the scale. If there are more than 16 groups,
 * only the 16 largest groups are drawn, and the chart contains a note.
 */
export function reliabilityChart(panels: readonly ReliabilityPanel[], text: ReliabilityChartText = {}): Chart {
  const drawn = largest(panels);
  const hasAfter = drawn.some(({ after }) => after !== undefined);
  const dots = drawn.flatMap(({ before, after }) => [...before, ...(after ?? [])]);
  const top = Math.max(0, ...dots.flatMap(({ meanScore, positiveRate }) => [meanScore, positiveRate]));
  const most = [...SCALE_STEPS.keys()].find((end) => end >= top) ?? 1;
  const lines = [
    text.subtitle,
    `Dots are bins of equal size; bars are their ${formatLevel(text.level ?? 0.95)} intervals.`,
    panels.length > drawn.length
      ? `Shows the ${String(drawn.length)} largest of ${String(panels.length)} groups.`
      : undefined,
  ].filter((line) => line !== undefined);
  const { width, height, grids, side } = placePanels(drawn.length, 62 + lines.length * LINE_HEIGHT);
  return {
    width,
    height,
    description: describe(panels, drawn),
    option: {
      ...FRAME,
      title: headline(text.title ?? 'Reliability of scores by group', lines, {
        title: Math.floor((width - 32) / 9.5),
        line: Math.floor((width - 32) / 6.6),
      }),
      legend: bottomLegend(drawn.length === 0 ? [] : legendOf(hasAfter)),
      tooltip: { trigger: 'item', formatter: '{b}' },
      grid: grids.map(({ left, top: from, width: across }) => ({
        left: `${((100 * left) / width).toFixed(4)}%`,
        top: from,
        width: `${((100 * across) / width).toFixed(4)}%`,
        height: side,
        outerBoundsMode: 'none',
      })),
      xAxis: grids.map(({ isLowest }, index) => ({
        ...panelAxis(index, most, isLowest),
        ...axisName(isLowest ? 'Mean score' : '', 28),
      })),
      yAxis: [
        ...grids.map(({ isFirst }, index) => ({
          ...panelAxis(index, most, isFirst),
          ...panelLabel(shortenLabel(drawn[index]?.label ?? '', Math.floor(side / LABEL_LETTER))),
        })),
        ...grids.flatMap(({ isFirst }, index) => (isFirst ? [upwardName(index, most)] : [])),
      ],
      series: drawn.flatMap(({ n, before, after }, index) => [
        diagonal(index, most),
        panelCount(index, n, most),
        reliabilityLine(hasAfter ? 'before' : 'scores', index, before, most),
        ...(after === undefined ? [] : [reliabilityLine('after', index, after, most)]),
      ]),
    },
  };
}

function legendOf(hasAfter: boolean): unknown[] {
  return [...(hasAfter ? ['before', 'after'] : ['scores']), { name: 'calibrated', icon: DASHES }];
}

/** Returns the largest groups, in input order. */
function largest(panels: readonly ReliabilityPanel[]): readonly ReliabilityPanel[] {
  if (panels.length <= MAX_PANELS) return panels;
  const kept = new Set([...panels].sort((a, b) => b.n - a.n).slice(0, MAX_PANELS));
  return panels.filter((panel) => kept.has(panel));
}

function describe(panels: readonly ReliabilityPanel[], drawn: readonly ReliabilityPanel[]): string {
  const parts = drawn.map(({ label, before, after }) => {
    const own = `${shortenLabel(label)}: ${meanDistance(before)}`;
    return after === undefined ? own : `${own} before, ${meanDistance(after)} after`;
  });
  const groups = `${String(panels.length)} ${panels.length === 1 ? 'group' : 'groups'}`;
  return `Reliability of ${groups}: mean distance between shares and scores. ${parts.join('; ')}.`;
}

function meanDistance(dots: readonly ReliabilityDot[]): string {
  const n = dots.reduce((sum, dot) => sum + dot.n, 0);
  if (n === 0) return 'no rows';
  const sum = dots.reduce((total, dot) => total + dot.n * Math.abs(dot.positiveRate - dot.meanScore), 0);
  return (sum / n).toFixed(3);
}

/** The position of a panel, and whether its axes have labels. */
interface PanelPosition {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  /** Whether the panel is the first of its row. Only the first panel of a row shows the labels of the vertical axis. */
  readonly isFirst: boolean;
  /**
   * Whether there is no other panel below this panel. Only the lowest panel of a column shows the labels of the
   * horizontal axis.
   */
  readonly isLowest: boolean;
}

/** Square panels in rows, and the size of the chart. */
interface PanelGrid {
  readonly width: number;
  readonly height: number;
  /** The side of each panel, in pixels. */
  readonly side: number;
  readonly grids: readonly PanelPosition[];
}

/** The side lengths of a panel, for one to four panels in a row. */
const SIDES = [440, 330, 250, 200] as const;

const LEFT = 72;
const RIGHT = 32;
const BETWEEN_COLUMNS = 30;
/**
 * The space between two rows of panels. The space contains the two lines of text above a panel, or the labels of an
 * axis.
 */
const BETWEEN_ROWS = 56;
const PANEL_TITLE = 44;
const BOTTOM = 92;

/**
 * Places panels in rows of one to four.
 * @param count the number of panels; 0 gives an empty chart
 * @param top the space above the panels for text, in pixels
 */
function placePanels(count: number, top: number): PanelGrid {
  const columns = columnsFor(count);
  const side = SIDES[columns - 1] as number;
  const rows = Math.ceil(count / columns);
  const grids = Array.from({ length: count }, (_, index): PanelPosition => {
    const column = index % columns;
    const row = Math.floor(index / columns);
    return {
      left: LEFT + column * (side + BETWEEN_COLUMNS),
      top: top + PANEL_TITLE + row * (side + BETWEEN_ROWS),
      width: side,
      isFirst: column === 0,
      isLowest: index + columns >= count,
    };
  });
  return {
    width: LEFT + columns * side + (columns - 1) * BETWEEN_COLUMNS + RIGHT,
    height: top + PANEL_TITLE + Math.max(1, rows) * side + Math.max(0, rows - 1) * BETWEEN_ROWS + BOTTOM,
    side,
    grids,
  };
}

function columnsFor(count: number): number {
  if (count <= 3) return Math.max(1, count);
  if (count === 4) return 2;
  return count <= 9 ? 3 : 4;
}

/** The distance between two labels of an axis, by the upper end of the axis. */
const SCALE_STEPS: ReadonlyMap<number, number> = new Map([
  [0.05, 0.01],
  [0.1, 0.02],
  [0.2, 0.05],
  [0.5, 0.1],
  [1, 0.2],
]);

/** The style of each line. */
const LINES = {
  before: { color: COLOURS.other, fill: '#ffffff', z: 3 },
  after: { color: COLOURS.main, fill: COLOURS.main, z: 4 },
  scores: { color: COLOURS.main, fill: COLOURS.main, z: 4 },
} as const;

/** Returns an axis of a panel. Only the axes at the edge of the chart have labels. */
function panelAxis(index: number, most: number, hasLabels: boolean): object {
  return {
    type: 'value',
    gridIndex: index,
    min: 0,
    max: most,
    interval: SCALE_STEPS.get(most),
    ...axisLines({ show: hasLabels, ...font(11, COLOURS.quiet) }),
  };
}

/** Returns the label of a group, above its panel. */
function panelLabel(name: string): object {
  const nameTextStyle = { align: 'left', ...font(13, COLOURS.ink), fontWeight: 700 };
  return { name, nameLocation: 'end', nameGap: 25, nameTextStyle };
}

/**
 * Returns an additional axis with the name of the vertical axis, because the panel's own axis shows the group label.
 */
function upwardName(index: number, most: number): unknown {
  return {
    type: 'value',
    gridIndex: index,
    position: 'left',
    min: 0,
    max: most,
    ...axisName('Share of positives', 38),
    axisLabel: { show: false },
    ...NO_AXIS_LINES,
  };
}

/** Returns the diagonal, which represents perfectly calibrated scores. */
function diagonal(index: number, most: number): unknown {
  return {
    name: 'calibrated',
    type: 'line',
    xAxisIndex: index,
    yAxisIndex: index,
    silent: true,
    symbol: 'none',
    data: [{ value: [0, 0] }, { value: [most, most] }],
    lineStyle: { color: COLOURS.quiet, width: 1, type: [4, 4] },
    itemStyle: { color: COLOURS.quiet },
    z: 2,
  };
}

/** Returns the number of rows of a group, under its label. */
function panelCount(index: number, n: number, most: number): unknown {
  return {
    name: 'rows',
    type: 'scatter',
    xAxisIndex: index,
    yAxisIndex: index,
    silent: true,
    clip: false,
    symbolSize: 0,
    data: [{ value: [0, most], name: countLabel(n) }],
    label: { show: true, position: 'top', distance: 9, align: 'left', formatter: '{b}', ...font(12, COLOURS.quiet) },
  };
}

/** Returns dots connected by a line, with bars for their intervals. */
function reliabilityLine(
  name: keyof typeof LINES,
  index: number,
  dots: readonly ReliabilityDot[],
  most: number,
): unknown {
  const { color, fill, z } = LINES[name];
  const cut = (share: number): number => Math.min(most, share);
  return {
    name,
    type: 'line',
    xAxisIndex: index,
    yAxisIndex: index,
    data: dots.map((dot) => ({ value: [dot.meanScore, dot.positiveRate], name: words(dot) })),
    symbol: 'circle',
    symbolSize: 6,
    showAllSymbol: true,
    lineStyle: { color, width: 1.6 },
    itemStyle: { color: fill, borderColor: color, borderWidth: 1.4, opacity: 1 },
    emphasis: { disabled: true },
    z,
    markLine: plotLines(
      { color, width: 1.2, type: 'solid', opacity: 0.55 },
      dots.map(({ meanScore, low, high }) => [{ coord: [meanScore, cut(low)] }, { coord: [meanScore, cut(high)] }]),
    ),
  };
}

function words({ n, meanScore, positiveRate, low, high }: ReliabilityDot): string {
  const [score, share, from, to] = [meanScore, positiveRate, low, high].map((value) => formatCompact(value));
  return `mean score ${score ?? ''}, share of positives ${share ?? ''} (${from ?? ''} to ${to ?? ''}), ${countLabel(n)}`;
}
