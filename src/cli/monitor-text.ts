import type { MonitorOutcome } from '../integration/monitor/run-monitor.ts';
import type { AlertEvent } from '../monitoring/alarms/alert-event.ts';
import type { MonitoringView } from '../monitoring/dashboard/monitoring-view.ts';
import { MAX_GROUPS } from '../monitoring/tracker/group-codes.ts';
import { bracketText, counted, formatCount, formatNumber } from '../internal/format.ts';
import { asOneLine, textTable } from './output.ts';

/** Returns the line for an alarm. The line is shorter if the alarm was reported before. */
export function alarmLine({ timestamp, severity, id, reason, value, low }: AlertEvent, isRepeat: boolean): string {
  return asOneLine(
    isRepeat
      ? `ALARM still open ${minute(timestamp)} (${severity}) ${id}: a gap of ${formatNumber(value, 3)}, at least ${formatNumber(low, 3)}`
      : `ALARM raised ${minute(timestamp)} (${severity}) ${id}: ${reason}`,
  );
}

/** Returns the line for a watch. */
export function watchLine({ timestamp, id, reason }: AlertEvent): string {
  return asOneLine(`watch ${minute(timestamp)} ${id}: ${reason}`);
}

/** Returns the state of every metric, and the alarms and watches. */
export function describeOutcome(outcome: MonitorOutcome): string {
  const { view, windowEvents } = outcome;
  return [
    `${counted(view.nEvents, 'event')}${view.timestamp === null ? '' : `, the last at ${view.timestamp}`}.`,
    '',
    stateTable(view, windowEvents),
    ...unknownSentences(view),
    '',
    ...alarmSentences(outcome),
  ].join('\n');
}

function stateTable({ watched }: MonitoringView, windowEvents: number): string {
  const header = [
    'attribute',
    'metric',
    'state',
    `gap of the last ${counted(windowEvents, 'event')}`,
    '95% at this check',
    'limit',
  ];
  const rows = watched.map(({ attribute, metric, state, limit, now }) => {
    const gap = now.find(({ group }) => group === null);
    const interval = gap === undefined || gap.low === null || gap.high === null ? '' : bracketText([gap.low, gap.high]);
    return [attribute, metric, state.toUpperCase(), formatNumber(gap?.value ?? NaN, 3), interval, String(limit)];
  });
  return textTable(header, rows);
}

/** Returns the reasons why metrics are inconclusive. */
function unknownSentences({ watched, nEvents }: MonitoringView): string[] {
  const unknown = nEvents === 0 ? [] : watched.filter(({ state }) => state === 'unknown');
  if (unknown.length === 0) return [];
  return ['', ...unknown.map(({ attribute, metric, sentence }) => asOneLine(`${attribute}, ${metric}: ${sentence}`))];
}

function alarmSentences({ view, raised, stillOpen, watches, preview }: MonitorOutcome): string[] {
  const early = (preview?.alerts ?? []).filter(({ id }) => stillOpen.every(({ alert }) => alert.id !== id));
  const since = stillOpen
    .map(({ alert, changes }) => changes.find(({ change }) => change === 'raised')?.timestamp ?? alert.timestamp)
    .sort()[0];
  const are = stillOpen.length === 1 ? 'is' : 'are';
  const open = since === undefined ? '' : `${formatCount(stillOpen.length)} ${are} open since ${minute(since)}`;
  const risk = `the probability of a false alarm is at most ${String(view.alpha)}`;
  return [
    ...(raised.length > 0
      ? [`${counted(raised.length, 'alarm')} (${risk} over all checks together):`]
      : open === '' && early.length === 0
        ? [`No alarm: over all checks together ${risk}.`]
        : []),
    ...raised.map((alert) => asOneLine(`- ${alert.timestamp} (${alert.severity}) ${alert.reason}`)),
    ...(open === '' ? [] : [raised.length > 0 ? `From earlier runs, ${open}:` : `No new alarm; ${open}:`]),
    ...stillOpen.map(({ alert }) => asOneLine(`- (${alert.severity}) ${alert.reason}`)),
    ...(early.length === 0
      ? []
      : [
          `${counted(early.length, 'alarm')} at the end of the input (a preview; the next check with this state raises it):`,
        ]),
    ...early.map((alert) => asOneLine(`- ${alert.timestamp} (${alert.severity}) ${alert.reason}`)),
    ...(watches.length === 0
      ? []
      : [`${counted(watches.length, 'watch', 'watches')} during the run; a watch is an early hint and may be wrong.`]),
  ];
}

/** The descriptions of problems with events. Other problems are shown by name. */
const PROBLEM_WORDS: Readonly<Record<string, string>> = {
  missing_prediction: 'events without a prediction',
  missing_weight: 'events without a weight',
  missing_group: 'events without a group',
  missing_timestamp: 'events without a time',
  missing_id: 'events without an id',
  duplicate_id: 'events with an id that occurred before, not counted again',
  zero_weight: 'events of weight 0',
  unknown_label_id: 'labels with an unknown id',
  clock_backwards: 'events older than the one before',
};

/** Returns sentences about lines that were not counted and about problems with events. */
export function problemSentences({ view, refusedLines }: Pick<MonitorOutcome, 'view' | 'refusedLines'>): string[] {
  return [
    ...(refusedLines > 0
      ? [`${counted(refusedLines, 'line')} ${refusedLines === 1 ? 'was' : 'were'} not counted.`]
      : []),
    ...Object.entries(view.faults).map(([problem, times]) => {
      const often = times === 1 ? 'once' : `${formatCount(times)} times`;
      if (problem === 'too_many_groups') return `${tooManyGroups(view)}, ${often}. Is it an id?`;
      return `Problem: ${PROBLEM_WORDS[problem] ?? problem.replaceAll('_', ' ')}, ${often}.`;
    }),
  ];
}

function tooManyGroups({ coverage }: MonitoringView): string {
  const groups = new Map<string, number>();
  for (const { attribute } of coverage) groups.set(attribute, (groups.get(attribute) ?? 0) + 1);
  const full = [...groups].filter(([, known]) => known >= MAX_GROUPS).map(([name]) => `'${name}'`);
  return `Problem: more than ${formatCount(MAX_GROUPS)} groups in ${full.join(' and ')}`;
}

/** Formats a time, truncated to the minute: 2026-01-12T10:55Z. */
function minute(timestamp: string): string {
  return `${timestamp.slice(0, 16)}Z`;
}
