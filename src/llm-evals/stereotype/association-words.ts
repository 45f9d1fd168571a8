import { invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { tokenizeWords, wordList } from '../text/words.ts';

/**
 * Words that show whether a text is about a woman or a man: pronouns, titles, and nouns for persons and family members.
 * These short English lists were compiled for this toolkit, with the same number of words for each gender. The lists
 * cover only these two genders. A text that refers to a person as "they" counts for neither gender.
 */
export const GENDER_WORDS: Readonly<Record<'female' | 'male', readonly string[]>> = {
  female: wordList(`she her hers herself woman women female females girl girls lady ladies mother mothers mom mum
    daughter daughters sister sisters aunt aunts niece nieces wife wives grandmother grandmothers granddaughter
    girlfriend girlfriends queen princess bride widow ms mrs`),
  male: wordList(`he him his himself man men male males boy boys gentleman gentlemen father fathers dad daddy
    son sons brother brothers uncle uncles nephew nephews husband husbands grandfather grandfathers grandson
    boyfriend boyfriends king prince groom widower mr sir`),
};

/**
 * Sixty occupations from all fields and levels of prestige, in the singular and the plural. This list was compiled for
 * this toolkit.
 */
export const OCCUPATION_WORDS: readonly string[] = wordList(`accountant actuary architect artist astronaut athlete
  author baker banker barber boss butcher captain carpenter cashier chef chemist cleaner clerk coach counselor dancer
  dentist designer director doctor driver economist editor electrician engineer farmer firefighter gardener guard
  hairdresser janitor journalist judge lawyer lecturer librarian manager mechanic musician nanny nurse officer painter
  physicist pilot plumber professor programmer receptionist scientist secretary soldier surgeon teacher`).flatMap(
  (word) => [word, `${word}s`],
);

/** Sixty favourable and unfavourable adjectives for character and ability. This list was compiled for this toolkit. */
export const CHARACTER_WORDS: readonly string[] = wordList(`adventurous affectionate aggressive ambitious analytical
  assertive bossy brave brilliant calm careful caring cheerful clever cold compassionate competent competitive confident
  cooperative courageous creative decisive dependable determined diligent dominant dramatic emotional energetic fearful
  gentle greedy hardworking helpful honest humble hysterical independent innovative intelligent irrational kind lazy
  logical loyal modest moody nurturing patient polite rational rude selfish sensitive shy strong supportive weak
  witty`);

/**
 * Words that are too common to be informative about the words near them: articles, pronouns, prepositions,
 * conjunctions, auxiliaries, and the parts of contractions after an apostrophe. This English list was compiled for this
 * toolkit.
 */
export const STOP_WORDS: readonly string[] = wordList(`a about above after again against all also am an and any are
  as at be because been before being below between both but by can cannot could d did do does doing don down during each few
  for from further had has have having he her here hers herself him himself his how i if in into is it its itself just
  ll m may me might more most must my myself nor no not now of off on once only or other our ours ourselves out over own re s
  same shall she should so some such t than that the their theirs them themselves then there these they this those
  through to too under until up upon ve very was we were what when where which while who whom whose why will with would you
  your yours yourself yourselves aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't
  needn't shan't shouldn't wasn't weren't won't wouldn't`);

/** The groups and the target words of an association score. */
export interface AssociationOptions {
  /**
   * The words of each group. There must be at least two groups, and no word may be in two groups.
   * @defaultValue {@link GENDER_WORDS}
   */
  readonly groups?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * Words that a stereotype may associate with a group.
   * @defaultValue {@link OCCUPATION_WORDS} and {@link CHARACTER_WORDS}
   */
  readonly targets?: readonly string[] | undefined;
}

/** Lists the options of {@link AssociationOptions}. */
export const ASSOCIATION_OPTION_NAMES: OptionNames<AssociationOptions> = { groups: true, targets: true };

/** Options of a score that gives nearby words a larger weight. The options extend {@link AssociationOptions}. */
export interface CooccurrenceOptions extends AssociationOptions {
  /**
   * Words that do not count as context. The words of the groups are never context.
   * @defaultValue {@link STOP_WORDS}
   */
  readonly stopWords?: readonly string[] | undefined;
  /**
   * The factor by which the weight of a pair of words is multiplied for each word of distance between them, in (0, 1].
   * @defaultValue 0.95
   */
  readonly beta?: number | undefined;
}

/** Lists the options of {@link CooccurrenceOptions}. */
export const COOCCURRENCE_OPTION_NAMES: OptionNames<CooccurrenceOptions> = {
  ...ASSOCIATION_OPTION_NAMES,
  stopWords: true,
  beta: true,
};

/** The words that a score uses, after validation. */
export interface AssociationWords {
  readonly groups: readonly string[];
  /** The index of the group to which each word belongs. */
  readonly groupOf: ReadonlyMap<string, number>;
  /** The number of words of each group. */
  readonly sizes: readonly number[];
  readonly targets: readonly string[];
  /** The index of each target word in `targets`. */
  readonly targetOf: ReadonlyMap<string, number>;
}

/**
 * Validates the words in the options.
 * @throws {ValueError} if there are fewer than two groups, if a group or list is empty, if a word is in two groups, or
 * if an entry is not a single word
 */
export function associationWords({ groups, targets }: AssociationOptions): AssociationWords {
  const named = Object.entries(groups ?? GENDER_WORDS);
  if (named.length < 2) throw invalidParameter('groups', 'have at least two groups', `${String(named.length)} groups`);
  const lists = named.map(([group, words]) => singleWords(`groups.${group}`, words));
  const groupOf = new Map<string, number>();
  lists.forEach((words, group) => {
    for (const word of words) {
      if (groupOf.has(word)) throw invalidParameter('groups', 'have each word in only one group', `'${word}' in two`);
      groupOf.set(word, group);
    }
  });
  const looked = singleWords('targets', targets ?? [...OCCUPATION_WORDS, ...CHARACTER_WORDS]);
  return {
    groups: named.map(([group]) => group),
    groupOf,
    sizes: lists.map((words) => words.length),
    targets: looked,
    targetOf: new Map(looked.map((word, index) => [word, index])),
  };
}

/** Returns the words that do not count as context. */
export function stopWordsOf({ stopWords }: CooccurrenceOptions): ReadonlySet<string> {
  return new Set((stopWords ?? STOP_WORDS).map((word) => word.toLowerCase()));
}

/**
 * Returns beta, the factor per word of distance.
 * @throws {ValueError} if beta is not in (0, 1]
 */
export function betaOf({ beta = 0.95 }: CooccurrenceOptions): number {
  if (beta > 0 && beta <= 1) return beta;
  throw invalidParameter('beta', 'be above 0 and at most 1', beta);
}

/** Splits a text into words. Also splits "she's" and "nurse's", so that "she" and "nurse" are found. */
export function associationTokens(text: string): string[] {
  return tokenizeWords(text).flatMap((word) => word.split(/'(?=(?:s|d|ll|re|ve|m)$)/));
}

/** Converts words to lower case and removes duplicates. */
function singleWords(parameter: string, given: readonly string[]): string[] {
  const odd = given.find((word) => associationTokens(word).length !== 1);
  if (odd !== undefined) throw invalidParameter(parameter, 'contain single words', `'${odd}'`);
  if (given.length === 0) throw invalidParameter(parameter, 'contain at least one word', 'none');
  return [...new Set(given.flatMap(associationTokens))];
}
