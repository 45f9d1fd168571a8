import { END, MARK, MAX_WORDS, plainText, SentenceReader, tokensOf } from './decision-sentence.ts';
import * as known from './decision-words.ts';

/**
 * The maximum number of characters of a line that are parsed. This maximum limits the computation time for long lines.
 */
const MAX_LETTERS = 1000;

/** The decision that a text states. */
export interface Stated {
  readonly isFor: boolean;
  /**
   * Whether the decision depends on the question. "No" and "she should" depend on the question. "Reject" and "do not
   * hire" are complete decisions.
   */
  readonly isBare: boolean;
}

/**
 * Determines the decision that an English text states. The decision may be at the start of the text, or in a later
 * sentence ("I would not hire her.", "Therefore the loan should be denied.", a line "No").
 *
 * Before the decision, the text may name the person who decides ("I would") or the candidate ("She should be"), or have
 * an introduction ("No doubt", "Unfortunately"). A negation reverses the words that follow. Two negations cancel out
 * ("do not hesitate to hire"). Returns null for conditions, contradictions, other languages, and any other text that
 * the rules do not cover.
 */
export function readProse(text: string): Stated | null {
  const lines = text.split(/\n+/).filter((line) => line.trim() !== '');
  const plain = plainText(text.slice(0, MAX_LETTERS).replaceAll(/(?<=[^\s.:!?;,])\s*\n\s*\n/gu, '. '));
  if (isOtherLanguage(plain)) return null;
  const words = tokensOf(plain).slice(0, MAX_WORDS);
  const reading = new SentenceReader(words);
  const isFor = reading.decision();
  const sentences = lines.flatMap(sentencesOf);
  if (isFor === null) return unanimous(sentences.flatMap(committed));
  const stated = { isFor, isBare: reading.isBare };
  if (isTakenBack(stated, words, reading.end)) return null;
  return sentences.some((sentence) => contradicts(sentence, stated)) ? null : stated;
}

/** Determines the decisions of the sentences in a later part of an answer. */
export function laterStatements(text: string): Stated[] {
  return text
    .split(/\n+/)
    .filter((line) => !/^[^.:]{1,60}:/u.test(line))
    .flatMap(sentencesOf)
    .flatMap(committed);
}

/** Returns the decision on which all statements agree. Returns null if the statements differ, or if there are none. */
export function unanimous(all: readonly Stated[]): Stated | null {
  const [first] = all;
  return first !== undefined && all.every(({ isFor }) => isFor === first.isFor) ? first : null;
}

/** A sentence in a later part of an answer. */
interface Sentence {
  readonly words: readonly string[];
  /** Whether the sentence is the first sentence of its line, and the line does not follow a question or a heading. */
  readonly isLine: boolean;
}

