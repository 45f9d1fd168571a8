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

/** Splits a key or a tag into words: "shouldHire" and "should_hire" become "should hire". */
function keyWords(key: string): string {
  return key
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, ' ')
    .replaceAll(/[_.-]+/gu, ' ')
    .replaceAll(/\byes (?:or )?no\b/giu, ' ');
}

const JSON_START = /\{\s*(?:["'}]|[\p{L}_][\p{L}\p{N}_]*\s*:)|^\s*\[\s*["'{]|^\s*"(?=[^"\n]*"\s*$)/u;
const JSON_TOKEN = /\s*(?:([{}[\],:])|"((?:[^"\\]|\\.)*)"?|'((?:[^'\\]|\\.)*)'?|([^\s{}[\],:"']+))/uy;

/** The maximum depth of nested JSON that is parsed. `MAX_TAGS` is the maximum number of XML elements. */
const MAX_NESTED = 50;
const MAX_TAGS = 200;

/** Finds the decisions in the JSON of a text. Returns null if the text contains no JSON. */
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
  const named = path.filter((key, index) => index === 0 || !/^(?:value|text|content|label)$/iu.test(key));
  const last = named.at(-1);
  return last === undefined ? NEUTRAL : readLabel(keyWords(last));
}

/**
 * Parses the JSON at the start of a text, and returns its values with their keys. Also accepts truncated JSON, single
 * quotes, trailing commas, and dictionaries in Python's syntax.
 */
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

const TAG = /<(\/?)([\p{L}][\p{L}\p{N}_.-]*)((?:\s+[\p{L}_-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>/gu;
const ATTRIBUTE = /([\p{L}_-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gu;
const STYLE_TAG = /<\/?(?:p|b|i|u|em|strong|span|div|br|code|h[1-6])\b[^<>]*>/giu;

/** Finds the decisions in the XML elements and attributes of a text. */
function tagFields(text: string, read: ReadText): readonly DecisionField[] {
  const tags = [...text.matchAll(TAG)].slice(0, MAX_TAGS);
  return tags.flatMap((tag, index) => {
    const [all, slash, name = '', attributes = ''] = tag;
    const label = readLabel(keyWords(name));
    const fields = [...attributes.matchAll(ATTRIBUTE)].flatMap(([, key = '', double, single]) => {
      const named = readLabel(keyWords(key));
      return named === null ? [] : [fieldOf(named, double ?? single ?? '', read)];
    });
    if (label === null || fields.length > 0 || tag[4] === '/') return fields;
    // In an answer such as "No</answer>", the opening tag was in the prompt.
    if (slash === '/') return index === 0 ? [fieldOf(label, text.slice(0, tag.index), read)] : [];
    const next = tags[index + 1];
    if (next !== undefined && (next[1] === '' || next[2] !== name)) return [];
    return [fieldOf(label, text.slice(tag.index + all.length, next?.index), read)];
  });
}

/** Removes tags that only determine the style of text. */
function withoutStyleTags(text: string): string {
  return text.replaceAll(STYLE_TAG, ' ');
}

/**
 * The maximum number of characters of an answer that are parsed: half from its start and half from its end. This
 * maximum limits the computation time.
 */
const MAX_LETTERS = 20_000;

/** The maximum depth of labels inside the values of other labels, as in "Answer: Hire: No". */
const MAX_DEPTH = 3;

/**
 * Determines the decision of an answer. Returns 1 for yes (approve, hire, accept…) and 0 for no (deny, reject, do not
 * hire…). Returns null if the answer states no decision, or both decisions.
 *
 * Excludes reasoning in `<think>` and similar tags. Then searches the following parts, in this order: XML elements and
 * attributes, JSON (also in a code fence, after an introduction, or truncated), labelled lines, tables and check boxes,
 * and prose.
 *
 * A label names what is decided, and its value states the decision: "Hire: No" is 0. A negative label reverses yes and
 * no ("Rejected: yes" is 0, "Rejected: no" is 1). A verb has the same meaning for every label ("Loan approval: denied"
 * is 0). "Final decision" has precedence over other labels.
 *
 * The function never guesses. The function returns null for contradictory decisions, conditions ("if", "but not now"),
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
  // If the JSON contains no decision, only the text around the JSON is searched.
  const rest = json === null ? said : `${json.before}\n${json.after}`;
  const lines = lineFields(rest, read);
  return lines.fields.length > 0 ? agreeing(lines) : readPlain(lines.before);
}

/** Returns the decision of the fields. Returns null if the text around the fields states the opposite decision. */
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
/**
 * Matches reasoning with a missing tag. A missing opening tag was part of the prompt. A missing closing tag means that
 * the answer was truncated.
 */
const UNOPENED = new RegExp(`^[\\s\\S]*</${REASONING}>|^[\\s\\S]*\\bfinal<\\|message\\|>`, 'iu');
const UNCLOSED = new RegExp(`<${REASONING}>[\\s\\S]*$`, 'iu');

/** Removes the reasoning of a model, which some models put into tags before their answer. */
export function withoutReasoning(text: string): string {
  return text.replaceAll(CLOSED, ' ').replace(UNOPENED, ' ').replace(UNCLOSED, ' ');
}

const TEX = /\\(?:boxed|text|textbf|mathbf)\{([^{}]*)\}/gu;

/** Removes code fences, TeX, style tags and struck-out text. Keeps the content of code fences. */
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
