import { answer, jsonAnswer, TEXT } from '../answers.ts';
import type { Operation } from '../open-api-types.ts';
import { commonProblems, problems } from '../problem-responses.ts';

const tags = ['Service'];
const page = { 'text/html': TEXT };

/** The operations on the service itself. */
export const SERVICE_OPERATIONS = {
  getHealth: {
    tags,
    summary: 'Check that the process is running',
    description: 'For a load balancer. Needs no key.',
    responses: { 200: jsonAnswer('The process is running.', 'Health'), ...problems(403, 500) },
    security: [],
  },
  getReadiness: {
    tags,
    summary: 'Check that new work is accepted',
    description: 'For an orchestrator: 503 while the service starts or shuts down, or its queue is full.',
    responses: { 200: jsonAnswer('New work is accepted.', 'Readiness'), ...problems(401, 403, 500, 503) },
  },
  getMetrics: {
    tags,
    summary: 'Metrics for Prometheus',
    description: 'Counts and durations of requests and runs, over all processes of the service.',
    responses: {
      200: answer('Metrics in the text format of Prometheus.', { 'text/plain': TEXT }),
      ...problems(401, 403, 500),
    },
  },
  getOpenApi: {
    tags,
    summary: 'The OpenAPI document',
    description: 'OpenAPI 3.1, for example to generate clients.',
    responses: {
      200: answer('The document.', { 'application/json': { schema: { type: 'object' } } }),
      ...commonProblems(),
    },
  },
  getDocs: {
    tags,
    summary: 'Interactive documentation',
    description: 'Swagger UI. Loads no external resources.',
    responses: { 200: answer('The page.', page), ...commonProblems() },
  },
  getRedoc: {
    tags,
    summary: 'Reference documentation',
    description: 'ReDoc. Loads no external resources.',
    responses: { 200: answer('The page.', page), ...commonProblems() },
  },
} as const satisfies Readonly<Record<string, Operation>>;
