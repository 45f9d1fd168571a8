/** A mapping as it was given. */
export type Mapping = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object with keys: no list, no null. */
export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a text read as a JSON object, and undefined where it is none. */
export function parseObject(text: string): Mapping | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a finite number as it is, and null for NaN and infinities, which JSON does not have. */
export function finiteOrNull(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** Returns a number as it is, and null for NaN. */
export function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

/** Freezes a value and everything inside it, and returns it. */
export function freezeDeep<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freezeDeep);
  }
  return value;
}

/** Returns one text as a list of one, and a list as it is. */
export function listOf<Item extends string>(given: Item | readonly Item[]): readonly Item[] {
  return typeof given === 'string' ? [given] : given;
}

/** Returns the sum of numbers; 0 of none. */
export function sumOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let index = 0; index < values.length; index++) sum += values[index] as number;
  return sum;
}

/** Returns the mean of numbers; NaN of none. */
export function meanOf(values: ArrayLike<number>): number {
  return sumOf(values) / values.length;
}

/** Returns 1 / (1 + exp(-logit)). */
export function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** Returns a part of an address decoded, or as it is where its percent encoding is not valid. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the values of some rows, in the order given. */
export function takeValues(values: ArrayLike<number>, rows: Int32Array): Float64Array {
  return Float64Array.from(rows, (row) => values[row] as number);
}
