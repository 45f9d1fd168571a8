import { AXIS_COLOURS, axisLines, axisName, bottomLegend, type Chart, COLOURS, font, FRAME, title } from './chart.ts';

/** An epoch of training with a constraint. */
export interface ChartedEpoch {
  readonly epoch: number;
  /** The gap in decisions. */
  readonly violationHard: number;
  /** The multiplier of each gap. */
  readonly lambdas: readonly number[];
}

/** The marks in the chart. */
export interface HistoryChartMarks {
  readonly bestEpoch: number;
  /** Drawn as a line; null if there is none. */
  readonly tolerance: number | null;
}

const HALO = { textBorderColor: '#ffffff', textBorderWidth: 3 };

const WIDTH = 760;
const PANEL = 150;
const TOPS = [70, 288] as const;

/** The dashes of multipliers; with more multipliers they repeat. */
const DASHES = ['solid', [6, 4], [2, 3]] as const;

/**
 * Draws the gap in decisions over the epochs with the tolerance as a dashed line, and the multipliers below. The epoch
 * whose weights were kept is marked in both.
 */
export function historyChart(history: readonly ChartedEpoch[], { bestEpoch, tolerance }: HistoryChartMarks): Chart {
  const count = history[0]?.lambdas.length ?? 0;
  const name = (index: number): string => (count === 1 ? 'multiplier' : `multiplier ${String(index + 1)}`);
  const multipliers = Array.from({ length: count }, (_, index) => name(index));
  return {
    width: WIDTH,
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
        {
          ...line(
            'gap in decisions',
            0,
            history.map(({ epoch, violationHard }) => [epoch, violationHard]),
            0,
          ),
          markLine: marks(bestEpoch, tolerance),
        },
        ...multipliers.map((label, index) => ({
          ...line(
            label,
            1,
            history.map(({ epoch, lambdas }) => [epoch, lambdas[index]]),
            index,
          ),
          ...(index === 0 ? { markLine: marks(bestEpoch, null) } : {}),
        })),
      ],
    },
  };
}

function line(
  name: string,
  panel: number,
  data: readonly (readonly unknown[])[],
  index: number,
): Record<string, unknown> {
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
  };
}

function marks(bestEpoch: number, tolerance: number | null): unknown {
  const label = { show: true, ...font(12, COLOURS.ink), ...HALO };
  return {
    silent: true,
    animation: false,
    symbol: 'none',
    lineStyle: { color: COLOURS.quiet, width: 1.2, type: [5, 4] },
    data: [
      { xAxis: bestEpoch, label: { ...label, position: 'end', formatter: `kept: ${String(bestEpoch)}` } },
      ...(tolerance === null
        ? []
        : [
            {
              yAxis: tolerance,
              label: { ...label, position: 'insideStartTop', formatter: `tolerance ${String(tolerance)}` },
            },
          ]),
    ],
  };
}

function epochAxis(panel: number, history: readonly ChartedEpoch[]): unknown {
  return {
    type: 'value',
    gridIndex: panel,
    min: Math.min(1, ...history.map(({ epoch }) => epoch)),
    max: Math.max(2, ...history.map(({ epoch }) => epoch)),
    minInterval: 1,
    ...axisName(panel === 1 ? 'Epoch' : '', 28),
    ...axisLines({ ...font(12, COLOURS.quiet), hideOverlap: true }, AXIS_COLOURS),
  };
}

function valueAxis(panel: number, name: string): unknown {
  return {
    type: 'value',
    gridIndex: panel,
    min: 0,
    splitNumber: 3,
    ...axisName(name, 48),
    axisLabel: font(12, COLOURS.quiet),
    axisLine: { show: true, lineStyle: { color: COLOURS.other } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: COLOURS.grid } },
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
