import { z } from 'zod';

import { validateTableSchema } from '../../schemas/validate-table.ts';
import { componentSchemas } from './component-schemas.ts';
import type { ParameterObject, ReferenceObject, SchemaObject } from './open-api-types.ts';

/** Parameters that several operations have. */
export const PARAMETERS = {
  RunId: {
    name: 'run_id',
    in: 'path',
    required: true,
    description: 'The name of a run, as POST and GET /results tell it.',
    schema: { type: 'string', minLength: 1 },
    example: '0e37df36-f698-4c1f-b1f5-6d9d2bf7ad7b',
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`respond-async`: answer 202 at once and work on. `wait=10`: wait ten seconds for the result first. (RFC 7240)',
    // An example would be filled in where requests are tried out, and answer 202 in place of a result.
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A name of yours for this request, 1 to 255 printable characters without spaces. Sent again under the same name it is the same run, with `Idempotency-Replayed: true`; another request under it is refused with 422.',
    schema: { type: 'string', pattern: String.raw`^[\x21-\x7e]{1,255}$` },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The number of the last event that was seen; those after it are told.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const satisfies Readonly<Record<string, ParameterObject>>;

/** A parameter of the document. */
export function parameterRef(name: keyof typeof PARAMETERS): ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}

/** The options of a validation as parameters of the query. */
export function validateQueryParameters(): readonly ParameterObject[] {
  const { ValidateQuery: schema } = componentSchemas([validateTableSchema.meta({ id: 'ValidateQuery' })], 'input');
  const { properties } = z
    .object({ properties: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(schema);
  return Object.entries(properties).map(([name, property]) => toParameter(name, property));
}

/** None is required, and none has a default that would be filled in: with a JSON body the query stays empty. */
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
