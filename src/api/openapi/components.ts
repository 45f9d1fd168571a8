import { z } from 'zod';

import { monitorWireSchema } from '../../schemas/monitor-wire.ts';
import { validateTableSchema } from '../../schemas/validate-table.ts';
import { type ProblemDetails, ServiceProblem } from '../problem/service-problem.ts';
import type {
  MediaTypeObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from './open-api-types.ts';

/** Returns a reference to a schema of the document. */
export function schemaRef(id: string): SchemaObject {
  return { $ref: `#/components/schemas/${id}` };
}

/**
 * Returns schemas as components of the document. The name of each component is the `id` in the schema's metadata.
 * Nested schemas become references.
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
 * Removes `$schema` and `$id`, which would make each component a separate document with its own references. Removes the
 * duplicate `id` too.
 */
function withoutSchemaKeys({
  $schema: _schema,
  $id: _id,
  id: _name,
  ...schema
}: Record<string, unknown>): SchemaObject {
  return schema;
}

/**
 * Removes redundant keywords: the type of string keys, the bounds of safe integers, and patterns that mean the same as
 * the `format` next to them.
 */
function leaveOutNoise(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.propertyNames !== undefined && isPlainText(schema.propertyNames)) delete schema.propertyNames;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.format === 'date-time') delete schema.pattern;
  if (schema.format === 'binary') delete schema.contentEncoding;
}

/**
 * Removes patterns with Unicode classes, because some programming languages do not support such patterns. The service
 * itself still checks these patterns.
 */
function readableEverywhere(schema: unknown): Record<string, unknown> {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'pattern' && /\\p\{/i.test(String(value)) ? undefined : value,
  );
  return JSON.parse(text) as Record<string, unknown>;
}

function isPlainText(schema: z.core.JSONSchema._JSONSchema): boolean {
  return typeof schema === 'object' && Object.keys(schema).length === 1 && schema.type === 'string';
}

const TEXT_SCHEMA = { type: 'string' } as const;
const NUMBER_SCHEMA = { type: 'integer' } as const;

/** The response headers, by their names in the document. Each header has a name in HTTP, a description and a schema. */
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

/** The response headers as components of the document. */
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

/** Returns the description of a response whose content is given for each media type. */
export function answer(
  description: string,
  content: Readonly<Record<string, MediaTypeObject>>,
  ...headers: readonly HeaderName[]
): ResponseObject {
  return { description, headers: headersOf(...headers), content };
}

/** Returns the description of a response with a JSON body. */
export function jsonAnswer(description: string, schemaId: string, ...headers: readonly HeaderName[]): ResponseObject {
  return answer(description, { 'application/json': { schema: schemaRef(schemaId) } }, ...headers);
}

/** The schema of a text body. */
export const TEXT: MediaTypeObject = { schema: TEXT_SCHEMA };

/**
 * The schema of an event stream. The schema is empty, because OpenAPI 3.1 cannot describe event streams, and tools
 * would interpret a schema in different ways.
 */
export const EVENTS: MediaTypeObject = {};

/**
 * The schema of a binary body. OpenAPI 3.1 needs no schema for a binary body, but without a schema, tools offer no file
 * upload.
 */
export const BYTES: MediaTypeObject = { schema: { type: 'string', format: 'binary' } };

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
  Stream: {
    name: 'stream',
    in: 'path',
    required: true,
    description: 'The name of a monitored stream: 1 to 100 letters, digits, dots, dashes and underscores.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$' },
    example: 'credit-decisions',
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
  WebhookUrl: {
    name: 'webhook_url',
    in: 'query',
    description:
      'An address to which the end of the run is posted, signed with HMAC-SHA256 in `X-Evenhand-Signature`. Its host must be allowed by the operator of the service; otherwise the answer is 403.',
    schema: { type: 'string', format: 'uri', maxLength: 2000 },
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
  return parametersOf(validateTableSchema);
}

/** Returns the options of a monitored stream as query parameters. */
export function monitorQueryParameters(): readonly ParameterObject[] {
  return parametersOf(monitorWireSchema);
}

function parametersOf(query: z.ZodObject): readonly ParameterObject[] {
  const { Query: schema } = componentSchemas([query.meta({ id: 'Query' })], 'input');
  const properties = Object.entries(schema?.['properties'] as Readonly<Record<string, SchemaObject>>);
  return properties.map(([name, property]) => toParameter(name, property));
}

/**
 * Converts an option to a query parameter. A request with a JSON body has no query, so no parameter is required.
 * Defaults are omitted, because tools would send them as explicit values.
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

/** An example of a problem. */
interface ProblemText extends Omit<ProblemDetails, 'headers'> {
  /** Describes the cases in which this problem is returned. */
  readonly description: string;
  readonly header?: HeaderName;
}

