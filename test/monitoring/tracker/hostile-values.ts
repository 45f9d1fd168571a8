/** Invalid values for any field of stored JSON. */
export const JUNK: readonly unknown[] = [null, -1, 1e300, 'x', [], {}, '', 1.5, true];

/** Returns a copy of a value as plain JSON. */
export function plain<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/**
 * Returns the paths of all fields of JSON. Of a list, only the first entries are included, since the others are of the
 * same kind.
 */
export function pathsOf(value: unknown, most = 3): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()].slice(0, most) : Object.keys(value);
  return keys.flatMap((key) => [
    [key],
    ...pathsOf((value as Record<string | number, unknown>)[key], most).map((path) => [key, ...path]),
  ]);
}

/** Returns JSON with a different value at a path. */
export function withField<Value>(json: Value, path: readonly (string | number)[], given: unknown): Value {
  const copy = plain(json);
  let part = copy as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) part = part[key] as Record<string | number, unknown>;
  part[path.at(-1) as string] = given;
  return copy;
}

/** Returns numbers as base64, as in snapshots. */
export function column(values: Float64Array | Int32Array | Uint8Array): string {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString('base64');
}
