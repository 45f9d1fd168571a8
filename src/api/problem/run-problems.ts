import { internalProblem, noRoomProblem, type ProblemJson, ServiceProblem, unavailable } from './service-problem.ts';

/** The time in seconds after which a client may retry. */
const RETRY_SECONDS = 10;

const RETRY_LATER = 'Send the request again later.';

/** Returns the problem for a request that is rejected because the queue is full. */
export function queueFull(): ServiceProblem {
  return unavailable('The queue is full: too many runs are already waiting.', RETRY_LATER, RETRY_SECONDS);
}

/** Returns the problem of new work while the service is shutting down. */
export function serviceEnds(): ServiceProblem {
  return unavailable('The service is shutting down and accepts no new work.', RETRY_LATER, RETRY_SECONDS);
}

/** Returns the problem of a run that the store could not save. */
export function cannotKeep(runId: string, cause: unknown): ServiceProblem {
  const headers = { 'Retry-After': String(RETRY_SECONDS) };
  const detail = 'The run could not be kept in the store.';
  return new ServiceProblem(503, { detail, suggestion: RETRY_LATER, runId, headers }, cause);
}

/** Returns the problem of a run whose file in the store was edited or damaged. Its content is not returned. */
export function damagedRun(runId: string, cause: unknown): ServiceProblem {
  const detail = 'The stored result of this run is damaged: its content does not match its checksum.';
  const suggestion = 'Send the request again, or ask the operator of the service to restore the result from a backup.';
  return new ServiceProblem(500, { detail, suggestion, runId }, cause);
}

/** Returns the problem of an unknown run ID. */
export function unknownRun(runId: string): ServiceProblem {
  return new ServiceProblem(404, {
    detail: `There is no run '${runId.slice(0, 64)}'.`,
    suggestion: 'Check the ID. If the store is full, the oldest results are dropped.',
  });
}

/** Returns the problem for an idempotency key that was already used for a different request. */
export function keyUsedOtherwise(): ServiceProblem {
  return new ServiceProblem(422, {
    detail: 'The Idempotency-Key was already used for a different request.',
    suggestion: 'Use a new key for each new request. Use the same key only to repeat a request unchanged.',
  });
}

/** Returns the problem of a run that a client cancelled. */
export function cancelledByClient(runId: string): ProblemJson {
  const detail = 'The run was cancelled on request.';
  return new ServiceProblem(409, { detail, suggestion: 'Send the request again for a new run.', runId }).toJSON();
}

/** Returns the problem of a run that was cancelled because the service ended. */
export function cancelledByEnd(runId: string): ProblemJson {
  const detail = 'The service ended before the run did, so the run was cancelled.';
  return new ServiceProblem(503, { detail, suggestion: RETRY_LATER, runId }).toJSON();
}

/** Returns the problem of an unfinished run of an earlier process. */
export function leftByEarlierProcess(runId: string): ProblemJson {
  const detail = 'The service ended while this ran.';
  return new ServiceProblem(503, { detail, suggestion: 'Send the request again.', runId }).toJSON();
}

/** Returns the problem of a failed run: the thrown problem, or an internal error without details. */
export function problemOfRun(runId: string, thrown: unknown): ProblemJson {
  const problem = thrown instanceof ServiceProblem ? thrown : noRoomProblem(thrown, 'results');
  return { ...(problem ?? internalProblem(runId)).toJSON(), run_id: runId };
}
