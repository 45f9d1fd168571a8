import { bottomLegend, type Chart, CHART_WIDTH, font, frame, headline, shortenLabel } from './chart.ts';
import { LIGHT, type Palette } from './palette.ts';
import { timeAxis, type TimelineStyle, timelineTooltip } from './timeline-band-chart.ts';

/** The events of an alert, in chronological order. */
export const TIMELINE_MARKS = ['suspected', 'raised', 'repeated', 'acknowledged', 'resolved', 'cleared'] as const;

/** An event of an alert. `suspected` is the time at which the reported change may have begun. */
export type TimelineMark = (typeof TIMELINE_MARKS)[number];

/** One alert over time. */
export interface TimelineAlert {
  readonly label: string;
  /** The events, with times in milliseconds since 1970. */
  readonly marks: readonly { readonly mark: TimelineMark; readonly time: number }[];
  /** Whether the alert is open. The line of an open alert continues to the end of the chart. */
  readonly isOpen: boolean;
}

/** The shapes of the event marks. Different shapes distinguish the events without colour. */
const SYMBOLS: Readonly<Record<TimelineMark, string>> = {
  suspected: 'circle',
  raised: 'triangle',
  repeated: 'arrow',
  acknowledged: 'circle',
  resolved: 'rect',
  cleared: 'diamond',
};

/** Returns the colour of a mark. */
export function markColour(mark: TimelineMark): 'alarm' | 'calm' | 'main' {
  if (mark === 'acknowledged') return 'main';
  return mark === 'resolved' || mark === 'cleared' ? 'calm' : 'alarm';
}

const ROW_HEIGHT = 56;

/** The maximum length of a label above its line. Labels of this length fit even into a narrow chart. */
const LABEL_LETTERS = 40;

/**
 * Draws a line for each alert. The line starts when the alert is raised. The line ends when the alert is cleared or
 * resolved, or at `end` if the alert is open. A dotted line connects the suspected start of the change with the start
 * of the line. Shapes mark the events.
 * @param alerts the alerts, from top to bottom
 * @param end the time of the latest event, in milliseconds since 1970
 */
export function alertTimelineChart(alerts: readonly TimelineAlert[], end: number, style: TimelineStyle = {}): Chart {
  const palette = style.palette ?? LIGHT;
  const isFramed = style.isFramed ?? true;
  const { top, bottom } = isFramed ? { top: 56, bottom: 72 } : { top: 8, bottom: 32 };
  const times = alerts.flatMap(({ marks }) => marks.map(({ time }) => time)).concat(end);
  return {
    width: CHART_WIDTH,
    height: top + alerts.length * ROW_HEIGHT + bottom,
    description: describe(alerts),
    option: {
      ...frame(palette),
      useUTC: true,
      ...(isFramed ? { title: headline('Alerts over time', []), legend: bottomLegend([...TIMELINE_MARKS]) } : {}),
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

/**
 * Returns the vertical axis, with one row per alert. Each label is above its line, so that the lines use the full
 * width.
 */
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
      ...font(12, palette.ink),
    },
    z: 5,
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { show: true, lineStyle: { color: palette.grid } },
  };
}

/**
 * Returns the lines of an alert: a dotted line from the suspected change to the alarm, and a solid line after the
 * alarm.
 */
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
    // The mark of a suspected change is a ring.
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
