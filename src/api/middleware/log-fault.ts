import type { Logger } from 'pino';

import type { RequestState } from '../app/service-context.ts';
import type { ServiceProblem } from '../problem/service-problem.ts';

/**
 * One line for an answer that is our fault or a provider's, with what led to it. Only names, messages and stacks: other
 * properties of an error may hold what the client has sent.
 */
export function logFault(logger: Logger, { requestId, route }: RequestState, problem: ServiceProblem): void {
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
