import {
  type AxisRange,
  bottomLegend,
  type Chart,
  type ChartText,
  COLOURS,
  font,
  FONT_FAMILY,
  FRAME,
  labelWidth,
  linesOnly,
  plotLines,
  rangeAxis,
} from './chart.ts';
import { placeLabels, type Rectangle } from './place-labels.ts';

/** The data of a point in the chart. */
export interface ParetoChartPoint {
  readonly eta: number;
  readonly accuracy: number;
  readonly dpDiff: number;
  readonly dominated: boolean;
  readonly accuracyCi: readonly [low: number, high: number];
  readonly dpDiffCi: readonly [low: number, high: number] | null;
  /** The equalized odds difference, which is shown in the tooltip. */
  readonly eoDiff?: number | undefined;
}

/** The size of the chart, and the margins around the plot, in pixels. */
const [WIDTH, HEIGHT] = [820, 520];
const GRID = { left: 84, right: 48, top: 84, bottom: 104 };

/** The area in which points and labels are drawn. */
const PLOT: Rectangle = { left: GRID.left, right: WIDTH - GRID.right, top: GRID.top, bottom: HEIGHT - GRID.bottom };

const FONT_SIZE = 12;

/** A generous estimate of the width of a lower-case letter in this font size, in pixels. */
const LETTER = 0.62 * FONT_SIZE;

/**
 * Draws the accuracy of each point against its demographic parity difference. Better points are further up or further
 * to the left. Undominated points are filled and connected, and dominated points are hollow. Thin crosses show
 * intervals. The label of a point is its eta. Labels do not overlap: a label without enough space is omitted. The
 * tooltip of a point shows all its numbers.
 */
export function paretoChart(points: readonly ParetoChartPoint[], text: ChartText = {}): Chart {
  const front = points.filter((point) => !point.dominated).sort((a, b) => a.dpDiff - b.dpDiff);
  const dominated = points.filter((point) => point.dominated);
  const gaps = points.flatMap((point) => [point.dpDiff, ...(point.dpDiffCi ?? [])]);
  const accuracies = points.flatMap((point) => [point.accuracy, ...point.accuracyCi]);
  const xAxis = rangeAxis('Demographic parity difference (smaller is closer to parity)', 42, gaps, [0, 1]);
  const yAxis = rangeAxis('Accuracy on held-out rows', 56, accuracies, [0, 1]);
  return {
    width: WIDTH,
    height: HEIGHT,
    description: describe(points),
    option: {
      ...FRAME,
      title: {
        text: text.title ?? 'Accuracy against demographic parity difference',
        subtext: text.subtitle ?? '',
        left: 24,
        top: 16,
        itemGap: 8,
        textStyle: { ...font(18, COLOURS.ink), fontWeight: 700 },
        subtextStyle: font(12, COLOURS.quiet),
      },
      legend: {
        ...bottomLegend(dominated.length > 0 ? ['not dominated', 'dominated'] : ['not dominated']),
        left: 24,
        bottom: 12,
      },
      tooltip: { trigger: 'item', confine: true },
      grid: GRID,
      xAxis,
      yAxis,
      series: [
        intervals(points),
        {
          name: 'not dominated',
          type: 'line',
          data: front.map(dot),
          symbol: 'circle',
          symbolSize: 11,
          lineStyle: { color: COLOURS.main, width: 2 },
          itemStyle: { color: COLOURS.main },
          z: 3,
        },
        {
          name: 'dominated',
          type: 'scatter',
          data: dominated.map(dot),
          symbolSize: 10,
          itemStyle: { color: '#ffffff', borderColor: COLOURS.other, borderWidth: 2, opacity: 1 },
          z: 3,
        },
        ...labels([...front, ...dominated], xAxis, yAxis),
      ],
    },
  };
}

/** Returns the two intervals of each point as thin crossing lines, drawn behind the points. */
function intervals(points: readonly ParetoChartPoint[]): unknown {
  const lines = points.flatMap(({ accuracy, dpDiff, accuracyCi, dpDiffCi }) => [
    [
      [dpDiff, accuracyCi[0]],
      [dpDiff, accuracyCi[1]],
    ],
    ...(dpDiffCi === null
      ? []
      : [
          [
            [dpDiffCi[0], accuracy],
            [dpDiffCi[1], accuracy],
          ],
        ]),
  ]);
  return thinLines('intervals', lines, { color: COLOURS.main, width: 1, opacity: 0.45 }, 1);
}

