import { PassThrough } from 'node:stream';

import type { Handler, Service, ServiceContext } from '../context/service-context.ts';
import { unknownRun } from '../problem/run-problems.ts';
import { unavailable } from '../problem/service-problem.ts';
import { isFinal, type RunEvent } from '../runs/run-record.ts';
import { answerEventStream, HEARTBEAT_MILLIS } from './event-stream.ts';
import { runIdOf } from './results.ts';

/** The maximum number of followers. Each one holds a connection and about half a megabyte. */
const MAX_FOLLOWERS = 250;

/** Handles GET /results/{run_id}/events: sends the events of a run until its final status, as server-sent events. */
export function runEventsRoute({ runs }: Service): Handler {
  let followers = 0;
  return async (context) => {
    if (followers >= MAX_FOLLOWERS) {
      throw unavailable('Too many clients are following runs.', 'Poll the result instead.', 30);
    }
    // The follower is counted before any await, so that concurrent requests cannot exceed the limit.
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
 * @param onClose called once when the client has disconnected or the stream has ended
 * @returns false if there is nothing to follow; `onClose` is not called in this case
 */
async function follow(context: ServiceContext, runs: Service['runs'], onClose: () => void): Promise<boolean> {
  const runId = runIdOf(context);
  const seen = lastEventId(context);
  const record = await runs.get(runId);
  if (record === undefined) throw unknownRun(runId);
  if (isFinal(record.status) && seen >= record.lastEventId) {
    // An EventSource reconnects whenever a stream ends, until it receives 204.
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

/** Returns the ID of the last event that the client has received; 0 for none, so that all events are sent. */
function lastEventId(context: ServiceContext): number {
  const seen = Number(context.get('last-event-id'));
  return Number.isSafeInteger(seen) && seen > 0 ? seen : 0;
}

function eventText({ id, type, ...data }: RunEvent): string {
  return `id: ${String(id)}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
