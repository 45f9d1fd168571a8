/** A report as plain data in snake_case. */
export interface WireReport {
  readonly meta: unknown;
  readonly body: unknown;
}

/**
 * A value with the keys of its objects in snake_case; a number that JSON does
 * not have is null. Keys are names of ours; those of data stand in values alone.
 */
export function toWire(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [snakeCase(key), toWire(part as unknown)]));
}

/** adjustedPValue is adjusted_p_value. */
function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
