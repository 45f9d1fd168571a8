import type { Alias, Document, LineCounter, Node, Pair, Scalar, YAMLMap, YAMLParseError, YAMLSeq } from 'yaml';

/** The maximum number of resolved aliases. A nested alias counts each time that it is resolved. */
const MAX_ALIASES = 100;

/** Returns a scalar exactly as it is written in the text. */
function textOf({ source, value }: Scalar): string {
  return source ?? (typeof value === 'string' ? value : JSON.stringify(value));
}

/** A parsed document and the options to read it. */
interface YamlNodeSource {
  readonly yaml: typeof import('yaml');
  readonly document: Document;
  readonly lines: LineCounter;
  /** Keys whose scalars are read as text. */
  readonly textKeys: ReadonlySet<string>;
}

/** Converts nodes to data and records their positions. */
class YamlNodeReader {
  readonly faults: YamlProblem[] = [];
  readonly indices: YamlPositions = new WeakMap();
  private readonly source: YamlNodeSource;
  private aliasCount = 0;

  constructor(source: YamlNodeSource) {
    this.source = source;
  }

  /** @param key the key whose value is the node */
  read(node: unknown, key?: string): unknown {
    if (this.source.yaml.isAlias(node)) return this.readAlias(node, key);
    if (this.source.yaml.isMap(node)) return this.readMap(node);
    if (this.source.yaml.isSeq(node)) return this.readList(node);
    if (!this.source.yaml.isScalar(node) || node.value === null) return null;
    if (typeof node.value === 'object') {
      this.addProblem(node, 'this is not a text, a number, true or false', 'Remove the tag that starts with !!.');
      return null;
    }
    return key !== undefined && this.source.textKeys.has(key) ? textOf(node) : node.value;
  }

  private readAlias(node: Alias, key: string | undefined): unknown {
    const target = ++this.aliasCount > MAX_ALIASES ? undefined : node.resolve(this.source.document);
    if (target !== undefined) return this.read(target, key);
    // Only the first error about too many aliases is reported, because further aliases would repeat it.
    if (this.aliasCount <= MAX_ALIASES + 1) {
      this.addProblem(
        node,
        this.aliasCount > MAX_ALIASES
          ? `there are more than ${String(MAX_ALIASES)} aliases`
          : `the alias '*${node.source}' has no anchor above it`,
        'Write the values instead of aliases.',
      );
    }
    return null;
  }

  private readMap(node: YAMLMap): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    const indices = new Map<string, EntryPosition>();
    for (const pair of node.items) {
      const key = this.readKey(pair);
      if (key === undefined) continue;
      const at = this.slot(pair.key);
      const before = indices.get(key);
      if (before !== undefined) {
        this.addProblem(
          pair.key,
          `the key '${key}' occurs twice, first in line ${String(before.key.line)}`,
          'Keep one of the two.',
        );
        continue;
      }
      indices.set(key, { written: key, key: at, ...this.valuePlace(pair.value, at) });
      entries.push([key, this.read(pair.value, key)]);
    }
    // `Object.fromEntries` defines own properties, including a key __proto__.
    const mapping = Object.fromEntries(entries);
    this.indices.set(mapping, { at: this.slot(node), entries: indices });
    return mapping;
  }

  private readList(node: YAMLSeq): unknown[] {
    const list = node.items.map((item) => this.read(item));
    const at = this.slot(node);
    const entries = node.items.map((item, index): [number, EntryPosition] => {
      const own = this.source.yaml.isNode(item) ? this.slot(item) : at;
      return [index, { written: index, key: own, ...this.valuePlace(item, own) }];
    });
    this.indices.set(list, { at, entries: new Map(entries) });
    return list;
  }

  private readKey({ key }: Pair): string | undefined {
    if (this.source.yaml.isScalar(key) && key.value !== null) return textOf(key);
    this.addProblem(key, 'a key must be a text', 'Write `key: value`.');
    return undefined;
  }

  /** Returns the position of a value. For an empty value, returns the given alternative position. */
  private valuePlace(node: unknown, fallback: TextPosition): Pick<EntryPosition, 'value' | 'source'> {
    if (!this.source.yaml.isNode(node)) return { value: fallback, source: null };
    if (!this.source.yaml.isScalar(node)) return { value: this.slot(node), source: null };
    const isEmpty = node.value === null && (node.source ?? '') === '';
    return { value: isEmpty ? fallback : this.slot(node), source: node.source ?? null };
  }

  private slot(node: unknown): TextPosition {
    return positionAt(this.source.lines, (node as Node | null)?.range?.[0] ?? 0);
  }

  private addProblem(node: unknown, message: string, suggestion: string): void {
    this.faults.push({ ...this.slot(node), message, suggestion });
  }
}

