/** The longest key that MLflow takes. */
const MAX_KEY_LENGTH = 250;

/**
 * A text as a key that MLflow takes: letters, digits, `_`, `-`, `.`, spaces and
 * single slashes between, up to 250 characters. Everything else becomes `_`.
 */
export function toEntryKey(text: string): string {
  const parts = text
    .replaceAll(/[^\p{L}\p{N}_.\- /]/gu, '_')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => (part === '.' || part === '..' ? '_' : part));
  const key = cut(parts.join('/').replace(/^\.\./, '_'), MAX_KEY_LENGTH);
  return key === '' ? '_' : key.replace(/\/$/, '_');
}

/** A group's label as a part of a key: a slash would make a folder of it. */
export function toKeyPart(label: string): string {
  return label.replaceAll('/', '_');
}

/**
 * The key itself, or with a number where it is taken. Upper and lower case
 * count as one, as they do in some of the databases behind a server.
 */
export function freeKey(key: string, taken: Set<string>): string {
  let free = key;
  for (let number = 2; taken.has(free.toLowerCase()); number++) {
    const ending = `_${String(number)}`;
    free = `${cut(key, MAX_KEY_LENGTH - ending.length)}${ending}`;
  }
  taken.add(free.toLowerCase());
  return free;
}

/** The beginning of a text, with no half of a character at its end. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}

/** The longest values that MLflow takes; older servers take less of a tag than newer ones. */
const MAX_PARAM_LENGTH = 6000;
const MAX_TAG_LENGTH = 5000;

/** A number of a run. */
export interface MetricEntry {
  readonly key: string;
  readonly value: number;
}

/** A text of a run: a parameter or a tag. */
export interface TextEntry {
  readonly key: string;
  readonly value: string;
}

/** What a run is to hold, in MLflow's terms. */
export interface RunContent {
  readonly metrics: readonly MetricEntry[];
  readonly params: readonly TextEntry[];
  readonly tags: readonly TextEntry[];
}

/**
 * Collects what a run is to hold. Keys become ones that MLflow takes, and stay
 * apart where that would make two of them alike; the tag `evenhand.renamed`
 * then says what they stand for.
 */
export class RunEntries {
  readonly #metrics: MetricEntry[] = [];
  readonly #params: TextEntry[] = [];
  readonly #tags: TextEntry[] = [];
  readonly #taken = { metric: new Set<string>(), param: new Set<string>(), tag: new Set<string>() };
  readonly #renamed = new Map<string, string>();

  /** Adds a number; one that is not finite, which no server takes, becomes a tag with the reason. */
  metric(name: string, value: number, reason: string | null = null): void {
    if (!Number.isFinite(value)) {
      this.tag(`${name}.undefined`, reason ?? `the value is ${String(value)}`);
      return;
    }
    this.#metrics.push({ key: this.#key('metric', name), value });
  }

  param(name: string, value: string | number | boolean): void {
    this.#params.push({ key: this.#key('param', name), value: cut(String(value), MAX_PARAM_LENGTH) });
  }

  tag(name: string, value: string): void {
    this.#tags.push({ key: this.#key('tag', name), value: cut(value, MAX_TAG_LENGTH) });
  }

  content(): RunContent {
    const renamed =
      this.#renamed.size === 0
        ? []
        : [{ key: 'evenhand.renamed', value: cut(JSON.stringify(Object.fromEntries(this.#renamed)), MAX_TAG_LENGTH) }];
    return Object.freeze({ metrics: this.#metrics, params: this.#params, tags: [...this.#tags, ...renamed] });
  }

  #key(kind: 'metric' | 'param' | 'tag', name: string): string {
    const key = freeKey(toEntryKey(name), this.#taken[kind]);
    if (key !== name) this.#renamed.set(key, name);
    return key;
  }
}
