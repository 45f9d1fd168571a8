import { answer, EVENTS, TEXT } from '../answers.ts';
import type { Operation } from '../open-api-types.ts';
import { commonProblems, problems } from '../problem-responses.ts';

const tags = ['Dashboard'];
const page = { 'text/html': TEXT };

/** What shows a monitored model. There are answers only where the service was started with a folder to show. */
export const DASHBOARD_OPERATIONS = {
  getDashboard: {
    tags,
    summary: 'A monitored model as it changes',
    description: 'A page around the dashboard that `evenhand monitor --output-dir` writes, which follows it.',
    responses: { 200: answer('The page.', page), ...commonProblems(), ...problems(404) },
  },
  getDashboardPage: {
    tags,
    summary: 'The dashboard as it stands',
    description: 'The page that `evenhand monitor` wrote last.',
    responses: { 200: answer('The page.', page), ...commonProblems(), ...problems(404) },
  },
  followDashboard: {
    tags,
    summary: 'When the dashboard changes',
    description: 'Server-sent events: one for each time that it was written anew.',
    responses: {
      200: answer('The events, until the client leaves.', { 'text/event-stream': EVENTS }),
      ...commonProblems(),
      ...problems(404, 503),
    },
  },
} as const satisfies Readonly<Record<string, Operation>>;
