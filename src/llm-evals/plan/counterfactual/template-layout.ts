import type {
  CounterfactualConfig,
  LLMEvalConfig,
  PromptTemplate,
  TemplateMessage,
} from '../../../schemas/llm-eval/llm-eval-document.ts';
import { NAME, type ParsedTemplate, parseTemplate, type Placeholder, placeholdersIn } from './parse-template.ts';
import { pronounsOf } from './pronouns.ts';
import { hasGenderedWords } from './substitute-gender.ts';

/**
 * A template and the one dimension that its prompts vary. A template has one layout for each dimension that it uses.
 */
export interface TemplateLayout {
  /** The template's name. */
  readonly template: string;
  /** The messages of the template. A text is one message of the user. */
  readonly messages: readonly ParsedMessage[];
  /** The varied dimension; null if no dimension is varied. */
  readonly dimension: string | null;
  /** The values that are compared. */
  readonly values: readonly string[];
  /**
   * The other dimensions of the template, each with its values. A prompt is planned for every combination of these
   * values.
   */
  readonly others: readonly (readonly [dimension: string, values: readonly string[]])[];
  /**
   * The dimension whose values the prompts express by personal names; null if the template has no `{name}` placeholder.
   */
  readonly nameDimension: string | null;
  /** The number of names that each value has; 1 if there are no names. */
  readonly nameCount: number;
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
 * Lists templates as pairs of the name that plans use and the text or conversation. The unnamed templates come first as `template-1`
 * and so on, followed by the named templates.
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

/** Lists one layout for each pair of a template and a dimension that the template uses. */
export function layoutsOf(source: TemplateSource): TemplateLayout[] {
  return namedTemplates(source).flatMap(([name, template]) => layoutsOfTemplate(name, template, source.counterfactual));
}

/** Returns the number of different prompts of a layout. */
export function promptCount({ values, others, nameCount }: TemplateLayout): number {
  return others.reduce((product, [, crossed]) => product * crossed.length, Math.max(1, values.length) * nameCount);
}

/** Returns the dimension that has names for every value; null if there is no such dimension. */
function nameDimensionOf({ dimensions, namePools }: NameSource): string | null {
  const found = Object.entries(dimensions).find(([, values]) =>
    values.every((value) => Object.hasOwn(namePools, value)),
  );
  return found?.[0] ?? null;
}

type NameSource = Pick<CounterfactualConfig, 'dimensions' | 'namePools'>;

function layoutsOfTemplate(
  template: string,
  given: PromptTemplate,
  counterfactual: CounterfactualConfig | null,
): TemplateLayout[] {
  const messages = messagesIn(given).map(({ role, content }) => ({
    role,
    parsed: content === undefined ? null : parseTemplate(content),
  }));
  const placeholders = messages.flatMap(({ parsed }) => (parsed === null ? [] : placeholdersIn(parsed)));
  const plain = { template, messages, others: [], nameDimension: null, nameCount: 1, substitutes: false };
  const used = counterfactual === null ? [] : dimensionsIn(placeholders, counterfactual);
  if (counterfactual === null || used.length === 0) {
    const gender = counterfactual === null ? undefined : genderDimension(counterfactual, textsIn(given));
    return [{ ...plain, dimension: gender?.[0] ?? null, values: gender?.[1] ?? [], substitutes: gender !== undefined }];
  }
  const { dimensions, defaults, namePools } = counterfactual;
  const hasName = placeholders.some(({ dimension }) => dimension === NAME);
  const nameDimension = hasName ? nameDimensionOf(counterfactual) : null;
  const pools = nameDimension === null ? [] : (dimensions[nameDimension] ?? []).map((value) => namePools[value] ?? []);
  const nameCount = pools.length === 0 ? 1 : Math.min(...pools.map((pool) => pool.length));
  return used.map((dimension) => ({
    ...plain,
    dimension,
    values: dimensions[dimension] ?? [],
    others: used
      .filter((other) => other !== dimension)
      .map((other) => [other, crossedValues(other, dimensions, defaults)]),
    nameDimension,
    nameCount,
  }));
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
 * `{name}` placeholder also uses the dimension whose values the names express.
 */
function dimensionsIn(placeholders: readonly Placeholder[], counterfactual: CounterfactualConfig): string[] {
  const used = new Set(placeholders.map(({ dimension }) => dimension));
  const named = used.has(NAME) ? nameDimensionOf(counterfactual) : null;
  return Object.keys(counterfactual.dimensions).filter((name) => used.has(name) || name === named);
}

/**
 * Returns the dimension that has exactly two values, one female and one male. Such a dimension is needed to vary a text
 * with gendered words.
 */
function genderDimension(
  { dimensions }: CounterfactualConfig,
  texts: readonly string[],
): readonly [string, readonly string[]] | undefined {
  if (!texts.some(hasGenderedWords)) return undefined;
  return Object.entries(dimensions).find(
    ([, values]) => values.length === 2 && values.map(pronounsOf).sort().join() === 'he,she',
  );
}
