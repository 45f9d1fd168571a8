import { bottomLegend, type Chart, FONT_FAMILY, headline, shortenLabel } from './chart.ts';
import { LIGHT, type Palette } from './palette.ts';
import { timeAxis, type TimelineLook, timelineTooltip } from './timeline-band-chart.ts';

/** What may happen to an alert, in the order that it may happen. */
export const TIMELINE_MARKS = ['suspected', 'raised', 'repeated', 'acknowledged', 'resolved', 'cleared'] as const;

/** What happened to an alert; `suspected` is when the change that it tells of may have begun. */
export type TimelineMark = (typeof TIMELINE_MARKS)[number];

/** One alert over time. */
export interface TimelineAlert {
  readonly label: string;
  /** What happened, with milliseconds since 1970. */
  readonly marks: readonly { readonly mark: TimelineMark; readonly time: number }[];
  /** An open alert goes on to the end of the chart. */
  readonly isOpen: boolean;
}

/** Shapes tell the marks apart without colour. */
const SYMBOLS: Readonly<Record<TimelineMark, string>> = {
  suspected: 'circle',
  raised: 'triangle',
  repeated: 'arrow',
  acknowledged: 'circle',
  resolved: 'rect',
  cleared: 'diamond',
};

/** The colour of a mark. */
export function markColour(mark: TimelineMark): 'alarm' | 'calm' | 'main' {
  if (mark === 'acknowledged') return 'main';
  return mark === 'resolved' || mark === 'cleared' ? 'calm' : 'alarm';
}

const WIDTH = 760;
const ROW_HEIGHT = 56;
const WIDTHS = { title: 78, line: 108 };

/** Letters of a label, which stands above its line, that also fit a narrow picture. */
const LABEL_LETTERS = 40;

/**
 * One line for each alert from when it was raised to when it was cleared or
 * resolved, or to the end while it is open, dotted from where its change is
 * suspected to have begun. Shapes tell what happened when.
 * @param alerts from top to bottom
 * @param end milliseconds since 1970: the time of the latest event
 */
export function alertTimelineChart(alerts: readonly TimelineAlert[], end: number, look: TimelineLook = {}): Chart {
  const palette = look.palette ?? LIGHT;
  const isFramed = look.isFramed ?? true;
  const { top, bottom } = isFramed ? { top: 56, bottom: 72 } : { top: 8, bottom: 32 };
  const times = alerts.flatMap(({ marks }) => marks.map(({ time }) => time)).concat(end);
  return {
    width: WIDTH,
    height: top + alerts.length * ROW_HEIGHT + bottom,
    description: describe(alerts),
    option: {
      animation: false,
      backgroundColor: palette.surface,
      useUTC: true,
      textStyle: { fontFamily: FONT_FAMILY, color: palette.ink },
      ...(isFramed
        ? { title: headline('Alerts over time', [], WIDTHS), legend: bottomLegend([...TIMELINE_MARKS]) }
        : {}),
      tooltip: { ...(timelineTooltip('item', palette) as object), formatter: '{b}' },
      grid: { left: 16, right: 20, top, bottom },
      xAxis: timeAxis(times, palette),
      yAxis: rowAxis(alerts, palette),
      series: [
        ...alerts.flatMap((alert, row) => spans(alert, row, end, palette)),
        ...TIMELINE_MARKS.map((mark) => points(alerts, mark, palette)),
      ],
    },
  };
}

/** Labels stand in the plot above their lines, so that the lines have the whole width. */
function rowAxis(alerts: readonly TimelineAlert[], palette: Palette): unknown {
  return {
    type: 'category',
    data: alerts.map(({ label }) => shortenLabel(label, LABEL_LETTERS)),
    inverse: true,
    axisLabel: {
      inside: true,
      interval: 0,
      margin: 0,
      align: 'left',
      verticalAlign: 'bottom',
      padding: [0, 0, 14, 4],
      fontFamily: FONT_FAMILY,
      fontSize: 12,
      color: palette.ink,
    },
    z: 5,
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { show: true, lineStyle: { color: palette.grid } },
  };
}

/** From the suspected change to the raise, and from there on; lower in the row than its label. */
function spans({ marks, isOpen }: TimelineAlert, row: number, end: number, palette: Palette): unknown[] {
  const timeOf = (mark: TimelineMark): number | undefined => marks.find((entry) => entry.mark === mark)?.time;
  const raised = timeOf('raised');
  const suspected = timeOf('suspected');
  if (raised === undefined) return [];
  const last = isOpen ? end : marks.reduce((latest, { time }) => Math.max(latest, time), raised);
  const span = (from: number, to: number, type: unknown): unknown => ({
    type: 'line',
    data: [
      [from, row],
      [to, row],
    ],
    symbol: 'none',
    silent: true,
    lineStyle: { color: isOpen ? palette.alarm : palette.axis, width: isOpen ? 3 : 2, type },
    emphasis: { disabled: true },
    tooltip: { show: false },
    z: 2,
  });
  return [
    ...(suspected === undefined ? [] : [span(Math.min(suspected, raised), raised, [2, 3])]),
    span(raised, last, 'solid'),
  ];
}

function points(alerts: readonly TimelineAlert[], mark: TimelineMark, palette: Palette): unknown {
  const color = palette[markColour(mark)];
  return {
    name: mark,
    type: 'scatter',
    clip: false,
    symbol: SYMBOLS[mark],
    symbolSize: 12,
    // A ring for what is only suspected.
    itemStyle:
      mark === 'suspected'
        ? { color: palette.surface, borderColor: color, borderWidth: 2, opacity: 1 }
        : { color, borderColor: palette.surface, borderWidth: 1.5, opacity: 1 },
    emphasis: { disabled: true },
    z: 4,
    data: alerts.flatMap(({ marks, label }, row) =>
      marks
        .filter((entry) => entry.mark === mark)
        .map(({ time }) => ({ name: `${shortenLabel(label, LABEL_LETTERS)}: ${mark}`, value: [time, row] })),
    ),
  };
}

function describe(alerts: readonly TimelineAlert[]): string {
  if (alerts.length === 0) return 'No alert was raised.';
  const isOf = (wanted: TimelineMark): number =>
    alerts.filter(({ marks }) => marks.some(({ mark }) => mark === wanted)).length;
  const open = alerts.filter(({ isOpen }) => isOpen).length;
  return (
    `${String(alerts.length)} ${alerts.length === 1 ? 'alert' : 'alerts'} over time: ${String(open)} open, ` +
    `${String(isOf('acknowledged'))} acknowledged, ${String(isOf('resolved'))} resolved, ${String(isOf('cleared'))} cleared.`
  );
}
