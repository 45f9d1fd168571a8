import { capital, counted, formatCount } from '../../internal/format.ts';
import { listed } from '../../document/report-text.ts';
import type { AlertHistory, MonitorState } from '../alarms/alert-event.ts';
import { sentenceText } from './dashboard-words.ts';
import type { MonitoringView, WatchedMetric } from './monitoring-view.ts';

/** A state's word and sign, so that the colour is not needed to understand it. */
export interface StateWords {
  readonly sign: string;
  readonly word: string;
}

/** All states, worst first. */
export const STATES = ['breach', 'watch', 'unknown', 'within'] as const satisfies readonly MonitorState[];

/** The words for each state. */
export const STATE_WORDS: Readonly<Record<MonitorState, StateWords>> = {
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

const ONLY_ONE: Readonly<Record<MonitorState, string>> = {
  breach: 'The metric is in breach',
  watch: 'No breach; the metric is on watch',
  unknown: 'No breach was found; the metric is inconclusive',
  within: 'The metric is within its limit',
};

function titleOf(worst: MonitorState, count: number, total: number): string {
  const verb = count === 1 ? 'is' : 'are';
  if (total === 1) return ONLY_ONE[worst];
  const some = `${String(count)} of ${String(total)} metrics`;
  switch (worst) {
    case 'breach':
      return `${some} ${verb} in breach`;
    case 'watch':
      return `No breach; ${some} ${verb} on watch`;
    case 'unknown':
      return `No breach was found; ${some} ${verb} inconclusive`;
    case 'within':
      return `All ${String(total)} metrics are within their limits`;
  }
}

function restOf(worst: MonitorState, counts: ReadonlyMap<MonitorState, number>): string[] {
  const parts = STATES.flatMap((state) => {
    const count = counts.get(state) ?? 0;
    return state === worst || count === 0 ? [] : [restText(state, count)];
  });
  return parts.length === 0 ? [] : [`Of the others, ${listed(parts)}.`];
}

function restText(state: MonitorState, count: number): string {
  const [verb, limit] = count === 1 ? ['is', 'its limit'] : ['are', 'their limits'];
  const words: Readonly<Record<MonitorState, string>> = {
    breach: `${verb} in breach`,
    watch: `${verb} on watch`,
    unknown: `${verb} inconclusive`,
    within: `${verb} within ${limit}`,
  };
  return `${formatCount(count)} ${words[state]}`;
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
