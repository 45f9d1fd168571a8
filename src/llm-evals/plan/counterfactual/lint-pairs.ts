import { ConfigValidationError } from '../../../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../../../internal/arguments.ts';
import { groupBy } from '../../../internal/values.ts';
import { escapeControls } from '../../../io/config-text/config-problem.ts';
import type { PlannedPrompt } from '../planned-prompt.ts';
import { itemsIn, type Variant } from './describe-pairs.ts';
import { ItemCheck, type ItemProblem, type PairProblem } from './item-problems.ts';
import type { PronounConfig } from './pronouns.ts';

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
  /**
   * The number of comparisons of two texts. The prompts of an item are compared with its first prompt, which is enough
   * to check all pairs.
   */
  readonly comparisons: number;
}

/** Options of {@link lintPairs}. */
export type LintPairsOptions = PronounConfig;

const LINT_PAIRS_OPTION_NAMES: OptionNames<LintPairsOptions> = { language: true, pronouns: true };

/** The maximum number of pairs shown in an error. */
const MAX_SHOWN = 5;

/** The maximum number of characters of a prompt shown in an error. */
const MAX_SHOWN_LENGTH = 300;

/**
 * Checks that the prompts of an item differ only in the value of the dimension and in words that depend on this value.
 * Such words are a name, pronouns, gendered words, and "a" or "an". The following are errors: other differences; equal
 * prompts; a remaining pronoun of the other gender ("the man … her work"); a wrong article ("a engineer"); a wrong verb
 * form ("they leads"); and doubled spaces in one of the two prompts. The following are warnings: lengths that differ by
 * more than a tenth, and doubled spaces in both prompts. Remaining pronouns, articles and verb forms are checked only in
 * English.
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
export function lintPairs(prompts: readonly PlannedPrompt[], options: LintPairsOptions = {}): PairLint {
  assertKnownOptions('lintPairs', options, LINT_PAIRS_OPTION_NAMES);
  const items = itemsIn(prompts);
  const check = new ItemCheck(options);
  const found = items.flatMap((variants) => check.problemsOf(variants));
  const pairs = items.reduce((sum, { length }) => sum + (length * (length - 1)) / 2, 0);
  const findings = found.map(findingOf);
  const refused = refusedPairs(found);
  if (refused.length === 0) {
    return Object.freeze({ findings: Object.freeze(findings), pairs, comparisons: check.comparisons });
  }
  const shown = ofEachKind(refused).slice(0, MAX_SHOWN).map(describeRefused);
  const more = refused.length > shown.length ? [`and ${String(refused.length - shown.length)} more pairs.`] : [];
  const count = `${String(refused.length)} of ${String(pairs)} pairs ${refused.length === 1 ? 'has' : 'have'} other differences.`;
  const rule = `The prompts of an item must differ only in the value of the dimension. ${count}`;
  throw new ConfigValidationError([rule, ...shown, ...more].join('\n'), {
    context: { findings },
    suggestion: 'Use placeholders for all words that depend on the value: {gender.possessive}, {name}.',
  });
}

/** Two prompts with errors. */
interface RefusedPair {
  readonly first: Variant;
  readonly second: Variant;
  /** The messages of the errors. */
  readonly errors: string;
}

function refusedPairs(found: readonly ItemProblem[]): RefusedPair[] {
  const bySecond = groupBy(
    found.filter(({ problem }) => problem.severity === 'error'),
    ({ second }) => second,
  );
  return [...bySecond.values()].flatMap((those) =>
    [...groupBy(those, ({ first }) => first).values()].flatMap((pair) => {
      const [one] = pair;
      const errors = [...new Set(pair.map(({ problem }) => problem.message))].join('; ');
      return one === undefined ? [] : [{ first: one.first, second: one.second, errors }];
    }),
  );
}

function findingOf({ first, second, problem: { severity, message } }: ItemProblem): PairFinding {
  const { template, dimension, item } = first;
  return Object.freeze({ severity, message, template, dimension, item, first: first.group, second: second.group });
}

/** Returns the first pair for each template and problem. The same problem in several items needs only one fix. */
function ofEachKind(pairs: readonly RefusedPair[]): RefusedPair[] {
  const kinds = groupBy(pairs, ({ first, errors }) => JSON.stringify([first.template, first.dimension, errors]));
  return [...kinds.values()].flatMap(([pair]) => pair ?? []);
}

/** Describes a pair. The command line joins the lines, so each line ends with a mark. */
function describeRefused({ first, second, errors }: RefusedPair): string {
  return [
    `${first.item}, ${first.dimension}: ${errors}.`,
    `  ${first.group}: "${shorten(first.prompt)}";`,
    `  ${second.group}: "${shorten(second.prompt)}".`,
  ].join('\n');
}

function shorten(prompt: string): string {
  const line = escapeControls(prompt);
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line;
}
