/** An object with string keys and unknown values. */
export type Mapping = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object other than an array or null. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a value is an object without a class, such as `{}`. */
export function isPlainObject(value: unknown): value is Mapping {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns the value at a path of own property keys; undefined if the path does not exist. */
export function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, part);
    return isThere ? (value as Record<PropertyKey, unknown>)[part] : undefined;
  }, root);
}

/** Returns whether a value is a string that contains a finite number. */
export function isNumberText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
}

/** Parses a text as a JSON object. Returns undefined if the text is not a JSON object. */
export function parseObject(text: string): Mapping | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a finite number unchanged, and null for NaN and infinities, which JSON does not have. */
export function finiteOrNull(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** Returns a number unchanged, and null for NaN. */
export function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

/** Deeply freezes a value and returns it. */
export function freezeDeep<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const own of Object.values(value)) freezeDeep(own);
  }
  return value;
}

/** Returns the fields of an object that are not undefined. */
export function withoutUndefined(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Wraps a single text in a list, and returns a list unchanged. */
export function listOf<Item extends string>(given: Item | readonly Item[]): readonly Item[] {
  return typeof given === 'string' ? [given] : given;
}

/** Groups values by a key, in the order in which the keys first occur. */
export function groupBy<Value, Key>(values: Iterable<Value>, keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Counts values by a key, in the order in which the keys first occur. */
export function countBy<Value>(values: Iterable<Value>, keyOf: (value: Value) => string): Record<string, number> {
  return Object.fromEntries(Array.from(groupBy(values, keyOf), ([key, those]) => [key, those.length]));
}

/** Returns a function that computes its result once for each object, which must not change. */
export function oncePerObject<Key extends object, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const known = new WeakMap<Key, { readonly result: Result }>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found.result;
    const result = compute(key);
    known.set(key, { result });
    return result;
  };
}

/** Returns the sum of numbers; 0 for an empty list. */
export function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index] as number;
  return sum;
}

/** Returns the dot product of two vectors of equal length. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return sum;
}

/** Returns the mean of numbers; NaN for an empty list. */
export function meanOf(values: ArrayLike<number>): number {
  return sumOf(values) / values.length;
}

/** Returns 1 / (1 + exp(-logit)). */
export function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** Decodes a percent-encoded part of a URL. Returns the part unchanged if the encoding is invalid. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the values of the given rows, in the given order. */
export function takeValues(values: ArrayLike<number>, rows: ArrayLike<number>): Float64Array {
  return Float64Array.from(rows, (row) => values[row] as number);
}

/**
 * Returns an own property of a record. Inherited properties are ignored, because a label from the data may have the
 * same name as such a property.
 */
export function own<T>(record: Readonly<Record<string, T>> | null | undefined, key: string): T | undefined {
  return record !== null && record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Escapes a text so that a regular expression matches it literally. Escapes nothing else, because expressions with the
 * flag u reject needless escapes such as that of a hyphen.
 */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/**
 * Parses JSON. Returns undefined if the text is not JSON. The error of the parser is discarded, because it would quote
 * the text.
 */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
