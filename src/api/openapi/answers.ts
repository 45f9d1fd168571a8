import { schemaRef } from './component-schemas.ts';
import type { MediaTypeObject, ReferenceObject, ResponseObject, SchemaObject } from './open-api-types.ts';

/** The headers of answers. */
export const HEADERS = {
  RequestId: {
    description: "The client's X-Request-Id, or a generated ID. The logs contain it.",
    schema: { type: 'string' },
  },
  Worker: { description: 'The process that answered.', schema: { type: 'string' } },
  Location: { description: 'The path of the result.', schema: { type: 'string' } },
  PreferenceApplied: { description: '`respond-async` if the client requested it.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: '`true` if the request was sent before with this Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  RetryAfter: {
    description: 'The number of seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimitLimit: {
    description: 'The number of requests allowed per minute, if there is a limit.',
    schema: { type: 'integer' },
  },
  RateLimitRemaining: { description: 'The number of requests left.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'The number of seconds until the limit is reset.', schema: { type: 'integer' } },
  Accept: { description: 'The accepted content types.', schema: { type: 'string' } },
  Authenticate: { description: 'How to send a key.', schema: { type: 'string' } },
} as const satisfies Readonly<Record<string, { readonly description: string; readonly schema: SchemaObject }>>;

/** The names of headers on the wire. */
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

/** Returns the headers of one answer: those of every answer, plus the given ones. */
export function headersOf(...more: readonly (keyof typeof HEADERS)[]): Readonly<Record<string, ReferenceObject>> {
  return Object.fromEntries(
    [...EVERYWHERE, ...more].map((name) => [WIRE_NAMES[name], { $ref: `#/components/headers/${name}` }]),
  );
}

/** Returns an answer by media type. */
export function answer(
  description: string,
  content: Readonly<Record<string, MediaTypeObject>>,
  ...headers: readonly (keyof typeof HEADERS)[]
): ResponseObject {
  return { description, headers: headersOf(...headers), content };
}

/** Returns an answer in JSON. */
export function jsonAnswer(
  description: string,
  schemaId: string,
  ...headers: readonly (keyof typeof HEADERS)[]
): ResponseObject {
  return answer(description, { 'application/json': { schema: schemaRef(schemaId) } }, ...headers);
}

/** The schema of a text body. */
export const TEXT: MediaTypeObject = { schema: { type: 'string' } };

/** The schema of an event stream. OpenAPI 3.1 cannot describe one, and tools interpret a schema here differently. */
export const EVENTS: MediaTypeObject = {};

/** The schema of a binary body. OpenAPI 3.1 needs no schema for it, but without one, tools offer no file upload. */
export const BYTES: MediaTypeObject = { schema: { type: 'string', format: 'binary' } };
