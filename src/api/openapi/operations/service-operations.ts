import { answer, jsonAnswer, TEXT } from '../answers.ts';
import type { Operation } from '../open-api-types.ts';
import { commonProblems, problems } from '../problem-responses.ts';

const tags = ['Service'];
const page = { 'text/html': TEXT };

/** What tells of the service itself. */
export const SERVICE_OPERATIONS = {
  getHealth: {
    tags,
    summary: 'Whether the process answers',
    description: 'For a load balancer. Needs no key.',
    responses: { 200: jsonAnswer('It does.', 'Health'), ...problems(403, 500) },
    security: [],
  },
  getReadiness: {
    tags,
    summary: 'Whether new work is taken',
    description: 'For an orchestrator: 503 while the service starts, ends, or has a full queue.',
    responses: { 200: jsonAnswer('New work is taken.', 'Readiness'), ...problems(401, 403, 500, 503) },
  },
  getMetrics: {
    tags,
    summary: 'Metrics for Prometheus',
    description: 'Counts and times of requests and runs, of all processes of the service together.',
    responses: {
      200: answer('Metrics in the text format of Prometheus.', { 'text/plain': TEXT }),
      ...problems(401, 403, 500),
    },
  },
  getOpenApi: {
    tags,
    summary: 'This description',
    description: 'OpenAPI 3.1, for programs that write clients.',
    responses: {
      200: answer('The description.', { 'application/json': { schema: { type: 'object' } } }),
      ...commonProblems(),
    },
  },
  getDocs: {
    tags,
    summary: 'This description as a page to try things out',
    description: 'Swagger UI. Nothing is loaded from elsewhere.',
    responses: { 200: answer('The page.', page), ...commonProblems() },
  },
  getRedoc: {
    tags,
    summary: 'This description as a page to read',
    description: 'ReDoc. Nothing is loaded from elsewhere.',
    responses: { 200: answer('The page.', page), ...commonProblems() },
  },
} as const satisfies Readonly<Record<string, Operation>>;
