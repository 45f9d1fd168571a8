import type { Client } from 'openapi-fetch';

import { retryAfterMillis } from '../../internal/http.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { sleep } from '../../internal/retry.ts';
import type { paths } from './schema.ts';
import { dataOf, isBusy, type Run, ServiceError } from './service-error.ts';

/** Options of `waitForRun`. */
export interface WaitOptions {
  /**
   * Stops waiting; the run continues.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time between two requests, in milliseconds.
   * @defaultValue 1000
   */
  readonly pollMillis?: number | undefined;
}

/**
 * Polls a run until it has succeeded, and returns it.
 * @throws {ServiceError} if the run failed, was cancelled or is unknown
 * @throws the signal's reason when it is aborted
 */
export async function waitForRun(
  client: Client<paths>,
  runId: string,
  { signal, pollMillis = 1000 }: WaitOptions = {},
): Promise<Run> {
  for (;;) {
    const request = { params: { path: { run_id: runId } }, ...(signal === undefined ? {} : { signal }) };
    const result = await client.GET('/results/{run_id}', request);
    if (isBusy(result.response)) {
      await sleep(retryAfterMillis(result.response.headers, machineClock()) ?? pollMillis, signal);
      continue;
    }
    // The type also includes reports as text, but without an Accept header the service returns JSON.
    const run = dataOf(result) as Run;
    if (run.status === 'succeeded') return run;
    if (run.status === 'failed' || run.status === 'cancelled') throw new ServiceError(run.problem ?? unexplained(run));
    await sleep(pollMillis, signal);
  }
}

function unexplained({ run_id: runId, status }: Run): ServiceError['problem'] {
  return {
    type: 'urn:evenhand:problem:conflict',
    title: 'The run has no result',
    status: 409,
    code: 'conflict',
    detail: `The run is ${status}.`,
    suggestion: 'Send the request again.',
    run_id: runId,
  };
}
