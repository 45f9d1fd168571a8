import { ConfigValidationError } from '../../../exceptions/index.ts';
import type { LLMEvalConfig } from '../../../schemas/llm-eval/llm-eval-document.ts';
import { type PlannedMessage, renderConversation } from '../conversation.ts';
import type { PlannedPrompt } from '../planned-prompt.ts';
import { capitalise, fixArticle } from './article.ts';
import { checkTemplate, NAME, type ParsedTemplate, type Placeholder } from './parse-template.ts';
import { combinations, type Values } from './name-pools.ts';
import { type PronounConfig, pronounForms, pronounsOf } from './pronouns.ts';
import { substituteGender } from './substitute-gender.ts';
import {
  layoutsOf,
  type LayoutGroup,
  namedTemplates,
  nameCount,
  promptCount,
  type TemplateLayout,
  textsIn,
} from './template-layout.ts';

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

/** The words of a language that a filled template needs. */
interface Wording {
  /** Whether "a" and "an" are adjusted to the next word. */
  readonly hasArticles: boolean;
  /** Returns the pronouns of a value, by form. */
  readonly formsOf: (value: string) => Readonly<Record<string, string>>;
}

/** Returns the words of the language of a configuration. The pronouns of a value are looked up once. */
function wordingOf(config: PronounConfig): Wording {
  const known = new Map<string, Readonly<Record<string, string>>>();
  const formsOf = (value: string): Readonly<Record<string, string>> => {
    const forms = known.get(value) ?? pronounForms(value, config);
    known.set(value, forms);
    return forms;
  };
  return { hasArticles: (config.language ?? 'en') === 'en', formsOf };
}

/** Fills a template. Capitalizes the start of a sentence. In English, adjusts "a" and "an" to the next word. */
export function fillTemplate({ parts }: ParsedTemplate, filling: Filling, wording: Wording = wordingOf({})): string {
  return parts.reduce<string>((before, part) => {
    if (typeof part === 'string') return before + part;
    const value = valueFor(part, filling, wording);
    const end = endOf(before);
    const isStart = SENTENCE_START.test(end) && !ABBREVIATION.test(end);
    const written = isStart ? capitalise(value) : value;
    return wording.hasArticles ? `${fixArticle(before, value)}${written}` : before + written;
  }, '');
}

/** The number of characters that show whether a sentence starts. */
const END_LENGTH = 200;

/** Returns the end of a text. A text is read only there, so that the time to fill a template is linear in its length. */
function endOf(text: string): string {
  // A letter stands for the rest, because an empty rest would be the start of the text.
  return text.length <= END_LENGTH ? text : `x${text.slice(-END_LENGTH)}`;
}

function valueFor({ dimension, form }: Placeholder, { values, name }: Filling, { formsOf }: Wording): string {
  if (dimension === NAME && name !== null) return name;
  const value = values.get(dimension) ?? '';
  // The template was checked before, so the value has the form.
  return form === null ? value : (formsOf(value)[form] ?? value);
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
 * name pools, the index k selects the k-th name of every value. The maximum of k is the size of the smallest pool. If
 * the keys of the pools combine several dimensions, or if `intersections` lists several dimensions, the combined values
 * of these dimensions are compared too, as the dimension `gender*origin` with values such as `woman, Black`. A prompt
 * that several dimensions need is planned for each of them, but has only one request. A
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
  const known = plans.get(config);
  const plan = known ?? planTemplates(config);
  // A frozen configuration cannot change, and several evaluators need its plan.
  if (known === undefined && Object.isFrozen(config)) plans.set(config, plan);
  return Object.freeze(plan.map((prompt) => Object.freeze({ evaluator, ...prompt })));
}

type UnassignedPrompt = Omit<PlannedPrompt, 'evaluator'>;

const plans = new WeakMap<CounterfactualSource, readonly UnassignedPrompt[]>();

