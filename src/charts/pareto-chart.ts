import { type Chart, COLOURS, FONT_FAMILY, labelWidth } from './chart.ts';
import { placeLabels, type Rectangle } from './place-labels.ts';
import { type AxisRange, rangeAxis } from './range-axis.ts';

/** What is drawn of a point. */
export interface ParetoChartPoint {
  readonly eta: number;
  readonly accuracy: number;
  readonly dpDiff: number;
  readonly dominated: boolean;
  readonly accuracyCi: readonly [low: number, high: number];
  readonly dpDiffCi: readonly [low: number, high: number] | null;
  /** Equalized odds difference, for the tooltip. */
  readonly eoDiff?: number | undefined;
}

/** Words around the chart. */
export interface ParetoChartText {
  readonly title?: string | undefined;
  readonly subtitle?: string | undefined;
}

/** Pixels of the picture, and between its edges and the plot. */
const [WIDTH, HEIGHT] = [820, 520];
const GRID = { left: 84, right: 48, top: 84, bottom: 104 };

/** Where points and labels lie. */
const PLOT: Rectangle = { left: GRID.left, right: WIDTH - GRID.right, top: GRID.top, bottom: HEIGHT - GRID.bottom };

const FONT_SIZE = 12;

/** Pixels of a lower-case letter of that size, and a little more. */
const LETTER = 0.62 * FONT_SIZE;

/**
 * Accuracy over demographic parity difference: better is up and to the left.
 * Undominated points are full and joined, dominated ones hollow; thin crosses
 * are intervals; labels are the etas, placed so that none lies on another. A
 * label without room is left out; tooltips have all figures of a point.
 */
export function paretoChart(points: readonly ParetoChartPoint[], text: ParetoChartText = {}): Chart {
  const front = points.filter((point) => !point.dominated).sort((a, b) => a.dpDiff - b.dpDiff);
  const dominated = points.filter((point) => point.dominated);
  const gaps = points.flatMap((point) => [point.dpDiff, ...(point.dpDiffCi ?? [])]);
  const accuracies = points.flatMap((point) => [point.accuracy, ...point.accuracyCi]);
  const xAxis = rangeAxis('Demographic parity difference (smaller is more even)', 42, gaps, [0, 1]);
  const yAxis = rangeAxis('Accuracy on unseen rows', 56, accuracies, [0, 1]);
  return {
    width: WIDTH,
    height: HEIGHT,
    description: describe(points),
    option: {
      animation: false,
      backgroundColor: '#ffffff',
      textStyle: { fontFamily: FONT_FAMILY, color: COLOURS.ink },
      title: {
        text: text.title ?? 'Accuracy against demographic parity difference',
        subtext: text.subtitle ?? '',
        left: 24,
        top: 16,
        itemGap: 8,
        textStyle: { fontFamily: FONT_FAMILY, fontSize: 18, fontWeight: 700, color: COLOURS.ink },
        subtextStyle: { fontFamily: FONT_FAMILY, fontSize: 12, color: COLOURS.quiet },
      },
      legend: {
        left: 24,
        bottom: 12,
        itemGap: 24,
        selectedMode: false,
        textStyle: { fontFamily: FONT_FAMILY, fontSize: 12, color: COLOURS.ink },
        data: dominated.length > 0 ? ['not dominated', 'dominated'] : ['not dominated'],
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

/** Crosses as thin lines, drawn below the points. */
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
  return thinLines('intervals', lines, { color: COLOURS.mainSoft, width: 0.75, opacity: 0.6 }, 1);
}

/** Lines between values of the axes, which take no part in the legend and tooltips. */
function thinLines(name: string, lines: readonly (readonly number[][])[], style: object, z: number): unknown {
  return {
    name,
    type: 'line',
    data: [],
    silent: true,
    markLine: {
      silent: true,
      z,
      symbol: 'none',
      label: { show: false },
      lineStyle: { type: 'solid', ...style },
      data: lines.map(([from, to]) => [{ coord: from }, { coord: to }]),
    },
  };
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

/** Lines of HTML; they hold names and numbers of ours only. */
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
 * The labels, with lines to those that lie far from their points. They are put at
 * values of the axes, so that they keep their places in a picture of another width.
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
      // In a window narrower than the picture labels may meet after all.
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
