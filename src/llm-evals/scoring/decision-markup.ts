import { type DecisionField, fieldOf, type FoundFields, NEUTRAL, type ReadText } from './decision-fields.ts';
import { type DecisionLabel, readLabel } from './decision-labels.ts';

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
export function jsonFields(text: string, read: ReadText): FoundFields | null {
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
export function tagFields(text: string, read: ReadText): readonly DecisionField[] {
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
export function withoutStyleTags(text: string): string {
  return text.replaceAll(STYLE_TAG, ' ');
}
