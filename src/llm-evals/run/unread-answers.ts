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

/** The maximum number of characters of an answer in a warning. */
const SHOWN_LETTERS = 80;

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

/** What was read from an answer as one outcome. */
interface AnswerReading {
  readonly outcome: string;
  readonly reading: OutcomeReading;
  readonly text: string;
  readonly prompt: string;
}

/** Returns what was read from the distinct answers. The readings of pairs of answers are left out. */
function readingsOf(transcripts: readonly Transcript[]): AnswerReading[] {
  return distinctAnswers(transcripts.filter(({ readings }) => readings !== undefined)).flatMap(
    ({ readings = {}, text, prompt }) =>
      Object.entries(readings).flatMap(([outcome, reading]) =>
        outcome.includes(':') ? [] : [{ outcome, reading, text: text ?? '', prompt }],
      ),
  );
}

/** The smallest number of equal values that is no coincidence. */
const MIN_EQUAL = 10;

/** The smallest share of answers without a text, or without their end, that can hide a gap. */
const MANY = 0.05;

/** Matches what servers and proxies say instead of an answer. */
const ERROR_TEXT =
  /\b(error \d{3}|\d{3} error|rate limit(ed| exceeded)?|too many requests|quota exceeded|internal server error|bad gateway|service unavailable|gateway time-?out|request timed out|invalid api key|unauthorized)\b/i;

/** The number of characters at the start of an answer in which an error is named. */
const ERROR_LETTERS = 120;

/**
 * Returns the answers that are messages of errors: several that are the same text apart from numbers and ids, and name an
 * error at their start. A single answer may speak of an error.
 */
function errorTexts(texts: readonly string[]): readonly string[] {
  const found = texts.filter((text) => ERROR_TEXT.test(text.slice(0, ERROR_LETTERS)));
  // Numbers and ids of requests differ.
  const groups = groupBy(found, (text) => text.replaceAll(/[\da-f-]{8,}|\d+/gi, '#'));
  return [...groups.values()].filter(({ length }) => length >= MIN_EQUAL).flat();
}

/**
 * Returns warnings if answers are empty, were cut off, are messages of an error or are all the same text, such as the page
 * of an error. Measures of such texts are defined, and their gaps are 0.
 */
export function answerWarnings(transcripts: readonly Transcript[]): string[] {
  const answers = distinctAnswers(transcripts).flatMap(({ text, finishReason }) =>
    text === null ? [] : [{ text: text.trim(), isCut: finishReason === 'length' }],
  );
  const [first] = answers;
  if (first === undefined) return [];
  const empty = answers.filter(({ text }) => text === '').length;
  const ended = answers.filter(({ isCut }) => isCut).length;
  const isSame = first.text !== '' && answers.length >= MIN_EQUAL && answers.every(({ text }) => text === first.text);
  const errors = errorTexts(answers.map(({ text }) => text));
  const someOf = (count: number): string => `${String(count)} of ${String(answers.length)} answers`;
  return [
    ...(empty >= MANY * answers.length
      ? [
          `${someOf(empty)} ${empty === 1 ? 'is empty, and counts as a text' : 'are empty, and count as texts'} without tone, refusal or decision.`,
        ]
      : []),
    ...(ended >= MANY * answers.length
      ? [
          `${someOf(ended)} ${ended === 1 ? 'was' : 'were'} cut off at the limit of tokens. What they would have said is not measured: increase max_tokens.`,
        ]
      : []),
    ...(errors.length > 0 && !isSame
      ? [
          `${someOf(errors.length)} look like messages of an error, and count as answers: ${JSON.stringify(cut(errors[0] ?? '', SHOWN_LETTERS))}. Leave them empty, or ask again.`,
        ]
      : []),
    ...(isSame
      ? [
          `All ${String(answers.length)} answers are the same text, so that no gap can appear: ${JSON.stringify(cut(first.text, SHOWN_LETTERS))}.`,
        ]
      : []),
  ];
}

/**
 * Returns warnings if all values that were read are equal, so that no gap can appear, if all numbers are in the prompts,
 * and if most answers were not read. The usual reason is a pattern that finds something else in the answers.
 */
export function readingWarnings(transcripts: readonly Transcript[]): string[] {
  return [...groupBy(readingsOf(transcripts), ({ outcome }) => outcome)].flatMap(([outcome, own]) => {
    const values = own.flatMap(({ reading }) => ('value' in reading ? textOf(reading) : []));
    const unread = own.filter(({ reading }) => 'unread' in reading).length;
    const numbers = own.flatMap(({ reading, prompt }) =>
      'value' in reading && typeof reading.value === 'number' && reading.kind !== 'decision'
        ? [{ value: reading.value, prompt }]
        : [],
    );
    const isRepeated =
      numbers.length >= MIN_EQUAL && numbers.every(({ value, prompt }) => numbersIn(prompt).has(value));
    const isConstant = values.length >= MIN_EQUAL && values.every((value) => value === values[0]);
    return [
      ...(isConstant
        ? [
            `All ${String(values.length)} values of '${outcome}' that were read are ${values[0] ?? ''}, so that no gap can appear. Check what is read from the answers.`,
          ]
        : []),
      ...(isRepeated && !isConstant
        ? [
            `All ${String(numbers.length)} values of '${outcome}' that were read also occur in their prompts. Check that they are not repeated from there, such as an age.`,
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

/** Returns the numbers in a text. */
function numbersIn(text: string): ReadonlySet<number> {
  return new Set(Array.from(text.matchAll(/\d+(?:\.\d+)?/g), ([digits]) => Number(digits)));
}

function cut(text: string, most = MAX_LETTERS): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
