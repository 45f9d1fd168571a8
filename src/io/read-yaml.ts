import type { Alias, Document, LineCounter, Node, Pair, Scalar, YAMLMap, YAMLParseError, YAMLSeq } from 'yaml';

/** Aliases followed at most; those inside what an alias stands for count each time. */
const MAX_ALIASES = 100;

/** A scalar as it is written. */
function textOf({ source, value }: Scalar): string {
  return source ?? (typeof value === 'string' ? value : JSON.stringify(value));
}

/** A parsed document, and what is needed to read it. */
interface YamlNodeSource {
  readonly yaml: typeof import('yaml');
  readonly document: Document;
  readonly lines: LineCounter;
  /** Keys whose scalars are their text. */
  readonly textKeys: ReadonlySet<string>;
}

/** Makes data of nodes, and notes where each stood. */
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

  /** @param key what the node is the value of */
  read(node: unknown, key?: string): unknown {
    if (this.yaml.isAlias(node)) return this.readAlias(node, key);
    if (this.yaml.isMap(node)) return this.readMap(node);
    if (this.yaml.isSeq(node)) return this.readList(node);
    if (!this.yaml.isScalar(node) || node.value === null) return null;
    if (typeof node.value === 'object') {
      this.addFault(node, 'this is no text, number or truth value', 'Leave out what starts with !!.');
      return null;
    }
    return key !== undefined && this.source.textKeys.has(key) ? textOf(node) : node.value;
  }

  private readAlias(node: Alias, key: string | undefined): unknown {
    const target = ++this.aliasCount > MAX_ALIASES ? undefined : node.resolve(this.source.document);
    if (target !== undefined) return this.read(target, key);
    // One fault is enough: those inside a repetition are its consequence.
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
          `the key '${key}' is there twice, first in line ${String(before.key.line)}`,
          'Keep one of the two.',
        );
        continue;
      }
      places.set(key, { written: key, key: at, ...this.valuePlace(pair.value, at) });
      entries.push([key, this.read(pair.value, key)]);
    }
    // Defines own properties, a key __proto__ too.
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

  /** An empty value has no place of its own. */
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

/** The place of a character. */
function placeAt(lines: LineCounter, offset: number): TextPlace {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

interface Description {
  readonly message: string;
  readonly suggestion: string;
}

const QUOTES = "Put the text in quotes: '…'.";

/** What goes wrong most often, in the words of who wrote the file. */
const KNOWN: Readonly<Partial<Record<string, Description>>> = {
  BAD_SCALAR_START: { message: 'a text cannot start with this character', suggestion: QUOTES },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second `key: value` stands where one value belongs',
    suggestion: "Indent it below its key, or put a text with ': ' in quotes.",
  },
  MISSING_CHAR: { message: 'a closing quote, bracket or colon is missing', suggestion: 'Close what is open.' },
  RESOURCE_EXHAUSTION: { message: 'this is nested too deeply', suggestion: 'Write it flat.' },
  MULTIPLE_DOCS: { message: 'a second document starts here', suggestion: 'Keep one document: remove the line ---.' },
  TAB_AS_INDENT: { message: 'a tab is used to indent', suggestion: 'Indent with spaces.' },
  TAG_RESOLVE_FAILED: { message: 'this tag is not known', suggestion: `Leave it out; or, if it is a text: ${QUOTES}` },
  UNEXPECTED_TOKEN: { message: 'this is not expected here', suggestion: QUOTES },
};

/** A parser's complaint in a sentence, and what to do. */
function describeYamlError(code: string, message: string): Description {
  const known = KNOWN[code];
  if (known !== undefined) return known;
  const [first = ''] = message.split(/ at line \d+|\n/);
  return {
    message: `this is no YAML: ${first.charAt(0).toLowerCase()}${first.slice(1).replace(/:$/, '')}`,
    suggestion: `Check indentation, brackets and quotes. ${QUOTES}`,
  };
}

/** Options of {@link readYaml}. */
export interface ReadYamlOptions {
  /**
   * Keys whose scalars are their text, as they are written: 1.0 stays '1.0'.
   * @defaultValue none
   */
  readonly textKeys?: readonly string[] | undefined;
}

/** Anchors at most: the time that a parser takes for a run of them grows with its square. */
const MAX_ANCHORS = 100;

/**
 * Reads one document of YAML 1.2 (JSON is one too). Keys of mappings are always
 * their text, so that the labels 1, true and `__proto__` are kept as written;
 * `no` and `yes` are texts, as YAML 1.2 has it.
 */
export async function readYaml(text: string, { textKeys = [] }: ReadYamlOptions = {}): Promise<YamlDocument> {
  const crowded = findCrowd(text);
  if (crowded !== undefined) return withFaults([crowded]);
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  // Keys are compared by their text here: 1 and "1" would be one label. The schema holds whatever a %YAML line says.
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

/** Finds the anchor that is one too many. */
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

/** A place in a text; both count from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** Where one entry of a mapping or list stands. */
export interface EntryPlace {
  /** The key as it is written. */
  readonly written: string | number;
  readonly key: TextPlace;
  /** The key's place where there is no value. */
  readonly value: TextPlace;
  /** A scalar as it is written; null for anything else. */
  readonly source: string | null;
}

/** Where a mapping or list and its entries stand. */
interface ContainerPlaces {
  readonly at: TextPlace;
  readonly entries: ReadonlyMap<string | number, EntryPlace>;
}

/** The places of every mapping and list of a document, by the object it became. */
export type YamlPlaces = WeakMap<object, ContainerPlaces>;

/** Something that keeps a text from being read. */
interface YamlFault extends TextPlace {
  readonly message: string;
  readonly suggestion: string;
}

/** A text as data, with the places of its parts; `value` is null where there are faults. */
interface YamlDocument {
  readonly value: unknown;
  readonly places: YamlPlaces;
  readonly faults: readonly YamlFault[];
}
