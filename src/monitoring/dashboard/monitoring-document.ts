import { type ReportBlock, type ReportDocument, type ReportVerdict } from '../../document/report-document.ts';
import { cutItems } from '../../document/report-text.ts';
import type { MonitorState } from '../alarms/alert-event.ts';
import { alertFacts, statusText, tellingOrder } from './alert-words.ts';
import { crossedTable, heatTable, MOST_CROSSINGS } from './crossed-table.ts';
import { madeOf, readingOf, subjectOf } from './dashboard-reading.ts';
import { countedText, sentenceText, watchedText } from './dashboard-words.ts';
import { measuresOf } from './drawn-groups.ts';
import { groupTable, stateTable, worstFirst } from './metric-tables.ts';
import type { AlertHistory, MonitoringView } from './monitoring-view.ts';
import { headlineOf, sentenceAfterState, STATE_WORDS } from './state-words.ts';
import { coverageTables, faultTable } from './stream-tables.ts';

/** What a monitored stream is called where nobody named it. */
export const DEFAULT_TITLE = 'Fairness of a monitored stream';

/** Metrics whose groups are told one by one. */
const MOST_METRICS = 40;

/** A view as a report in words and tables. */
export function monitoringDocument(view: MonitoringView, title: string): ReportDocument {
  return {
    title,
    subject: subjectOf(view),
    verdict: verdictOf(view),
    sections: [
      { title: 'Every metric', blocks: view.watched.length === 0 ? [] : stateBlocks(view) },
      { title: 'Alerts', blocks: alertBlocks(view) },
      ...worstFirst(view.watched)
        .slice(0, MOST_METRICS)
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
  const shown = cutItems(sentences, MOST_METRICS);
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
  const rest = crossings.length - MOST_CROSSINGS;
  const cut = { kind: 'paragraph' as const, text: `Not shown: ${countedText(rest, 'more crossing')}.` };
  return [...crossings.slice(0, MOST_CROSSINGS).flatMap(crossingBlocks), ...(rest > 0 ? [cut] : [])];
}

function crossingBlocks(crossing: MonitoringView['crossings'][number]): ReportBlock[] {
  const { remarks } = heatTable(crossing);
  return [crossedTable(crossing), ...remarks.map((text) => ({ kind: 'paragraph' as const, text }))];
}

function nothingLeftOut(): ReportBlock {
  return { kind: 'paragraph', text: 'Nothing: every event was counted.' };
}