/**
 * The problems that an operation may return. 405 is not included, because it applies to methods that are not
 * operations.
 */
const PROBLEMS = {
  400: {
    description: 'The body is not valid JSON or not a valid form, or a header is invalid.',
    detail: 'The body is not valid JSON: Unexpected end of JSON input.',
    suggestion: 'Check quotes and commas. NaN and Infinity are not valid JSON; use null for a missing value.',
  },
  401: {
    description: 'The service requires a key, but the request contains no key or an unknown key.',
    header: 'Authenticate',
    detail: 'The request contains no key.',
    suggestion: 'Send the header "Authorization: Bearer KEY" with one of the keys of the service.',
  },
  403: {
    description:
      'The host name is not allowed, a page of another origin sent the request, or the request is not allowed here.',
    detail: 'The name in the Host header is not allowed.',
    suggestion: 'Use the name that the service was started with.',
  },
  404: {
    description: 'The resource does not exist.',
    detail: "There is no run 'r1'.",
    suggestion: 'Check the ID. If the store is full, the oldest results are dropped.',
  },
  406: {
    description: 'The result is not available in a format that the Accept header names.',
    detail: 'The result is not available in a format that the Accept header names.',
    suggestion: 'Ask for application/json.',
  },
  408: {
    description: 'The body arrived too slowly.',
    detail: 'Less than 1 KiB of the body arrived within 30 seconds.',
    suggestion: 'Send the request again on a faster connection.',
  },
  409: {
    description: 'The run was cancelled before it ended.',
    detail: 'The run was cancelled before it ended.',
    suggestion: 'Send the request again.',
    runId: 'r1',
  },
  413: {
    description: 'The body, a field or an array is larger than the service accepts.',
    detail: 'The body is larger than the limit of 32 MiB.',
    suggestion: 'Send fewer rows or columns, or ask the operator of the service for a higher limit.',
  },
  415: {
    description: 'The Content-Type is missing or is not one of the listed types.',
    header: 'Accept',
    detail: "The Content-Type must be application/json. Got 'text/plain' instead.",
    suggestion: 'Set the Content-Type header to the type of the body.',
  },
  422: {
    description: 'Fields, the configuration or the data are invalid; `errors` lists each problem.',
    detail: 'sensitive has 3 items, and y_pred has 4: each needs one for every row.',
    errors: [
      { pointer: '/sensitive', detail: 'sensitive has 3 items, and y_pred has 4: each needs one for every row.' },
    ],
    suggestion: 'Send one group for every decision.',
  },
  429: {
    description: 'The rate limit is exceeded.',
    header: 'RetryAfter',
    detail: 'This client sent more than 60 requests within a minute.',
    suggestion: 'Wait 12 seconds.',
  },
  431: {
    description: 'The request line and the headers are larger than 16 KiB together.',
    detail: 'The headers are larger than 16 KiB.',
    suggestion: 'Send many metrics or columns in a JSON body instead of the query.',
  },
  500: {
    description: 'An internal error of the service. Its log contains details under the x-request-id.',
    detail: 'An internal error occurred. The log of the service contains details under the ID r1.',
    suggestion: 'Give this ID to the operator of the service.',
  },
  502: {
    description: 'The provider of the language model failed.',
    detail: 'The provider answered 500 to every attempt.',
    suggestion: 'Send the request again later.',
  },
  503: {
    description: 'The service cannot accept the request now: its queue is full, or it is shutting down.',
    header: 'RetryAfter',
    detail: 'Too many runs are already waiting.',
    suggestion: 'Send the request again later.',
  },
} as const satisfies Readonly<Record<number, ProblemText>>;

/** The statuses of documented problems. */
export type DocumentedStatus = keyof typeof PROBLEMS;

/** Returns the error responses as components of the document. */
export function problemResponses(): Readonly<Record<string, ResponseObject>> {
  const entries = Object.entries(PROBLEMS) as unknown as [`${DocumentedStatus}`, ProblemText][];
  return Object.fromEntries(
    entries.map(([text, { description, header, ...example }]) => {
      const status = Number(text) as DocumentedStatus;
      const value = new ServiceProblem(status, example).toJSON();
      const body = { schema: schemaRef('Problem'), examples: { problem: { summary: value.title, value } } };
      return [
        `Problem${text}`,
        {
          description,
          headers: headersOf(...(header === undefined ? [] : [header])),
          content: { 'application/problem+json': body },
        },
      ];
    }),
  );
}

/**
 * Returns the error responses of an operation, by status. Each response is a reference to a component of the document.
 */
export function problems(...statuses: readonly DocumentedStatus[]): Readonly<Record<string, ReferenceObject>> {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Problem${String(status)}` }]),
  );
}

/** Returns the error responses that any operation may have, by status. */
export function commonProblems(): Readonly<Record<string, ReferenceObject>> {
  return problems(401, 403, 429, 500);
}
