import { answer, EVENTS, TEXT } from '../answers.ts';
import type { Operation } from '../open-api-types.ts';
import { commonProblems, problems } from '../problem-responses.ts';

const tags = ['Dashboard'];
const page = { 'text/html': TEXT };

/** The operations of the dashboard. They are only available if the service was started with a monitor folder. */
export const DASHBOARD_OPERATIONS = {
  getDashboard: {
    tags,
    summary: 'Dashboard of a monitored model, with updates',
    description: 'A page that shows the dashboard written by `evenhand monitor --output-dir` and follows its changes.',
    responses: { 200: answer('The page.', page), ...commonProblems(), ...problems(404) },
  },
  getDashboardPage: {
    tags,
    summary: 'The current dashboard',
    description: 'The last page that `evenhand monitor` wrote.',
    responses: { 200: answer('The page.', page), ...commonProblems(), ...problems(404) },
  },
  followDashboard: {
    tags,
    summary: 'Changes of the dashboard',
    description: 'Server-sent events: one each time the dashboard is rewritten.',
    responses: {
      200: answer('The events, until the client disconnects.', { 'text/event-stream': EVENTS }),
      ...commonProblems(),
      ...problems(404, 503),
    },
  },
} as const satisfies Readonly<Record<string, Operation>>;
