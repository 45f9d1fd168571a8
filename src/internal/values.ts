/** An object with string keys and unknown values. */
export type Mapping = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object, and neither an array nor null. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a text as a JSON object; returns undefined if it is not one. */
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

/** Freezes a value and all values nested in it, and returns it. */
export function freezeDeep<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freezeDeep);
  }
  return value;
}

/** Returns a single text as a list of one, and a list unchanged. */
export function listOf<Item extends string>(given: Item | readonly Item[]): readonly Item[] {
  return typeof given === 'string' ? [given] : given;
}

/** Returns the sum of numbers; 0 if there are none. */
export function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index] as number;
  return sum;
}

/** Returns the mean of numbers; NaN if there are none. */
export function meanOf(values: ArrayLike<number>): number {
  return sumOf(values) / values.length;
}

/** Returns 1 / (1 + exp(-logit)). */
export function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** Decodes the percent encoding of a part of a URL; returns the part unchanged if the encoding is invalid. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the values of the given rows, in the given order. */
export function takeValues(values: ArrayLike<number>, rows: Int32Array): Float64Array {
  return Float64Array.from(rows, (row) => values[row] as number);
}

/** Returns the record's own value. Labels come from data and may have the name of an inherited property. */
export function own<T>(record: Readonly<Record<string, T>> | null | undefined, key: string): T | undefined {
  return record !== null && record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
