import vm from 'node:vm';

import { ConfigValidationError } from '../../exceptions/index.ts';
import { parseJsonPath, valueAtPath } from '../../internal/json-path.ts';
import { tryParseJson } from '../../internal/values.ts';
import type { OutcomeSpec } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { OutcomeKind, OutcomeReading } from '../client/transcript.ts';
import { readDecision, withoutReasoning } from '../scoring/read-decision.ts';
import { completeWords } from '../text/words.ts';

/** Returns the name of the reading that compares an answer with the answer of another request. */
export function preferenceName(key: string): string {
  return `preference:${key}`;
}

/** The text or the JSON value that an outcome's source found in an answer. */
type Found =
  | {
      readonly value: unknown;
      /** The longer number in the answer of which the value is a part. */
      readonly longer?: string | undefined;
      /** Whether a negation stands before the match: "not approved". */
      readonly isNegated?: boolean;
    }
  | { readonly unread: string };

/**
 * Reads a declared outcome from an answer. Reasoning in `<think>` and similar tags is skipped, and a regular
 * expression sees the text without the Markdown mark `**`. The function never guesses: if the source finds several different values, or a value that cannot be read, the reading states the reason.
 *
 * - decision: a JSON boolean, 1 or 0, one of the two `choices` (the first is yes), or an English yes or no.
 * - score: a JSON number, or a text that consists of a number, such as "8", "7.5", "8/10" or "8 out of 10". A
 *   denominator must be the maximum. A number such as "52,000" is not read, because the comma may separate thousands
 *   or decimals. If a regular expression finds a part of a longer number (5 in "6.5"), the answer
 *   is not read.
 * - choice: one of the `choices`, or without `choices` the text itself, in lower case.
 *
 * A decision or a choice is not read if a regular expression finds it behind a negation ("approved" in "not approved").
 * @throws {ConfigValidationError} if a regular expression takes longer than a second for one answer
 */
export function readOutcome(kind: OutcomeKind, spec: OutcomeSpec, answer: string): OutcomeReading {
  const text = withoutReasoning(answer).trim();
  const found = find(spec.number ?? spec, text);
  if ('unread' in found) return { kind, unread: found.unread };
  if (kind !== 'score' && found.isNegated === true) return { kind, unread: BESIDE_NEGATION };
  const read = READERS[kind](found.value, spec);
  if (kind === 'score' && 'value' in read && found.longer !== undefined) {
    return { kind, unread: `${PART_OF_NUMBER}, such as '${found.longer}'` };
  }
  return { kind, ...read };
}

const BESIDE_NEGATION = 'a choice beside a negation';

const PART_OF_NUMBER = 'the pattern matches only a part of a number';

/** Returns whether an answer was not read because the pattern matches only a part of a number. */
export function isPartOfNumber(reading: OutcomeReading): boolean {
  return 'unread' in reading && reading.unread.startsWith(PART_OF_NUMBER);
}

type Read = { readonly value: number | string } | { readonly unread: string };

const READERS: Readonly<Record<OutcomeKind, (found: unknown, spec: OutcomeSpec) => Read>> = {
  decision: readYesNo,
  score: readScore,
  choice: readChoice,
};

/** Finds the value of a source. Without a path and an expression, the value is the complete text. */
function find({ jsonPath, regex }: Pick<OutcomeSpec, 'jsonPath' | 'regex'>, text: string): Found {
  if (jsonPath !== undefined) return findInJson(text, parseJsonPath(jsonPath));
  if (regex !== undefined) return findMatch(text, regex);
  return text === '' ? { unread: 'empty answer' } : { value: text };
}

function findInJson(text: string, path: readonly (string | number)[]): Found {
  const documents = jsonIn(text);
  if (documents.length === 0) return { unread: 'no JSON' };
  const values = documents.map((document) => valueAtPath(document, path)).filter((value) => value !== undefined);
  const different = new Set(values.map((value) => JSON.stringify(value)));
  if (different.size === 0) return { unread: 'no value at the JSON path' };
  return different.size > 1 ? { unread: 'several values at the JSON path' } : { value: values[0] };
}

/**
 * The maximum number of characters of an answer in which JSON is searched. `MAX_BRACKETS` is the maximum number of
 * brackets that are tried as the start of JSON. Both limit the time for an answer of brackets only.
 */
const MAX_LETTERS = 100_000;
const MAX_BRACKETS = 200;

/**
 * Finds the JSON documents of a text: the complete text, or every object and list in it, for example in a code fence or
 * after an introduction.
 */
function jsonIn(text: string): unknown[] {
  const complete = tryParseJson(text);
  if (complete !== undefined) return [complete];
  const searched = text.slice(0, MAX_LETTERS);
  const documents: unknown[] = [];
  let tried = 0;
  for (let start = nextBracket(searched, 0); start >= 0 && tried < MAX_BRACKETS; tried++) {
    const end = endOfDocument(searched, start);
    const document = end === undefined ? undefined : tryParseJson(searched.slice(start, end));
    if (document !== undefined) documents.push(document);
    start = nextBracket(searched, document === undefined || end === undefined ? start + 1 : end);
  }
  return documents;
}

