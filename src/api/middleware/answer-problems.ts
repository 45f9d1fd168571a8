import type { Logger } from 'pino';

import { nearestNames, suggestNames } from '../../internal/arguments.ts';
import type { RequestState, Service, ServiceContext } from '../context/service-context.ts';
import { leaveUnread } from '../intake/read-body.ts';
import { problemOfToolkitError } from '../jobs/problem-of-toolkit-error.ts';
import { PROBLEM_KINDS, type ProblemStatus, ServiceProblem } from '../problem/service-problem.ts';
import { knownPaths, methodsOfRoute, type ServiceMiddleware } from './service-middleware.ts';

/** Statuses that a router leaves behind, without a body, where it found nothing to do. */
const UNANSWERED = new Set([404, 405, 501]);

/** Nobody types a longer path by mistake; comparing it with others would only cost time. */
const MAX_COMPARED = 64;

/**
 * Answers whatever is thrown inside as `application/problem+json`, and what no route has answered as 404 or 405. Faults of
 * ours are logged with their cause; the client is told an id only. A browser that asks for `/` is sent to the documentation.
 */
export function answerProblems({ logger, basePath }: Service): ServiceMiddleware {
  return async (context, next) => {
    try {
      await next();
      if (!isUnanswered(context)) return;
      if (!isBrowserAtRoot(context)) throw unanswered(context);
      // Relative where the service was not told its place: a proxy may show it anywhere.
      context.redirect(basePath === '' ? 'docs' : `${basePath}/docs`);
      context.vary('Accept');
    } catch (error) {
      const problem = problemOfError(error, context.state.requestId);
      if (problem.status >= 500) logFault(logger, context.state, problem);
      answer(context, problem);
    }
  };
}

function isUnanswered({ status, body, headerSent }: ServiceContext): boolean {
  return UNANSWERED.has(status) && (body ?? null) === null && !headerSent;
}

/** Browsers name HTML, other clients take anything. */
function isBrowserAtRoot(context: ServiceContext): boolean {
  const { method, path } = context;
  return (method === 'GET' || method === 'HEAD') && path === '/' && context.get('accept').includes('text/html');
}

function answer(context: ServiceContext, problem: ServiceProblem): void {
  if (context.headerSent) {
    // Half of an answer is out. Cut off, it is not taken for a whole one.
    context.res.destroy();
    return;
  }
  if (!context.req.complete) {
    // Else Node would read all of a body that nobody wants, or the client would not see the answer.
    leaveUnread(context.req);
    context.set('Connection', 'close');
  }
  writeProblem(context, problem);
}

function unanswered({ method, path, state }: ServiceContext): ServiceProblem {
  const methods = methodsOfRoute(state.route);
  if (methods === undefined) return unknownPath(path);
  if (methods.includes(method)) return new ServiceProblem(404, { detail: `There is nothing at '${shown(path)}'.` });
  const allowed = methods.join(', ');
  return new ServiceProblem(405, {
    detail: `'${shown(path)}' does not take ${method}.`,
    suggestion: `Use ${allowed}.`,
    headers: { Allow: allowed },
  });
}

function unknownPath(path: string): ServiceProblem {
  return new ServiceProblem(404, {
    detail: `The service has no path '${shown(path)}'.`,
    suggestion: suggestPath(path.slice(0, MAX_COMPARED)),
  });
}

/** What was meant, or all there is. */
function suggestPath(path: string): string {
  const known = knownPaths();
  if (nearestNames(path, known).length > 0) return suggestNames(path, known, 'paths');
  return `The paths are ${known.map((one) => `'${one}'`).join(', ')}.`;
}

function shown(path: string): string {
  return path.length > MAX_COMPARED ? `${path.slice(0, MAX_COMPARED)}…` : path;
}

/**
 * One line for an answer that is our fault or a provider's, with what led to it. Only names, messages and stacks: other
 * properties of an error may hold what the client has sent.
 */
function logFault(logger: Logger, { requestId, route }: RequestState, problem: ServiceProblem): void {
  const fields = {
    request_id: requestId,
    route,
    status: problem.status,
    ...(problem.runId === undefined ? {} : { run_id: problem.runId }),
    ...(problem.cause === undefined ? {} : { cause: causesOf(problem.cause) }),
  };
  if (problem.status === 500) logger.error(fields, 'a request failed');
  else logger.warn(fields, problem.detail);
}

/** An error and those behind it, as text. */
export function causesOf(error: unknown): string {
  const told: string[] = [];
  let current = error;
  // Bounded, since causes may go in circles.
  while (current !== undefined && current !== null && told.length < 5) {
    told.push(current instanceof Error ? (current.stack ?? String(current)) : `thrown: ${typeof current}`);
    current = current instanceof Error ? current.cause : undefined;
  }
  return told.join('\ncaused by: ');
}

/**
 * Any error as the problem that a client is told: errors of this package by their kind, those of Koa by their status, and
 * every other one as a 500 that names an id to find it by in the log, and nothing of what happened.
 * @param error what was thrown; it stays the problem's cause
 * @param id under what the cause is logged: the run's name, or the request's
 */
export function problemOfError(error: unknown, id: string): ServiceProblem {
  // What is computed beside the requests, and not in a thread, is a validation of arrays.
  return problemOfToolkitError(error, 'validate-rows') ?? ofHttpError(error) ?? internalFault(error, id);
}

/** What Koa and its packages throw says what the client may be told by `expose`. */
function ofHttpError(error: unknown): ServiceProblem | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  const { status } = error;
  if (!Number.isInteger(status) || status < 400 || status > 499) return undefined;
  const known: ProblemStatus = status in PROBLEM_KINDS ? (status as ProblemStatus) : 400;
  const isShown = 'expose' in error && error.expose === true && error.message !== '';
  return new ServiceProblem(known, { detail: isShown ? error.message : `${PROBLEM_KINDS[known][1]}.` }, error);
}

function internalFault(cause: unknown, id: string): ServiceProblem {
  return new ServiceProblem(
    500,
    {
      detail: `Something failed inside. The log of the service tells more under the id ${id}.`,
      suggestion: 'Give this id to whoever runs the service.',
    },
    cause,
  );
}

/** Answers with a problem: its status, its JSON and its headers. */
export function writeProblem(context: ServiceContext, problem: ServiceProblem): void {
  context.status = problem.status;
  context.body = JSON.stringify(problem);
  context.set('Content-Type', 'application/problem+json; charset=utf-8');
  context.set({ ...problem.headers });
}
