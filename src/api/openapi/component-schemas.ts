import { z } from 'zod';

import type { SchemaObject } from './open-api-types.ts';

/** Returns a reference to a schema of the document. */
export function schemaRef(id: string): SchemaObject {
  return { $ref: `#/components/schemas/${id}` };
}

/**
 * Returns schemas as components of the document, by the `id` of their metadata. Nested schemas become references.
 * @param io 'input' for request bodies, in which defaults may be omitted, or 'output' for answers
 */
export function componentSchemas(
  schemas: readonly z.ZodType[],
  io: 'input' | 'output',
): Readonly<Record<string, SchemaObject>> {
  // A separate registry, because the global one also contains schemas of configuration files.
  const registry = z.registry<{ id: string }>();
  for (const schema of schemas) registry.add(schema, { id: idOf(schema) });
  const { schemas: converted } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      leaveOutNoise(jsonSchema);
    },
  });
  return Object.fromEntries(
    Object.entries(converted).map(([id, schema]) => [id, withoutSchemaKeys(readableEverywhere(schema))]),
  );
}

/** Returns the name of a schema in the document. */
function idOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new TypeError('A schema of the document needs an id in its metadata.');
  return id;
}

/**
 * Removes `$schema` and `$id`, which would make each component a separate document with different references, and a
 * duplicate `id`.
 */
function withoutSchemaKeys({
  $schema: _schema,
  $id: _id,
  id: _name,
  ...schema
}: Record<string, unknown>): SchemaObject {
  return schema;
}

/** Removes redundant keywords: string keys, bounds of safe integers, and patterns that repeat a format. */
function leaveOutNoise(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.propertyNames !== undefined && isPlainText(schema.propertyNames)) delete schema.propertyNames;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.format === 'binary') delete schema.contentEncoding;
}

function isPlainText(schema: z.core.JSONSchema._JSONSchema): boolean {
  return typeof schema === 'object' && Object.keys(schema).length === 1 && schema.type === 'string';
}

/**
 * Removes patterns with Unicode classes, because not every language supports them. The service still checks them.
 */
function readableEverywhere(schema: unknown): Record<string, unknown> {
  const isHard = (key: string, value: unknown): boolean =>
    key === 'pattern' && typeof value === 'string' && /\\p\{/i.test(value);
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (isHard(key, value) ? undefined : value)),
  ) as Record<string, unknown>;
}
