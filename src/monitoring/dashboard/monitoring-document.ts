import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import type { ReportBlock, ReportDocument, ReportVerdict } from '../../document/report-document.ts';
import { cutItems } from '../../document/report-text.ts';
import { VERSION } from '../../internal/version.ts';
import type { AlertHistory, MonitorState } from '../alarms/alert-event.ts';
import { alertFacts, statusText, reportOrder } from './alert-words.ts';
import { crossedTable, heatTable, MAX_CROSSINGS } from './crossed-table.ts';
import { MIN_SHOWN, sentenceText, timeText, watchedText, withoutSmallCells } from './dashboard-words.ts';
import { measuresOf } from './drawn-groups.ts';
import { coverageTables, problemTable, groupTable, stateTable, withinTable, worstFirst } from './metric-tables.ts';
import type { MonitoringView } from './monitoring-view.ts';
import { counted, formatCount, formatLevel, formatSignificant } from '../../internal/format.ts';
import { headlineOf, sentenceAfterState, STATE_WORDS } from './state-words.ts';

/** The default title of a dashboard. */
export const DEFAULT_TITLE = 'Fairness of a monitored stream';

/** The maximum number of metrics with a table of groups. */
const MAX_METRICS = 40;

/** Converts a view to a report with text and tables. */
export function monitoringDocument(view: MonitoringView, title: string = DEFAULT_TITLE): ReportDocument {
  return {
    title,
    subject: subjectOf(view),
    verdict: verdictOf(view),
    sections: [
      { title: 'Every metric', blocks: view.watched.length === 0 ? [] : stateBlocks(view) },
      { title: 'Alerts', blocks: alertBlocks(view) },
      ...worstFirst(view.watched)
        .slice(0, MAX_METRICS)
        .map((watched) => ({
          title: watchedText(watched),
          blocks: measuresOf(watched).map((measure) => groupTable(watched, measure, view.windowSize)),
        })),
      { title: 'Intersections', blocks: crossedBlocks(view) },
      { title: 'True labels', blocks: coverageTables(view) },
      {
        title: 'What was not counted',
        blocks: [problemTable(view) ?? { kind: 'paragraph', text: 'Every event was counted.' }],
      },
      { title: 'How to read this', blocks: [{ kind: 'list', items: readingOf(view) }] },
    ],
    made: madeOf(view),
  };
}

const VERDICTS: Partial<Record<MonitorState, ReportVerdict['kind']>> = { breach: 'fail', within: 'pass' };

function verdictOf(view: MonitoringView): ReportVerdict {
  const { state, title, sentences } = headlineOf(view);
  return {
    kind: state === null ? 'none' : (VERDICTS[state] ?? 'none'),
    title,
    sentences: [...sentences, ...view.notes],
  };
}

function stateBlocks(view: MonitoringView): ReportBlock[] {
  const sentences = worstFirst(view.watched).map(
    (watched) =>
      `${watchedText(watched)}: ${STATE_WORDS[watched.state].word.toLowerCase()}. ${sentenceAfterState(watched)}`,
  );
  const shown = cutItems(sentences, MAX_METRICS);
  const within = withinTable(view);
  return [stateTable(view), ...(within === undefined ? [] : [within]), { kind: 'list', items: shown }];
}

function alertBlocks(view: MonitoringView): ReportBlock[] {
  const { shown, total } = reportOrder(view);
  if (total === 0) return [{ kind: 'paragraph', text: 'No alert was raised.' }];
  const rest = total - shown.length;
  return [
    ...shown.flatMap(alertBlock),
    ...(rest === 0 ? [] : [{ kind: 'paragraph' as const, text: `\u2026 and ${counted(rest, 'older alert')}.` }]),
  ];
}

function alertBlock(history: AlertHistory): ReportBlock[] {
  const { alert } = history;
  return [
    {
      kind: 'heading',
      text: `${alert.tier === 'watch' ? 'Watch' : 'Alarm'}: ${watchedText(alert)} (${statusText(history)})`,
    },
    { kind: 'paragraph', text: sentenceText(alert.reason, alert.attribute) },
    { kind: 'list', items: alertFacts(history).map(([name, value]) => `${name}: ${value}`) },
  ];
}

