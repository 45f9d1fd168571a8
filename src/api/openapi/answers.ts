import { schemaRef } from './component-schemas.ts';
import { headersOf, type HEADERS } from './headers.ts';
import type { MediaTypeObject, ResponseObject } from './open-api-types.ts';

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
