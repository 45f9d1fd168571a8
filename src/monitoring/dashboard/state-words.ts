import { capital, counted, formatCount } from '../../internal/format.ts';
import { listed } from '../../document/report-text.ts';
import type { AlertHistory, MonitorState } from '../alarms/alert-event.ts';
import { sentenceText } from './dashboard-words.ts';
import type { MonitoringView, WatchedMetric } from './monitoring-view.ts';

/** All states, worst first. */
export const STATES = ['breach', 'watch', 'unknown', 'within'] as const satisfies readonly MonitorState[];

/** The sign and the word for each state, so that readers can recognize the state without its colour. */
export const STATE_WORDS: Readonly<Record<MonitorState, { readonly sign: string; readonly word: string }>> = {
  breach: { sign: '\u2717', word: 'Breach' },
  watch: { sign: '!', word: 'Watch' },
  unknown: { sign: '?', word: 'Inconclusive' },
  within: { sign: '\u2713', word: 'Within limit' },
};

/** Returns a metric's sentence without its state, for use after the state. */
export function sentenceAfterState({ state, sentence, attribute }: WatchedMetric): string {
  const said = `${STATE_WORDS[state].word}: `;
  const rest = sentence.startsWith(said) ? capital(sentence.slice(said.length)) : sentence;
  return sentenceText(rest, attribute);
}

/** The headline of a dashboard. */
export interface Headline {
  /** The worst current state; null if no state is known. */
  readonly state: MonitorState | null;
  readonly title: string;
  readonly sentences: readonly string[];
}

/** Returns the state of a stream in words. */
export function headlineOf(view: MonitoringView): Headline {
  const counts = new Map(STATES.map((state) => [state, view.watched.filter((one) => one.state === state).length]));
  const worst = STATES.find((state) => counts.get(state) !== 0);
  if (worst === undefined)
    return { state: null, title: 'No metric is watched', sentences: ['There is nothing to report.'] };
  if (view.nEvents === 0)
    return { state: null, title: 'No event has been counted yet', sentences: ['There are no results yet.'] };
  return {
    state: worst,
    title: titleOf(worst, counts.get(worst) ?? 0, view.watched.length),
    sentences: [...restOf(worst, counts), ...openSentences(view)],
  };
}

/**
 * The parts of a headline: the words before the metrics in the worst state, and the words that describe these metrics.
 */
const PHRASES: Readonly<Record<MonitorState, readonly [before: string, state: string]>> = {
  breach: ['', 'in breach'],
  watch: ['No breach; ', 'on watch'],
  unknown: ['No breach was found; ', 'inconclusive'],
  within: ['', 'within'],
};

function titleOf(worst: MonitorState, count: number, total: number): string {
  // If the worst state is within, all metrics are within their limits.
  const some = worst === 'within' ? `all ${String(total)}` : `${String(count)} of ${String(total)}`;
  const metrics = total === 1 ? 'the metric' : `${some} metrics`;
  return capital(`${PHRASES[worst][0]}${metrics} ${stateText(worst, count)}`);
}

function stateText(state: MonitorState, count: number): string {
  const [verb, limit] = count === 1 ? ['is', ' its limit'] : ['are', ' their limits'];
  return `${verb} ${PHRASES[state][1]}${state === 'within' ? limit : ''}`;
}

function restOf(worst: MonitorState, counts: ReadonlyMap<MonitorState, number>): string[] {
  const parts = STATES.flatMap((state) => {
    const count = counts.get(state) ?? 0;
    return state === worst || count === 0 ? [] : [`${formatCount(count)} ${stateText(state, count)}`];
  });
  return parts.length === 0 ? [] : [`Of the others, ${listed(parts)}.`];
}

function openSentences({ alerts }: MonitoringView): string[] {
  const open = alerts.filter(({ isOpen, alert }) => isOpen && alert.tier === 'alarm');
  if (open.length === 0) return ['No alarm is open.'];
  const waiting = open.filter(({ isAcknowledged }) => !isAcknowledged).length;
  const verb = open.length === 1 ? 'is' : 'are';
  const seen = waiting === 0 ? 'all acknowledged' : `${String(waiting)} not acknowledged`;
  return [`${counted(open.length, 'alarm')} ${verb} open, ${seen}.`];
}

/** Returns when an alert was raised, ISO 8601. The alert's own time is when it was last sent. */
export function raisedAt({ alert, changes }: AlertHistory): string {
  return changes.find(({ change }) => change === 'raised')?.timestamp ?? alert.timestamp;
}