function planTemplates(config: CounterfactualSource): readonly UnassignedPrompt[] {
  assertTemplates(config);
  const layouts = layoutsOf(config);
  assertCount(layouts, config.repeats);
  const plan: UnassignedPrompt[] = [];
  const wording = wordingOf(config.counterfactual ?? {});
  for (const layout of layouts) {
    const { template, dimension } = layout;
    for (const item of itemsOf(layout, wording)) {
      for (const { group, values, name, messages } of item.variants) {
        const details = name === null ? NO_DETAILS : Object.freeze({ name, alike: item.alike, ...item.pool });
        const planned = { item: item.id, unit: item.unit, dimension, group, details, ...combined(values) };
        const asked = promptOf(messages);
        for (let repeat = 0; repeat < config.repeats; repeat++) plan.push({ ...asked, repeat, template, ...planned });
      }
    }
  }
  return plan;
}

/** Returns the values of a group that combines several dimensions. */
function combined(values: Values): Pick<PlannedPrompt, 'groupValues'> {
  return values.length > 1 ? { groupValues: Object.freeze(values.map(([, value]) => value)) } : {};
}

/** Prompts that differ in one dimension's value, or in one group of an intersection. */
interface Item {
  readonly id: string;
  /** The id of the item without the name. It is the same for items that ask the same question about different names. */
  readonly alike: string;
  /** The unit that counts as independent: a name, or a template if there are no names. */
  readonly unit: string;
  /** The other values that determine the name; empty if there are none. Names of different pools are not compared. */
  readonly pool: { readonly pool?: string };
  readonly variants: readonly {
    readonly group: string | null;
    readonly values: Values;
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
  wording: Wording,
  change: (text: string) => string = (text) => text,
): readonly PlannedMessage[] {
  return Object.freeze(
    messages.map(({ role, parsed }) =>
      Object.freeze({ role, content: parsed === null ? null : change(fillTemplate(parsed, filling, wording)) }),
    ),
  );
}

function itemsOf(layout: TemplateLayout, wording: Wording): Item[] {
  if (layout.dimension === null) {
    const messages = fillMessages(layout, NO_FILLING, wording);
    return [{ ...idsOf(layout.template), variants: [{ group: null, values: [], name: null, messages }] }];
  }
  if (layout.substitutes) return [substitutedItem(layout, wording)];
  return combinations(layout.others).flatMap((fixed) =>
    Array.from({ length: nameCount(layout.names) }, (_, index) => filledItem(layout, fixed, index, wording)),
  );
}

function substitutedItem(layout: TemplateLayout, wording: Wording): Item {
  const variants = layout.groups.map(({ group, values }) => {
    const gender = pronounsOf(group) === 'she' ? 'female' : 'male';
    const change = (text: string): string => substituteGender(text, gender);
    return { group, values, name: null, messages: fillMessages(layout, NO_FILLING, wording, change) };
  });
  return { ...idsOf(layout.template), variants };
}

function filledItem(layout: TemplateLayout, fixed: Values, index: number, wording: Wording): Item {
  const { template, groups, names } = layout;
  const alike = [template, ...fixed.map(written)].join('|');
  const variants = groups.map(({ group, values }: LayoutGroup) => {
    const all = new Map([...fixed, ...values]);
    const name = names?.nameOf(all, index) ?? null;
    return { group, values, name, messages: fillMessages(layout, { values: all, name }, wording) };
  });
  if (names === null) return { id: alike, alike, unit: template, pool: {}, variants };
  const named = `${NAME} ${String(index + 1)}`;
  const isVaried = groups.some(({ values }) => values.some(([dimension]) => names.dimensions.includes(dimension)));
  // If no dimension of the names is varied, all variants have the same name.
  if (!isVaried) return { id: `${alike}|${named}`, alike, unit: variants[0]?.name ?? named, pool: {}, variants };
  const pool = fixed.filter(([dimension]) => names.dimensions.includes(dimension)).map(written).join('|'); // prettier-ignore
  // The names of another pool are other names, and so other units.
  const unit = pool === '' ? named : `${pool}|${named}`;
  return { id: `${alike}|${named}`, alike, unit, pool: pool === '' ? {} : { pool }, variants };
}

function written([dimension, value]: Values[number]): string {
  return `${dimension}=${value}`;
}

/** Returns the ids of the only item of a template. */
function idsOf(template: string): Omit<Item, 'variants'> {
  return { id: template, alike: template, unit: template, pool: {} };
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
