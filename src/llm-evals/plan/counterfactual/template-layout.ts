import type {
  CounterfactualConfig,
  LLMEvalConfig,
  PromptTemplate,
  TemplateMessage,
} from '../../../schemas/llm-eval/llm-eval-document.ts';
import { combinations, groupName, type NamePools, namePoolsOf, type Values } from './name-pools.ts';
import { NAME, type ParsedTemplate, parseTemplate, placeholdersIn } from './parse-template.ts';
import { pronounsOf } from './pronouns.ts';
import { hasGenderedWords } from './substitute-gender.ts';

/** A group that the prompts of an item compare. */
export interface LayoutGroup {
  /** The name of the group: a value, or the values of several dimensions, such as `woman, Black`. */
  readonly group: string;
  /** The varied dimensions, each with its value. */
  readonly values: Values;
}

/**
 * A template and the one contrast that its prompts vary: a dimension, or several dimensions together. A template has
 * one layout for each dimension that it uses, and one for each intersection whose dimensions it uses.
 */
export interface TemplateLayout {
  /** The template's name. */
  readonly template: string;
  /** The messages of the template. A text is one message of the user. */
  readonly messages: readonly ParsedMessage[];
  /** The varied dimension, or the key of an intersection, such as `gender*origin`; null if no dimension is varied. */
  readonly dimension: string | null;
  /** The groups that are compared. */
  readonly groups: readonly LayoutGroup[];
  /**
   * The other dimensions of the template, each with its values. A prompt is planned for every combination of these
   * values.
   */
  readonly others: readonly (readonly [dimension: string, values: readonly string[]])[];
  /** The names of each group; null if the template has no `{name}` placeholder. */
  readonly names: NamePools | null;
  /** Whether prompts are varied by replacing gendered words, because the template has no placeholders. */
  readonly substitutes: boolean;
}

/** A message of a template. */
interface ParsedMessage {
  readonly role: TemplateMessage['role'];
  /** The parsed content; null for a turn of the model. */
  readonly parsed: ParsedTemplate | null;
}

/**
 * Lists templates as pairs of the name that plans use and the text or conversation. The unnamed templates come first as
 * `template-1` and so on, followed by the named templates.
 */
export function namedTemplates({
  counterfactual,
  promptTemplates,
}: TemplateSource): (readonly [string, PromptTemplate])[] {
  const templates = counterfactual?.template ?? [];
  const numbered = templates.map((template, index) => [templateName(index), template] as const);
  return [...numbered, ...Object.entries(promptTemplates)];
}

/** Returns the messages of a template. A text is one message of the user. */
export function messagesIn(template: PromptTemplate): readonly TemplateMessage[] {
  return typeof template === 'string' ? [{ role: 'user', content: template }] : template;
}

/** Returns the texts of a template. */
export function textsIn(template: PromptTemplate): readonly string[] {
  return messagesIn(template).flatMap(({ content }) => content ?? []);
}

/** The parts of a configuration that contain templates. */
export type TemplateSource = Pick<LLMEvalConfig, 'counterfactual' | 'promptTemplates'>;

/** Returns the name of an unnamed template, given its index in the list of templates. */
export function templateName(index: number): string {
  return `template-${String(index + 1)}`;
}

/** Lists one layout for each pair of a template and a contrast that the template can vary. */
export function layoutsOf(source: TemplateSource): TemplateLayout[] {
  const { counterfactual } = source;
  const contrasts = counterfactual && { ...counterfactual, names: namePoolsOf(counterfactual), crossed: intersectionsOf(counterfactual) }; // prettier-ignore
  return namedTemplates(source).flatMap(([name, template]) => layoutsOfTemplate(name, template, contrasts));
}

/** The section `counterfactual`, with the names of its groups and its intersections. */
interface Contrasts extends CounterfactualConfig {
  readonly names: NamePools | null;
  readonly crossed: readonly (readonly string[])[];
}

/** Returns the number of different prompts of a layout. */
export function promptCount({ groups, others, names }: TemplateLayout): number {
  return others.reduce((product, [, crossed]) => product * crossed.length, Math.max(1, groups.length) * nameCount(names)); // prettier-ignore
}

