import { formatCompact } from '../internal/format.ts';
import {
  AXIS_COLOURS,
  axisLines,
  axisName,
  COLOURS,
  countLabel,
  font,
  FONT_FAMILY,
  NO_AXIS_LINES,
  plotLines,
} from './chart.ts';

/** The position of a panel, and which of its axes have labels. */
interface PanelPosition {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  /** Whether it is the first of its row, with the labels of the vertical axis. */
  readonly isFirst: boolean;
  /** Whether it has no panel below, and so has the labels of the horizontal axis. */
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

/** The sides of panels by the number of panels in a row. */
const SIDES = [440, 330, 250, 200] as const;

const LEFT = 72;
const RIGHT = 32;
const BETWEEN_COLUMNS = 30;
/** The space for the two lines of text of a panel, or for the axis of a panel with none below. */
const BETWEEN_ROWS = 56;
const PANEL_TITLE = 44;
const BOTTOM = 92;

/**
 * Places panels in rows of one to four.
 * @param count the number of panels; 0 gives an empty chart
 * @param top the space above them for text, in pixels
 */
export function placePanels(count: number, top: number): PanelGrid {
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

/** A bin of rows with similar scores. */
export interface ReliabilityDot {
  readonly n: number;
  readonly meanScore: number;
  readonly positiveRate: number;
  readonly low: number;
  readonly high: number;
}

/** The steps of the axes by their upper end. */
export const SCALE_STEPS: ReadonlyMap<number, number> = new Map([
  [0.05, 0.01],
  [0.1, 0.02],
  [0.2, 0.05],
  [0.5, 0.1],
  [1, 0.2],
]);

/** The style of each line. */
const LINES = {
  before: { line: COLOURS.other, fill: '#ffffff', edge: COLOURS.other, bar: COLOURS.other, z: 3 },
  after: { line: COLOURS.main, fill: COLOURS.main, edge: COLOURS.main, bar: COLOURS.main, z: 4 },
  scores: { line: COLOURS.main, fill: COLOURS.main, edge: COLOURS.main, bar: COLOURS.main, z: 4 },
} as const;

/** Returns both axes of a panel. Axis labels are only at the edge of the chart; the group label is above the panel. */
export function panelAxes(
  index: number,
  { isFirst, isLowest }: PanelPosition,
  most: number,
  label: string,
): { readonly x: unknown; readonly y: unknown } {
  const axis = (hasLabels: boolean): Record<string, unknown> => ({
    type: 'value',
    gridIndex: index,
    min: 0,
    max: most,
    interval: SCALE_STEPS.get(most),
    ...axisLines({ show: hasLabels, ...font(11, COLOURS.quiet) }, AXIS_COLOURS),
  });
  return {
    x: {
      ...axis(isLowest),
      ...axisName(isLowest ? 'Mean score' : '', 28),
    },
    y: {
      ...axis(isFirst),
      name: label,
      nameLocation: 'end',
      nameGap: 25,
      nameTextStyle: { align: 'left', fontFamily: FONT_FAMILY, fontSize: 13, fontWeight: 700, color: COLOURS.ink },
    },
  };
}

/** Returns an extra axis with the name of the vertical axis, since the panel's own axis has the group label. */
export function upwardName(index: number, most: number): unknown {
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

/** Returns the diagonal of calibrated scores. */
export function diagonal(index: number, most: number): unknown {
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
export function panelCount(index: number, n: number, most: number): unknown {
  return {
    name: 'rows',
    type: 'scatter',
    xAxisIndex: index,
    yAxisIndex: index,
    silent: true,
    clip: false,
    symbolSize: 0,
    data: [{ value: [0, most], name: countLabel(n) }],
    label: {
      show: true,
      position: 'top',
      distance: 9,
      align: 'left',
      formatter: '{b}',
      ...font(12, COLOURS.quiet),
    },
  };
}

/** Returns dots connected by a line, with bars for their intervals. */
export function reliabilityLine(
  name: keyof typeof LINES,
  index: number,
  dots: readonly ReliabilityDot[],
  most: number,
): unknown {
  const { line, fill, edge, bar, z } = LINES[name];
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
    lineStyle: { color: line, width: 1.6 },
    itemStyle: { color: fill, borderColor: edge, borderWidth: 1.4, opacity: 1 },
    emphasis: { disabled: true },
    z,
    markLine: plotLines(
      { color: bar, width: 1.2, type: 'solid', opacity: 0.55 },
      dots.map(({ meanScore, low, high }) => [{ coord: [meanScore, cut(low)] }, { coord: [meanScore, cut(high)] }]),
    ),
  };
}

function words({ n, meanScore, positiveRate, low, high }: ReliabilityDot): string {
  const [score, share, from, to] = [meanScore, positiveRate, low, high].map((value) => formatCompact(value));
  return `mean score ${score ?? ''}, share of positives ${share ?? ''} (${from ?? ''} to ${to ?? ''}), ${countLabel(n)}`;
}
