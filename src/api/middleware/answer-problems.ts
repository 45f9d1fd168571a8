import { nearestNames, suggestNames } from '../../internal/nearest.ts';
import type { Service, ServiceContext } from '../app/service-context.ts';
import { leaveUnread } from '../intake/leave-unread.ts';
import { problemOfError } from '../problem/problem-of-error.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { writeProblem } from '../problem/write-problem.ts';
import { knownPaths, methodsOfRoute } from './known-routes.ts';
import { logFault } from './log-fault.ts';
import type { ServiceMiddleware } from './service-middleware.ts';

/** Statuses that a router leaves behind, without a body, where it found nothing to do. */
const UNANSWERED = new Set([404, 405, 501]);

/** Nobody types a longer path by mistake; comparing it with others would only cost time. */
const MOST_COMPARED = 64;

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
    suggestion: suggestPath(path.slice(0, MOST_COMPARED)),
  });
}

/** What was meant, or all there is. */
function suggestPath(path: string): string {
  const known = knownPaths();
  if (nearestNames(path, known).length > 0) return suggestNames(path, known, 'paths');
  return `The paths are ${known.map((one) => `'${one}'`).join(', ')}.`;
}

function shown(path: string): string {
  return path.length > MOST_COMPARED ? `${path.slice(0, MOST_COMPARED)}…` : path;
}
