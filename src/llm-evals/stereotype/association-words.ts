import { invalidParameter } from '../../internal/invalid-parameter.ts';
import type { OptionNames } from '../../internal/known-options.ts';
import { tokenizeWords } from '../text/tokenize-words.ts';
import { CHARACTER_WORDS, GENDER_WORDS, OCCUPATION_WORDS, STOP_WORDS } from './word-lists.ts';

/** Which words are looked for. */
export interface AssociationOptions {
  /**
   * The words of each group, two groups at least, no word in two of them.
   * @defaultValue {@link GENDER_WORDS}
   */
  readonly groups?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * Words that a stereotype may tie to a group.
   * @defaultValue {@link OCCUPATION_WORDS} and {@link CHARACTER_WORDS}
   */
  readonly targets?: readonly string[] | undefined;
}

/** Lists the options of {@link AssociationOptions}. */
export const ASSOCIATION_OPTION_NAMES: OptionNames<AssociationOptions> = { groups: true, targets: true };

/** {@link AssociationOptions} of a score that weighs words by their distance. */
export interface CooccurrenceOptions extends AssociationOptions {
  /**
   * Words that are no context; words of the groups never are.
   * @defaultValue {@link STOP_WORDS}
   */
  readonly stopWords?: readonly string[] | undefined;
  /**
   * What a word further away weighs less, in (0, 1].
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

/** The words that are looked for, checked. */
export interface AssociationWords {
  readonly groups: readonly string[];
  /** Index of a word's group. */
  readonly groupOf: ReadonlyMap<string, number>;
  /** How many words each group has. */
  readonly sizes: readonly number[];
  readonly targets: readonly string[];
  /** Index of a word among the targets. */
  readonly targetOf: ReadonlyMap<string, number>;
}

/**
 * The words that options name.
 * @throws {ValueError} for fewer than two groups, a group or list without words, a word in two groups, or what is no single word
 */
export function associationWords({ groups, targets }: AssociationOptions): AssociationWords {
  const named = Object.entries(groups ?? GENDER_WORDS);
  if (named.length < 2) throw invalidParameter('groups', 'have two groups at least', `${String(named.length)} of them`);
  const lists = named.map(([group, words]) => singleWords(`groups.${group}`, words));
  const groupOf = new Map<string, number>();
  lists.forEach((words, group) => {
    for (const word of words) {
      if (groupOf.has(word)) throw invalidParameter('groups', 'have each word in one group only', `'${word}' in two`);
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

/** Words that are no context. */
export function stopWordsOf({ stopWords }: CooccurrenceOptions): ReadonlySet<string> {
  return new Set((stopWords ?? STOP_WORDS).map((word) => word.toLowerCase()));
}

/**
 * The weight of a word's distance.
 * @throws {ValueError} where it is not in (0, 1]
 */
export function betaOf({ beta = 0.95 }: CooccurrenceOptions): number {
  if (beta > 0 && beta <= 1) return beta;
  throw invalidParameter('beta', 'be above 0 and at most 1', beta);
}

/**
 * The words of a text, with "she's" and "nurse's" taken apart, so that
 * the person in them is seen.
 */
export function associationTokens(text: string): string[] {
  return tokenizeWords(text).flatMap((word) => word.split(/'(?=(?:s|d|ll|re|ve|m)$)/));
}

/** In lower case, each once. */
function singleWords(parameter: string, given: readonly string[]): string[] {
  const odd = given.find((word) => associationTokens(word).length !== 1);
  if (odd !== undefined) throw invalidParameter(parameter, 'hold single words', `'${odd}'`);
  if (given.length === 0) throw invalidParameter(parameter, 'hold a word at least', 'none');
  return [...new Set(given.flatMap(associationTokens))];
}