function crossedBlocks({ crossings }: MonitoringView): ReportBlock[] {
  const rest = crossings.length - MAX_CROSSINGS;
  const cut = { kind: 'paragraph' as const, text: `Not shown: ${counted(rest, 'more intersection')}.` };
  return [...crossings.slice(0, MAX_CROSSINGS).flatMap(crossingBlocks), ...(rest > 0 ? [cut] : [])];
}

function crossingBlocks(crossing: MonitoringView['crossings'][number]): ReportBlock[] {
  const { remarks } = heatTable(crossing);
  return [crossedTable(crossing), ...remarks.map((text) => ({ kind: 'paragraph' as const, text }))];
}

/** Returns the line under the title: the number of events, and their first and last times. */
export function subjectOf({ nEvents, firstTimestamp, timestamp }: MonitoringView): string {
  if (timestamp === null) return 'Before the first event';
  const since = firstTimestamp === null ? '' : `${timeText(firstTimestamp)} to `;
  return `${formatCount(nEvents)} ${nEvents === 1 ? 'event' : 'events'}, ${since}${timeText(timestamp)} UTC`;
}

/** Explains what the numbers guarantee, and what they do not. */
export function readingOf({ alpha, windowSize, level }: MonitoringView): string[] {
  return [
    `A band over all events holds at all times simultaneously. For any number of checks, the probability that it ever excludes the true value is at most its share of alpha, as long as the rates themselves do not change. Over all attributes and metrics, these shares add up to alpha = ${formatSignificant(alpha, 3)}.`,
    `A breach is based on such a bound, so the probability that this engine ever raises a false alarm is at most ${formatSignificant(alpha, 3)}. In return, small groups and small gaps need many events.`,
    `A watch is based on an ordinary ${formatLevel(level)} interval at one time. A watch is fast but has no guarantee over many checks: for a fair stream that is checked often, it is occasionally wrong. It should not page anyone.`,
    `The line of the last ${formatCount(windowSize)} events shows the current values. It may leave the band of all events, which covers the complete past and moves late.`,
    '"Inconclusive" is neither good nor bad news: the bounds still include the limit, or there are too few events.',
    'Severity is the excess over the limit times the precision of the estimate ("confidence" in JSON). The precision is 1 minus half the width of the bounds divided by the limit, and at least 0. It grows with the number of events. Severity and precision do not decide whether an alarm is raised.',
    'The start of a change is estimated by a detector, without a guarantee.',
    'Rates that need true labels count only labelled predictions. If labels arrive later or less often for some groups than for others, compare these rates with care.',
    'A gap within its limit does not prove fair treatment, and a gap above it does not prove unfair treatment. Only the attributes and metrics listed here were monitored.',
    `Rates of groups with fewer than ${String(MIN_SHOWN)} events are hidden, because they could reveal decisions about individuals. They may still be computable from the totals shown.`,
  ];
}

/** Returns the settings needed to reproduce the page. */
export function madeOf(view: MonitoringView): (readonly [name: string, value: string])[] {
  return [
    ['Sliding window', `the last ${formatCount(view.windowSize)} events`],
    ['Smallest group compared', `${formatCount(view.minGroupSize)} events`],
    ['Smallest group shown', `${String(MIN_SHOWN)} events`],
    ['Alpha of the engine', formatSignificant(view.alpha, 3)],
    ['Level of ordinary intervals', formatLevel(view.level)],
    ['Metrics watched', formatCount(view.watched.length)],
    ['Version', `evenhand ${VERSION}`],
  ];
}

/**
 * Returns a view as Markdown: the same text and tables as the page, without charts.
 * @param title the title at the top
 */
export function dashboardToMarkdown(view: MonitoringView, title: string = DEFAULT_TITLE): string {
  return documentToMarkdown(monitoringDocument(withoutSmallCells(view), title));
}
