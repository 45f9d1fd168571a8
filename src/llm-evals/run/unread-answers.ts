import { groupBy } from '../../internal/values.ts';
import type { Transcript } from '../client/transcript.ts';
import { distinctAnswers } from '../scoring/dimension-answers.ts';

/** The answers from which an outcome could not be read, for one reason. */
export interface UnreadAnswers {
  /** The declared outcome or the custom metric, for example `score`. */
  readonly outcome: string;
  readonly reason: string;
  readonly count: number;
  /** The first answers, of at most {@link MAX_LETTERS} characters each. */
  readonly examples: readonly string[];
}

/** The maximum number of examples for each reason. */
const MAX_EXAMPLES = 3;
const MAX_LETTERS = 300;

/** Counts the answers from which an outcome could not be read, by outcome and reason. The most frequent comes first. */
export function unreadAnswers(transcripts: readonly Transcript[]): readonly UnreadAnswers[] {
  const unread = distinctAnswers(transcripts.filter(({ readings }) => readings !== undefined)).flatMap(
    ({ readings = {}, text }) =>
      Object.entries(readings).flatMap(([outcome, reading]) =>
        'unread' in reading && !outcome.includes(':') ? [{ outcome, reason: reading.unread, text: text ?? '' }] : [],
      ),
  );
  const groups = groupBy(unread, ({ outcome, reason }) => JSON.stringify([outcome, reason]));
  return Object.freeze(
    [...groups.values()]
      .flatMap((those) => {
        const [first] = those;
        if (first === undefined) return [];
        const examples = [...new Set(those.map(({ text }) => cut(text)))].slice(0, MAX_EXAMPLES);
        return [Object.freeze({ outcome: first.outcome, reason: first.reason, count: those.length, examples })];
      })
      .sort((a, b) => b.count - a.count),
  );
}

function cut(text: string): string {
  return text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS)}…` : text;
}
