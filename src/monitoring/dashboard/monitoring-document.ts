import { documentToMarkdown } from '../../document/document-to-markdown.ts';
import type { ReportBlock, ReportDocument, ReportVerdict } from '../../document/report-document.ts';
import { cutItems } from '../../document/report-text.ts';
import { VERSION } from '../../internal/version.ts';
import { formatPercent } from '../../metrics/metric-markdown.ts';
import type { AlertHistory, MonitorState } from '../alarms/alert-event.ts';
import { alertFacts, statusText, tellingOrder } from './alert-words.ts';
import { crossedTable, heatTable, MAX_CROSSINGS } from './crossed-table.ts';
import {
  countedText,
  countText,
  MIN_SHOWN,
  sentenceText,
  shortNumber,
  timeText,
  watchedText,
  withoutSmallCells,
} from './dashboard-words.ts';
import { measuresOf } from './drawn-groups.ts';
import { coverageTables, faultTable, groupTable, stateTable, worstFirst } from './metric-tables.ts';
import type { MonitoringView } from './monitoring-view.ts';
import { headlineOf, sentenceAfterState, STATE_WORDS } from './state-words.ts';

/** What a monitored stream is called where nobody named it. */
export const DEFAULT_TITLE = 'Fairness of a monitored stream';

/** Metrics whose groups are told one by one. */
const MAX_METRICS = 40;

/** A view as a report in words and tables. */
function monitoringDocument(view: MonitoringView, title: string): ReportDocument {
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
      { title: 'Crossed attributes', blocks: crossedBlocks(view) },
      { title: 'True labels', blocks: coverageTables(view) },
      { title: 'What was not counted', blocks: [faultTable(view) ?? nothingLeftOut()] },
      { title: 'How to read this', blocks: [{ kind: 'list', items: readingOf(view) }] },
    ],
    made: madeOf(view),
  };
}

const VERDICTS: Readonly<Record<MonitorState, ReportVerdict['kind']>> = {
  breach: 'fail',
  watch: 'none',
  unknown: 'none',
  within: 'pass',
};

function verdictOf(view: MonitoringView): ReportVerdict {
  const { state, title, sentences } = headlineOf(view);
  return { kind: state === null ? 'none' : VERDICTS[state], title, sentences: [...sentences, ...view.notes] };
}

function stateBlocks(view: MonitoringView): ReportBlock[] {
  const sentences = worstFirst(view.watched).map(
    (watched) =>
      `${watchedText(watched)}: ${STATE_WORDS[watched.state].word.toLowerCase()}. ${sentenceAfterState(watched)}`,
  );
  const shown = cutItems(sentences, MAX_METRICS);
  return [stateTable(view), { kind: 'list', items: shown }];
}

function alertBlocks(view: MonitoringView): ReportBlock[] {
  const { shown, total } = tellingOrder(view);
  if (total === 0) return [{ kind: 'paragraph', text: 'No alert was raised.' }];
  const rest = total - shown.length;
  return [
    ...shown.flatMap(alertBlock),
    ...(rest === 0 ? [] : [{ kind: 'paragraph' as const, text: `\u2026 and ${countedText(rest, 'older alert')}.` }]),
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
  const cut = { kind: 'paragraph' as const, text: `Not shown: ${countedText(rest, 'more crossing')}.` };
  return [...crossings.slice(0, MAX_CROSSINGS).flatMap(crossingBlocks), ...(rest > 0 ? [cut] : [])];
}

function crossingBlocks(crossing: MonitoringView['crossings'][number]): ReportBlock[] {
  const { remarks } = heatTable(crossing);
  return [crossedTable(crossing), ...remarks.map((text) => ({ kind: 'paragraph' as const, text }))];
}

function nothingLeftOut(): ReportBlock {
  return { kind: 'paragraph', text: 'Nothing: every event was counted.' };
}

/** The line under the title: how many events, from when to when. */
export function subjectOf({ nEvents, firstTimestamp, timestamp }: MonitoringView): string {
  if (timestamp === null) return 'Before the first event';
  const since = firstTimestamp === null ? '' : `${timeText(firstTimestamp)} to `;
  return `${countText(nEvents)} ${nEvents === 1 ? 'event' : 'events'}, ${since}${timeText(timestamp)} UTC`;
}

/** What the numbers promise, and what they do not. */
export function readingOf({ alpha, windowSize, level }: MonitoringView): string[] {
  return [
    `A band over all events holds at all times together: however often it is looked at, the probability that it ever leaves out the true value is at most its share of alpha, as long as the rates themselves do not change. Over all attributes and metrics these shares add up to alpha = ${shortNumber(alpha)}.`,
    `A breach rests on such a bound, so the probability that this engine ever raises a false alarm is at most ${shortNumber(alpha)}. The price is that small groups and small gaps need many events.`,
    `A watch rests on an ordinary ${formatPercent(level)} interval at one time. It is fast and has no promise over many looks: of a fair stream that is looked at often, it will be wrong now and then. It pages nobody.`,
    `The line of the last ${countText(windowSize)} events shows what is new. It may leave the band of all events: that band is about the whole past and moves late.`,
    '"Cannot tell yet" is neither good nor bad news: the bounds still reach to both sides of the limit.',
    'Severity is the excess over the limit times the precision of the estimate ("confidence" in JSON), which is 1 less half the width of the bounds over the limit, and at least 0. It grows with the number of events, and is no doubt of the bound: neither decides whether an alarm is raised.',
    'When a change began is the guess of a detector, without a guarantee.',
    'Rates that need true labels count labelled predictions only. Where labels come for some groups later or less often than for others, compare these rates with care.',
    'A gap within its limit is no proof of fair treatment, and a gap above it none of unfair treatment. Only the attributes and metrics named here were watched.',
    `Of fewer than ${String(MIN_SHOWN)} events no group's rate is shown, since it could tell what was decided of single persons. It may still be worked out from totals that are.`,
  ];
}

/** What is needed to read the same stream in the same way. */
export function madeOf(view: MonitoringView): (readonly [name: string, value: string])[] {
  return [
    ['Sliding window', `the last ${countText(view.windowSize)} events`],
    ['Smallest group compared', `${countText(view.minGroupSize)} events`],
    ['Smallest group shown', `${String(MIN_SHOWN)} events`],
    ['Alpha of the engine', shortNumber(view.alpha)],
    ['Level of ordinary intervals', formatPercent(view.level)],
    ['Metrics watched', countText(view.watched.length)],
    ['Version', `evenhand ${VERSION}`],
  ];
}

/**
 * A view as Markdown: the same words and tables as the page, without charts.
 * @param title what stands at the top
 */
export function dashboardToMarkdown(view: MonitoringView, title: string = DEFAULT_TITLE): string {
  return documentToMarkdown(monitoringDocument(withoutSmallCells(view), title));
}
