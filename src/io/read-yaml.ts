import type { Alias, Document, LineCounter, Node, Pair, Scalar, YAMLMap, YAMLParseError, YAMLSeq } from 'yaml';

/** The maximum number of resolved aliases; nested aliases count each time. */
const MAX_ALIASES = 100;

/** Returns a scalar as written. */
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
  readonly faults: YamlFault[] = [];
  readonly places: YamlPlaces = new WeakMap();
  private readonly yaml: typeof import('yaml');
  private readonly source: YamlNodeSource;
  private aliasCount = 0;

  constructor(source: YamlNodeSource) {
    this.yaml = source.yaml;
    this.source = source;
  }

  /** @param key the key of which the node is the value */
  read(node: unknown, key?: string): unknown {
    if (this.yaml.isAlias(node)) return this.readAlias(node, key);
    if (this.yaml.isMap(node)) return this.readMap(node);
    if (this.yaml.isSeq(node)) return this.readList(node);
    if (!this.yaml.isScalar(node) || node.value === null) return null;
    if (typeof node.value === 'object') {
      this.addFault(node, 'this is not a text, a number, true or false', 'Remove the tag that starts with !!.');
      return null;
    }
    return key !== undefined && this.source.textKeys.has(key) ? textOf(node) : node.value;
  }

  private readAlias(node: Alias, key: string | undefined): unknown {
    const target = ++this.aliasCount > MAX_ALIASES ? undefined : node.resolve(this.source.document);
    if (target !== undefined) return this.read(target, key);
    // One error is enough: further ones are its consequence.
    if (this.aliasCount <= MAX_ALIASES + 1) {
      this.addFault(
        node,
        this.aliasCount > MAX_ALIASES
          ? `there are more than ${String(MAX_ALIASES)} aliases`
          : `the alias '*${node.source}' has no anchor above it`,
        'Write the values out.',
      );
    }
    return null;
  }

  private readMap(node: YAMLMap): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    const places = new Map<string, EntryPlace>();
    for (const pair of node.items) {
      const key = this.readKey(pair);
      if (key === undefined) continue;
      const at = this.place(pair.key);
      const before = places.get(key);
      if (before !== undefined) {
        this.addFault(
          pair.key,
          `the key '${key}' occurs twice, first in line ${String(before.key.line)}`,
          'Keep one of the two.',
        );
        continue;
      }
      places.set(key, { written: key, key: at, ...this.valuePlace(pair.value, at) });
      entries.push([key, this.read(pair.value, key)]);
    }
    // Defines own properties, including a key __proto__.
    const mapping = Object.fromEntries(entries);
    this.places.set(mapping, { at: this.place(node), entries: places });
    return mapping;
  }

  private readList(node: YAMLSeq): unknown[] {
    const list = node.items.map((item) => this.read(item));
    const at = this.place(node);
    const entries = node.items.map((item, index): [number, EntryPlace] => {
      const own = this.yaml.isNode(item) ? this.place(item) : at;
      return [index, { written: index, key: own, ...this.valuePlace(item, own) }];
    });
    this.places.set(list, { at, entries: new Map(entries) });
    return list;
  }

  private readKey({ key }: Pair): string | undefined {
    if (this.yaml.isScalar(key) && key.value !== null) return textOf(key);
    this.addFault(key, 'a key must be a text', 'Write `key: value`.');
    return undefined;
  }

  /** Returns the position of a value; an empty value has the fallback position. */
  private valuePlace(node: unknown, fallback: TextPlace): Pick<EntryPlace, 'value' | 'source'> {
    if (!this.yaml.isNode(node)) return { value: fallback, source: null };
    if (!this.yaml.isScalar(node)) return { value: this.place(node), source: null };
    const isEmpty = node.value === null && (node.source ?? '') === '';
    return { value: isEmpty ? fallback : this.place(node), source: node.source ?? null };
  }

  private place(node: unknown): TextPlace {
    return placeAt(this.source.lines, (node as Node | null)?.range?.[0] ?? 0);
  }

  private addFault(node: unknown, message: string, suggestion: string): void {
    this.faults.push({ ...this.place(node), message, suggestion });
  }
}

/** Returns the position of a character. */
function placeAt(lines: LineCounter, offset: number): TextPlace {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

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

/** Options of {@link readYaml}. */
export interface ReadYamlOptions {
  /**
   * Keys whose scalars are read as text, as written: 1.0 stays '1.0'.
   * @defaultValue none
   */
  readonly textKeys?: readonly string[] | undefined;
}

/** The maximum number of anchors: the time of the parser grows with the square of their number. */
const MAX_ANCHORS = 100;

/**
 * Reads one YAML 1.2 document (JSON is valid YAML). Keys of mappings are always text, so that the labels 1, true and
 * `__proto__` are kept as written. `no` and `yes` are texts, as in YAML 1.2.
 */
export async function readYaml(text: string, { textKeys = [] }: ReadYamlOptions = {}): Promise<YamlDocument> {
  const crowded = findCrowd(text);
  if (crowded !== undefined) return withFaults([crowded]);
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  // Unique keys are checked by their text in the reader, since 1 and "1" are the same label. The fixed schema also
  // overrides a %YAML directive.
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    schema: 'core',
  });
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) return withFaults([faultOf(error, lines)]);
  const reader = new YamlNodeReader({ yaml, document, lines, textKeys: new Set(textKeys) });
  const value = reader.read(document.contents);
  return reader.faults.length > 0 ? withFaults(reader.faults) : { value, places: reader.places, faults: [] };
}

function withFaults(faults: readonly YamlFault[]): YamlDocument {
  return { value: null, places: new WeakMap(), faults };
}

function faultOf(error: YAMLParseError | Error, lines: LineCounter): YamlFault {
  const { code = '', pos = [0] } = error as Partial<YAMLParseError>;
  return { ...placeAt(lines, pos[0]), ...describeYamlError(code, error.message) };
}

/** Returns an error at the first anchor above the limit; undefined if there is none. */
function findCrowd(text: string): YamlFault | undefined {
  const extra = [...text.matchAll(/(?<![^\s,[{:-])&(?=[^\s])/g)][MAX_ANCHORS];
  if (extra === undefined) return undefined;
  const before = text.slice(0, extra.index);
  const place = { line: before.split('\n').length, column: extra.index - before.lastIndexOf('\n') };
  return {
    ...place,
    message: `there are more than ${String(MAX_ANCHORS)} anchors`,
    suggestion: 'Write the values out.',
  };
}

/** A position in a text; line and column count from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** The position of an entry of a mapping or list. */
export interface EntryPlace {
  /** The key as written. */
  readonly written: string | number;
  readonly key: TextPlace;
  /** The position of the value, or of the key if there is no value. */
  readonly value: TextPlace;
  /** A scalar as written; null for other values. */
  readonly source: string | null;
}

/** The positions of a mapping or list and its entries. */
interface ContainerPlaces {
  readonly at: TextPlace;
  readonly entries: ReadonlyMap<string | number, EntryPlace>;
}

/** The positions of all mappings and lists of a document, by the resulting object. */
export type YamlPlaces = WeakMap<object, ContainerPlaces>;

/** An error that prevents a text from being read. */
interface YamlFault extends TextPlace {
  readonly message: string;
  readonly suggestion: string;
}

/** A text as data, with the positions of its parts; `value` is null if there are errors. */
interface YamlDocument {
  readonly value: unknown;
  readonly places: YamlPlaces;
  readonly faults: readonly YamlFault[];
}
