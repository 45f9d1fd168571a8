import { type Chart, COLOURS, FONT_FAMILY } from './chart.ts';
import { rangeAxis } from './range-axis.ts';

/** What is drawn of a point. */
export interface ParetoChartPoint {
  readonly eta: number;
  readonly accuracy: number;
  readonly dpDiff: number;
  readonly dominated: boolean;
  readonly accuracyCi: readonly [low: number, high: number];
  readonly dpDiffCi: readonly [low: number, high: number] | null;
}

/** Words around the chart. */
export interface ParetoChartText {
  readonly title?: string | undefined;
  readonly subtitle?: string | undefined;
}

/**
 * Accuracy over demographic parity difference: better is up and to the left.
 * Undominated points are full and joined, dominated ones hollow; thin crosses
 * are intervals; labels are the etas.
 */
export function paretoChart(points: readonly ParetoChartPoint[], text: ParetoChartText = {}): Chart {
  const front = points.filter((point) => !point.dominated).sort((a, b) => a.dpDiff - b.dpDiff);
  const dominated = points.filter((point) => point.dominated);
  const gaps = points.flatMap((point) => [point.dpDiff, ...(point.dpDiffCi ?? [])]);
  const accuracies = points.flatMap((point) => [point.accuracy, ...point.accuracyCi]);
  const order = [...points].sort((a, b) => a.dpDiff - b.dpDiff);
  const dot = (point: ParetoChartPoint): unknown => ({
    value: [point.dpDiff, point.accuracy, point.eta],
    name: `eta ${String(point.eta)}`,
    // Neighbours by turns, since labels of points side by side would overlap.
    label: { position: LABEL_PLACES[order.indexOf(point) % 2] },
  });
  return {
    width: 820,
    height: 520,
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
      tooltip: { trigger: 'item' },
      grid: { left: 84, right: 48, top: 84, bottom: 104 },
      xAxis: rangeAxis('Demographic parity difference (smaller is more even)', 42, gaps, [0, 1]),
      yAxis: rangeAxis('Accuracy on unseen rows', 56, accuracies, [0, 1]),
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
          label: etaLabel(COLOURS.ink),
          z: 3,
        },
        {
          name: 'dominated',
          type: 'scatter',
          data: dominated.map(dot),
          symbolSize: 10,
          itemStyle: { color: '#ffffff', borderColor: COLOURS.other, borderWidth: 2 },
          label: etaLabel(COLOURS.quiet),
          z: 3,
        },
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
  return {
    name: 'intervals',
    type: 'line',
    data: [],
    silent: true,
    markLine: {
      silent: true,
      z: 1,
      symbol: 'none',
      label: { show: false },
      lineStyle: { color: COLOURS.mainSoft, width: 1.2, type: 'solid', opacity: 0.6 },
      data: lines.map(([from, to]) => [{ coord: from }, { coord: to }]),
    },
  };
}

/** Right of a point and clear of the crosses of its intervals, above or below. */
const LABEL_PLACES = [
  [14, -10],
  [14, 10],
];

function etaLabel(color: string): unknown {
  return {
    show: true,
    fontFamily: FONT_FAMILY,
    fontSize: 12,
    color,
    textBorderColor: '#ffffff',
    textBorderWidth: 3,
    formatter: '{b}',
  };
}

function describe(points: readonly ParetoChartPoint[]): string {
  const parts = points.map(
    ({ eta, accuracy, dpDiff }) =>
      `eta ${String(eta)}: accuracy ${accuracy.toFixed(3)}, demographic parity difference ${dpDiff.toFixed(3)}`,
  );
  return `Accuracy over demographic parity difference. ${parts.join('; ')}.`;
}
