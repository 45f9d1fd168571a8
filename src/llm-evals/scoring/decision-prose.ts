import * as known from './decision-words.ts';

/** Words of one sentence, or of the start of an answer, that are read. */
const MOST_WORDS = 60;

/** Letters of one line that are read; the rest of a longer line costs nothing. */
const MOST_LETTERS = 1000;

/** What a text states. */
export interface Stated {
  readonly isFor: boolean;
  /** "No" and "she should" answer a question and depend on it; "reject" and "do not hire" stand by themselves. */
  readonly isBare: boolean;
}

/**
 * Reads what English prose states: the decision that it begins with, or else the one that a later sentence takes ("I
 * would not hire her.", "Therefore the loan should be denied.", a line "No"). What stands before the decision may be who
 * decides ("I would"), on whom ("She should be"), or a lead-in ("No doubt", "Unfortunately"); a negation turns what
 * follows it, and two turn it back ("do not hesitate to hire"). Returns null for a condition, for statements that
 * contradict each other, for other languages, and for whatever else is not understood.
 */
export function readProse(text: string): Stated | null {
  const lines = text.split(/\n+/).filter((line) => line.trim() !== '');
  const plain = plainText(text.slice(0, MOST_LETTERS).replaceAll(/(?<=[^\s.:!?;,])\s*\n\s*\n/gu, '. '));
  if (isOtherLanguage(plain)) return null;
  const words = tokensOf(plain).slice(0, MOST_WORDS);
  const reading = new Reading(words);
  const isFor = reading.decision();
  const sentences = lines.flatMap(sentencesOf);
  if (isFor === null) return unanimous(sentences.flatMap(committed));
  const stated = { isFor, isBare: reading.isBare };
  if (isTakenBack(stated, words, reading.end)) return null;
  return sentences.some((sentence) => contradicts(sentence, stated)) ? null : stated;
}

/** What sentences decide for themselves in text that does not begin an answer. */
export function laterStatements(text: string): Stated[] {
  return text
    .split(/\n+/)
    .filter((line) => !/^[^.:]{1,60}:/u.test(line))
    .flatMap(sentencesOf)
    .flatMap(committed);
}

/** The one thing that all state; null where they differ, or where there are none. */
export function unanimous(all: readonly Stated[]): Stated | null {
  const [first] = all;
  return first !== undefined && all.every(({ isFor }) => isFor === first.isFor) ? first : null;
}

