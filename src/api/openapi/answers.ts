import { schemaRef } from './component-schemas.ts';
import type { MediaTypeObject, ReferenceObject, ResponseObject, SchemaObject } from './open-api-types.ts';

const TEXT_SCHEMA = { type: 'string' } as const;
const NUMBER_SCHEMA = { type: 'integer' } as const;

/** The response headers, by their names in the document. Each has a name in HTTP, a description and a schema. */
const ANSWER_HEADERS = {
  RequestId: ['x-request-id', "The client's X-Request-Id, or a generated ID. The logs contain it.", TEXT_SCHEMA],
  Worker: ['x-evenhand-worker', 'The process that answered.', TEXT_SCHEMA],
  Location: ['Location', 'The path of the result.', TEXT_SCHEMA],
  PreferenceApplied: ['Preference-Applied', '`respond-async` if the client requested it.', TEXT_SCHEMA],
  IdempotencyReplayed: [
    'Idempotency-Replayed',
    '`true` if the request was sent before with this Idempotency-Key.',
    { type: 'string', enum: ['true'] },
  ],
  RetryAfter: [
    'Retry-After',
    'The number of seconds to wait before the next attempt.',
    { type: 'integer', minimum: 0 },
  ],
  RateLimitLimit: ['RateLimit-Limit', 'The number of requests allowed per minute, if there is a limit.', NUMBER_SCHEMA],
  RateLimitRemaining: ['RateLimit-Remaining', 'The number of requests left.', NUMBER_SCHEMA],
  RateLimitReset: ['RateLimit-Reset', 'The number of seconds until the limit is reset.', NUMBER_SCHEMA],
  Accept: ['Accept', 'The accepted content types.', TEXT_SCHEMA],
  Authenticate: ['WWW-Authenticate', 'How to send a key.', TEXT_SCHEMA],
} as const satisfies Readonly<Record<string, readonly [wireName: string, description: string, schema: SchemaObject]>>;

/** The name of a header in the document. */
export type HeaderName = keyof typeof ANSWER_HEADERS;

/** The headers as components of the document. */
export const HEADERS = Object.fromEntries(
  Object.entries(ANSWER_HEADERS).map(([name, [, description, schema]]) => [name, { description, schema }]),
);

const EVERYWHERE = ['RequestId', 'Worker', 'RateLimitLimit', 'RateLimitRemaining', 'RateLimitReset'] as const;

/** Returns the headers of one response: the headers common to all responses, and the given headers. */
export function headersOf(...more: readonly HeaderName[]): Readonly<Record<string, ReferenceObject>> {
  return Object.fromEntries(
    [...EVERYWHERE, ...more].map((name) => [ANSWER_HEADERS[name][0], { $ref: `#/components/headers/${name}` }]),
  );
}

/** Returns an answer by media type. */
export function answer(
  description: string,
  content: Readonly<Record<string, MediaTypeObject>>,
  ...headers: readonly HeaderName[]
): ResponseObject {
  return { description, headers: headersOf(...headers), content };
}

/** Returns an answer in JSON. */
export function jsonAnswer(description: string, schemaId: string, ...headers: readonly HeaderName[]): ResponseObject {
  return answer(description, { 'application/json': { schema: schemaRef(schemaId) } }, ...headers);
}

/** The schema of a text body. */
export const TEXT: MediaTypeObject = { schema: TEXT_SCHEMA };

/**
 * The schema of an event stream. It is empty, because OpenAPI 3.1 cannot describe event streams and tools would
 * interpret a schema in different ways.
 */
export const EVENTS: MediaTypeObject = {};

/** The schema of a binary body. OpenAPI 3.1 needs no schema for it, but without one, tools offer no file upload. */
export const BYTES: MediaTypeObject = { schema: { type: 'string', format: 'binary' } };