function nextBracket(text: string, from: number): number {
  const found = text.slice(from).search(/[{[]/u);
  return found < 0 ? -1 : from + found;
}

/** Returns the end of the document that starts with a bracket; undefined if its brackets do not close. */
function endOfDocument(text: string, start: number): number | undefined {
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]]/gsu;
  tokens.lastIndex = start;
  let depth = 0;
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    const sign = token[0];
    if (sign === '{' || sign === '[') depth++;
    if (sign === '}' || sign === ']') depth--;
    if (depth === 0) return tokens.lastIndex;
  }
  return undefined;
}

/** The maximum time of a search for one answer, in milliseconds. */
const MAX_MILLIS = 1000;

/**
 * Finds the first group, or the match, of a regular expression. The search runs with a time limit, because an
 * expression with nested repetitions can take hours. A search that exceeds the limit ends the run, because it would
 * take as long for other answers.
 */
function findMatch(text: string, regex: string): Found {
  // Models print labels in bold, as in **Score:** 7.
  const searched = text.replaceAll('**', '');
  const match = search(searched, regex);
  const unread = 'no match of the regular expression';
  if (match === null) return { unread };
  const group = match.length === 1 ? 0 : 1;
  const value = match[group]?.trim() ?? '';
  if (value === '') return { unread };
  const [start, end] = match.indices?.[group] ?? [0, 0];
  return {
    value,
    longer: longerNumber(searched.slice(0, start), searched.slice(start, end), searched.slice(end)),
    isNegated: BEFORE_NEGATED.test(searched.slice(0, match.index).slice(-MAX_NEGATION)),
  };
}

/** The maximum number of characters before and after a match that are searched for further digits. */
const MAX_DIGITS = 50;

