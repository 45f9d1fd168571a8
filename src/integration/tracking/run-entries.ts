import type { MetricResult } from '../../metrics/index.ts';

/** The maximum length of an MLflow key. */
const MAX_KEY_LENGTH = 250;

/**
 * Returns a text as a valid MLflow key: letters, digits, `_`, `-`, `.`, spaces and single slashes between them, up to
 * 250 characters. All other characters become `_`.
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

/**
 * Returns the label of a group for use in a key. Slashes are replaced, because MLflow would interpret them as folders.
 */
function toKeyPart(label: string): string {
  return label.replaceAll('/', '_');
}

/**
 * Returns the key. If it is already used, a number is appended. Keys are compared without regard to case, because some
 * databases of MLflow servers ignore case.
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

/** Cuts a text to a length without splitting a surrogate pair. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}

/** The maximum lengths of values in MLflow. Older servers limit tags to a shorter length than newer servers. */
const MAX_PARAM_LENGTH = 6000;
const MAX_TAG_LENGTH = 5000;

/** A metric of a run: a name with a number. */
export interface MetricEntry {
  readonly key: string;
  readonly value: number;
}

/** A parameter or a tag of a run: a name with a text. */
export interface TextEntry {
  readonly key: string;
  readonly value: string;
}

/** The content of an MLflow run. */
export interface RunContent {
  readonly metrics: readonly MetricEntry[];
  readonly params: readonly TextEntry[];
  readonly tags: readonly TextEntry[];
}

/**
 * Collects the content of a run. Keys are converted to valid MLflow keys and stay distinct. The tag `evenhand.renamed`
 * maps changed keys to their original names.
 */
export class RunEntries {
  readonly #metrics: MetricEntry[] = [];
  readonly #params: TextEntry[] = [];
  readonly #tags: TextEntry[] = [];
  readonly #taken = { metric: new Set<string>(), param: new Set<string>(), tag: new Set<string>() };
  readonly #renamed = new Map<string, string>();

  /** Adds a number. A non-finite number becomes a tag with the reason, since servers reject non-finite numbers. */
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

/**
 * Adds a metric: its value under `name`, then `name.ci_low`, `name.ci_high`, `name.p_value`, `name.effect_size`,
 * `name.n`, and for each group `name.group.n` and `name.group.measure`. An undefined value or an excluded group becomes
 * a tag with the reason.
 * @param n the number of compared rows; by default, the number of rows in all groups
 */
export function addMetric(
  entries: RunEntries,
  name: string,
  result: MetricResult,
  n: number = Object.values(result.nPerGroup).reduce((sum, count) => sum + count, 0),
): void {
  entries.metric(name, result.value, result.undefinedReason);
  addInterval(entries, name, result);
  if (result.pValue !== null) entries.metric(`${name}.p_value`, result.pValue);
  if (result.effectSize !== null) entries.metric(`${name}.effect_size`, result.effectSize);
  entries.metric(`${name}.n`, n);
  addGroups(entries, name, result);
}

function addInterval(entries: RunEntries, name: string, { ci, ciLevel, ciMethod }: MetricResult): void {
  if (ci === null) return;
  entries.metric(`${name}.ci_low`, ci[0], 'the interval has no lower end');
  entries.metric(`${name}.ci_high`, ci[1], 'the interval has no upper end');
  if (ciLevel !== null) entries.tag(`${name}.ci_level`, String(ciLevel));
  if (ciMethod !== null) entries.tag(`${name}.ci_method`, ciMethod);
}

function addGroups(entries: RunEntries, name: string, { nPerGroup, perGroup, excluded }: MetricResult): void {
  for (const [group, count] of Object.entries(nPerGroup)) entries.metric(`${name}.${toKeyPart(group)}.n`, count);
  for (const [group, rates] of Object.entries(perGroup)) {
    for (const [measure, value] of Object.entries(rates)) {
      if (value !== null && value !== undefined) entries.metric(`${name}.${toKeyPart(group)}.${measure}`, value);
    }
  }
  for (const [group, { reason }] of Object.entries(excluded)) {
    entries.tag(`${name}.${toKeyPart(group)}.excluded`, reason);
  }
}
