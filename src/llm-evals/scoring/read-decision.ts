import { type DecisionLabel, readLabel, readPlain } from './decision-labels.ts';
import {
  type DecisionField,
  fieldOf,
  type FoundFields,
  lineFields,
  NEUTRAL,
  type ReadText,
  resolveFields,
} from './decision-lines.ts';
import { laterStatements, readProse, type Stated } from './decision-prose.ts';

/** The words of a key or a tag: "shouldHire" and "should_hire" are "should hire". */
function keyWords(key: string): string {
  return key
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, ' ')
    .replaceAll(/[_.-]+/gu, ' ')
    .replaceAll(/\byes (?:or )?no\b/giu, ' ');
}

// JSON, also as models write it: fenced, cut short, with single quotes, with a comma at the end, or as Python prints it.

const JSON_START = /\{\s*(?:["'}]|[\p{L}_][\p{L}\p{N}_]*\s*:)|^\s*\[\s*["'{]|^\s*"(?=[^"\n]*"\s*$)/u;
const JSON_TOKEN = /\s*(?:([{}[\],:])|"((?:[^"\\]|\\.)*)"?|'((?:[^'\\]|\\.)*)'?|([^\s{}[\],:"']+))/uy;

/** JSON inside JSON, and elements, that are read; what has more is no answer. */
const MAX_NESTED = 50;
const MAX_TAGS = 200;

/** Finds the decisions in the JSON of a text; null where it holds no JSON. */
function jsonFields(text: string, read: ReadText): FoundFields | null {
  const start = JSON_START.exec(text)?.index;
  if (start === undefined) return null;
  const fields: DecisionField[] = [];
  let rest = text.slice(start);
  let between = '';
  for (let next: number | undefined = 0; next !== undefined; next = JSON_START.exec(rest)?.index) {
    between += rest.slice(0, next);
    rest = rest.slice(next);
    const { values, end } = jsonValues(rest);
    fields.push(...values.flatMap((value) => jsonField(value, read)));
    rest = rest.slice(Math.max(1, end));
  }
  return { fields, before: text.slice(0, start), after: between + rest };
}

interface JsonValue {
  readonly path: readonly string[];
  readonly text: string;
  readonly isQuoted: boolean;
}

function jsonField({ path, text, isQuoted }: JsonValue, read: ReadText): DecisionField[] {
  const label = labelOfPath(path);
  if (label === null) return [];
  if (!isQuoted && /^(?:null|none|undefined)$/iu.test(text)) return [{ rank: label.rank, stated: null }];
  return [fieldOf(label, text, read)];
}

function labelOfPath(path: readonly string[]): DecisionLabel | null {
  const named = path.filter((key, place) => place === 0 || !/^(?:value|text|content|label)$/iu.test(key));
  const last = named.at(-1);
  return last === undefined ? NEUTRAL : readLabel(keyWords(last));
}

/** The values of the JSON that a text begins with, each with its keys. */
function jsonValues(text: string): { readonly values: readonly JsonValue[]; readonly end: number } {
  const values: JsonValue[] = [];
  const open: string[][] = [];
  let path: string[] = [];
  let pending: { text: string; isQuoted: boolean } | null = null;
  let key: string | null = null;
  const flush = (): void => {
    if (pending !== null) values.push({ path: key === null ? path : [...path, key], ...pending });
    pending = null;
  };
  JSON_TOKEN.lastIndex = 0;
  let end = 0;
  for (let token = JSON_TOKEN.exec(text); token !== null; token = JSON_TOKEN.exec(text)) {
    end = JSON_TOKEN.lastIndex;
    const [, sign, double, single, bare = ''] = token;
    if (sign === '{' || sign === '[') {
      open.push(path);
      path = key === null ? path : [...path, key];
      key = null;
    } else if (sign === ':') {
      key = (pending as { text: string } | null)?.text ?? '';
      pending = null;
    } else if (sign === undefined) {
      const before: string = (pending as { text: string } | null)?.text ?? '';
      const quoted = double ?? single;
      pending = { text: quoted ?? `${before} ${bare}`.trim(), isQuoted: quoted !== undefined };
    } else {
      flush();
      if (sign !== ',') path = open.pop() ?? [];
      key = null;
    }
    if (open.length === 0 || open.length > MAX_NESTED) break;
  }
  flush();
  return { values, end };
}

// XML and HTML.

const TAG = /<(\/?)([\p{L}][\p{L}\p{N}_.-]*)((?:\s+[\p{L}_-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>/gu;
const ATTRIBUTE = /([\p{L}_-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gu;
const STYLE_TAG = /<\/?(?:p|b|i|u|em|strong|span|div|br|code|h[1-6])\b[^<>]*>/giu;

/** Finds the decisions in the elements and attributes of a text. */
function tagFields(text: string, read: ReadText): readonly DecisionField[] {
  const tags = [...text.matchAll(TAG)].slice(0, MAX_TAGS);
  return tags.flatMap((tag, place) => {
    const [all, slash, name = '', attributes = ''] = tag;
    const label = readLabel(keyWords(name));
    const fields = [...attributes.matchAll(ATTRIBUTE)].flatMap(([, key = '', double, single]) => {
      const named = readLabel(keyWords(key));
      return named === null ? [] : [fieldOf(named, double ?? single ?? '', read)];
    });
    if (label === null || fields.length > 0 || tag[4] === '/') return fields;
    // Of "No</answer>" the opening tag was in the prompt.
    if (slash === '/') return place === 0 ? [fieldOf(label, text.slice(0, tag.index), read)] : [];
    const next = tags[place + 1];
    if (next !== undefined && (next[1] === '' || next[2] !== name)) return [];
    return [fieldOf(label, text.slice(tag.index + all.length, next?.index), read)];
  });
}

/** Text without the tags that only style it. */
function withoutStyleTags(text: string): string {
  return text.replaceAll(STYLE_TAG, ' ');
}

/** Letters of an answer that are read, half of them from its end; what is between costs nothing. */
const MAX_LETTERS = 20_000;

/** Labels inside values of labels: "Answer: Hire: No". */
const MAX_DEPTH = 3;

/**
 * Reads the decision of an answer: 1 for yes (approve, hire, accept…), 0 for no (deny, reject, do not hire…), null where it
 * states neither, or both.
 *
 * Reasoning in `<think>` and the like is left out. Then, in this order: XML elements and attributes, JSON (also in a
 * fence, after a preamble, or cut short), labelled lines, tables and check boxes, and prose. Of a label and its value the
 * label names what is decided, and the value decides: "Hire: No" is 0. A yes under a negative label is a no ("Rejected:
 * yes" is 0, "Rejected: no" is 1); a deed is what it is under every label ("Loan approval: denied" is 0). "Final decision"
 * outranks other labels.
 *
 * What is not understood is null, never guessed: decisions that contradict each other, conditions ("if", "but not now"),
 * scores and probabilities, and languages other than English.
 */
export function readDecision(text: string): 0 | 1 | null {
  const stated = readText(text, MAX_DEPTH);
  return stated === null ? null : stated.isFor ? 1 : 0;
}

function readText(text: string, depth: number): Stated | null {
  if (depth === 0) return null;
  const read = (value: string): Stated | null => readText(value, depth - 1);
  const said = withoutMarkup(withoutReasoning(shortened(text)));
  const tags = tagFields(said, read);
  if (tags.length > 0) return resolveFields(tags);
  const json = jsonFields(said, read);
  if (json !== null && json.fields.length > 0) return agreeing({ ...json, after: '' });
  // JSON without a decision says nothing, and what stands around it may.
  const rest = json === null ? said : `${json.before}\n${json.after}`;
  const lines = lineFields(rest, read);
  return lines.fields.length > 0 ? agreeing(lines) : readPlain(lines.before);
}

/** What fields state, unless the text around them states the opposite. */
function agreeing({ fields, before, after }: FoundFields): Stated | null {
  const stated = resolveFields(fields);
  if (stated === null || fields.some(({ rank }) => rank === 3)) return stated;
  const around = [readProse(before), ...laterStatements(after)];
  return around.some((other) => other !== null && other.isFor !== stated.isFor) ? null : stated;
}

function shortened(text: string): string {
  const half = MAX_LETTERS / 2;
  return text.length <= MAX_LETTERS ? text : `${text.slice(0, half)}\n${text.slice(-half)}`;
}

const REASONING = '(?:think(?:ing)?|thoughts?|reason(?:ing)?|scratchpad|reflection|analysis|rationale)';
const CLOSED = new RegExp(`<(${REASONING})>[\\s\\S]*?</\\1>|\\[think\\][\\s\\S]*?\\[/think\\]`, 'giu');
/** Of a reasoning without its opening tag that tag was in the prompt; one without its closing tag was cut short. */
const UNOPENED = new RegExp(`^[\\s\\S]*</${REASONING}>|^[\\s\\S]*\\bfinal<\\|message\\|>`, 'iu');
const UNCLOSED = new RegExp(`<${REASONING}>[\\s\\S]*$`, 'iu');

function withoutReasoning(text: string): string {
  return text.replaceAll(CLOSED, ' ').replace(UNOPENED, ' ').replace(UNCLOSED, ' ');
}

const TEX = /\\(?:boxed|text|textbf|mathbf)\{([^{}]*)\}/gu;

/** Text without fences, TeX, tags of style and what is struck out; the content of fences stays. */
function withoutMarkup(text: string): string {
  return withoutStyleTags(text)
    .replaceAll(/<\|[^<>|]*\|>/gu, ' ')
    .replaceAll(/^[ \t]*(?:```|~~~)[ \t]*[\p{L}\d+-]*[ \t]*$/gmu, '')
    .replaceAll(/~~[^~\n]+~~/gu, ' ')
    .replaceAll(/`+/gu, '')
    .replaceAll(TEX, '$1')
    .replaceAll(TEX, '$1')
    .replaceAll('$', '')
    .trim();
}
