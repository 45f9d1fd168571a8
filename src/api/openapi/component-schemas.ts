import { z } from 'zod';

import type { SchemaObject } from './open-api-types.ts';

/** Where a schema of the document stands. */
export function schemaRef(id: string): SchemaObject {
  return { $ref: `#/components/schemas/${id}` };
}

/**
 * Schemas as the document's components, by the `id` of their metadata; those that hold each other refer to each other.
 * @param io whether they are what clients send, where defaults may be left out, or what they get
 */
export function componentSchemas(
  schemas: readonly z.ZodType[],
  io: 'input' | 'output',
): Readonly<Record<string, SchemaObject>> {
  // A registry of their own: the global one also has schemas of configuration files.
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

/** The name of a schema in the document. */
function idOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new TypeError('a schema of the document needs an id in its metadata');
  return id;
}

/** `$schema` and `$id` would make each component a document of its own, in which references mean something else; a second `id` means nothing. */
function withoutSchemaKeys({
  $schema: _schema,
  $id: _id,
  id: _name,
  ...schema
}: Record<string, unknown>): SchemaObject {
  return schema;
}

/** What says nothing to a reader: that keys are texts, that integers are safe ones, a format once more as a pattern. */
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

/** Without patterns that not every language can read, those with classes of Unicode; the service checks by them all the same. */
function readableEverywhere(schema: unknown): Record<string, unknown> {
  const isHard = (key: string, value: unknown): boolean =>
    key === 'pattern' && typeof value === 'string' && /\\p\{/i.test(value);
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (isHard(key, value) ? undefined : value)),
  ) as Record<string, unknown>;
}
