import { completeWords, wordPairs } from '../text/words.ts';
import { substituteGender } from '../plan/counterfactual/substitute-gender.ts';

/**
 * Male words and their neutral counterparts. Female words are first converted to male words, so that "her" becomes
 * "them" or "their" by its context.
 */
const NEUTRAL = new Map(
  wordPairs(`
  he:they him:them his:their himself:themselves man:person men:people boy:child boys:children male:person males:people
  guy:person guys:people gentleman:person gentlemen:people father:parent fathers:parents dad:parent dads:parents
  daddy:parent brother:sibling brothers:siblings son:child sons:children husband:spouse husbands:spouses
  boyfriend:partner boyfriends:partners uncle:relative uncles:relatives nephew:relative nephews:relatives
  grandfather:grandparent grandfathers:grandparents grandpa:grandparent grandson:grandchild grandsons:grandchildren
  stepfather:stepparent stepbrother:stepsibling stepson:stepchild godfather:godparent fatherhood:parenthood
  brotherhood:fellowship paternal:parental groom:spouse widower:spouse widowers:spouses king:monarch prince:monarch
  duke:noble waiter:server waiters:servers schoolboy:pupil cowboy:rider sir:person
`),
);

/** The word that replaces the value of a dimension and a name. */
const SOMEONE = 'person';
const SOMEBODY = 'the person';

/** What {@link createNeutralizer} replaces, and how often. */
export interface NeutralizedCounts {
  /** The number of replaced names. */
  readonly names: number;
  /** The number of replaced values of dimensions. */
  readonly values: number;
  /** The number of replaced gendered words: pronouns, titles and words such as daughter. */
  readonly genderedWords: number;
}

/** A text without words that show the group, and the number of words that were replaced. */
export interface NeutralText {
  readonly text: string;
  readonly counts: NeutralizedCounts;
}

const WORD = /(?<![\p{L}\p{N}])\p{L}+(?![\p{L}\p{N}])/gu;
const TITLE = /(?<![\p{L}\p{N}])(?:Mrs|Mr|Ms|Miss)(?=\.?\s)/gu;
const THEY_VERB =
  /(?<![\p{L}\p{N}])(they) (is|was|has|does|isn['’]t|wasn['’]t|hasn['’]t|doesn['’]t)(?![\p{L}\p{N}])/giu;
const THEY_CONTRACTED = /(?<![\p{L}\p{N}])(they)['’]s(?![\p{L}\p{N}])/giu;
const PLURAL: Readonly<Record<string, string>> = { is: 'are', was: 'were', has: 'have', does: 'do' };

/**
 * Creates a function that replaces words that show the group of a person: the names, the values of dimensions, and
 * gendered English words. Two texts that differ only in these words become equal.
 *
 * The rules are lists of English words, so a text can still show the group in other ways, for example by a place or a
 * custom. Verbs after "they" are adjusted only for be, have and do.
 */
export function createNeutralizer(names: readonly string[], values: readonly string[]): (text: string) => NeutralText {
  const namePattern = patternOf(names);
  const valuePattern = patternOf(values);
  return (given) => {
    let [replacedNames, replacedValues, words] = [0, 0, 0];
    const unnamed = given.replaceAll(namePattern, () => {
      replacedNames++;
      return SOMEBODY;
    });
    const unvalued = unnamed.replaceAll(valuePattern, () => {
      replacedValues++;
      return SOMEONE;
    });
    const untitled = unvalued.replaceAll(TITLE, () => {
      words++;
      return 'Mx';
    });
    const female = countDifferent(untitled, substituteGender(untitled, 'male'));
    const neutral = substituteGender(untitled, 'male').replaceAll(WORD, (word) => {
      const other = NEUTRAL.get(word.toLowerCase());
      if (other === undefined) return word;
      words++;
      return /^\p{Lu}/u.test(word) ? `${other.charAt(0).toUpperCase()}${other.slice(1)}` : other;
    });
    const text = withPluralVerbs(neutral);
    return { text, counts: { names: replacedNames, values: replacedValues, genderedWords: Math.max(words, female) } };
  };
}

function withPluralVerbs(text: string): string {
  return text
    .replaceAll(THEY_VERB, (_, they: string, verb: string) => {
      const [, stem = verb, negation = ''] = /^(is|was|has|does)(n['’]t)?$/iu.exec(verb) ?? [];
      return `${they} ${PLURAL[stem.toLowerCase()] ?? stem}${negation}`;
    })
    .replaceAll(THEY_CONTRACTED, (_, they: string) => `${they}’re`);
}

function countDifferent(first: string, second: string): number {
  const [a, b] = [first.match(WORD) ?? [], second.match(WORD) ?? []];
  return a.filter((word, index) => word !== b[index]).length;
}

/** Returns a pattern that matches names or values as complete words. */
function patternOf(words: readonly string[]): RegExp {
  const distinct = new Set(words.map((word) => word.trim()).filter((word) => word !== ''));
  return completeWords([...distinct], 'giu');
}
