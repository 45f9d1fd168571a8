import { groupBy } from '../../../internal/values.ts';
import type { PlannedPrompt } from '../planned-prompt.ts';
import { diffWords } from './word-diff.ts';

/** The maximum number of differences that are listed in one line. */
const MAX_SHOWN = 8;

/**
 * Describes how the prompts of a plan vary. Each line is about one template and dimension. The line contains the number
 * of items, and the words that differ in the first item.
 * @returns the lines; an empty list if no prompt has a dimension
 * @example
 * ```ts
 * import { describePairs, parseLlmEvalConfig, planCounterfactual } from 'evenhand/llm-evals';
 *
 * const config = parseLlmEvalConfig({
 *   prompt_templates: { raise: 'A {gender} asked {gender.possessive} manager for a raise.' },
 *   counterfactual: { dimensions: { gender: ['woman', 'man'] } },
 * });
 * console.log(describePairs(planCounterfactual(config)).join());
 * // raise, gender: 1 item of woman, man; differing in woman/man, her/his
 * ```
 */
export function describePairs(prompts: readonly PlannedPrompt[]): string[] {
  const groups = groupBy(itemsIn(prompts), ([first]) => `${String(first?.template)}, ${String(first?.dimension)}`);
  return [...groups].map(([title, items]) => `${title}: ${describeItems(items)}`);
}

function describeItems(items: readonly Variant[][]): string {
  const [example = []] = items;
  // The values of crossed dimensions contain commas.
  const values = example.map(({ group }) => group).join(example.some(({ group }) => group.includes(',')) ? '; ' : ', ');
  const differences = differencesOf(example);
  const shown = differences.slice(0, MAX_SHOWN).join(', ');
  const more = differences.length > MAX_SHOWN ? ` and ${String(differences.length - MAX_SHOWN)} more` : '';
  const count = items.length === 1 ? '1 item' : `${String(items.length)} items`;
  return `${count} of ${values}; differing in ${shown === '' ? 'nothing' : shown}${more}`;
}

/** Lists each difference once, for example woman/man. */
function differencesOf(variants: readonly Variant[]): string[] {
  // Comparing each variant with the first one is enough to show all differences.
  const [first, ...others] = variants;
  const changes = others.flatMap((second) => diffWords(first?.prompt ?? '', second.prompt));
  return [...new Set(changes.map((change) => `${wordsOrNothing(change.first)}/${wordsOrNothing(change.second)}`))];
}

function wordsOrNothing(words: readonly string[]): string {
  return words.length === 0 ? '(nothing)' : words.join(' ');
}

/** A prompt for one value of a dimension. */
export interface Variant extends PlannedPrompt {
  readonly dimension: string;
  readonly group: string;
}

/** Lists the variants of every item. Repeats of a prompt count once. */
export function itemsIn(prompts: readonly PlannedPrompt[]): Variant[][] {
  const items = groupBy(prompts.filter(isVariant), ({ template, dimension, item }) =>
    [template, dimension, item].join('\n'),
  );
  return Array.from(items.values(), (those) =>
    [...groupBy(those, ({ group }) => group).values()].flatMap(([first]) => first ?? []),
  );
}

function isVariant(prompt: PlannedPrompt): prompt is Variant {
  return prompt.dimension !== null && prompt.group !== null;
}