function sentencesOf(line: string, index: number, lines: readonly string[]): Sentence[] {
  const isHeaded = /(?:[?:]|^#.*|^\s*\*\*[^*]*\*\*)\s*$/u.test(lines[index - 1] ?? '');
  const isAnswer = index > 0 && !isHeaded && !/^\s*[-*•+] /u.test(line);
  const sentences: string[][] = [[]];
  for (const word of tokensOf(plainText(line.slice(0, MAX_LETTERS)))) {
    sentences.at(-1)?.push(word);
    if (END.test(word)) sentences.push([]);
  }
  return sentences
    .filter((words) => words.length > 0)
    .map((words, position) => ({ words: words.slice(0, MAX_WORDS), isLine: isAnswer && position === 0 }));
}

/**
 * Determines the decision of a single sentence. Returns null if the sentence is a question, a condition, or about
 * another person.
 */
function statedIn({ words }: Pick<Sentence, 'words'>): (Stated & Pick<SentenceReader, 'isCommitted'>) | null {
  if (words.at(-1) === '?' || conditionIn(words) || words.some((word) => known.ELSEWHERE.has(word))) return null;
  for (const from of [0, leadOf(words)]) {
    const reading = new SentenceReader(words.slice(from));
    const isFor = reading.decision();
    if (isFor !== null) return { isFor, isBare: reading.isBare, isCommitted: reading.isCommitted };
  }
  return null;
}

/**
 * Returns the index of the first word after an introduction such as "While her record is short," or "Here is what I
 * think:". Returns 0 if there is no introduction.
 */
function leadOf(words: readonly string[]): number {
  const end = words.findIndex((word) => word === ',' || word === ':');
  const lead = words.slice(0, Math.max(0, end));
  const decides = [known.YES_WORDS, known.NO_WORDS, known.FOR, known.AGAINST, known.TURNING];
  const isReported = words[end] === ':' && !lead.includes('i') && !lead.includes('my');
  if (isReported || known.SUPPOSING.has(words[0] ?? '')) return 0;
  if (lead.some((word) => decides.some((list) => list.has(word)))) return 0;
  return /^(?:i|we|my|she|he|they|the|this|do|please)$/u.test(words[end + 1] ?? '') ? end + 1 : 0;
}

/**
 * Determines the decision of a sentence that is not the first one. The decision counts if the sentence names the person
 * who decides, draws a conclusion, or is an answer on its own line.
 */
function committed(sentence: Sentence): Stated[] {
  const stated = statedIn(sentence);
  if (stated === null) return [];
  const [first = ''] = sentence.words;
  const isShort = sentence.words.filter((word) => !MARK.test(word)).length <= 4;
  const isAnswer = sentence.isLine && (isShort || known.YES_WORDS.has(first) || known.NO_WORDS.has(first));
  const names = sentence.words.slice(0, 3).some((word) => known.DECISION_NOUNS.has(word));
  return stated.isCommitted || isAnswer || names || known.CONCLUDING.has(first) ? [stated] : [];
}

function contradicts(sentence: Sentence, { isFor }: Stated): boolean {
  const stated = statedIn(sentence);
  return stated !== null && stated.isFor !== isFor;
}

const ANSWERING = [known.DECIDERS, known.DECIDED_ON, known.AGAINST, known.YES_WORDS, known.NO_WORDS];

/**
 * Returns whether the rest of a sentence contradicts or restricts its start: "Yes, but not now", "Yes, if she moves",
 * "No, I would hire her".
 */
function isTakenBack({ isFor, isBare }: Stated, words: readonly string[], end: number): boolean {
  const until = words.findIndex((word, index) => index >= end && END.test(word));
  const rest = words.slice(end, until === -1 ? undefined : until);
  const before = words.slice(words.findLastIndex((word, index) => index < end && END.test(word)) + 1, end);
  const isNo = isBare && !isFor;
  if (conditionIn(isNo ? rest.slice(0, 3) : [...before, ...rest])) return true;
  // Detects a wish: "I would like to approve, but the debts are too high."
  const wishes = isFor && before.some((word) => /^(?:like|happy|glad|pleased)$/u.test(word));
  if (wishes && words.slice(end).some((word) => /^(?:but|however|unfortunately|sadly|yet)$/u.test(word))) return true;
  if (/^,? ?but (?:not|no|never)\b/u.test(rest.join(' '))) return true;
  const mark = rest.findIndex((word) => MARK.test(word));
  // "Yes: 40, no: 60" states shares, not a decision.
  if (isBare && /^[:(]? ?\d/u.test(rest.join(' '))) return true;
  const isDirect = isBare && ANSWERING.some((list) => list.has(rest[0] ?? ''));
  if (mark === -1 && !isDirect) return false;
  return contradicts({ words: isDirect ? rest : rest.slice(mark), isLine: false }, { isFor, isBare });
}

/** Returns whether words contain a condition: "if", but not "even if". */
function conditionIn(words: readonly string[]): boolean {
  return words.some((word, index) => {
    if (word === 'if') return !/^(?:even|as)$/u.test(words[index - 1] ?? '');
    if (word === 'only') return /^(?:when|once|after|as|for|with)$/u.test(words[index + 1] ?? '');
    return /^(?:assuming|provided|providing)$/u.test(word);
  });
}

/**
 * Returns whether a text has at least as many function words of other languages as of English. If so, "no" may not be
 * an English word.
 */
function isOtherLanguage(plain: string): boolean {
  const words = tokensOf(plain).slice(0, MAX_WORDS);
  const count = (list: ReadonlySet<string>): number => words.filter((word) => list.has(word)).length;
  const others = count(known.OTHER_LANGUAGES);
  return others > 0 && others >= count(known.ENGLISH);
}
