import { noRoomProblem, type ProblemJson, ServiceProblem } from './service-problem.ts';

/** When a client may try again, in seconds. */
const RETRY = { 'Retry-After': '10' } as const;

const TRY_AGAIN = 'Send the request again later.';

/** More work than the queue holds. */
export function queueFull(): ServiceProblem {
  return new ServiceProblem(503, {
    detail: 'The queue is full: too many runs wait already.',
    suggestion: TRY_AGAIN,
    headers: RETRY,
  });
}

/** New work for a service that ends. */
export function serviceEnds(): ServiceProblem {
  return new ServiceProblem(503, {
    detail: 'The service is ending and takes no new work.',
    suggestion: TRY_AGAIN,
    headers: RETRY,
  });
}

/** A result, or the note that a run waits, could not be kept. */
export function cannotKeep(runId: string, cause: unknown): ServiceProblem {
  return new ServiceProblem(
    503,
    { detail: 'The run could not be kept in the store.', suggestion: TRY_AGAIN, runId, headers: RETRY },
    cause,
  );
}

/** A run whose file in the store was edited or damaged. What is in it is not answered: nobody can vouch for it. */
export function damagedRun(runId: string, cause: unknown): ServiceProblem {
  return new ServiceProblem(
    500,
    {
      detail:
        'The stored result of this run is damaged: its content does not have the checksum that it was stored with.',
      suggestion: 'Send the request again, or ask who runs the service to restore the result from a backup.',
      runId,
    },
    cause,
  );
}

/** A name in a path that is no run's. */
export function unknownRun(runId: string): ServiceProblem {
  return new ServiceProblem(404, {
    detail: `There is no run '${runId.slice(0, 64)}'.`,
    suggestion: 'Check its name; the oldest results are dropped where there are more than the service keeps.',
  });
}

/** An idempotency key that was sent with another request before. */
export function keyUsedOtherwise(): ServiceProblem {
  return new ServiceProblem(422, {
    detail: 'The Idempotency-Key was used for another request before.',
    suggestion: 'Use a new key for each new request, and the same one only to repeat a request as it was.',
  });
}

/** Why a run was cancelled by a client. */
export function cancelledByClient(runId: string): ProblemJson {
  const detail = 'The run was cancelled on request.';
  return new ServiceProblem(409, { detail, suggestion: 'Send the request again for a new run.', runId }).toJSON();
}

/** Why a run was cancelled by the end of the service. */
export function cancelledByEnd(runId: string): ProblemJson {
  const detail = 'The service ended before the run did, so that the run was cancelled.';
  return new ServiceProblem(503, { detail, suggestion: TRY_AGAIN, runId }).toJSON();
}

/** Why a run of an earlier process has no result. */
export function leftByEarlierProcess(runId: string): ProblemJson {
  const detail = 'The service ended while this ran.';
  return new ServiceProblem(503, { detail, suggestion: 'Send the request again.', runId }).toJSON();
}

/** Why a run failed: what was thrown where that was meant for the client, else only that it was a fault of ours. */
export function problemOfRun(runId: string, thrown: unknown): ProblemJson {
  const problem = thrown instanceof ServiceProblem ? thrown : noRoomProblem(thrown, 'results');
  if (problem !== undefined) return { ...problem.toJSON(), run_id: runId };
  const detail = 'The run failed for a fault inside the service.';
  return new ServiceProblem(500, {
    detail,
    suggestion: 'Report it with the run_id, which the log names too.',
    runId,
  }).toJSON();
}
