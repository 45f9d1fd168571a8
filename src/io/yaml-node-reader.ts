import type { Alias, Document, LineCounter, Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';

import type { EntryPlace, TextPlace, YamlFault, YamlPlaces } from './yaml-document.ts';

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
export class YamlNodeReader {
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
export function placeAt(lines: LineCounter, offset: number): TextPlace {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}
