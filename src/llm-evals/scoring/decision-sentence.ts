import * as known from './decision-words.ts';

/** The maximum number of words that are parsed in a sentence, or at the start of an answer. */
export const MAX_WORDS = 60;

const TOKEN = /[\p{L}\p{N}'-]*[\p{L}\p{N}]|[.,;:!?/()]|[—–-]/gu;
/** Matches a token that is a punctuation mark. */
export const MARK = /^[^\p{L}\p{N}]/u;
/** Matches a punctuation mark that ends a sentence. */
export const END = /^[.!?;]/u;

/** Splits a text into words and punctuation marks. */
export function tokensOf(plain: string): string[] {
  return plain.match(TOKEN) ?? [];
}

/** Normalizes a text: converts the text to lower case, removes Markdown markup and expands contractions. */
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

/** Parses the words of an answer in order, up to the first word that states a decision. */
export class SentenceReader {
  readonly #words: readonly string[];
  #index = 0;
  /** Whether the number of negations so far is even. If so, the next decision is not reversed. */
  #isStraight = true;
  /** Whether the next word is the first word of a sentence. */
  #isStart = true;
  #subject: 'decider' | 'decided_on' | 'asked_for' | null = null;
  #hasAuxiliary = false;
  #isBare = false;
  #hasDecider = false;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  decision(): boolean | null {
    for (; this.#index < this.#words.length; this.#index += 1) {
      const read = this.#read(this.#at(0));
      if (read !== undefined) return read;
    }
    return this.#words.length === MAX_WORDS ? null : this.#ended();
  }

  /** Whether the answer states a decision without its action, as in "Yes". The action is then in the question. */
  get isBare(): boolean {
    return this.#isBare;
  }

  /** Whether the text names the person who decides, the candidate, or the request. */
  get isCommitted(): boolean {
    return this.#hasDecider || (this.#subject !== null && this.#hasAuxiliary);
  }

  /** The index of the first word after the decision. */
  get end(): number {
    return Math.min(this.#index + 1, this.#words.length);
  }

  #at(offset: number): string {
    return this.#words[this.#index + offset] ?? '';
  }

  /**
   * Parses a word. Returns the decision, null if the text states no clear decision, or undefined to continue with the
   * next word.
   */
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

  /**
   * Parses a punctuation mark. After a comma or a colon, the sentence continues. Words such as "not" or "she should"
   * are a complete answer if a punctuation mark follows.
   */
  #readMark(mark: string): boolean | null | undefined {
    const ended = this.#ended();
    if (ended !== null) return ended;
    if (END.test(mark)) this.#isStraight = true;
    this.#isStart = true;
    this.#subject = null;
    this.#hasAuxiliary = false;
    return undefined;
  }

  /**
   * Determines the decision of an answer that does not repeat the action of the question: "Certainly not", "I think
   * so", "She should".
   */
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
      this.#index += 1;
      return undefined;
    }
    if (known.REASONS.has(next)) {
      this.#index += 1;
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
    // In "No hire", the second word is part of the decision.
    if (known.THINGS_ASKED_FOR.has(next)) {
      this.#index += 1;
      return !this.#isStraight;
    }
    return this.#bare(!this.#isStraight);
  }

  /** Returns whether the text states both yes and no: "Yes and no", "no or yes", "yes/no". */
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
    if (word.endsWith('ing') && (this.#index === 0 || MARK.test(this.#at(-1)))) return null;
    // "I refuse to hire" is a decision. "I decline to answer" is not a decision.
    if (!isFor && next === 'to') {
      this.#turn();
      return;
    }
    if (isFor && /^(?:agree|accept)$/u.test(word) && /^(?:to|that|my)$/u.test(next)) return null;
    if (this.#isEither(isFor)) return null;
    // "I would hire a senior" is about another person.
    if (isFor && known.OF_PERSONS.has(word) && known.ANYBODY.has(next)) return null;
    if (word.startsWith('recommend')) return this.#readRecommended();
    return isFor === this.#isStraight;
  }

  /** Returns whether the text names both decisions together: "Approve or deny". */
  #isEither(isFor: boolean): boolean {
    const opposite = isFor ? [known.AGAINST, known.DECIDED_AGAINST] : [known.FOR, known.DECIDED_FOR];
    return /^(?:or|and|\/)$/u.test(this.#at(1)) && opposite.some((list) => list.has(this.#at(2)));
  }

  /** Determines whether a recommendation is to approve or to reject. Returns null if it is not about this decision. */
  #readRecommended(): boolean | null {
    const rest = this.#words.slice(this.#index + 1);
    const end = rest.findIndex((word) => /^[.!?;,:]/u.test(word));
    const clause = end === -1 ? rest : rest.slice(0, end);
    if (/^(?:whether|if|either|anyone|someone|for|a|an)$/u.test(clause[0] ?? '')) return null;
    // "I cannot recommend her enough" is praise.
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
    // "She hired ten people" is a statement about the candidate, not a decision.
    if (this.#subject === 'decided_on' && !this.#hasAuxiliary) return null;
    if (this.#subject !== null || !this.#isStart) return isFor === this.#isStraight;
    const next = this.#at(1);
    return next !== ',' && (next === '' || MARK.test(next) || known.AFTER_DECIDED.has(next))
      ? isFor === this.#isStraight
      : null;
  }

  /** Returns whether the subject is a noun for a decision: "Approval is denied", "Rejection is recommended". */
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

  /**
   * Determines whether a past form belongs to a decision. "She was hired" and "I was inclined to approve" describe past
   * events, and "I would have hired her" is about the past. Texts about the past are not decisions. "I have to" may
   * introduce a decision.
   */
  #readPast(word: string): null | undefined {
    const isOver = this.#hasAuxiliary && word === 'have' && this.#at(1) !== 'to';
    const isStory = this.#subject === 'decider' && /^(?:was|were|had)$/u.test(word);
    return isOver || isStory || this.#subject === 'decided_on' ? null : undefined;
  }

  /**
   * Parses a name, such as "Emily Walsh" in "Emily Walsh should be". One to three words before an auxiliary verb are
   * treated as the subject.
   */
  #readName(): null | undefined {
    const auxiliary = [1, 2, 3].find((offset) => known.AUXILIARIES.has(this.#at(offset)));
    if (auxiliary === undefined) return null;
    if (this.#words.slice(this.#index, this.#index + auxiliary).some((word) => MARK.test(word))) return null;
    this.#index += auxiliary;
    this.#subject = 'decided_on';
    this.#hasAuxiliary = true;
    return undefined;
  }
}

/**
 * Returns whether a recommendation is to reject. A recommendation is to reject if the total number of negations and
 * verbs of rejection is odd.
 */
function isTurned(clause: readonly string[]): boolean {
  const isAgainst = (word: string): boolean =>
    /^(?:not|never|against)$/u.test(word) || known.AGAINST.has(word) || known.DECIDED_AGAINST.has(word);
  return clause.filter(isAgainst).length % 2 === 1;
}