/** Returns the position of a character. */
function positionAt(lines: LineCounter, offset: number): TextPosition {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** An error message, and how to fix the error. */
interface Description {
  readonly message: string;
  readonly suggestion: string;
}

const QUOTES = "Put the text in quotes: '…'.";

/** Messages for the most frequent errors. */
const KNOWN: Readonly<Partial<Record<string, Description>>> = {
  BAD_SCALAR_START: { message: 'a text cannot start with this character', suggestion: QUOTES },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second `key: value` follows where one value is expected',
    suggestion: "Indent it below its key, or put a text with ': ' in quotes.",
  },
  MISSING_CHAR: { message: 'a closing quote, bracket or colon is missing', suggestion: 'Add the missing character.' },
  RESOURCE_EXHAUSTION: { message: 'this is nested too deeply', suggestion: 'Use fewer levels.' },
  MULTIPLE_DOCS: { message: 'a second document starts here', suggestion: 'Keep one document: remove the line ---.' },
  TAB_AS_INDENT: { message: 'a tab is used to indent', suggestion: 'Indent with spaces.' },
  TAG_RESOLVE_FAILED: { message: 'this tag is not known', suggestion: `Remove it. If it is a text: ${QUOTES}` },
  UNEXPECTED_TOKEN: { message: 'this is not expected here', suggestion: QUOTES },
};

/** Describes an error of the parser in a sentence, with a suggestion. */
function describeYamlError(code: string, message: string): Description {
  const known = KNOWN[code];
  if (known !== undefined) return known;
  const [first = ''] = message.split(/ at line \d+|\n/);
  return {
    message: `this is not YAML: ${first.charAt(0).toLowerCase()}${first.slice(1).replace(/:$/, '')}`,
    suggestion: `Check indentation, brackets and quotes. ${QUOTES}`,
  };
}

/** The maximum number of anchors. The parser's time grows with the square of the number of anchors. */
const MAX_ANCHORS = 100;

/**
 * Reads one YAML 1.2 document (JSON is valid YAML). Keys of mappings are always text, so that the labels 1, true and
 * `__proto__` are kept as written. `no` and `yes` are texts, as in YAML 1.2. `textKeys` names keys whose scalars are
 * read as text, exactly as written: 1.0 stays '1.0'.
 */
export async function readYaml(
  text: string,
  options: { readonly textKeys?: readonly string[] } = {},
): Promise<YamlDocument> {
  const crowded = findCrowd(text);
  if (crowded !== undefined) return withProblems([crowded]);
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  // The reader checks that the texts of keys are unique, because 1 and "1" are the same label. The fixed schema also
  // overrides a %YAML directive.
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    schema: 'core',
  });
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) return withProblems([problemOf(error, lines)]);
  const reader = new YamlNodeReader({ yaml, document, lines, textKeys: new Set(options.textKeys) });
  const value = reader.read(document.contents);
  return reader.faults.length > 0 ? withProblems(reader.faults) : { value, indices: reader.indices, faults: [] };
}

function withProblems(problems: readonly YamlProblem[]): YamlDocument {
  return { value: null, indices: new WeakMap(), faults: problems };
}

function problemOf(error: YAMLParseError | Error, lines: LineCounter): YamlProblem {
  const { code = '', pos = [0] } = error as Partial<YAMLParseError>;
  return { ...positionAt(lines, pos[0]), ...describeYamlError(code, error.message) };
}

/** Returns an error at the first anchor above the limit; undefined if there is none. */
function findCrowd(text: string): YamlProblem | undefined {
  const extra = [...text.matchAll(/(?<![^\s,[{:-])&(?=[^\s])/g)][MAX_ANCHORS];
  if (extra === undefined) return undefined;
  const before = text.slice(0, extra.index);
  const index = { line: before.split('\n').length, column: extra.index - before.lastIndexOf('\n') };
  return {
    ...index,
    message: `there are more than ${String(MAX_ANCHORS)} anchors`,
    suggestion: 'Write the values instead of aliases.',
  };
}

/** A position in a text. The first line and the first column have the number 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** The position of an entry of a mapping or list. */
export interface EntryPosition {
  /** The key as written. */
  readonly written: string | number;
  readonly key: TextPosition;
  /** The position of the value, or of the key if there is no value. */
  readonly value: TextPosition;
  /** The scalar exactly as it is written in the text; null for other values. */
  readonly source: string | null;
}

/**
 * The positions of the entries of all mappings and lists of a document, by the object that was created for the mapping
 * or list.
 */
export type YamlPositions = WeakMap<
  object,
  { readonly at: TextPosition; readonly entries: ReadonlyMap<string | number, EntryPosition> }
>;

/** An error that prevents a text from being read. */
type YamlProblem = TextPosition & Description;

/** The data of a text, with the positions of its parts. `value` is null if there are errors. */
interface YamlDocument {
  readonly value: unknown;
  readonly indices: YamlPositions;
  readonly faults: readonly YamlProblem[];
}
