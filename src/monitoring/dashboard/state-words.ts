import { capital } from '../../internal/format.ts';
import { listed } from '../../document/report-text.ts';
import type { AlertHistory, MonitorState } from '../alarms/alert-event.ts';
import { countedText, countText, sentenceText } from './dashboard-words.ts';
import type { MonitoringView, WatchedMetric } from './monitoring-view.ts';

/** How a state is said: by word and by sign, so that colour is never needed. */
export interface StateWords {
  readonly sign: string;
  readonly word: string;
}

/** States, the worst first. */
export const STATES = ['breach', 'watch', 'unknown', 'within'] as const satisfies readonly MonitorState[];

/** The words for each state. */
export const STATE_WORDS: Readonly<Record<MonitorState, StateWords>> = {
  breach: { sign: '\u2717', word: 'Breach' },
  watch: { sign: '!', word: 'Watch' },
  unknown: { sign: '?', word: 'Cannot tell yet' },
  within: { sign: '\u2713', word: 'Within limit' },
};

/** A metric's sentence where its state stands before it, which is then not said again. */
export function sentenceAfterState({ state, sentence, attribute }: WatchedMetric): string {
  const said = `${STATE_WORDS[state].word}: `;
  const rest = sentence.startsWith(said) ? capital(sentence.slice(said.length)) : sentence;
  return sentenceText(rest, attribute);
}

/** What stands above everything else. */
export interface Headline {
  /** The worst state that there is; null where nothing is known. */
  readonly state: MonitorState | null;
  readonly title: string;
  readonly sentences: readonly string[];
}

/** The state of a stream in words. */
export function headlineOf(view: MonitoringView): Headline {
  const counts = new Map(STATES.map((state) => [state, view.watched.filter((one) => one.state === state).length]));
  const worst = STATES.find((state) => counts.get(state) !== 0);
  if (worst === undefined) return { state: null, title: 'No metric is watched', sentences: ['Nothing can be said.'] };
  if (view.nEvents === 0)
    return { state: null, title: 'No event has been counted yet', sentences: ['Nothing is known so far.'] };
  return {
    state: worst,
    title: titleOf(worst, counts.get(worst) ?? 0, view.watched.length),
    sentences: [...restOf(worst, counts), ...openSentences(view)],
  };
}

const ONLY_ONE: Readonly<Record<MonitorState, string>> = {
  breach: 'The metric is in breach',
  watch: 'No breach; the metric is on watch',
  unknown: 'No breach was found; the metric cannot be told yet',
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
      return `No breach was found; ${some} cannot be told yet`;
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
    unknown: 'cannot be told yet',
    within: `${verb} within ${limit}`,
  };
  return `${countText(count)} ${words[state]}`;
}

function openSentences({ alerts }: MonitoringView): string[] {
  const open = alerts.filter(({ isOpen, alert }) => isOpen && alert.tier === 'alarm');
  if (open.length === 0) return ['No alarm is open.'];
  const waiting = open.filter(({ isAcknowledged }) => !isAcknowledged).length;
  const verb = open.length === 1 ? 'is' : 'are';
  const seen = waiting === 0 ? 'all acknowledged' : `${String(waiting)} not acknowledged`;
  return [`${countedText(open.length, 'alarm')} ${verb} open, ${seen}.`];
}

/** When an alert was raised, ISO 8601: its own time is that of the last time it was told. */
export function raisedAt({ alert, changes }: AlertHistory): string {
  return changes.find(({ change }) => change === 'raised')?.timestamp ?? alert.timestamp;
}
