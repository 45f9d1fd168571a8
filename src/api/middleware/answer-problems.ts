import type { Logger } from 'pino';

import { nearestNames, suggestNames } from '../../internal/arguments.ts';
import { withoutUndefined } from '../../internal/values.ts';
import type { RequestState, Service, ServiceContext } from '../context/service-context.ts';
import { leaveUnread } from '../intake/receive-body.ts';
import { problemOfToolkitError } from '../jobs/problem-of-toolkit-error.ts';
import {
  internalProblem,
  PROBLEM_KINDS,
  type ProblemStatus,
  ServiceProblem,
  shorten,
} from '../problem/service-problem.ts';
import { ROUTE_METHODS, type ServiceMiddleware } from './service-middleware.ts';

/** The statuses of responses without a body that the router creates if no route matches. */
const UNANSWERED = new Set([404, 405, 501]);

/** The maximum length of an unknown path for which a similar known path is suggested. */
const MAX_COMPARED = 64;

/**
 * Converts thrown errors to `application/problem+json` responses. Requests without a response are answered with 404 or
 * 405. Internal errors are logged with their cause; the client receives only an ID.
 */
export function answerProblems({ logger }: Service): ServiceMiddleware {
  return async (context, next) => {
    try {
      await next();
      if (isUnanswered(context)) throw unanswered(context);
    } catch (error) {
      const problem = problemOfError(error, context.state.requestId);
      if (problem.status >= 500) logFailure(logger, context.state, problem);
      answer(context, problem);
    }
  };
}

function isUnanswered({ status, body, headerSent }: ServiceContext): boolean {
  return UNANSWERED.has(status) && (body ?? null) === null && !headerSent;
}

function answer(context: ServiceContext, problem: ServiceProblem): void {
  if (context.headerSent) {
    // Part of the answer is already sent. Destroying the connection marks it as incomplete.
    context.res.destroy();
    return;
  }
  if (!context.req.complete) {
    // Without this call, Node.js would read the complete body of a rejected request, or the client would not receive
    // the response.
    leaveUnread(context.req);
    context.set('Connection', 'close');
  }
  writeProblem(context, problem);
}

function unanswered({ method, path, state }: ServiceContext): ServiceProblem {
  const methods = ROUTE_METHODS.get(state.route);
  const shown = shorten(path, MAX_COMPARED);
  if (methods === undefined) {
    return new ServiceProblem(404, {
      detail: `The service has no path '${shown}'.`,
      suggestion: suggestPath(path.slice(0, MAX_COMPARED)),
    });
  }
  if (methods.includes(method)) return new ServiceProblem(404, { detail: `The path '${shown}' does not exist.` });
  const allowed = methods.join(', ');
  return new ServiceProblem(405, {
    detail: `'${shown}' does not support ${method}.`,
    suggestion: `Use ${allowed}.`,
    headers: { Allow: allowed },
  });
}

/** Suggests the most similar path, or all paths. */
function suggestPath(path: string): string {
  const known = [...ROUTE_METHODS.keys()];
  if (nearestNames(path, known).length > 0) return suggestNames(path, known, 'paths');
  return `The paths are ${known.map((one) => `'${one}'`).join(', ')}.`;
}

/**
 * Logs one line for an internal error or an error of a language-model provider, with the chain of causes. Only names,
 * messages and stacks are logged: other properties of an error may contain data from the client.
 */
function logFailure(logger: Logger, { requestId, route }: RequestState, problem: ServiceProblem): void {
  const { status, runId, cause, detail } = problem;
  const causes = cause === undefined ? undefined : causesOf(cause);
  const fields = withoutUndefined({ request_id: requestId, route, status, run_id: runId, cause: causes });
  if (status === 500) logger.error(fields, 'a request failed');
  else logger.warn(fields, detail);
}

/** Formats an error and its causes as text. */
export function causesOf(error: unknown): string {
  const reported: string[] = [];
  let current = error;
  // The number of causes is limited, because causes may be circular.
  while (current !== undefined && current !== null && reported.length < 5) {
    reported.push(current instanceof Error ? (current.stack ?? String(current)) : `thrown: ${typeof current}`);
    current = current instanceof Error ? current.cause : undefined;
  }
  return reported.join('\ncaused by: ');
}

/**
 * Converts any error to the problem that a client receives. Errors of this package are mapped by kind and Koa's errors
 * by status. Every other error becomes a 500 that contains an ID for the log and no details.
 * @param error the thrown value, which becomes the cause of the problem
 * @param id the ID under which the cause is logged: the run ID or the request ID
 */
export function problemOfError(error: unknown, id: string): ServiceProblem {
  // Only validations of arrays are computed on this event loop. All other jobs run in a thread.
  return problemOfToolkitError(error, 'validate-rows') ?? ofHttpError(error) ?? internalProblem(id, error);
}

/**
 * Converts an error of Koa and its packages. The property `expose` of such an error states whether the client may see
 * its message.
 */
function ofHttpError(error: unknown): ServiceProblem | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  const { status } = error;
  if (!Number.isInteger(status) || status < 400 || status > 499) return undefined;
  const known: ProblemStatus = status in PROBLEM_KINDS ? (status as ProblemStatus) : 400;
  const isShown = 'expose' in error && error.expose === true && error.message !== '';
  return new ServiceProblem(known, { detail: isShown ? error.message : `${PROBLEM_KINDS[known][1]}.` }, error);
}

/** Sends a problem as the response: its status, JSON and headers. */
export function writeProblem(context: ServiceContext, problem: ServiceProblem): void {
  context.status = problem.status;
  context.body = JSON.stringify(problem);
  context.set('Content-Type', 'application/problem+json; charset=utf-8');
  context.set({ ...problem.headers });
}
