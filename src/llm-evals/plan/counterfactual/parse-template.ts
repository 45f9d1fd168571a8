import { suggestNames } from '../../../internal/arguments.ts';
import type { CounterfactualConfig } from '../../../schemas/llm-eval/llm-eval-document.ts';
import { formsOf, type PronounConfig, pronounForms } from './pronouns.ts';

/** The content of a placeholder: a dimension's value, one of its pronouns, or a name. */
export interface Placeholder {
  /** The dimension, or `name`. */
  readonly dimension: string;
  /** The pronoun form that the placeholder requests; null if it requests the value itself. */
  readonly form: string | null;
  /** The placeholder as written. */
  readonly written: string;
}

/** A problem of a template. */
export interface TemplateProblem {
  readonly message: string;
  readonly suggestion: string;
}

/** A parsed template. The parts of a template are texts and placeholders. */
export interface ParsedTemplate {
  readonly parts: readonly (string | Placeholder)[];
  readonly problems: readonly TemplateProblem[];
}

/** The placeholder for a name from a pool. If there are no pools, a dimension may have this name. */
export const NAME = 'name';

/** Matches a literal brace, a placeholder, a single brace, or text without braces. */
const TOKEN = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/gu;

/** Parses a template. `{{` and `}}` are literal braces. */
export function parseTemplate(template: string): ParsedTemplate {
  const parts: (string | Placeholder)[] = [];
  const problems: TemplateProblem[] = [];
  for (const { 0: written, 1: inner, index } of template.matchAll(TOKEN)) {
    if (inner !== undefined) parts.push(placeholderOf(inner, written));
    else if (written === '{' || written === '}') problems.push(loneBrace(written, index));
    else parts.push(written === '{{' || written === '}}' ? written.charAt(0) : written);
  }
  return { parts: joinTexts(parts), problems };
}

/** Returns the placeholders of a template, in order. */
export function placeholdersIn({ parts }: ParsedTemplate): Placeholder[] {
  return parts.filter((part) => typeof part !== 'string');
}

function placeholderOf(inner: string, written: string): Placeholder {
  const [dimension = '', ...form] = inner.trim().split('.');
  return { dimension, form: form.length === 0 ? null : form.join('.'), written };
}

function loneBrace(written: string, index: number): TemplateProblem {
  const position = `the ${written} at character ${String(index + 1)}`;
  return written === '{'
    ? { message: `${position} is not closed`, suggestion: 'Close it with }, or write {{ for a brace.' }
    : { message: `${position} has no opening brace`, suggestion: 'Write }} for a brace.' };
}

