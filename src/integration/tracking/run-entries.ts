import { cut, freeKey, toEntryKey } from './entry-key.ts';

/** The longest values that MLflow takes; older servers take less of a tag than newer ones. */
const LONGEST_PARAM = 6000;
const LONGEST_TAG = 5000;

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
    this.#params.push({ key: this.#key('param', name), value: cut(String(value), LONGEST_PARAM) });
  }

  tag(name: string, value: string): void {
    this.#tags.push({ key: this.#key('tag', name), value: cut(value, LONGEST_TAG) });
  }

  content(): RunContent {
    const renamed =
      this.#renamed.size === 0
        ? []
        : [{ key: 'evenhand.renamed', value: cut(JSON.stringify(Object.fromEntries(this.#renamed)), LONGEST_TAG) }];
    return Object.freeze({ metrics: this.#metrics, params: this.#params, tags: [...this.#tags, ...renamed] });
  }

  #key(kind: 'metric' | 'param' | 'tag', name: string): string {
    const key = freeKey(toEntryKey(name), this.#taken[kind]);
    if (key !== name) this.#renamed.set(key, name);
    return key;
  }
}
