import type { CounterfactualConfig, LLMEvalConfig } from '../../../schemas/llm-eval/llm-eval-document.ts';
import { NAME, type ParsedTemplate, parseTemplate, placeholdersIn } from './parse-template.ts';
import { pronounsOf } from './pronouns.ts';
import { hasGenderedWords } from './substitute-gender.ts';

/** A template, with what is varied in it: one layout for each dimension that it uses. */
export interface TemplateLayout {
  /** The template's name. */
  readonly template: string;
  readonly text: string;
  readonly parsed: ParsedTemplate;
  /** null where nothing is varied. */
  readonly dimension: string | null;
  /** The values that are compared. */
  readonly values: readonly string[];
  /** Other dimensions that the template uses, with the values that are crossed. */
  readonly others: readonly (readonly [dimension: string, values: readonly string[]])[];
  /** The dimension that names stand for; null where the template has no place for one. */
  readonly nameDimension: string | null;
  /** How many names are tried, in each value the one at the same place; 1 where there are none. */
  readonly nameCount: number;
  /** Whether gendered words are exchanged, and no placeholders filled. */
  readonly substitutes: boolean;
}

/** Texts by the names that they have in plans: template-1 and so on, then those that have names. */
export function namedTemplates({ counterfactual, promptTemplates }: TemplateSource): (readonly [string, string])[] {
  const numbered = (counterfactual?.template ?? []).map((text, index) => [templateName(index), text] as const);
  return [...numbered, ...Object.entries(promptTemplates)];
}

/** What the templates of a configuration are read from. */
export type TemplateSource = Pick<LLMEvalConfig, 'counterfactual' | 'promptTemplates'>;

/** What the template at a place of the list is called. */
export function templateName(index: number): string {
  return `template-${String(index + 1)}`;
}

/** Every template with every dimension that it uses. */
export function layoutsOf(source: TemplateSource): TemplateLayout[] {
  return namedTemplates(source).flatMap(([name, text]) => layoutsOfTemplate(name, text, source.counterfactual));
}

/** How many different prompts a layout comes to. */
export function promptCount({ values, others, nameCount }: TemplateLayout): number {
  return others.reduce((product, [, crossed]) => product * crossed.length, Math.max(1, values.length) * nameCount);
}

/** The dimension whose every value has names; null where there is none. */
function nameDimensionOf({ dimensions, namePools }: NameSource): string | null {
  const found = Object.entries(dimensions).find(([, values]) =>
    values.every((value) => Object.hasOwn(namePools, value)),
  );
  return found?.[0] ?? null;
}

type NameSource = Pick<CounterfactualConfig, 'dimensions' | 'namePools'>;

function layoutsOfTemplate(
  template: string,
  text: string,
  counterfactual: CounterfactualConfig | null,
): TemplateLayout[] {
  const parsed = parseTemplate(text);
  const plain = { template, text, parsed, others: [], nameDimension: null, nameCount: 1, substitutes: false };
  const used = counterfactual === null ? [] : dimensionsIn(parsed, counterfactual);
  if (counterfactual === null || used.length === 0) {
    const gender = counterfactual === null ? undefined : genderDimension(counterfactual, text);
    return [{ ...plain, dimension: gender?.[0] ?? null, values: gender?.[1] ?? [], substitutes: gender !== undefined }];
  }
  const { dimensions, defaults, namePools } = counterfactual;
  const hasName = placeholdersIn(parsed).some(({ dimension }) => dimension === NAME);
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

/** Dimensions in their declared order; names use the one that they stand for. */
function dimensionsIn(parsed: ParsedTemplate, counterfactual: CounterfactualConfig): string[] {
  const placeholders = new Set(placeholdersIn(parsed).map(({ dimension }) => dimension));
  const named = placeholders.has(NAME) ? nameDimensionOf(counterfactual) : null;
  return Object.keys(counterfactual.dimensions).filter((name) => placeholders.has(name) || name === named);
}

/** A dimension of just a female and a male value, for a text whose words have a gender. */
function genderDimension(
  { dimensions }: CounterfactualConfig,
  text: string,
): readonly [string, readonly string[]] | undefined {
  if (!hasGenderedWords(text)) return undefined;
  return Object.entries(dimensions).find(
    ([, values]) => values.length === 2 && values.map(pronounsOf).sort().join() === 'he,she',
  );
}
