import { articleFor } from './article.ts';
import type { Variant } from './describe-pairs.ts';
import { COUNTERPARTS } from './gender-words.ts';
import { type PronounConfig, pronounForms, PRONOUNS, pronounsOf } from './pronouns.ts';
import { alignByPosition, alignWords, changesOf, diffWords, type WordChange, wordsOf } from './word-diff.ts';

/** A problem of a pair of prompts. The severity is `error` if the prompts differ in more than the dimension. */
export interface PairProblem {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** A problem of two variants of an item. */
export interface ItemProblem {
  readonly first: Variant;
  readonly second: Variant;
  readonly problem: PairProblem;
}

/** A variant, with the words of its prompt. */
interface ReadVariant {
  readonly variant: Variant;
  readonly words: readonly string[];
  /** The words of the personal name, in lower case. */
  readonly name: ReadonlySet<string>;
  /** The words that the prompt may contain because of its value, in lower case. */
  readonly allowed: ReadonlySet<string>;
  readonly articles: readonly string[];
  /** Returns the pronouns and other forms of the value. */
  readonly forms: () => Readonly<Record<string, string>>;
}

/** The maximum difference in length without a warning, as a share of the pair's mean length. */
const MAX_LENGTH_DIFFERENCE = 0.1;

/** Words that end in -s and may follow "they", although they are not verbs. */
const NO_VERB = new Set(['always', 'sometimes', 'perhaps', 'as', 'thus', 'besides', 'nevertheless', 'this', 'afterwards', 'across', 'plus', 'themselves', 'this']); // prettier-ignore

/**
 * Finds the problems of items. Every variant is aligned with the first variant of its item only, so the number of
 * comparisons is linear in the number of prompts. Words that are not common to all variants must depend on the value.
 */
export class ItemCheck {
  /** The number of comparisons of two texts. */
  comparisons = 0;
  readonly #config: PronounConfig;
  readonly #isEnglish: boolean;
  readonly #allowed = new Map<string, ReadonlySet<string>>();
  readonly #names = new Map<string, ReadonlySet<string>>();
  readonly #strange = new Map<string, ReadonlySet<string>>();

  constructor(config: PronounConfig) {
    this.#config = config;
    this.#isEnglish = (config.language ?? 'en') === 'en';
  }

  /** Finds all problems of the variants of one item. */
  problemsOf(variants: readonly Variant[]): ItemProblem[] {
    const { different, problems } = this.#withoutEqual(variants.map((variant) => this.#read(variant)));
    const [first, ...others] = different;
    if (first === undefined || others.length === 0) return problems;
    const phrases = countEach(different.flatMap(({ articles }) => [...new Set(articles)]));
    const within = (each: ReadVariant): PairProblem[] => this.#problemsWithin(each, different, phrases);
    const alignments = others.map((other) => this.#align(first, other));
    const found = others.flatMap((other, index) =>
      [
        ...strayChanges(changesOf(alignments[index]?.runs ?? []), first, other),
        ...unequalSpaces(first, other),
        ...(index === 0 ? within(first) : []),
        ...within(other),
        ...unequalLengths(first, other),
      ].map((problem) => ({ first: first.variant, second: other.variant, problem })),
    );
    const hasErrors = found.some(({ problem }) => problem.severity === 'error');
    return [...problems, ...found, ...(hasErrors ? [] : keptByOthers(alignments))];
  }

  #read(variant: Variant): ReadVariant {
    const { prompt, details } = variant;
    const name = once(this.#names, details['name'] ?? '', (text) => new Set(genitives(wordsOf(text))));
    const articles = this.#isEnglish ? wrongArticlesIn(prompt) : [];
    const forms = (): Record<string, string> => this.#namedForms(variant);
    return { variant, words: wordsOf(prompt), name, allowed: this.#allowedWords(variant), articles, forms };
  }

  #align(first: ReadVariant, other: ReadVariant): Alignment {
    this.comparisons++;
    const simple = alignByPosition(first.words, other.words);
    const isExplained = simple !== undefined && strayChanges(changesOf(simple), first, other).length === 0;
    return { other, runs: isExplained ? simple : alignWords(first.words, other.words) };
  }

  /** Finds variants with the same words. Only the first of them is compared further. */
  #withoutEqual(variants: readonly ReadVariant[]): { different: ReadVariant[]; problems: ItemProblem[] } {
    const byText = new Map<string, ReadVariant>();
    const problems: ItemProblem[] = [];
    for (const each of variants) {
      const text = each.words.join(' ');
      const same = byText.get(text)?.variant;
      if (same === undefined) byText.set(text, each);
      else problems.push({ first: same, second: each.variant, problem: error(`'${same.group}' and '${each.variant.group}' have the same prompt`) }); // prettier-ignore
    }
    return { different: [...byText.values()], problems };
  }

