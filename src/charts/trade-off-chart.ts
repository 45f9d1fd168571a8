import {
  bottomLegend,
  type Chart,
  CHART_WIDTH,
  COLOURS,
  font,
  FRAME,
  linesOnly,
  plotLines,
  rangeAxis,
  shortenLabel,
  title,
} from './chart.ts';

/** A model, given by its accuracy and its unfairness. */
export interface TradeOffChartPoint {
  readonly label: string;
  readonly accuracy: number;
  /** The unfairness of the model, from 0 to 1. */
  readonly unfairness: number;
  readonly kind: 'baseline' | 'final' | 'candidate';
}

/** Texts and threshold of the chart. */
export interface TradeOffChartText {
  /** The name of the metric on the axis. */
  readonly metric: string;
  /** The threshold, drawn as a line; null if there is no threshold. */
  readonly threshold: number | null;
  /** @defaultValue 'threshold' and its number */
  readonly thresholdLabel?: string | undefined;
}

/** The style of the points of each kind. Kinds that are drawn in front come last. */
const KINDS = [
  { kind: 'candidate', name: 'predictor of the mixture', size: 7, fill: COLOURS.mainSoft, edge: COLOURS.mainSoft },
  { kind: 'baseline', name: 'baseline', size: 12, fill: '#ffffff', edge: COLOURS.quiet },
  { kind: 'final', name: 'final', size: 13, fill: COLOURS.main, edge: COLOURS.main },
] as const;

/**
 * Draws accuracy against unfairness: a hollow point for the baseline, a filled point for the final model, and small
 * points for the predictors of a mixture. A thin line connects the baseline and the final model. A dashed line shows
 * the threshold. Points without finite values are not drawn.
 */
export function tradeOffChart(points: readonly TradeOffChartPoint[], text: TradeOffChartText): Chart {
  const drawn = points.filter(({ accuracy, unfairness }) => [accuracy, unfairness].every(Number.isFinite));
  const { threshold, metric } = text;
  const acrossValues = [...drawn.map(({ unfairness }) => unfairness), ...(threshold === null ? [] : [threshold])];
  const shown = KINDS.filter(({ kind }) => drawn.some((point) => point.kind === kind));
  return {
    width: CHART_WIDTH,
    height: 440,
    description: describe(drawn, text),
    option: {
      ...FRAME,
      title: title(shortenLabel(`Accuracy against ${metric.toLowerCase()}`, 78)),
      legend: bottomLegend(shown.map(({ name }) => name)),
      tooltip: { trigger: 'item', formatter: '{b}' },
      grid: { left: 76, right: 40, top: 72, bottom: 92 },
      xAxis: rangeAxis(acrossName(metric), 36, acrossValues.length === 0 ? [0, 1] : acrossValues, [0, 1]),
      yAxis: rangeAxis(
        'Accuracy on held-out rows',
        52,
        drawn.length === 0 ? [0, 1] : drawn.map(({ accuracy }) => accuracy),
        [0, 1],
      ),
      series: [
        ...shown.map((kind) => pointsOf(kind, drawn)),
        joint(drawn),
        thresholdLine(threshold, text.thresholdLabel),
      ],
    },
  };
}

function acrossName(metric: string): string {
  return `${shortenLabel(metric, 60)} (smaller is closer to parity)`;
}

function pointsOf(
  { kind, name, size, fill, edge }: (typeof KINDS)[number],
  drawn: readonly TradeOffChartPoint[],
): unknown {
  return {
    name,
    type: 'scatter',
    clip: false,
    data: drawn
      .filter((point) => point.kind === kind)
      .map(({ label, accuracy, unfairness }) => ({ name: shortenLabel(label), value: [unfairness, accuracy] })),
    symbolSize: size,
    itemStyle: { color: fill, borderColor: edge, borderWidth: 2, opacity: 1 },
    emphasis: { disabled: true },
    z: kind === 'candidate' ? 3 : 5,
    label: {
      show: kind !== 'candidate',
      // The names are on different sides, so that both names are readable if the points coincide.
      position: kind === 'final' ? 'right' : 'top',
      distance: 8,
      formatter: name,
      ...font(12, COLOURS.ink),
      fontWeight: 700,
      textBorderColor: '#ffffff',
      textBorderWidth: 3,
    },
  };
}

/** Returns the line from the baseline to the final model. */
function joint(drawn: readonly TradeOffChartPoint[]): unknown {
  const ends = (['baseline', 'final'] as const).map((kind) => drawn.find((point) => point.kind === kind));
  const coords = ends.map((point) => ({ coord: [point?.unfairness, point?.accuracy] }));
  const lines = ends.every((point) => point !== undefined) ? [coords] : [];
  return linesOnly('change', { ...plotLines({ color: COLOURS.quiet, width: 1.2, type: 'solid' }, lines), z: 4 });
}

function thresholdLine(threshold: number | null, label: string | undefined): unknown {
  const lines = threshold === null ? [] : [{ xAxis: threshold }];
  const formatter = label ?? `threshold ${String(threshold)}`;
  return linesOnly('threshold', {
    ...plotLines({ color: COLOURS.ink, width: 1.2, type: [5, 4] }, lines),
    z: 2,
    label: { show: true, position: 'end', formatter, ...font(12, COLOURS.ink) },
  });
}

function describe(drawn: readonly TradeOffChartPoint[], { metric, threshold }: TradeOffChartText): string {
  const ends = drawn.filter(({ kind }) => kind !== 'candidate');
  const parts = ends.map(
    ({ kind, accuracy, unfairness }) =>
      `${kind}: accuracy ${accuracy.toFixed(3)}, ${metric.toLowerCase()} ${unfairness.toFixed(3)}`,
  );
  const candidates = drawn.length - ends.length;
  return [
    `Accuracy over ${metric.toLowerCase()}.`,
    parts.length === 0 ? 'No model has both values.' : `${parts.join('; ')}.`,
    candidates === 0 ? '' : `${String(candidates)} predictors of a mixture.`,
    threshold === null ? '' : `The threshold is ${String(threshold)}.`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}
