import { PassThrough } from 'node:stream';

import type { Handler, Service, ServiceContext } from '../context/service-context.ts';
import { unknownRun } from '../problem/run-problems.ts';
import { ServiceProblem } from '../problem/service-problem.ts';
import { isFinal, type RunEvent } from '../runs/run-record.ts';
import { answerEventStream, HEARTBEAT_MILLIS } from './event-stream.ts';
import { runIdOf } from './results.ts';

/** Each follower holds a connection and about half a megabyte. */
const MAX_FOLLOWERS = 250;

/** GET /results/{run_id}/events: what happens to a run, as server-sent events, until its final status. */
export function runEventsRoute({ runs }: Service): Handler {
  let followers = 0;
  return async (context) => {
    if (followers >= MAX_FOLLOWERS) {
      throw new ServiceProblem(503, {
        detail: 'Too many clients follow runs now.',
        suggestion: 'Ask for the result from time to time instead.',
        headers: { 'Retry-After': '30' },
      });
    }
    // Counted before anything is waited for, so that many at once are not more than the bound.
    followers += 1;
    let isCounted = true;
    const release = (): void => {
      if (isCounted) followers -= 1;
      isCounted = false;
    };
    try {
      if (!(await follow(context, runs, release))) release();
    } catch (error) {
      release();
      throw error;
    }
  };
}

/**
 * Answers with the events of a run.
 * @param onClose called once when the client has gone or the stream has ended
 * @returns false where there is nothing to follow, and `onClose` is not called
 */
async function follow(context: ServiceContext, runs: Service['runs'], onClose: () => void): Promise<boolean> {
  const runId = runIdOf(context);
  const seen = lastEventId(context);
  const record = await runs.get(runId);
  if (record === undefined) throw unknownRun(runId);
  if (isFinal(record.status) && seen >= record.lastEventId) {
    // An EventSource connects again whenever a stream ends, until it is told that there is nothing more.
    context.status = 204;
    return false;
  }
  const stream = new PassThrough();
  const unfollow = await runs.follow(runId, seen, (event) => {
    stream.write(eventText(event));
    if (event.type === 'status' && isFinal(event.status)) stream.end();
  });
  if (unfollow === undefined) throw unknownRun(runId);
  answerEventStream(context, stream, {
    send: (text) => stream.write(text),
    heartbeatMillis: HEARTBEAT_MILLIS,
    onClose: () => {
      onClose();
      unfollow();
    },
  });
  return true;
}

/** The last event that the client has seen; 0 for none, so that all of them are told. */
function lastEventId(context: ServiceContext): number {
  const seen = Number(context.get('last-event-id'));
  return Number.isSafeInteger(seen) && seen > 0 ? seen : 0;
}

function eventText({ id, type, ...data }: RunEvent): string {
  return `id: ${String(id)}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