/** Returns the number of names of each group; 1 if there are no names. */
export function nameCount(names: NamePools | null): number {
  return names?.count ?? 1;
}

/** Returns the key of an intersection in the keys of metrics. The names of dimensions cannot contain the sign. */
export function intersectionKey(dimensions: readonly string[]): string {
  return dimensions.join('*');
}

/**
 * Lists the intersections of a configuration: those of its list, and the dimensions of the name pools if these combine
 * several dimensions. The dimensions of each are in the order of the configuration.
 */
function intersectionsOf(counterfactual: CounterfactualConfig): string[][] {
  const pools = namePoolsOf(counterfactual)?.dimensions ?? [];
  const listed = [...(pools.length > 1 ? [pools] : []), ...(counterfactual.intersections ?? [])];
  const order = Object.keys(counterfactual.dimensions);
  const sorted = listed.map((names) => order.filter((name) => names.includes(name)));
  return [...new Map(sorted.map((names) => [intersectionKey(names), names])).values()];
}

function layoutsOfTemplate(
  template: string,
  given: PromptTemplate,
  counterfactual: Contrasts | null,
): TemplateLayout[] {
  const messages = messagesIn(given).map(({ role, content }) => ({
    role,
    parsed: content === undefined ? null : parseTemplate(content),
  }));
  const plain = { template, messages, others: [], names: null, substitutes: false };
  const placeholders = new Set(
    messages.flatMap(({ parsed }) => (parsed === null ? [] : placeholdersIn(parsed).map(({ dimension }) => dimension))),
  );
  const used = counterfactual === null ? [] : dimensionsIn(placeholders, counterfactual);
  if (counterfactual === null || used.length === 0) {
    const gender = counterfactual === null ? undefined : genderDimension(counterfactual, textsIn(given));
    if (gender === undefined) return [{ ...plain, dimension: null, groups: [] }];
    return [{ ...plain, dimension: gender[0], groups: groupsOf([gender]), substitutes: true }];
  }
  const { dimensions, defaults } = counterfactual;
  const names = placeholders.has(NAME) ? counterfactual.names : null;
  const crossed = counterfactual.crossed.filter((those) => those.every((name) => used.includes(name)));
  return [...used.map((name) => [name]), ...crossed].map((varied) => ({
    ...plain,
    dimension: intersectionKey(varied),
    groups: groupsOf(varied.map((name) => [name, dimensions[name] ?? []])),
    others: used
      .filter((other) => !varied.includes(other))
      .map((other) => [other, crossedValues(other, dimensions, defaults)]),
    names,
  }));
}

function groupsOf(varied: Parameters<typeof combinations>[0]): LayoutGroup[] {
  return combinations(varied).map((values) => ({ group: groupName(values), values }));
}

function crossedValues(
  dimension: string,
  dimensions: CounterfactualConfig['dimensions'],
  defaults: CounterfactualConfig['defaults'],
): readonly string[] {
  const fixed = Object.hasOwn(defaults, dimension) ? defaults[dimension] : undefined;
  return fixed === undefined ? (dimensions[dimension] ?? []) : [fixed];
}

/**
 * Lists the dimensions that a template uses, in the order in which the configuration declares them. A template with a
 * `{name}` placeholder also uses the dimensions whose values the names express.
 */
function dimensionsIn(placeholders: ReadonlySet<string>, counterfactual: Contrasts): string[] {
  const named = placeholders.has(NAME) ? (counterfactual.names?.dimensions ?? []) : [];
  return Object.keys(counterfactual.dimensions).filter((name) => placeholders.has(name) || named.includes(name));
}

/**
 * Returns the dimension that has exactly two values, one female and one male. Such a dimension is needed to vary a text
 * with gendered words.
 */
function genderDimension(
  { dimensions, language = 'en' }: CounterfactualConfig,
  texts: readonly string[],
): readonly [string, readonly string[]] | undefined {
  if (language !== 'en' || !texts.some(hasGenderedWords)) return undefined;
  return Object.entries(dimensions).find(
    ([, values]) =>
      values.length === 2 &&
      values
        .map((value) => pronounsOf(value))
        .sort()
        .join() === 'he,she',
  );
}
