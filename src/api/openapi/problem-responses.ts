import { type ProblemDetails, ServiceProblem } from '../problem/service-problem.ts';
import { type HeaderName, headersOf } from './answers.ts';
import { schemaRef } from './component-schemas.ts';
import type { ReferenceObject, ResponseObject } from './open-api-types.ts';

/** An example of a problem. */
interface ProblemText extends Omit<ProblemDetails, 'headers'> {
  /** When this problem is returned. */
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
    description: 'The service requires a key, and the request contains none or an unknown one.',
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
    description: 'The Content-Type is missing or not one of those listed.',
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

/** Returns the problem answers as components of the document. */
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

/** Returns references to problems by status, for an operation. */
export function problems(...statuses: readonly DocumentedStatus[]): Readonly<Record<string, ReferenceObject>> {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Problem${String(status)}` }]),
  );
}

/** Returns the problems that any request may cause. */
export function commonProblems(): Readonly<Record<string, ReferenceObject>> {
  return problems(401, 403, 429, 500);
}
