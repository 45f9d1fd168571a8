import { type ProblemDetails, ServiceProblem } from '../problem/service-problem.ts';
import { type HEADERS, headersOf } from './answers.ts';
import { schemaRef } from './component-schemas.ts';
import type { ReferenceObject, ResponseObject } from './open-api-types.ts';

interface ProblemText {
  /** When it is answered. */
  readonly description: string;
  readonly headers?: readonly (keyof typeof HEADERS)[];
  readonly example: ProblemDetails;
}

/** Problems that an operation may answer. 405 is none of them: it is of methods that are no operations. */
const PROBLEMS = {
  400: {
    description: 'The body is no valid JSON or no valid form, or a header cannot be understood.',
    example: {
      detail: 'The body is not valid JSON: Unexpected end of JSON input.',
      suggestion: 'Check quotes and commas; NaN and Infinity are no JSON, a missing value is null.',
    },
  },
  401: {
    description: 'The service asks for a key, and none or an unknown one was shown.',
    headers: ['Authenticate'],
    example: {
      detail: 'The request shows no key.',
      suggestion: 'Send the header "Authorization: Bearer KEY" with one of the keys of the service.',
    },
  },
  403: {
    description:
      'The service does not go by this name, a page of another origin asks, or what was asked for is not allowed here.',
    example: {
      detail: 'The service does not go by the name in the Host header.',
      suggestion: 'Use the name it was started for.',
    },
  },
  404: {
    description: 'There is nothing of this name.',
    example: {
      detail: "There is no run 'r1'.",
      suggestion: 'Check its name; the oldest results are dropped where there are more than the service keeps.',
    },
  },
  406: {
    description: 'The result is not there in a form that the Accept header names.',
    example: {
      detail: 'The result is not there in a form that the Accept header names.',
      suggestion: 'Ask for application/json.',
    },
  },
  408: {
    description: 'The body came too slowly.',
    example: {
      detail: 'Less than 1 KiB of the body came in 30 seconds.',
      suggestion: 'Send the request again on a faster connection.',
    },
  },
  409: {
    description: 'The run was cancelled before it ended.',
    example: { detail: 'The run was cancelled before it ended.', suggestion: 'Send the request again.', runId: 'r1' },
  },
  413: {
    description: 'The body, a field or an array is larger than the service takes.',
    example: {
      detail: 'The body has more than 32 MiB, the most that is taken here.',
      suggestion: 'Send fewer rows or columns, or ask who runs the service for a higher limit.',
    },
  },
  415: {
    description: 'The Content-Type is missing, or none of those that are listed.',
    headers: ['Accept'],
    example: {
      detail: "The Content-Type must be application/json. Got 'text/plain' instead.",
      suggestion: 'Say with a Content-Type header what the body is.',
    },
  },
  422: {
    description: 'Fields, the configuration or the data are wrong; `errors` names each.',
    example: {
      detail: 'sensitive has 3 items, and y_pred has 4: each needs one for every row.',
      errors: [
        { pointer: '/sensitive', detail: 'sensitive has 3 items, and y_pred has 4: each needs one for every row.' },
      ],
      suggestion: 'Send one group for every decision.',
    },
  },
  429: {
    description: 'The allowance is used up.',
    headers: ['RetryAfter'],
    example: {
      detail: 'More than 60 requests came from this client within a minute.',
      suggestion: 'Wait 12 seconds.',
    },
  },
  431: {
    description: 'The request line and the headers are larger than 16 KiB together.',
    example: {
      detail: 'The headers are larger than 16 KiB.',
      suggestion: 'Send many metrics or columns in a JSON body instead of the query.',
    },
  },
  500: {
    description: 'A fault of the service. Its log tells more under the x-request-id.',
    example: {
      detail: 'Something failed inside. The log of the service tells more under the id r1.',
      suggestion: 'Give this id to whoever runs the service.',
    },
  },
  502: {
    description: 'The provider of the language model failed.',
    example: { detail: 'The provider answered 500 to every attempt.', suggestion: 'Send the request again later.' },
  },
  503: {
    description: 'The service cannot take this now: it is full, or it is ending.',
    headers: ['RetryAfter'],
    example: { detail: 'Too many runs wait already.', suggestion: 'Send the request again later.' },
  },
} as const satisfies Readonly<Record<number, ProblemText>>;

/** A status of a problem that an operation may answer. */
type DocumentedStatus = keyof typeof PROBLEMS;

/** The answers that are problems, as components of the document. */
export function problemResponses(): Readonly<Record<string, ResponseObject>> {
  const entries = Object.entries(PROBLEMS) as unknown as [`${DocumentedStatus}`, ProblemText][];
  return Object.fromEntries(
    entries.map(([text, { description, headers = [], example }]) => {
      const status = Number(text) as DocumentedStatus;
      const value = new ServiceProblem(status, example).toJSON();
      const body = { schema: schemaRef('Problem'), examples: { problem: { summary: value.title, value } } };
      return [
        `Problem${text}`,
        { description, headers: headersOf(...headers), content: { 'application/problem+json': body } },
      ];
    }),
  );
}

/** Problems by their status, as an operation refers to them. */
export function problems(...statuses: readonly DocumentedStatus[]): Readonly<Record<string, ReferenceObject>> {
  return Object.fromEntries(
    statuses.map((status) => [String(status), { $ref: `#/components/responses/Problem${String(status)}` }]),
  );
}

/** Problems that any request may meet. */
export function commonProblems(): Readonly<Record<string, ReferenceObject>> {
  return problems(401, 403, 429, 500);
}
