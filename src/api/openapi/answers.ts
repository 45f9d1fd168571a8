import { schemaRef } from './component-schemas.ts';
import type { MediaTypeObject, ReferenceObject, ResponseObject, SchemaObject } from './open-api-types.ts';

/** Headers of answers. */
export const HEADERS = {
  RequestId: {
    description: "The client's X-Request-Id, or a name of ours: what the logs call this request.",
    schema: { type: 'string' },
  },
  Worker: { description: 'The process that answered.', schema: { type: 'string' } },
  Location: { description: 'Where the result will be.', schema: { type: 'string' } },
  PreferenceApplied: { description: '`respond-async` where the client asked for it.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: '`true` where the request was sent before under this Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  RetryAfter: { description: 'Seconds after which to try again.', schema: { type: 'integer', minimum: 0 } },
  RateLimitLimit: { description: 'Requests a minute, where there is a limit.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests that are left of them.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'Seconds until the allowance is whole again.', schema: { type: 'integer' } },
  Accept: { description: 'The types that are taken.', schema: { type: 'string' } },
  Authenticate: { description: 'How to show a key.', schema: { type: 'string' } },
} as const satisfies Readonly<Record<string, { readonly description: string; readonly schema: SchemaObject }>>;

/** The names under which headers are sent. */
const WIRE_NAMES: Readonly<Record<keyof typeof HEADERS, string>> = {
  RequestId: 'x-request-id',
  Worker: 'x-evenhand-worker',
  Location: 'Location',
  PreferenceApplied: 'Preference-Applied',
  IdempotencyReplayed: 'Idempotency-Replayed',
  RetryAfter: 'Retry-After',
  RateLimitLimit: 'RateLimit-Limit',
  RateLimitRemaining: 'RateLimit-Remaining',
  RateLimitReset: 'RateLimit-Reset',
  Accept: 'Accept',
  Authenticate: 'WWW-Authenticate',
};

const EVERYWHERE = ['RequestId', 'Worker', 'RateLimitLimit', 'RateLimitRemaining', 'RateLimitReset'] as const;

/** Headers of one answer: those of every answer, and more. */
export function headersOf(...more: readonly (keyof typeof HEADERS)[]): Readonly<Record<string, ReferenceObject>> {
  return Object.fromEntries(
    [...EVERYWHERE, ...more].map((name) => [WIRE_NAMES[name], { $ref: `#/components/headers/${name}` }]),
  );
}

/** An answer by media types. */
export function answer(
  description: string,
  content: Readonly<Record<string, MediaTypeObject>>,
  ...headers: readonly (keyof typeof HEADERS)[]
): ResponseObject {
  return { description, headers: headersOf(...headers), content };
}

/** An answer in JSON. */
export function jsonAnswer(
  description: string,
  schemaId: string,
  ...headers: readonly (keyof typeof HEADERS)[]
): ResponseObject {
  return answer(description, { 'application/json': { schema: schemaRef(schemaId) } }, ...headers);
}

/** A body that is text. */
export const TEXT: MediaTypeObject = { schema: { type: 'string' } };

/** A stream of events. OpenAPI 3.1 cannot describe one, and tools differ in what they take a schema here to be of. */
export const EVENTS: MediaTypeObject = {};

/** A body that is bytes. OpenAPI 3.1 would do without a schema, but then tools offer no way to choose a file. */
export const BYTES: MediaTypeObject = { schema: { type: 'string', format: 'binary' } };
