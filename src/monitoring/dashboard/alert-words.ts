import { labelText } from '../../document/report-text.ts';
import type { AlertEvent, AlertHistory } from '../alarms/alert-event.ts';
import { minuteText, rangeText, timeText, valueText } from './dashboard-words.ts';
import { formatCount, formatSignificant } from '../../internal/format.ts';
import { unitOf } from '../../metrics/metric-markdown.ts';
import type { MonitoringView } from './monitoring-view.ts';

/** The maximum number of alerts that are listed. */
const MAX_ALERTS = 30;

/** Returns the status of an alert in words. */
export function statusText({ isOpen, isAcknowledged, changes }: AlertHistory): string {
  if (isOpen) return isAcknowledged ? 'open, acknowledged' : 'open';
  const last = changes.findLast(({ change }) => change === 'resolved' || change === 'cleared')?.change;
  return last ?? 'closed';
}

/**
 * Returns alerts in display order: open before closed alerts, alarms before watches, unacknowledged before acknowledged
 * alerts, and the latest alerts first.
 */
export function reportOrder({ alerts }: MonitoringView): { shown: AlertHistory[]; total: number } {
  const rank = ({ isOpen, isAcknowledged, alert }: AlertHistory): number =>
    isOpen ? 2 * Number(alert.tier === 'watch') + Number(isAcknowledged) : 4;
  const shown = alerts.toSorted((a, b) => rank(a) - rank(b) || timeOf(b.alert) - timeOf(a.alert));
  return { shown: shown.slice(0, MAX_ALERTS), total: alerts.length };
}

function timeOf({ timestamp }: AlertEvent): number {
  return Date.parse(timestamp);
}

/** Returns facts about an alert that its sentence does not contain, as names and values. */
export function alertFacts({ alert, changes }: AlertHistory): (readonly [name: string, value: string])[] {
  const unit = unitOf(alert.measure);
  const rates = alert.groups.map(
    (group, index) => `${labelText(group)} ${valueText(alert.rates[index] ?? null, unit)}`,
  );
  return [
    [
      'Gap',
      `${valueText(alert.value, 'number')} (${rangeText(alert.low, alert.high, 'number')}), limit ${formatSignificant(alert.limit, 3)}`,
    ],
    ['Rates', rates.join(', ')],
    [
      'Events',
      `${formatCount(alert.n)} in the smaller denominator; a window of ${formatCount(alert.windowEvents)} events since ${timeText(alert.windowStart)}`,
    ],
    [
      'Severity',
      `${alert.severity} (${valueText(alert.severityScore, 'number')}), the excess over the limit times the precision of the estimate`,
    ],
    [
      'Precision of the estimate',
      `${alert.confidence.toFixed(2)}: grows with n; does not decide whether an alarm is raised`,
    ],
    ['Share of alpha', shareText(alert)],
    ['Suspected change', changeText(alert)],
    ['Changes', changesText(changes)],
  ];
}

/**
 * Returns the changes of an alert in order. Consecutive repeats are combined into one entry with their number and the
 * time of the last repeat.
 */
function changesText(changes: AlertHistory['changes']): string {
  const runs: { change: string; times: number; last: string }[] = [];
  for (const { change, timestamp } of changes) {
    const run = runs.at(-1);
    if (run?.change === change) Object.assign(run, { times: run.times + 1, last: timestamp });
    else runs.push({ change, times: 1, last: timestamp });
  }
  return runs
    .map(({ change, times, last }) =>
      times === 1 ? `${change} ${timeText(last)}` : `${change} ${formatCount(times)} times, last ${timeText(last)}`,
    )
    .join('; ');
}

function shareText({ share }: AlertEvent): string {
  if (share === null) return 'none: a watch has no guarantee over many checks';
  const { engine, combination, window, group } = share;
  return `each group ${formatSignificant(group, 3)}, window ${formatSignificant(window, 3)}, metric ${formatSignificant(combination, 3)}, engine ${formatSignificant(engine, 3)}`;
}

function changeText({ changedAt, driftScore }: AlertEvent): string {
  if (changedAt === null) return 'none found';
  const moved = driftScore === null ? '' : `; rates moved by up to ${valueText(driftScore, 'number')}`;
  return `around ${minuteText(changedAt)} UTC${moved}`;
}
