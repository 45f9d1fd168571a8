import {
  alertTimelineChart,
  TIMELINE_MARKS,
  type TimelineAlert,
  type TimelineMark,
} from '../../charts/alert-timeline-chart.ts';
import type { ReportTable } from '../../document/report-document.ts';
import type { DashboardFigure } from './dashboard-figure.ts';
import { statusText, tellingOrder } from './alert-words.ts';
import { countText, minuteText, timeText, watchedText } from './dashboard-words.ts';
import type { AlertHistory, MonitoringView } from './monitoring-view.ts';

/** Alerts that one timeline draws. */
const MOST_DRAWN = 15;

const MARK_WORDS: Readonly<Record<TimelineMark, string>> = {
  suspected: 'Change suspected to begin',
  raised: 'Raised',
  repeated: 'Raised again',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved by a person',
  cleared: 'Cleared by the data',
};

/** What happened to alerts, when; undefined where none was raised. */
export function alertFigure(view: MonitoringView): DashboardFigure | undefined {
  const { shown, total } = tellingOrder(view);
  if (shown.length === 0 || view.timestamp === null) return undefined;
  const drawn = shown.slice(0, MOST_DRAWN);
  const alerts = drawn.map(timelineOf);
  const end = Date.parse(view.timestamp);
  const used = TIMELINE_MARKS.filter((wanted) => alerts.some(({ marks }) => marks.some(({ mark }) => mark === wanted)));
  return {
    caption: 'Alerts over time',
    legend: used.map((mark) => ({ label: MARK_WORDS[mark], shape: { kind: 'mark', mark } })),
    remark:
      total > drawn.length
        ? `Drawn are ${String(drawn.length)} of ${countText(total)} alerts: the open ones first, then the latest.`
        : undefined,
    draw: (palette) => alertTimelineChart(alerts, end, { palette, isFramed: false }),
    table: alertTable(drawn),
  };
}

function timelineOf({ alert, isOpen, changes }: AlertHistory): TimelineAlert {
  const suspected = alert.changedAt === null ? [] : [{ mark: 'suspected' as const, time: Date.parse(alert.changedAt) }];
  return {
    label: `${alert.tier === 'watch' ? 'Watch' : 'Alarm'}: ${watchedText(alert)}`,
    marks: [...suspected, ...changes.map(({ change, timestamp }) => ({ mark: change, time: Date.parse(timestamp) }))],
    isOpen,
  };
}

/** Alerts with the times of what happened to them. */
function alertTable(alerts: readonly AlertHistory[]): ReportTable {
  return {
    kind: 'table',
    caption: 'What happened to each alert, and when (UTC)',
    columns: [{ name: 'Alert' }, { name: 'Status' }, ...TIMELINE_MARKS.map((mark) => ({ name: MARK_WORDS[mark] }))],
    rows: alerts.map((history) => [
      `${history.alert.tier}: ${watchedText(history.alert)}`,
      statusText(history),
      ...TIMELINE_MARKS.map((mark) => markTimes(history, mark)),
    ]),
  };
}

function markTimes({ alert, changes }: AlertHistory, mark: TimelineMark): string {
  const times =
    mark === 'suspected'
      ? [alert.changedAt].filter((time) => time !== null)
      : changes.filter(({ change }) => change === mark).map(({ timestamp }) => timestamp);
  const text = mark === 'suspected' ? minuteText : timeText;
  return times.length === 0 ? '\u2013' : times.map(text).join(', ');
}