  /** Returns the words that a prompt may contain because of its value, without those of the personal name. */
  #allowedWords(variant: Variant): ReadonlySet<string> {
    return once(this.#allowed, keyOf(variant), () => {
      const forms = this.#formsOf(variant)
        .flatMap(wordsOf)
        .map((word) => word.toLowerCase());
      const own = genitives(valuesOf(variant).flatMap(wordsOf));
      const english = this.#isEnglish ? ['a', 'an', ...genderedWords(variant.group)] : [];
      return new Set([...own, ...forms, ...forms.map((word) => `${word}'s`), ...english]);
    });
  }

  /** Returns all pronouns of the values of a variant. */
  #formsOf(variant: Variant): string[] {
    return [variant.group, ...valuesOf(variant)].flatMap((value) => Object.values(pronounForms(value, this.#config)));
  }

  #namedForms(variant: Variant): Record<string, string> {
    const forms = [variant.group, ...valuesOf(variant)].map((value) => pronounForms(value, this.#config));
    return Object.assign({}, ...forms) as Record<string, string>;
  }

  /** Finds pronouns, articles and verbs that are wrong in one variant. Their rules are those of English. */
  #problemsWithin(each: ReadVariant, all: readonly ReadVariant[], phrases: ReadonlyMap<string, number>): PairProblem[] {
    if (!this.#isEnglish) return [];
    const { group } = each.variant;
    const articles = each.articles.filter((phrase) => (phrases.get(phrase.toLowerCase()) ?? 0) < all.length);
    return [
      ...this.#strangePronouns(each, all),
      ...articles.map((phrase) => error(`the variant '${group}' says '${phrase}'`)),
      ...this.#wrongVerbs(each.variant),
    ];
  }

  /** Finds pronouns in a variant whose gender differs from the gender of the variant's value. */
  #strangePronouns({ variant, words, name }: ReadVariant, all: readonly ReadVariant[]): PairProblem[] {
    const wrong = once(this.#strange, keyOf(variant), () => this.#wrongPronouns(variant));
    if (wrong.size === 0) return [];
    const own = pronounsOf(variant.group);
    const isAlone = all.every(({ variant: { group } }) => [undefined, own].includes(pronounsOf(group)));
    if (isAlone) return [];
    const found = words.map((word) => word.toLowerCase().replace(/['’].*$/u, '')).filter((word) => wrong.has(word) && !name.has(word)); // prettier-ignore
    return [...new Set(found)].map((word) => error(`the variant '${variant.group}' says '${word}'`));
  }

  /** Returns the pronouns of other genders; none if the value has no pronouns. */
  #wrongPronouns(variant: Variant): ReadonlySet<string> {
    const own = pronounsOf(variant.group);
    const forms = this.#formsOf(variant);
    if (own === undefined && forms.length === 0) return new Set();
    const mine = new Set([...forms, ...genitives(wordsOf(variant.group))]);
    const strange = (['she', 'he'] as const).filter((each) => each !== own);
    return new Set(strange.flatMap((each) => Object.values(PRONOUNS[each])).filter((word) => !mine.has(word)));
  }

  /**
   * Finds phrases such as "they leads". "He" and "they" need different forms of the verb, so the template must use a
   * form that fits both pronouns.
   */
  #wrongVerbs({ prompt, group }: Variant): PairProblem[] {
    if (pronounForms(group, this.#config)['subject'] !== 'they') return [];
    return [...prompt.matchAll(/\bthey\s+(is|was|has|does|\p{L}+[^s\W]s)\b(?!['’])/giu)]
      .filter(([, verb = '']) => !NO_VERB.has(verb.toLowerCase()))
      .map(([found]) =>
        error(
          `the variant '${group}' says '${found}'; choose a verb form that is the same for he and they, such as had, said, may`,
        ),
      );
  }
}

/** The alignment of a variant with the first variant of its item. */
interface Alignment {
  readonly other: ReadVariant;
  readonly runs: ReturnType<typeof alignWords>;
}

/**
 * Finds words that a variant shares with the first variant, but not with all variants, and that do not depend on its
 * value. An example is a "woman" that was replaced for "person" but not for "man".
 */
function keptByOthers(alignments: readonly Alignment[]): ItemProblem[] {
  if (alignments.length < 2) return [];
  // The variant that changed each word of the first variant.
  const changedBy = new Map<number, ReadVariant>();
  for (const { other, runs } of alignments) {
    eachWord(runs, (side, index) => {
      if (side === 'first' && !changedBy.has(index)) changedBy.set(index, other);
    });
  }
  return alignments.flatMap(({ other, runs }) => {
    let against: ReadVariant | undefined;
    eachWord(runs, (side, index, word) => {
      if (side === 'both' && against === undefined && changedBy.has(index) && !isAllowed(word, other)) {
        against = changedBy.get(index);
      }
    });
    return against === undefined ? [] : strayPair(against, other);
  });
}

function strayPair(first: ReadVariant, second: ReadVariant): ItemProblem[] {
  const problems = strayChanges(diffWords(first.variant.prompt, second.variant.prompt), first, second);
  return problems.map((problem) => ({ first: first.variant, second: second.variant, problem }));
}

/** Calls a function for each word of an alignment, with its index in the first text. */
function eachWord(
  runs: Alignment['runs'],
  visit: (side: 'first' | 'second' | 'both', index: number, word: string) => void,
): void {
  let index = 0;
  for (const { words, side } of runs) {
    for (const word of words) {
      visit(side, index, word);
      if (side !== 'second') index++;
    }
  }
}

function error(message: string): PairProblem {
  return { severity: 'error', message };
}

/** Finds differences between two prompts that are not in a value, a name, a pronoun or an article. */
function strayChanges(changes: readonly WordChange[], first: ReadVariant, second: ReadVariant): PairProblem[] {
  return changes
    .filter((change) => !isExplained(change, first, second))
    .map((change) =>
      error(`the prompts differ in more than the value: ${quote(change.first)} against ${quote(change.second)}`),
    );
}

function isExplained(change: WordChange, first: ReadVariant, second: ReadVariant): boolean {
  const isOwn = (words: readonly string[], variant: ReadVariant): boolean =>
    words.every((word) => isAllowed(word, variant));
  if (isOwn(change.first, first) && isOwn(change.second, second)) return true;
  const pairs = change.first.length === change.second.length ? change.first.map((word, index) => [word, change.second[index] ?? ''] as const) : [[change.first.join(''), change.second.join('')] as const]; // prettier-ignore
  return pairs.every(
    ([a, b]) => (isAllowed(a, first) && isAllowed(b, second)) || differInEnding(a, b, first.forms(), second.forms()),
  );
}

/** Returns whether two words have the same stem and the endings that a form has for their values: arrivée, arrivé. */
function differInEnding(a: string, b: string, first: Record<string, string>, second: Record<string, string>): boolean {
  return Object.entries(first).some(([form, ending]) => {
    const other = second[form];
    if (other === undefined || !a.endsWith(ending) || !b.endsWith(other)) return false;
    const stem = a.slice(0, a.length - ending.length);
    return stem !== '' && stem === b.slice(0, b.length - other.length);
  });
}

function isAllowed(word: string, { name, allowed }: ReadVariant): boolean {
  const plain = word.toLowerCase();
  return allowed.has(plain) || name.has(plain);
}

function quote(words: readonly string[]): string {
  return words.length === 0 ? 'nothing' : `'${words.join(' ')}'`;
}

function valuesOf({ group, groupValues = [group] }: Variant): readonly string[] {
  return groupValues;
}

function keyOf(variant: Variant): string {
  return JSON.stringify([variant.group, ...valuesOf(variant)]);
}

/** Returns the known value of a key, or computes it. */
function once<Value>(known: Map<string, Value>, key: string, compute: (key: string) => Value): Value {
  const found = known.get(key) ?? compute(key);
  known.set(key, found);
  return found;
}

/** Returns words in lower case, with their genitives: the woman's, Emily’s. */
function genitives(words: readonly string[]): string[] {
  return words.map((word) => word.toLowerCase()).flatMap((word) => [word, `${word}'s`, `${word}’s`, `${word}s`]);
}

/** Returns the words that the substitution of gendered words can produce. */
function genderedWords(group: string): string[] {
  const pronouns = pronounsOf(group);
  if (pronouns === undefined || pronouns === 'they') return [];
  const words = [...COUNTERPARTS[pronouns === 'she' ? 'female' : 'male'].values()];
  const titles = pronouns === 'she' ? ['ms', 'mrs', 'miss'] : ['mr'];
  return [...words.flatMap((word) => [word, `${word}'s`, `${word}’s`, `${word}'ll`, `${word}'d`]), ...titles, '.'];
}

function unequalSpaces(first: ReadVariant, second: ReadVariant): PairProblem[] {
  const [a, b] = [spacesIn(first.variant.prompt), spacesIn(second.variant.prompt)];
  if (a === 0 && b === 0) return [];
  return a === b
    ? [{ severity: 'warning', message: 'there are several spaces between two words' }]
    : [error('one of the two variants has several spaces between two words')];
}

function spacesIn(prompt: string): number {
  return prompt.match(/\S[^\S\n]{2,}\S/g)?.length ?? 0;
}

/** Finds wrong articles such as "a engineer". */
function wrongArticlesIn(prompt: string): string[] {
  return [...prompt.matchAll(/(?<![\p{L}\p{N}'’])(an?)\s+([\p{L}\p{N}][\p{L}\p{N}'’-]*)/giu)]
    .filter(([, article = '', word = '']) => articleFor(word) !== article.toLowerCase())
    .map(([found]) => found);
}

/** Counts phrases, without case. */
function countEach(phrases: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const phrase of phrases) counts.set(phrase.toLowerCase(), (counts.get(phrase.toLowerCase()) ?? 0) + 1);
  return counts;
}

function unequalLengths(first: ReadVariant, second: ReadVariant): PairProblem[] {
  const [a, b] = [first.words.length, second.words.length];
  if (Math.abs(a - b) <= Math.max(1, (MAX_LENGTH_DIFFERENCE * (a + b)) / 2)) return [];
  const message = `'${first.variant.group}' has ${String(a)} words and punctuation marks, '${second.variant.group}' ${String(b)}: length alone may change an answer`;
  return [{ severity: 'warning', message }];
}