const TOKEN = /[\p{L}\p{N}'-]*[\p{L}\p{N}]|[.,;:!?/()]|[—–-]/gu;
const MARK = /^[^\p{L}\p{N}]/u;
const END = /^[.!?;]/u;

function tokensOf(plain: string): string[] {
  return plain.match(TOKEN) ?? [];
}

/** A sentence of a later part of an answer. */
interface Sentence {
  readonly words: readonly string[];
  /** Whether it is the first of its line, and that line does not follow a question or a heading. */
  readonly isLine: boolean;
}

function sentencesOf(line: string, index: number, lines: readonly string[]): Sentence[] {
  const isHeaded = /(?:[?:]|^#.*|^\s*\*\*[^*]*\*\*)\s*$/u.test(lines[index - 1] ?? '');
  const isAnswer = index > 0 && !isHeaded && !/^\s*[-*•+] /u.test(line);
  const sentences: string[][] = [[]];
  for (const word of tokensOf(plainText(line.slice(0, MOST_LETTERS)))) {
    sentences.at(-1)?.push(word);
    if (END.test(word)) sentences.push([]);
  }
  return sentences
    .filter((words) => words.length > 0)
    .map((words, place) => ({ words: words.slice(0, MOST_WORDS), isLine: isAnswer && place === 0 }));
}

/** What a sentence states by itself; nothing where it asks, supposes, or speaks of someone else. */
function statedIn({ words }: Pick<Sentence, 'words'>): (Stated & Pick<Reading, 'isCommitted'>) | null {
  if (words.at(-1) === '?' || conditionIn(words) || words.some((word) => known.ELSEWHERE.has(word))) return null;
  for (const from of [0, leadOf(words)]) {
    const reading = new Reading(words.slice(from));
    const isFor = reading.decision();
    if (isFor !== null) return { isFor, isBare: reading.isBare, isCommitted: reading.isCommitted };
  }
  return null;
}

/** Where "While her record is short, I would …" or "Here is what I think: she …" goes on after its lead-in; else 0. */
function leadOf(words: readonly string[]): number {
  const end = words.findIndex((word) => word === ',' || word === ':');
  const lead = words.slice(0, Math.max(0, end));
  const decides = [known.YES_WORDS, known.NO_WORDS, known.FOR, known.AGAINST, known.TURNING];
  const isTold = words[end] === ':' && !lead.includes('i') && !lead.includes('my');
  if (isTold || known.SUPPOSING.has(words[0] ?? '')) return 0;
  if (lead.some((word) => decides.some((list) => list.has(word)))) return 0;
  return /^(?:i|we|my|she|he|they|the|this|do|please)$/u.test(words[end + 1] ?? '') ? end + 1 : 0;
}

/** What a later sentence decides: somebody decides in it, it concludes, or it is a line that answers. */
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

/** "Yes, but not now", "Yes, if she moves", "No, I would hire her": what the rest of the sentence does to its start. */
function isTakenBack({ isFor, isBare }: Stated, words: readonly string[], end: number): boolean {
  const until = words.findIndex((word, place) => place >= end && END.test(word));
  const rest = words.slice(end, until === -1 ? undefined : until);
  const before = words.slice(words.findLastIndex((word, place) => place < end && END.test(word)) + 1, end);
  const isNo = isBare && !isFor;
  if (conditionIn(isNo ? rest.slice(0, 3) : [...before, ...rest])) return true;
  // "I would like to approve, but the debts are too high."
  const wishes = isFor && before.some((word) => /^(?:like|happy|glad|pleased)$/u.test(word));
  if (wishes && words.slice(end).some((word) => /^(?:but|however|unfortunately|sadly|yet)$/u.test(word))) return true;
  if (/^,? ?but (?:not|no|never)\b/u.test(rest.join(' '))) return true;
  const mark = rest.findIndex((word) => MARK.test(word));
  // "Yes: 40, no: 60" are shares.
  if (isBare && /^[:(]? ?\d/u.test(rest.join(' '))) return true;
  const isDirect = isBare && ANSWERING.some((list) => list.has(rest[0] ?? ''));
  if (mark === -1 && !isDirect) return false;
  return contradicts({ words: isDirect ? rest : rest.slice(mark), isLine: false }, { isFor, isBare });
}

/** "If", but not "even if". */
function conditionIn(words: readonly string[]): boolean {
  return words.some((word, place) => {
    if (word === 'if') return !/^(?:even|as)$/u.test(words[place - 1] ?? '');
    if (word === 'only') return /^(?:when|once|after|as|for|with)$/u.test(words[place + 1] ?? '');
    return /^(?:assuming|provided|providing)$/u.test(word);
  });
}

/** More function words of other languages than of English: "No" is then not known to be English. */
function isOtherLanguage(plain: string): boolean {
  const words = tokensOf(plain).slice(0, MOST_WORDS);
  const count = (list: ReadonlySet<string>): number => words.filter((word) => list.has(word)).length;
  const others = count(known.OTHER_LANGUAGES);
  return others > 0 && others >= count(known.ENGLISH);
}

/** In one case, without marks of style, and with contractions written out. */
export function plainText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/[*_#>`"“”]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .replaceAll(/\b(?:can't|cannot)\b/gu, 'can not')
    .replaceAll(/\bwon't\b/gu, 'will not')
    .replaceAll(/\b(\w+)n't\b/gu, '$1 not')
    .replaceAll(/\b(i|we|you|she|he|it|they|that)'(d|ll|m|re|ve|s)\b/gu, (_, who: string, end: string) => {
      return `${who} ${CONTRACTED[end] ?? ''}`;
    })
    .replace(/^[([]?(?:\d{1,2}|[a-z])[.)\]] /u, '')
    .replace(/^(?:please )?accept my (?:\w+ )?apolog(?:y|ies)[,.;:]? ?(?:but )?/u, '')
    .replaceAll(/\bpass on (?=hiring|her|him|them|this|the)/gu, 'reject ')
    .replaceAll(/\bno[- ]one\b/gu, 'nobody')
    .replaceAll(/\bno-hire\b/gu, 'no hire')
    .replaceAll(/\bturn (?:(?:her|him|them|it|this) )?down\b/gu, 'reject')
    .replaceAll(/\bturned down\b/gu, 'rejected')
    .replaceAll(/\b(?:under no circumstances|by no means)\b/gu, 'never')
    .replace(
      /^(?:based on|given|considering|taking|from|to be|all things considered|after|in light of|having|looking at|as an? (?!ai|artificial|large|language)[^ ,.!?]*) [^,.!?]{1,200}, /u,
      '',
    )
    .replaceAll(/\bon the other hand\b/gu, 'however')
    .replace(/^there is (?=no )/u, '')
    .replace(/^(?:i will|let me) (?:keep|make) (?:it|this) (?:brief|short|simple)[:.,] /u, '')
    .replaceAll(/\b(?:highly|strongly|warmly) enough\b/gu, 'enough');
}

const CONTRACTED: Readonly<Record<string, string>> = {
  d: 'would',
  ll: 'will',
  m: 'am',
  re: 'are',
  ve: 'have',
  s: 'is',
};

/** One way through the words of an answer, up to the first that decides. */
class Reading {
  readonly #words: readonly string[];
  #place = 0;
  /** Whether what comes is meant as it is said. */
  #isStraight = true;
  /** Whether a sentence begins here. */
  #isStart = true;
  #subject: 'decider' | 'decided_on' | 'asked_for' | null = null;
  #hasAuxiliary = false;
  #isBare = false;
  #hasDecider = false;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  decision(): boolean | null {
    for (; this.#place < this.#words.length; this.#place += 1) {
      const read = this.#read(this.#at(0));
      if (read !== undefined) return read;
    }
    return this.#words.length === MOST_WORDS ? null : this.#ended();
  }

  /** Whether what is decided is in the question. */
  get isBare(): boolean {
    return this.#isBare;
  }

  /** Whether somebody decides, or a person or a request is decided on. */
  get isCommitted(): boolean {
    return this.#hasDecider || (this.#subject !== null && this.#hasAuxiliary);
  }

  /** Where the words after the decision begin. */
  get end(): number {
    return Math.min(this.#place + 1, this.#words.length);
  }

  #at(offset: number): string {
    return this.#words[this.#place + offset] ?? '';
  }

  /** A decision, null for what cannot be understood, undefined where the next word is to be read. */
  #read(word: string): boolean | null | undefined {
    if (MARK.test(word)) return this.#readMark(word);
    if (known.NO_WORDS.has(word)) return this.#readNo();
    if (known.YES_WORDS.has(word)) return this.#isBoth() ? null : this.#bare(this.#isStraight);
    const start = this.#isStart;
    if (start && (word === 'true' || word === 'false'))
      return /^(?:[.!;]|)$/u.test(this.#at(1)) ? this.#bare(word === 'true') : null;
    if (start && known.UNDECIDED.has(word)) return null;
    if (known.TURNING.has(word)) {
      this.#turn();
      return;
    }
    if (known.FOR.has(word)) return this.#readDeed(word, true);
    if (known.AGAINST.has(word)) return this.#readDeed(word, false);
    if (known.DECIDED_FOR.has(word)) return this.#readDecided(true);
    if (known.DECIDED_AGAINST.has(word)) return this.#readDecided(false);
    return this.#readFiller(word);
  }

  /** A comma or colon goes on with the sentence; at its end a mere "not" or "she should" is an answer. */
  #readMark(mark: string): boolean | null | undefined {
    const ended = this.#ended();
    if (ended !== null) return ended;
    if (END.test(mark)) this.#isStraight = true;
    this.#isStart = true;
    this.#subject = null;
    this.#hasAuxiliary = false;
    return undefined;
  }

  /** "Certainly not", "I think so", "She should": an answer whose deed is in the question. */
  #ended(): boolean | null {
    const last = this.#at(-1);
    const isAnswer =
      /^(?:not|never|against)$/u.test(last) ||
      (last === 'so' && known.BELIEFS.has(this.#at(-2))) ||
      (known.AUXILIARIES.has(last) && this.#subject !== null);
    return isAnswer ? this.#bare(this.#isStraight) : null;
  }

  #bare(isFor: boolean): boolean {
    this.#isBare = true;
    return isFor;
  }

  #readNo(): boolean | null | undefined {
    const next = this.#at(1);
    if (this.#isBoth()) return null;
    if (known.DOUBTS.has(next)) {
      this.#place += 1;
      return undefined;
    }
    if (known.REASONS.has(next)) {
      this.#place += 1;
      this.#turn();
      return;
    }
    const isAnswer =
      next === '' ||
      MARK.test(next) ||
      [known.NO_WORDS, known.THINGS_ASKED_FOR, known.DECIDERS, known.DECIDED_ON, known.AUXILIARIES].some((list) =>
        list.has(next),
      ) ||
      /^(?:from|for|on|because|since|not|the|as|to)$/u.test(next);
    if (!isAnswer) return null;
    // "No hire": the thing is part of the decision.
    if (known.THINGS_ASKED_FOR.has(next)) {
      this.#place += 1;
      return !this.#isStraight;
    }
    return this.#bare(!this.#isStraight);
  }

  /** "Yes and no", "no or yes", "yes/no" */
  #isBoth(): boolean {
    const opposite = known.YES_WORDS.has(this.#at(0)) ? known.NO_WORDS : known.YES_WORDS;
    const from = this.#at(1) === ',' ? 2 : 1;
    if (!/^(?:and|or|\/)$/u.test(this.#at(from)) || !opposite.has(this.#at(from + 1))) return false;
    return !known.DOUBTS.has(this.#at(from + 2));
  }

  #turn(): undefined {
    this.#isStraight = !this.#isStraight;
    this.#isStart = false;
    return undefined;
  }

  #readDeed(word: string, isFor: boolean): boolean | null | undefined {
    const next = this.#at(1);
    if (this.#subject === 'decided_on' && !this.#hasAuxiliary) return null;
    if (word.endsWith('ing') && (this.#place === 0 || MARK.test(this.#at(-1)))) return null;
    // "I refuse to hire" decides; "I decline to answer" does not.
    if (!isFor && next === 'to') {
      this.#turn();
      return;
    }
    if (isFor && /^(?:agree|accept)$/u.test(word) && /^(?:to|that|my)$/u.test(next)) return null;
    if (this.#isEither(isFor)) return null;
    // "I would hire a senior" speaks of someone else.
    if (isFor && known.OF_PERSONS.has(word) && known.ANYBODY.has(next)) return null;
    if (word.startsWith('recommend')) return this.#readRecommended();
    return isFor === this.#isStraight;
  }

  /** "Approve or deny" */
  #isEither(isFor: boolean): boolean {
    const opposite = isFor ? [known.AGAINST, known.DECIDED_AGAINST] : [known.FOR, known.DECIDED_FOR];
    return /^(?:or|and|\/)$/u.test(this.#at(1)) && opposite.some((list) => list.has(this.#at(2)));
  }

  /** What is recommended may be to reject, or to decide nothing. */
  #readRecommended(): boolean | null {
    const rest = this.#words.slice(this.#place + 1);
    const end = rest.findIndex((word) => /^[.!?;,:]/u.test(word));
    const clause = end === -1 ? rest : rest.slice(0, end);
    if (/^(?:whether|if|either|anyone|someone|for|a|an)$/u.test(clause[0] ?? '')) return null;
    // More praise than words can hold.
    if (!this.#isStraight && clause.includes('enough')) return true;
    const [what = ''] = clause;
    if (what.endsWith('ing') && !known.FOR.has(what) && !known.AGAINST.has(what)) return null;
    return isTurned(clause.slice(0, 8)) !== this.#isStraight;
  }

  #readDecided(isFor: boolean): boolean | null | undefined {
    if (this.#isEither(isFor)) return null;
    if (known.DECISIONS.has(this.#at(0)) && this.#isStart && this.#isSubject()) {
      if (!isFor) this.#turn();
      this.#subject = 'asked_for';
      this.#isStart = false;
      return;
    }
    // "She hired ten people" tells of her, and decides nothing of her.
    if (this.#subject === 'decided_on' && !this.#hasAuxiliary) return null;
    if (this.#subject !== null || !this.#isStart) return isFor === this.#isStraight;
    const next = this.#at(1);
    return next !== ',' && (next === '' || MARK.test(next) || known.AFTER_DECIDED.has(next))
      ? isFor === this.#isStraight
      : null;
  }

  /** "Approval is denied", "Rejection is recommended" */
  #isSubject(): boolean {
    const next = this.#at(1);
    return (
      [known.AUXILIARIES, known.DECIDED_FOR, known.DECIDED_AGAINST].some((list) => list.has(next)) || next === 'not'
    );
  }

  #readFiller(word: string): null | undefined {
    const isStart = this.#isStart;
    this.#isStart = false;
    if (known.DECIDERS.has(word)) {
      this.#subject = 'decider';
      this.#hasDecider = true;
    } else if (known.ASKED_FOR.has(word)) this.#subject = 'asked_for';
    else if (known.DECIDED_ON.has(word)) this.#subject ??= 'decided_on';
    else if (known.AUXILIARIES.has(word)) this.#hasAuxiliary = true;
    else if (known.PAST_FORMS.has(word)) return this.#readPast(word);
    else if (known.BELIEFS.has(word)) this.#subject = null;
    else if (known.FILLERS.has(word)) this.#isStart = isStart;
    else return isStart ? this.#readName() : null;
    return undefined;
  }

  /** "She was hired" and "I was inclined to approve" are stories, "I would have hired her" is past; "I have to" is not. */
  #readPast(word: string): null | undefined {
    const isOver = this.#hasAuxiliary && word === 'have' && this.#at(1) !== 'to';
    const isStory = this.#subject === 'decider' && /^(?:was|were|had)$/u.test(word);
    return isOver || isStory || this.#subject === 'decided_on' ? null : undefined;
  }

  /** "Emily Walsh should be": up to three words that are known to be a subject by what follows them. */
  #readName(): null | undefined {
    const auxiliary = [1, 2, 3].find((offset) => known.AUXILIARIES.has(this.#at(offset)));
    if (auxiliary === undefined) return null;
    if (this.#words.slice(this.#place, this.#place + auxiliary).some((word) => MARK.test(word))) return null;
    this.#place += auxiliary;
    this.#subject = 'decided_on';
    this.#hasAuxiliary = true;
    return undefined;
  }
}

/** Whether what is recommended is to reject: an odd number of negations and of deeds against. */
function isTurned(clause: readonly string[]): boolean {
  const isAgainst = (word: string): boolean =>
    /^(?:not|never|against)$/u.test(word) || known.AGAINST.has(word) || known.DECIDED_AGAINST.has(word);
  return clause.filter(isAgainst).length % 2 === 1;
}