/** Returns lines between positions that are given as axis values. */
function thinLines(name: string, lines: readonly (readonly number[][])[], style: object, z: number): unknown {
  const ends = lines.map(([from, to]) => [{ coord: from }, { coord: to }]);
  return linesOnly(name, { ...plotLines({ type: 'solid', ...style }, ends), z });
}

function dot(point: ParetoChartPoint): unknown {
  return {
    value: [point.dpDiff, point.accuracy, point.eta],
    name: etaText(point),
    tooltip: { formatter: tooltipOf(point) },
  };
}

function etaText({ eta }: ParetoChartPoint): string {
  return `eta ${String(eta)}`;
}

/** Returns lines of HTML. The lines contain only names and numbers of this package, so nothing needs escaping. */
function tooltipOf(point: ParetoChartPoint): string {
  const line = (name: string, value: number | undefined, interval?: readonly [number, number] | null): string[] => {
    if (value === undefined || Number.isNaN(value)) return [];
    const range = interval ? ` [${interval.map((end) => end.toFixed(4)).join(', ')}]` : '';
    return [`${name} ${value.toFixed(4)}${range}`];
  };
  return [
    etaText(point),
    ...line('Accuracy', point.accuracy, point.accuracyCi),
    ...line('Demographic parity difference', point.dpDiff, point.dpDiffCi),
    ...line('Equalized odds difference', point.eoDiff),
  ].join('<br>');
}

/**
 * Returns the labels and, for labels that are far from their points, connecting lines. Positions are given as axis
 * values, so that they remain correct if the chart has a different width.
 */
function labels(points: readonly ParetoChartPoint[], xAxis: AxisRange, yAxis: AxisRange): unknown[] {
  const [across, down] = [PLOT.right - PLOT.left, PLOT.bottom - PLOT.top];
  const placed = placeLabels(
    points.map((point) => ({
      x: PLOT.left + (across * (point.dpDiff - xAxis.min)) / (xAxis.max - xAxis.min),
      y: PLOT.bottom - (down * (point.accuracy - yAxis.min)) / (yAxis.max - yAxis.min),
      width: LETTER * labelWidth(etaText(point)),
      height: 1.25 * FONT_SIZE,
    })),
    PLOT,
  );
  const shown = points.flatMap((point, index) => {
    const position = placed[index];
    if (!position) return [];
    const x = xAxis.min + ((position.x - PLOT.left) * (xAxis.max - xAxis.min)) / across;
    const y = yAxis.min + ((PLOT.bottom - position.y) * (yAxis.max - yAxis.min)) / down;
    return [{ point, at: [x, y], isFar: position.isFar }];
  });
  const leaders = shown.filter(({ isFar }) => isFar).map(({ point, at }) => [[point.dpDiff, point.accuracy], at]);
  return [
    thinLines('leaders', leaders, { color: COLOURS.other, width: 0.75 }, 2),
    {
      name: 'labels',
      type: 'scatter',
      silent: true,
      clip: false,
      symbolSize: 0,
      itemStyle: { opacity: 1 },
      tooltip: { show: false },
      // Labels could overlap in a window that is narrower than the chart.
      labelLayout: { hideOverlap: true },
      label: {
        show: true,
        position: 'inside',
        fontFamily: FONT_FAMILY,
        fontSize: FONT_SIZE,
        textBorderColor: '#ffffff',
        textBorderWidth: 3,
        formatter: '{b}',
      },
      data: shown.map(({ point, at }) => ({
        name: etaText(point),
        value: at,
        label: { color: point.dominated ? COLOURS.quiet : COLOURS.ink },
      })),
      z: 4,
    },
  ];
}

function describe(points: readonly ParetoChartPoint[]): string {
  const parts = points.map(
    ({ eta, accuracy, dpDiff }) =>
      `eta ${String(eta)}: accuracy ${accuracy.toFixed(3)}, demographic parity difference ${dpDiff.toFixed(3)}`,
  );
  return `Accuracy over demographic parity difference. ${parts.join('; ')}.`;
}
