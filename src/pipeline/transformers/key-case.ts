import { toCamelCase, toSnakeCase } from '../../internal/letter-case.ts';

/** An object with its own keys in snake_case, without those that are undefined; what they hold is left as it is. */
export function toSnakeCaseKeys(settings: object): Record<string, unknown> {
  return mapKeys(settings, toSnakeCase);
}

/** The way back from {@link toSnakeCaseKeys}. */
export function toCamelCaseKeys(params: object): Record<string, unknown> {
  return mapKeys(params, toCamelCase);
}

function mapKeys(from: object, nameOf: (key: string) => string): Record<string, unknown> {
  const entries = Object.entries(from) as [string, unknown][];
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[nameOf(key), value]])));
}
