import { groupBy } from '../../internal/values.ts';
import type { OutcomeReading, Transcript } from '../client/transcript.ts';
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
  const unread = readingsOf(transcripts).flatMap(({ outcome, reading, text }) =>
    'unread' in reading ? [{ outcome, reason: reading.unread, text }] : [],
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

/** Returns what was read from the distinct answers. The readings of pairs of answers are left out. */
function readingsOf(transcripts: readonly Transcript[]): { outcome: string; reading: OutcomeReading; text: string }[] {
  return distinctAnswers(transcripts.filter(({ readings }) => readings !== undefined)).flatMap(
    ({ readings = {}, text }) =>
      Object.entries(readings).flatMap(([outcome, reading]) =>
        outcome.includes(':') ? [] : [{ outcome, reading, text: text ?? '' }],
      ),
  );
}

/** The smallest number of equal values that is no coincidence. */
const MIN_EQUAL = 10;

/**
 * Returns warnings if all values that were read are equal, so that no gap can appear, and if most answers were not read.
 * The usual reason is a pattern that finds something else in the answers.
 */
export function readingWarnings(transcripts: readonly Transcript[]): string[] {
  return [...groupBy(readingsOf(transcripts), ({ outcome }) => outcome)].flatMap(([outcome, own]) => {
    const values = own.flatMap(({ reading }) => ('value' in reading ? textOf(reading) : []));
    const unread = own.filter(({ reading }) => 'unread' in reading).length;
    const isConstant = values.length >= MIN_EQUAL && values.every((value) => value === values[0]);
    return [
      ...(isConstant
        ? [
            `All ${String(values.length)} values of '${outcome}' that were read are ${values[0] ?? ''}, so that no gap can appear. Check what is read from the answers.`,
          ]
        : []),
      ...(2 * unread > own.length
        ? [`'${outcome}' was read from only ${String(own.length - unread)} of ${String(own.length)} answers.`]
        : []),
    ];
  });
}

function textOf({ kind, value }: Extract<OutcomeReading, { value: unknown }>): string {
  return kind === 'decision' ? (value === 1 ? 'yes' : 'no') : String(value);
}

function cut(text: string): string {
  return text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS)}…` : text;
}