/** Joins adjacent texts, so that the complete text before a placeholder is in one part. */
function joinTexts(parts: readonly (string | Placeholder)[]): (string | Placeholder)[] {
  const joined: (string | Placeholder)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

/** The dimensions and names that a template may use. */
type KnownWords = Pick<CounterfactualConfig, 'dimensions' | 'namePools' | 'nameSource'> & PronounConfig;

/**
 * Finds the problems that prevent a template from being filled: wrong braces, unknown placeholders, and values without
 * known pronouns.
 */
export function checkTemplate(template: string, known: KnownWords): TemplateProblem[] {
  const parsed = parseTemplate(template);
  const wrong = placeholdersIn(parsed).flatMap((placeholder) => checkPlaceholder(placeholder, known) ?? []);
  const problems = [...parsed.problems, ...wrong, ...checkBrackets(parsed, known), ...checkElision(parsed, known)];
  // A problem that occurs several times in a template is reported once.
  return [...new Map(problems.map((problem) => [problem.message, problem])).values()];
}

/** Finds dimensions in square brackets, which would be sent as they are. */
function checkBrackets({ parts }: ParsedTemplate, { dimensions }: KnownWords): TemplateProblem[] {
  const texts = parts.filter((part) => typeof part === 'string');
  return texts
    .flatMap((text) => [...text.matchAll(/\[\s*([^[\].]+?)((?:\.\w+)?)\s*\]/gu)])
    .flatMap(([written, dimension = '', form = '']) =>
      Object.hasOwn(dimensions, dimension)
        ? [
            {
              message: `${written} is not a placeholder and would be sent as it is`,
              suggestion: `Write {${dimension}${form}}.`,
            },
          ]
        : [],
    );
}

function checkPlaceholder({ dimension, form, written }: Placeholder, known: KnownWords): TemplateProblem | undefined {
  const names = Object.keys(known.dimensions);
  if (dimension === NAME && form === null && !names.includes(NAME)) return checkName(known);
  if (!names.includes(dimension)) return unknownPlaceholder(dimension, written, names);
  if (form === null) return undefined;
  return checkForm(form, { dimension, written }, known);
}

/** Checks that every value of the dimension has the form. */
function checkForm(
  form: string,
  { dimension, written }: Pick<Placeholder, 'dimension' | 'written'>,
  known: KnownWords,
): TemplateProblem | undefined {
  const forms = (value: string): Readonly<Record<string, string>> => pronounForms(value, known);
  const values = known.dimensions[dimension] ?? [];
  const without = values.find((value) => !Object.hasOwn(forms(value), form));
  if (without === undefined) return undefined;
  const ofAll = [...new Set([...formsOf(known), ...values.flatMap((value) => Object.keys(forms(value)))])];
  if (ofAll.includes(form)) {
    return {
      message: `${written} needs pronouns, but no ${Object.keys(forms(without)).length === 0 ? 'pronouns are' : `form '${form}' is`} known for '${without}'`,
      suggestion: `Use {${dimension}}, ${known.language === undefined || known.language === 'en' ? 'values such as woman, man and nonbinary person, ' : ''}or declare the form: pronouns: { ${without}: { ${form}: … } }.`,
    };
  }
  const agreeing = ofAll.filter((each) => each.startsWith(`${form}_`));
  if (agreeing.length === 0 || form !== 'possessive') {
    return { message: `${written} requests an unknown form`, suggestion: suggestNames(form, ofAll, 'forms') };
  }
  return {
    message: `${written} depends on the noun that follows, so the form must name its gender or number`,
    suggestion: `Use one of ${agreeing.map((each) => `{${dimension}.${each}}`).join(', ')}.`,
  };
}

/** The French forms that are shortened or replaced before a vowel. */
const ELIDED: Readonly<Record<string, string>> = {
  object: 'Write l’ without a placeholder: it is the same for all people.',
  reflexive: 'Write s’ without a placeholder: it is the same for all people.',
  possessive_f: 'Use {…possessive_m}: "son" is used before a vowel.',
};

/** Finds French forms before a vowel, where they have another form. An "h" is not checked, because it may be silent. */
function checkElision({ parts }: ParsedTemplate, { language, dimensions }: KnownWords): TemplateProblem[] {
  if (language !== 'fr') return [];
  return parts.flatMap((part, index) => {
    const next = parts[index + 1];
    if (typeof part === 'string' || typeof next !== 'string' || !Object.hasOwn(dimensions, part.dimension)) return [];
    const suggestion = ELIDED[part.form ?? ''];
    if (suggestion === undefined || !/^\s+[aeiouyàâäéèêëîïôöùûüœ]/iu.test(next)) return [];
    return [{ message: `${part.written} stands before a vowel, where it has another form`, suggestion }];
  });
}

function checkName({ namePools, nameSource }: KnownWords): TemplateProblem | undefined {
  // A published list without names for all groups is a problem of its own.
  if (nameSource !== undefined || Object.keys(namePools).length > 0) return undefined;
  return { message: '{name} needs name_pools', suggestion: 'Add name_pools: { woman: […], man: […] } to the section.' };
}

function unknownPlaceholder(dimension: string, written: string, names: readonly string[]): TemplateProblem {
  if (names.length === 0) {
    const suggestion = 'Add the section counterfactual with dimensions, or write {{ and }} for braces.';
    return { message: `${written} names no dimension, and no dimensions are defined`, suggestion };
  }
  const suggestion = `${suggestNames(dimension, [...new Set([...names, NAME])], 'placeholders')} For braces write {{ and }}.`;
  return { message: `${written} names no dimension`, suggestion };
}
