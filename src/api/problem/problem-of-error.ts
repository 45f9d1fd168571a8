import { problemOfToolkitError } from './problem-of-toolkit-error.ts';
import { PROBLEM_KINDS, ServiceProblem, type ProblemStatus } from './service-problem.ts';

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
