import { z } from 'zod';

import { toCamelCase, toSnakeCase } from '../../internal/arguments.ts';
import type { Mapping } from '../../internal/values.ts';

/**
 * Converts the names of those keys that a schema declares to camelCase. Other keys, such as the names of groups, are
 * not changed.
 */
export function paramsToCamelCase(params: Mapping, schema: z.ZodObject): Mapping {
  return renameDeclared(params, schema, toCamelCase, (name) => name);
}

/** Reverses {@link paramsToCamelCase}. */
export function paramsToSnakeCase(params: Mapping, schema: z.ZodObject): Mapping {
  return renameDeclared(params, schema, toSnakeCase, toSnakeCase);
}

function renameDeclared(
  params: Mapping,
  schema: z.ZodObject,
  rename: (name: string) => string,
  declaredName: (name: string) => string,
): Mapping {
  const entries = Object.entries(params).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const inner = objectIn(schema.shape[declaredName(name)]);
      const isDeclared = inner !== undefined && typeof value === 'object' && value !== null;
      return [rename(name), isDeclared ? renameDeclared(value as Mapping, inner, rename, declaredName) : value];
    }),
  );
}

/** Returns the schema of a mapping with declared keys, without `optional`; undefined for other schemas. */
function objectIn(schema: unknown): z.ZodObject | undefined {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  return inner instanceof z.ZodObject ? inner : undefined;
}