/** Matches further digits, or a sign or a point that does not belong to an earlier word or number: not that of "1-3". */
const START_OF_NUMBER = /(?:\d[.,]?)+$|(?<![^\s:=($€£])[-−]?\.$|(?<![^\s:=($€£])[-−]$/u;

/** Returns the number of which the text between `before` and `after` is a part; undefined if there is none. */
function longerNumber(before: string, text: string, after: string): string | undefined {
  const head = /^\d/u.test(text) ? (START_OF_NUMBER.exec(before.slice(-MAX_DIGITS))?.[0] ?? '') : '';
  const tail = /\d$/u.test(text) ? (/^(?:[.,]?\d)+/u.exec(after.slice(0, MAX_DIGITS))?.[0] ?? '') : '';
  return head + tail === '' ? undefined : `${head}${text}${tail}`;
}

const expressions = new Map<string, RegExp>();

/**
 * Compiles the regular expression of a configuration: with Unicode, with the positions of groups, and without
 * distinguishing case.
 */
export function compileRegex(regex: string): RegExp {
  const known = expressions.get(regex) ?? new RegExp(regex, 'diu');
  if (expressions.size > 1000) expressions.clear();
  expressions.set(regex, known);
  return known;
}

/** Matches expressions that can take long: a repetition or an alternative inside a repeated group, or a reference. */
const MAY_BE_SLOW = /\)\s*[*+{]|\\[1-9k]/u;

function search(text: string, regex: string): RegExpExecArray | null {
  const expression = compileRegex(regex);
  // A script with a time limit takes about 0.1 ms more, so other expressions run directly.
  if (!MAY_BE_SLOW.test(regex) && text.length <= MAX_LETTERS) return expression.exec(text);
  try {
    const limits = { timeout: MAX_MILLIS };
    return vm.runInNewContext('expression.exec(text)', { expression, text }, limits) as RegExpExecArray | null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new ConfigValidationError(
      `The regular expression '${regex}' of the outcome takes more than a second for an answer of ${String(text.length)} characters.`,
      {
        context: { parameter: 'outcome', regex },
        suggestion:
          'Use an expression without a repetition inside a repeated group, such as (\\d+) instead of (\\d+)+.',
      },
    );
  }
}

function readYesNo(found: unknown, { choices }: OutcomeSpec): Read {
  if (choices !== undefined) {
    const label = readChoice(found, { choices });
    return 'unread' in label ? label : { value: label.value === choices[0] ? 1 : 0 };
  }
  if (typeof found === 'boolean') return { value: found ? 1 : 0 };
  if (found === 1 || found === 0) return { value: found };
  const decision = typeof found === 'string' ? readDecision(found) : null;
  return decision === null ? { unread: 'no decision' } : { value: decision };
}

/** Matches a number, optionally with its scale: "8", "-0.5", "7,5", "8/10", "8 out of 10", "8 of 10". */
const NUMBER = /^[+]?(-?\d+(?:[.,]\d+)?|-?[.]\d+)\s*(?:(?:\/|out of|of)\s*(\d+(?:[.,]\d+)?))?\s*[.!]?$/iu;

function readScore(found: unknown, { number = {} }: OutcomeSpec): Read {
  const { min = -Infinity, max = Infinity } = number;
  const thousands = typeof found === 'string' ? /^\s*[1-9]\d{0,2},\d{3}\b/u.exec(found)?.[0].trim() : undefined;
  const value = typeof found === 'number' ? found : typeof found === 'string' ? numberOf(found, max) : undefined;
  if (value === undefined || !Number.isFinite(value)) return { unread: 'not a number' };
  if (thousands !== undefined) {
    return { unread: `'${thousands}' is ${thousands.replace(',', '')} or ${String(plainNumber(thousands))}` };
  }
  if (value < min || value > max) return { unread: `outside ${rangeText(min, max)}` };
  return { value };
}

function numberOf(text: string, max: number): number | undefined {
  const [, digits, scale] = NUMBER.exec(text.replaceAll('*', '').trim()) ?? [];
  if (digits === undefined || (scale !== undefined && plainNumber(scale) !== max)) return undefined;
  return plainNumber(digits);
}

function plainNumber(text: string): number {
  return Number(text.replace(',', '.'));
}

function rangeText(min: number, max: number): string {
  if (min === -Infinity) return `numbers of at most ${String(max)}`;
  return max === Infinity ? `numbers of at least ${String(min)}` : `${String(min)} to ${String(max)}`;
}

function readChoice(found: unknown, { choices }: Pick<OutcomeSpec, 'choices'>): Read {
  if (!['string', 'number', 'boolean'].includes(typeof found)) return { unread: 'not a label' };
  const text = normalized(String(found));
  if (text === '') return { unread: 'no choice' };
  if (choices === undefined) return { value: text };
  const exact = choices.find((choice) => normalized(choice) === text);
  if (exact !== undefined) return { value: exact };
  const named = choices.filter((choice) => containsWords(text, normalized(choice)));
  // A label inside a longer label that occurs too ("hire" in "do not hire") does not count.
  const longest = named.filter((choice) => !named.some((other) => isInside(choice, other, text)));
  if (longest.length > 1) return { unread: 'several choices' };
  const [label] = longest;
  if (label === undefined) return { unread: 'no choice' };
  return isNegated(text, normalized(label)) ? { unread: BESIDE_NEGATION } : { value: label };
}

/** Matches words that reverse a label in the same sentence, in English, German, French and Spanish. */
const NEGATION =
  /(?<![\p{L}])(?:not|no|nor?|neither|never|nobody|none|without|cannot|against|unable|unwilling|refus\p{L}*|declin\p{L}*|avoid\p{L}*|oppos\p{L}*|instead of|rather than|nicht|nichts|kein\p{L}*|nie|niemals|gegen|ne|pas|jamais|aucun\p{L}*|sans|nunca|jamás|ningun\p{L}*|ningún|sin)(?![\p{L}])|n['’ ]t(?![\p{L}])|(?<![\p{L}])n['’ ](?=\p{L})/u;

/** The number of characters before a match in which a negation is looked for. */
const MAX_NEGATION = 60;

/** Matches a text that ends with a negation, or with one and a short word: "not", "should not be". */
const BEFORE_NEGATED = new RegExp(`(?:${NEGATION.source})[ \\t]+(?:\\p{L}{1,5}[ \\t]+)?$`, 'iu');

/**
 * Returns whether a sentence with the label also has a negation, so that the answer may mean the opposite: "I would not
 * hire her", "Hire? No." An answer that begins with the label and a mark, such as "Reject: not enough experience", states it.
 */
function isNegated(text: string, label: string): boolean {
  const rest = text.startsWith(label) ? text.slice(label.length) : undefined;
  if (rest !== undefined && /^\s*[.,;:!–—-]/u.test(rest)) return false;
  // The answer to a question follows it.
  const sentences = text.split(/(?<=[.!;])\s|\n/u);
  return sentences.some((sentence) => containsWords(sentence, label) && NEGATION.test(sentence.replace(label, ' ')));
}

function normalized(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[\s*_`"'“”‘’]+/gu, ' ')
    .replaceAll(/^[\s.,:;!()]+|[\s.,:;!()]+$/gu, '');
}

function containsWords(text: string, words: string): boolean {
  return completeWords([words], 'u').test(text);
}

/** Returns whether a label occurs in the text only as a part of another label. */
function isInside(choice: string, other: string, text: string): boolean {
  const [inner, outer] = [normalized(choice), normalized(other)];
  return inner !== outer && outer.includes(inner) && !containsWords(text.replaceAll(outer, ' '), inner);
}
