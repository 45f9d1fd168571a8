import { ConfigValidationError } from '../../../exceptions/index.ts';
import { groupBy } from '../../../internal/values.ts';
import { escapeControls } from '../../../io/config-text/config-problem.ts';
import type { PlannedPrompt } from '../planned-prompt.ts';
import { articleFor } from './article.ts';
import { allPairsOf, itemsIn, type PromptPair, type Variant } from './describe-pairs.ts';
import { COUNTERPARTS } from './gender-words.ts';
import { PRONOUNS, pronounsOf } from './pronouns.ts';
import { diffWords, type WordChange, wordsOf } from './word-diff.ts';

/** A problem of a pair of prompts. The severity is `error` if the prompts differ in more than the dimension. */
interface PairProblem {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** The maximum difference in length without a warning, as a share of the pair's mean length. */
const MAX_LENGTH_DIFFERENCE = 0.1;

/** Words that end in -s and may follow "they", although they are not verbs. */
const NO_VERB = new Set(['always', 'sometimes', 'perhaps', 'as', 'thus', 'besides', 'nevertheless', 'this', 'afterwards', 'across', 'plus', 'themselves', 'this']); // prettier-ignore

/** Finds all problems of two variants of one item. */
function problemsOf({ first, second }: PromptPair): PairProblem[] {
  const changes = diffWords(first.prompt, second.prompt);
  if (changes.length === 0) return [error(`'${first.group}' and '${second.group}' have the same prompt`)];
  return [
    ...strayChanges(changes, first, second),
    ...unequalSpaces(first, second),
    ...problemsWithin(first, second),
    ...problemsWithin(second, first),
    ...unequalLengths(first, second),
  ];
}

function error(message: string): PairProblem {
  return { severity: 'error', message };
}

/** Finds differences between two prompts that are not in a value, a name, a pronoun or an article. */
function strayChanges(changes: readonly WordChange[], first: Variant, second: Variant): PairProblem[] {
  const [allowedFirst, allowedSecond] = [allowedWords(first), allowedWords(second)];
  return changes
    .filter((change) => !isWithin(change.first, allowedFirst) || !isWithin(change.second, allowedSecond))
    .map((change) =>
      error(`the prompts differ in more than the value: ${quote(change.first)} against ${quote(change.second)}`),
    );
}

function isWithin(words: readonly string[], allowed: ReadonlySet<string>): boolean {
  return words.every((word) => allowed.has(word.toLowerCase()));
}

function quote(words: readonly string[]): string {
  return words.length === 0 ? 'nothing' : `'${words.join(' ')}'`;
}

function allowedWords(variant: Variant): Set<string> {
  const pronouns = pronounsOf(variant.group);
  const gendered = pronouns === undefined || pronouns === 'they' ? [] : genderedWords(pronouns);
  const own = pronouns === undefined ? [] : Object.values(PRONOUNS[pronouns]);
  return new Set(['a', 'an', ...ownWords(variant), ...own, ...own.map((word) => `${word}'s`), ...gendered]);
}

function ownWords({ group, details }: Variant): string[] {
  const words = wordsOf(`${group} ${details['name'] ?? ''}`).map((word) => word.toLowerCase());
  // A value may occur in the genitive: the woman's, Emily’s.
  return words.flatMap((word) => [word, `${word}'s`, `${word}’s`, `${word}s`]);
}

/** Returns the words that the substitution of gendered words can produce. */
function genderedWords(pronouns: 'she' | 'he'): string[] {
  const words = [...COUNTERPARTS[pronouns === 'she' ? 'female' : 'male'].values()];
  const titles = pronouns === 'she' ? ['ms', 'mrs', 'miss'] : ['mr'];
  return [...words.flatMap((word) => [word, `${word}'s`, `${word}’s`, `${word}'ll`, `${word}'d`]), ...titles, '.'];
}

function unequalSpaces(first: Variant, second: Variant): PairProblem[] {
  const count = ({ prompt }: Variant): number => prompt.match(/\S[^\S\n]{2,}\S/g)?.length ?? 0;
  if (count(first) === 0 && count(second) === 0) return [];
  return count(first) === count(second)
    ? [{ severity: 'warning', message: 'there are several spaces between two words' }]
    : [error('one of the two variants has several spaces between two words')];
}

/** Finds pronouns, articles and verbs that are wrong in one variant. */
function problemsWithin(variant: Variant, other: Variant): PairProblem[] {
  return [...strangePronouns(variant, other), ...wrongArticles(variant, other), ...wrongVerbs(variant)];
}

/** Finds pronouns in a variant whose gender differs from the gender of the variant's value. */
function strangePronouns(variant: Variant, other: Variant): PairProblem[] {
  const [own, others] = [pronounsOf(variant.group), pronounsOf(other.group)];
  if (own === undefined || others === undefined || own === others) return [];
  const strange = (['she', 'he'] as const).filter((name) => name !== own);
  const mine = new Set([...ownWords(variant), ...Object.values(PRONOUNS[own])]);
  const wrong = new Set(strange.flatMap((name) => Object.values(PRONOUNS[name])).filter((word) => !mine.has(word)));
  const found = new Set(wordsOf(variant.prompt).map((word) => word.toLowerCase().replace(/['’].*$/u, '')).filter((word) => wrong.has(word))); // prettier-ignore
  return [...found].map((word) => error(`the variant '${variant.group}' says '${word}'`));
}

/** Finds wrong articles such as "a engineer". Ignores an article that is also wrong in the other variant. */
function wrongArticles(variant: Variant, other: Variant): PairProblem[] {
  const elsewhere = new Set(articlesIn(other.prompt).map(({ found }) => found.toLowerCase()));
  return articlesIn(variant.prompt)
    .filter(({ article, word, found }) => articleFor(word) !== article && !elsewhere.has(found.toLowerCase()))
    .map(({ found }) => error(`the variant '${variant.group}' says '${found}'`));
}

function articlesIn(prompt: string): { article: string; word: string; found: string }[] {
  return [...prompt.matchAll(/(?<![\p{L}\p{N}'’])(an?)\s+([\p{L}\p{N}][\p{L}\p{N}'’-]*)/giu)].map(
    ([found, article = '', word = '']) => ({ article: article.toLowerCase(), word, found }),
  );
}

/**
 * Finds phrases such as "they leads". "He" and "they" need different forms of the verb, so the template must use a form
 * that fits both pronouns.
 */
function wrongVerbs({ prompt, group }: Variant): PairProblem[] {
  if (pronounsOf(group) !== 'they') return [];
  return [...prompt.matchAll(/\bthey\s+(is|was|has|does|\p{L}+[^s\W]s)\b(?!['’])/giu)]
    .filter(([, verb = '']) => !NO_VERB.has(verb.toLowerCase()))
    .map(([found]) =>
      error(
        `the variant '${group}' says '${found}'; choose a verb form that is the same for he and they, such as had, said, may`,
      ),
    );
}

function unequalLengths(first: Variant, second: Variant): PairProblem[] {
  const [a, b] = [wordsOf(first.prompt).length, wordsOf(second.prompt).length];
  if (Math.abs(a - b) <= Math.max(1, (MAX_LENGTH_DIFFERENCE * (a + b)) / 2)) return [];
  const message = `'${first.group}' has ${String(a)} words and punctuation marks, '${second.group}' ${String(b)}: length alone may change an answer`;
  return [{ severity: 'warning', message }];
}

/** A finding on a pair of prompts. */
export interface PairFinding extends PairProblem {
  readonly template: string;
  readonly dimension: string;
  readonly item: string;
  /** The two values of the dimension. */
  readonly first: string;
  readonly second: string;
}

/** The result of {@link lintPairs}; frozen. */
export interface PairLint {
  /** The warnings. Errors are thrown instead. */
  readonly findings: readonly PairFinding[];
  /** The number of pairs checked. */
  readonly pairs: number;
}

/** The maximum number of pairs shown in an error. */
const MAX_SHOWN = 5;

/** The maximum number of characters of a prompt shown in an error. */
const MAX_SHOWN_LENGTH = 300;

/**
 * Checks that the prompts of an item differ only in the value of the dimension and in words that depend on this value.
 * Such words are a name, pronouns, gendered words, and "a" or "an". The following are errors: other differences; equal
 * prompts; a remaining pronoun of the other gender ("the man … her work"); a wrong article ("a engineer"); a wrong verb
 * form ("they leads"); and doubled spaces in one of the two prompts. The following are warnings: lengths that differ by
 * more than a tenth, and doubled spaces in both prompts.
 *
 * The function compares only words. It cannot check whether two values are equally natural in a sentence, or whether
 * two names are equally common. Prompts without a dimension are not checked.
 * @throws {ConfigValidationError} if there are errors. The error contains the rejected pairs; `context.findings` lists
 * all findings
 * @example
 * ```ts
 * import { lintPairs } from 'evenhand/llm-evals';
 *
 * const prompt = (group: string, text: string) => ({
 *   evaluator: 'counterfactual' as const,
 *   prompt: text,
 *   repeat: 0,
 *   template: 'hiring',
 *   item: 'hiring',
 *   dimension: 'gender',
 *   group,
 *   details: {},
 * });
 * try {
 *   lintPairs([prompt('woman', 'The woman did her work.'), prompt('man', 'The man did hers work.')]);
 * } catch (error) {
 *   console.log(String(error).split('\n')[0]);
 * }
 * // ConfigValidationError: The prompts of an item must differ only in the value of the dimension. 1 of 1 pairs has other differences.
 * ```
 */
export function lintPairs(prompts: readonly PlannedPrompt[]): PairLint {
  const pairs = itemsIn(prompts).flatMap(allPairsOf);
  const found = pairs.flatMap((pair) => problemsOf(pair).map((problem) => ({ pair, problem })));
  const refused = [...new Set(found.filter(({ problem }) => problem.severity === 'error').map(({ pair }) => pair))];
  const findings = found.map(({ pair, problem }) => findingOf(pair, problem));
  if (refused.length === 0) return Object.freeze({ findings: Object.freeze(findings), pairs: pairs.length });
  const shown = ofEachKind(refused).slice(0, MAX_SHOWN).map(describeRefused);
  const more = refused.length > shown.length ? [`and ${String(refused.length - shown.length)} more pairs.`] : [];
  const count = `${String(refused.length)} of ${String(pairs.length)} pairs ${refused.length === 1 ? 'has' : 'have'} other differences.`;
  const rule = `The prompts of an item must differ only in the value of the dimension. ${count}`;
  throw new ConfigValidationError([rule, ...shown, ...more].join('\n'), {
    context: { findings },
    suggestion: 'Use placeholders for all words that depend on the value: {gender.possessive}, {name}.',
  });
}

function findingOf({ first, second }: PromptPair, { severity, message }: PairProblem): PairFinding {
  const { template, dimension, item } = first;
  return Object.freeze({ severity, message, template, dimension, item, first: first.group, second: second.group });
}

/** Returns the first pair for each template and problem. The same problem in several items needs only one fix. */
function ofEachKind(pairs: readonly PromptPair[]): PromptPair[] {
  const kinds = groupBy(pairs, (pair) => JSON.stringify([pair.first.template, pair.first.dimension, errorsOf(pair)]));
  return [...kinds.values()].flatMap(([pair]) => pair ?? []);
}

function errorsOf(pair: PromptPair): string {
  const errors = problemsOf(pair).filter(({ severity }) => severity === 'error');
  return [...new Set(errors.map(({ message }) => message))].join('; ');
}

function describeRefused(pair: PromptPair): string {
  const { first, second } = pair;
  return [
    `${first.item}, ${first.dimension}: ${errorsOf(pair)}`,
    `  ${first.group}: ${shorten(first.prompt)}`,
    `  ${second.group}: ${shorten(second.prompt)}`,
  ].join('\n');
}

function shorten(prompt: string): string {
  const line = escapeControls(prompt);
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line;
}
