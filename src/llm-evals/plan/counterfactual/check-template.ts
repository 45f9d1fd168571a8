import { suggestNames } from '../../../internal/nearest.ts';
import type { CounterfactualConfig } from '../../../schemas/llm-eval/llm-eval-config.ts';
import { NAME, type Placeholder, parseTemplate, placeholdersIn, type TemplateFault } from './parse-template.ts';
import { PRONOUN_FORMS, pronounsOf } from './pronouns.ts';

/** What a template may put in. */
export type KnownWords = Pick<CounterfactualConfig, 'dimensions' | 'namePools'>;

/** What keeps a template from being filled: braces, placeholders that nothing is known of, values without pronouns. */
export function checkTemplate(template: string, known: KnownWords): TemplateFault[] {
  const parsed = parseTemplate(template);
  const wrong = placeholdersIn(parsed).flatMap((placeholder) => checkPlaceholder(placeholder, known) ?? []);
  const faults = [...parsed.faults, ...wrong];
  // A template that says the same wrong word five times has one fault.
  return [...new Map(faults.map((fault) => [fault.message, fault])).values()];
}

function checkPlaceholder({ dimension, form, written }: Placeholder, known: KnownWords): TemplateFault | undefined {
  const names = Object.keys(known.dimensions);
  if (dimension === NAME && form === null && !names.includes(NAME)) return checkName(known);
  if (!names.includes(dimension)) return unknownPlaceholder(dimension, written, names);
  if (form === null) return undefined;
  if (!PRONOUN_FORMS.some((each) => each === form)) {
    return { message: `${written} asks for an unknown form`, suggestion: suggestNames(form, PRONOUN_FORMS, 'forms') };
  }
  const without = known.dimensions[dimension]?.find((value) => pronounsOf(value) === undefined);
  if (without === undefined) return undefined;
  return {
    message: `${written} needs pronouns, and none are known for '${without}'`,
    suggestion: `Use {${dimension}}, or values such as woman, man and nonbinary person.`,
  };
}

function checkName({ namePools }: KnownWords): TemplateFault | undefined {
  if (Object.keys(namePools).length > 0) return undefined;
  return { message: '{name} needs name_pools', suggestion: 'Add name_pools: { woman: […], man: […] } to the section.' };
}

function unknownPlaceholder(dimension: string, written: string, names: readonly string[]): TemplateFault {
  if (names.length === 0) {
    const suggestion = 'Add the section counterfactual with dimensions, or write {{ and }} for braces.';
    return { message: `${written} names no dimension, and there are none`, suggestion };
  }
  const suggestion = `${suggestNames(dimension, [...new Set([...names, NAME])], 'placeholders')} For braces write {{ and }}.`;
  return { message: `${written} names no dimension`, suggestion };
}
