/** What is put in: a dimension's value, one of its pronouns, or a name. */
export interface Placeholder {
  /** The dimension, or `name`. */
  readonly dimension: string;
  /** The form asked for, as it is written; null for the value itself. */
  readonly form: string | null;
  /** As it is written. */
  readonly written: string;
}

/** Something that is wrong with a template. */
export interface TemplateFault {
  readonly message: string;
  readonly suggestion: string;
}

/** A template in parts: texts, and what is put in between them. */
export interface ParsedTemplate {
  readonly parts: readonly (string | Placeholder)[];
  readonly faults: readonly TemplateFault[];
}

/** The placeholder for a first name of a pool; without pools a dimension may be called so. */
export const NAME = 'name';

/** A literal brace, a placeholder, a brace alone, or text without braces. */
const TOKEN = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/gu;

/** Reads a template; `{{` and `}}` are braces. */
export function parseTemplate(template: string): ParsedTemplate {
  const parts: (string | Placeholder)[] = [];
  const faults: TemplateFault[] = [];
  for (const { 0: written, 1: inner, index } of template.matchAll(TOKEN)) {
    if (inner !== undefined) parts.push(placeholderOf(inner, written));
    else if (written === '{' || written === '}') faults.push(loneBrace(written, index));
    else parts.push(written === '{{' || written === '}}' ? written.charAt(0) : written);
  }
  return { parts: joinTexts(parts), faults };
}

/** The placeholders of a template, in order. */
export function placeholdersIn({ parts }: ParsedTemplate): Placeholder[] {
  return parts.filter((part) => typeof part !== 'string');
}

function placeholderOf(inner: string, written: string): Placeholder {
  const [dimension = '', ...form] = inner.trim().split('.');
  return { dimension, form: form.length === 0 ? null : form.join('.'), written };
}

function loneBrace(written: string, index: number): TemplateFault {
  const place = `the ${written} at character ${String(index + 1)}`;
  return written === '{'
    ? { message: `${place} is not closed`, suggestion: 'Close it with }, or write {{ for a brace.' }
    : { message: `${place} closes nothing`, suggestion: 'Write }} for a brace.' };
}

/** Texts side by side as one, so that what stands before a placeholder is whole. */
function joinTexts(parts: readonly (string | Placeholder)[]): (string | Placeholder)[] {
  const joined: (string | Placeholder)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}
