import type { Client } from 'openapi-fetch';

import { isBusy, pause, retryAfterMillis } from './pause.ts';
import type { paths } from './schema.ts';
import { dataOf, type Run, ServiceError } from './service-error.ts';

/** Options of `waitForRun`. */
export interface WaitOptions {
  /**
   * Ends the waiting; the run goes on.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds between two questions.
   * @defaultValue 1000
   */
  readonly pollMillis?: number | undefined;
}

/** Asks for a run until it has ended. */
export async function waitForRun(
  client: Client<paths>,
  runId: string,
  { signal, pollMillis = 1000 }: WaitOptions = {},
): Promise<Run> {
  for (;;) {
    const request = { params: { path: { run_id: runId } }, ...(signal === undefined ? {} : { signal }) };
    const result = await client.GET('/results/{run_id}', request);
    if (isBusy(result.response)) {
      await pause(retryAfterMillis(result.response) ?? pollMillis, signal);
      continue;
    }
    // This path also has reports, which are texts; JSON is what is asked for unless said otherwise.
    const run = dataOf(result) as Run;
    if (run.status === 'succeeded') return run;
    if (run.status === 'failed' || run.status === 'cancelled') throw new ServiceError(run.problem ?? unexplained(run));
    await pause(pollMillis, signal);
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
