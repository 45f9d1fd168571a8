import {
  axisLines,
  axisName,
  bottomLegend,
  type Chart,
  CHART_WIDTH,
  COLOURS,
  font,
  FRAME,
  plotLines,
  title,
} from './chart.ts';

/** An epoch of training with a constraint. */
export interface ChartedEpoch {
  readonly epoch: number;
  /** The gap in decisions. */
  readonly violationHard: number;
  /** The multiplier of each gap. */
  readonly lambdas: readonly number[];
}

/** The epoch and the tolerance that the chart marks. */
export interface HistoryChartMarks {
  readonly bestEpoch: number;
  /** The tolerance, drawn as a line; null if there is no tolerance. */
  readonly tolerance: number | null;
}

const HALO = { textBorderColor: '#ffffff', textBorderWidth: 3 };

const PANEL = 150;
const TOPS = [70, 288] as const;

/** The dash patterns of the multipliers. If there are more multipliers than patterns, the patterns repeat. */
const DASHES = ['solid', [6, 4], [2, 3]] as const;

/**
 * Draws two plots over the epochs. The upper plot shows the gap in decisions, with the tolerance as a dashed line. The
 * lower plot shows the multipliers. Both plots mark the epoch whose weights the model has.
 */
export function historyChart(history: readonly ChartedEpoch[], { bestEpoch, tolerance }: HistoryChartMarks): Chart {
  const count = history[0]?.lambdas.length ?? 0;
  const name = (index: number): string => (count === 1 ? 'multiplier' : `multiplier ${String(index + 1)}`);
  const multipliers = Array.from({ length: count }, (_, index) => name(index));
  const gaps = history.map(({ epoch, violationHard }) => [epoch, violationHard]);
  return {
    width: CHART_WIDTH,
    height: 530,
    description: describe(history, bestEpoch, tolerance),
    option: {
      ...FRAME,
      title: title('The gap and its multipliers over training'),
      legend: bottomLegend(['gap in decisions', ...multipliers]),
      tooltip: { trigger: 'item' },
      grid: TOPS.map((top) => ({ left: 76, right: 40, top, height: PANEL })),
      xAxis: TOPS.map((_, panel) => epochAxis(panel, history)),
      yAxis: ['Gap in decisions', 'Multiplier'].map((label, panel) => valueAxis(panel, label)),
      series: [
        line('gap in decisions', 0, 0, gaps, marks(bestEpoch, tolerance)),
        ...multipliers.map((label, index) => {
          const values = history.map(({ epoch, lambdas }) => [epoch, lambdas[index]]);
          return line(label, 1, index, values, index === 0 ? marks(bestEpoch, null) : undefined);
        }),
      ],
    },
  };
}

function line(
  name: string,
  panel: number,
  index: number,
  data: readonly (readonly unknown[])[],
  markLine: object | undefined,
): unknown {
  const color = panel === 0 ? COLOURS.main : COLOURS.ink;
  return {
    name,
    type: 'line',
    xAxisIndex: panel,
    yAxisIndex: panel,
    data,
    symbol: 'none',
    lineStyle: { color, width: 1.8, type: DASHES[index % DASHES.length] },
    itemStyle: { color },
    ...(markLine === undefined ? {} : { markLine }),
  };
}

function marks(bestEpoch: number, tolerance: number | null): object {
  const label = (position: string, formatter: string): object => ({
    label: { show: true, ...font(12, COLOURS.ink), ...HALO, position, formatter },
  });
  return plotLines({ color: COLOURS.quiet, width: 1.2, type: [5, 4] }, [
    { xAxis: bestEpoch, ...label('end', `kept: ${String(bestEpoch)}`) },
    ...(tolerance === null ? [] : [{ yAxis: tolerance, ...label('insideStartTop', `tolerance ${String(tolerance)}`) }]),
  ]);
}

function epochAxis(panel: number, history: readonly ChartedEpoch[]): unknown {
  return {
    type: 'value',
    gridIndex: panel,
    min: Math.min(1, ...history.map(({ epoch }) => epoch)),
    max: Math.max(2, ...history.map(({ epoch }) => epoch)),
    minInterval: 1,
    ...axisName(panel === 1 ? 'Epoch' : '', 28),
    ...axisLines({ ...font(12, COLOURS.quiet), hideOverlap: true }),
  };
}

function valueAxis(panel: number, name: string): unknown {
  return {
    type: 'value',
    gridIndex: panel,
    min: 0,
    splitNumber: 3,
    ...axisName(name, 48),
    ...axisLines(font(12, COLOURS.quiet)),
  };
}

function describe(history: readonly ChartedEpoch[], bestEpoch: number, tolerance: number | null): string {
  const [first, last] = [history[0], history.at(-1)];
  const kept = history.find(({ epoch }) => epoch === bestEpoch);
  if (first === undefined || last === undefined) return 'Training had no epochs.';
  const parts = [
    `first ${first.violationHard.toFixed(3)}`,
    ...(kept === undefined ? [] : [`at the kept epoch ${String(bestEpoch)} ${kept.violationHard.toFixed(3)}`]),
    `last ${last.violationHard.toFixed(3)}`,
  ];
  const held = tolerance === null ? '' : ` The tolerance is ${String(tolerance)}.`;
  return `The gap in decisions over ${String(history.length)} epochs: ${parts.join(', ')}.${held}`;
}
