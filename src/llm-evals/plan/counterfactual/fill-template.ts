import { mendArticle } from './article.ts';
import { capitalise } from './letter-case.ts';
import { NAME, type ParsedTemplate, type Placeholder } from './parse-template.ts';
import { type PronounForm, PRONOUNS, pronounsOf } from './pronouns.ts';

/** What is put into a template. */
export interface Filling {
  /** A value for each dimension that the template uses. */
  readonly values: ReadonlyMap<string, string>;
  /** From a name pool; null without pools, and where the template has no place for one. */
  readonly name: string | null;
}

/** A sentence starts here: at the beginning, after a full stop, or after an empty line; quotation marks may open. */
const SENTENCE_START = /(?:^|[.!?…]["'”’)\]]*\s+|\n[^\S\n]*\n\s*)["'“‘([*_]*$/u;

/** Ends like a sentence, and does not end one. */
const ABBREVIATION = /(?:^|[^\p{L}])(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|e\.g|i\.e|etc|no)\.\s+["'“‘(]*$/iu;

/** A template with everything put in: a and an fit what follows them, and a sentence starts with a capital. */
export function fillTemplate({ parts }: ParsedTemplate, filling: Filling): string {
  return parts.reduce<string>((before, part) => {
    if (typeof part === 'string') return before + part;
    const value = valueFor(part, filling);
    const isStart = SENTENCE_START.test(before) && !ABBREVIATION.test(before);
    return `${mendArticle(before, value)}${isStart ? capitalise(value) : value}`;
  }, '');
}

function valueFor({ dimension, form }: Placeholder, { values, name }: Filling): string {
  if (dimension === NAME && name !== null) return name;
  const value = values.get(dimension) ?? '';
  if (form === null) return value;
  // That the value has pronouns, and that there is such a form, was checked with the template.
  const pronouns = pronounsOf(value);
  return pronouns === undefined ? value : PRONOUNS[pronouns][form as PronounForm];
}
