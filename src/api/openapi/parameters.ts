import { z } from 'zod';

import { validateTableSchema } from '../../schemas/validate-table.ts';
import { componentSchemas } from './component-schemas.ts';
import type { ParameterObject, ReferenceObject, SchemaObject } from './open-api-types.ts';

/** The parameters that several operations share. */
export const PARAMETERS = {
  RunId: {
    name: 'run_id',
    in: 'path',
    required: true,
    description: 'The ID of a run, as returned by POST and GET /results.',
    schema: { type: 'string', minLength: 1 },
    example: '0e37df36-f698-4c1f-b1f5-6d9d2bf7ad7b',
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`respond-async`: return 202 immediately and continue the run. `wait=10`: wait up to ten seconds for the result first. (RFC 7240)',
    // No example is given, because tools would fill it in and the response would be 202 instead of a result.
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Your key for this request: 1 to 255 printable characters without spaces. The same request with the same key returns the same run, with `Idempotency-Replayed: true`. A different request with this key is rejected with 422.',
    schema: { type: 'string', pattern: String.raw`^[\x21-\x7e]{1,255}$` },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The number of the last event received. Only later events are sent.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const satisfies Readonly<Record<string, ParameterObject>>;

/** Returns a reference to a parameter of the document. */
export function parameterRef(name: keyof typeof PARAMETERS): ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}

/** Returns the options of a validation as query parameters. */
export function validateQueryParameters(): readonly ParameterObject[] {
  const { ValidateQuery: schema } = componentSchemas([validateTableSchema.meta({ id: 'ValidateQuery' })], 'input');
  const { properties } = z
    .object({ properties: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(schema);
  return Object.entries(properties).map(([name, property]) => toParameter(name, property));
}

/**
 * Converts an option. With a JSON body, the query is empty. No option is therefore required, and no option has a
 * default that tools would fill in.
 */
function toParameter(
  name: string,
  { description, examples: _, default: ownDefault, ...schema }: SchemaObject,
): ParameterObject {
  const text = typeof description === 'string' ? description : name;
  return {
    name,
    in: 'query',
    description:
      ownDefault === undefined
        ? text
        : `${text} Default: ${typeof ownDefault === 'string' ? ownDefault : JSON.stringify(ownDefault)}.`,
    ...(schema['type'] === 'array' ? { style: 'form', explode: true } : {}),
    schema,
  };
}
