import { ConfigValidationError } from '../../../exceptions/index.ts';
import type { CounterfactualConfig, LLMEvalConfig } from '../../../schemas/llm-eval/llm-eval-document.ts';
import { type PlannedMessage, renderConversation } from '../conversation.ts';
import type { PlannedPrompt } from '../planned-prompt.ts';
import { capitalise, fixArticle } from './article.ts';
import { checkTemplate, NAME, type ParsedTemplate, type Placeholder } from './parse-template.ts';
import { type PronounForm, PRONOUNS, pronounsOf } from './pronouns.ts';
import { substituteGender } from './substitute-gender.ts';
import { layoutsOf, namedTemplates, promptCount, type TemplateLayout, textsIn } from './template-layout.ts';

/** The values that fill a template. */
interface Filling {
  /** A value for each dimension that the template uses. */
  readonly values: ReadonlyMap<string, string>;
  /** The name from a pool. Null if there are no pools, or if the template has no placeholder for a name. */
  readonly name: string | null;
}

/**
 * Matches the position before the start of a sentence: the beginning of a text, the end of a sentence, or an empty
 * line. Opening quotation marks may precede the sentence.
 */
const SENTENCE_START = /(?:^|[.!?…]["'”’)\]]*\s+|\n[^\S\n]*\n\s*)["'“‘([*_]*$/u;

/** Matches an abbreviation at the end of a text. The full stop of an abbreviation does not end a sentence. */
const ABBREVIATION = /(?:^|[^\p{L}])(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|e\.g|i\.e|etc|no)\.\s+["'“‘(]*$/iu;

/** Fills a template. Adjusts "a" and "an" to the next word, and capitalizes the start of a sentence. */
export function fillTemplate({ parts }: ParsedTemplate, filling: Filling): string {
  return parts.reduce<string>((before, part) => {
    if (typeof part === 'string') return before + part;
    const value = valueFor(part, filling);
    const isStart = SENTENCE_START.test(before) && !ABBREVIATION.test(before);
    return `${fixArticle(before, value)}${isStart ? capitalise(value) : value}`;
  }, '');
}

function valueFor({ dimension, form }: Placeholder, { values, name }: Filling): string {
  if (dimension === NAME && name !== null) return name;
  const value = values.get(dimension) ?? '';
  if (form === null) return value;
  // The template was checked before, so the value has pronouns and the form exists.
  const pronouns = pronounsOf(value);
  return pronouns === undefined ? value : PRONOUNS[pronouns][form as PronounForm];
}

/**
 * The maximum number of prompts of a configuration. A larger number usually means that too many dimensions are crossed.
 */
export const MAX_PROMPTS = 1_000_000;

const NO_FILLING: Filling = { values: new Map(), name: null };

const NO_DETAILS: PlannedPrompt['details'] = Object.freeze({});

/** The parts of a configuration needed for a plan. */
export type CounterfactualSource = Pick<LLMEvalConfig, 'counterfactual' | 'promptTemplates' | 'repeats'>;

/**
 * Plans the prompts of all templates, with and without dimensions. For each template and each dimension D of the
 * template, the items are
 *
 * template x values of the template's other dimensions x indices in the name pools
 *
 * Each item has one prompt for every value of D, so the prompts of an item differ only in this value. Each prompt is
 * asked `repeats` times. If a dimension has a default, this default is used while another dimension is varied. With
 * name pools, the index k selects the k-th name of every value. The maximum of k is the size of the smallest pool. A
 * template that uses no dimension has one prompt. If such a template has gendered words, and the values of a dimension
 * are one female and one male value, the template has a prompt for each value ({@link substituteGender}).
 *
 * The author of the pools must ensure that names at the same index are equally common, and that they suggest the same
 * age and wealth. This function cannot check these requirements.
 * @param evaluator the name of the evaluator that needs the answers
 * @returns the prompts in a fixed order: templates, dimensions, items, values, repeats
 * @throws {ConfigValidationError} if a template cannot be filled, or if the plan has more than a million prompts
 * @example
 * ```ts
 * import { parseLlmEvalConfig, planCounterfactual } from 'evenhand/llm-evals';
 *
 * const config = parseLlmEvalConfig({
 *   counterfactual: {
 *     template: 'Describe {name}, a {gender}, and {gender.possessive} work.',
 *     dimensions: { gender: ['woman', 'man'] },
 *     name_pools: { woman: ['Emily'], man: ['Jacob'] },
 *   },
 * });
 * for (const { item, prompt } of planCounterfactual(config)) console.log(item, prompt);
 * // template-1|name 1 Describe Emily, a woman, and her work.
 * // template-1|name 1 Describe Jacob, a man, and his work.
 * ```
 */
export function planCounterfactual(
  config: CounterfactualSource,
  evaluator: string = 'counterfactual',
): readonly PlannedPrompt[] {
  assertTemplates(config);
  const layouts = layoutsOf(config);
  assertCount(layouts, config.repeats);
  const plan = layouts.flatMap((layout) =>
    itemsOf(layout, config.counterfactual).flatMap((item) =>
      item.variants.flatMap(({ group, name, messages }) => {
        const details = name === null ? NO_DETAILS : Object.freeze({ name, alike: item.alike });
        const { template, dimension } = layout;
        const planned = { item: item.id, unit: item.unit, dimension, group, details };
        return Array.from({ length: config.repeats }, (_, repeat) =>
          Object.freeze({ evaluator, ...promptOf(messages), repeat, template, ...planned }),
        );
      }),
    ),
  );
  return Object.freeze(plan);
}

/** Prompts that differ in one dimension's value. */
interface Item {
  readonly id: string;
  /** The id of the item without the name. It is the same for items that ask the same question about different names. */
  readonly alike: string;
  /** The unit that counts as independent: a name, or a template if there are no names. */
  readonly unit: string;
  readonly variants: readonly {
    readonly group: string | null;
    readonly name: string | null;
    readonly messages: readonly PlannedMessage[];
  }[];
}

/** Returns the fields of a planned prompt. A single message of the user needs no messages. */
function promptOf(messages: readonly PlannedMessage[]): Pick<PlannedPrompt, 'prompt' | 'messages'> {
  const prompt = renderConversation(messages);
  const isPlain = messages.length === 1 && messages[0]?.role === 'user';
  return isPlain ? { prompt } : { prompt, messages };
}

/** Fills every message of a template. */
function fillMessages(
  { messages }: TemplateLayout,
  filling: Filling,
  change: (text: string) => string = (text) => text,
): readonly PlannedMessage[] {
  return Object.freeze(
    messages.map(({ role, parsed }) =>
      Object.freeze({ role, content: parsed === null ? null : change(fillTemplate(parsed, filling)) }),
    ),
  );
}

function itemsOf(layout: TemplateLayout, counterfactual: CounterfactualConfig | null): Item[] {
  if (layout.dimension === null || counterfactual === null) {
    const messages = fillMessages(layout, NO_FILLING);
    return [{ ...idsOf(layout.template), variants: [{ group: null, name: null, messages }] }];
  }
  if (layout.substitutes) return [substitutedItem(layout)];
  return crossings(layout.others).flatMap((fixed) =>
    Array.from({ length: layout.nameCount }, (_, index) => filledItem(layout, fixed, index, counterfactual)),
  );
}

function substitutedItem(layout: TemplateLayout): Item {
  const variants = layout.values.map((group) => {
    const gender = pronounsOf(group) === 'she' ? 'female' : 'male';
    return { group, name: null, messages: fillMessages(layout, NO_FILLING, (text) => substituteGender(text, gender)) };
  });
  return { ...idsOf(layout.template), variants };
}

function filledItem(
  layout: TemplateLayout,
  fixed: readonly (readonly [string, string])[],
  index: number,
  { namePools }: CounterfactualConfig,
): Item {
  const { template, dimension, nameDimension } = layout;
  const alike = [template, ...fixed.map(([other, value]) => `${other}=${value}`)].join('|');
  const named = `${NAME} ${String(index + 1)}`;
  const variants = layout.values.map((group) => {
    const values = new Map([...fixed, [dimension ?? '', group]]);
    const name = nameDimension === null ? null : (namePools[values.get(nameDimension) ?? '']?.[index] ?? null);
    return { group, name, messages: fillMessages(layout, { values, name }) };
  });
  if (nameDimension === null) return { id: alike, alike, unit: template, variants };
  // If the dimension of the names is not varied, all variants have the same name.
  const unit = nameDimension === dimension ? named : (variants[0]?.name ?? named);
  return { id: `${alike}|${named}`, alike, unit, variants };
}

/** Returns the ids of the only item of a template. */
function idsOf(template: string): Pick<Item, 'id' | 'alike' | 'unit'> {
  return { id: template, alike: template, unit: template };
}

/**
 * Returns every combination of one value for each dimension. If there are no dimensions, returns one empty combination.
 */
function crossings(
  others: readonly (readonly [dimension: string, values: readonly string[]])[],
): (readonly (readonly [string, string])[])[] {
  return others.reduce<(readonly (readonly [string, string])[])[]>(
    (sofar, [dimension, values]) =>
      sofar.flatMap((fixed) => values.map((value) => [...fixed, [dimension, value] as const])),
    [[]],
  );
}

function assertTemplates(config: CounterfactualSource): void {
  const known = config.counterfactual ?? { dimensions: {}, namePools: {} };
  for (const [template, given] of namedTemplates(config)) {
    const [problem] = textsIn(given).flatMap((text) => checkTemplate(text, known));
    if (problem === undefined) continue;
    throw new ConfigValidationError(`The template '${template}' cannot be filled: ${problem.message}.`, {
      context: { template },
      suggestion: problem.suggestion,
    });
  }
}

function assertCount(layouts: readonly TemplateLayout[], repeats: number): void {
  const count = layouts.reduce((sum, layout) => sum + promptCount(layout) * repeats, 0);
  if (count <= MAX_PROMPTS) return;
  throw new ConfigValidationError(
    `The templates result in ${count.toLocaleString('en-US')} prompts; at most ${MAX_PROMPTS.toLocaleString('en-US')} are allowed.`,
    { context: { count }, suggestion: 'Set defaults for some dimensions, so that fewer dimensions are crossed.' },
  );
}
