import { PassThrough } from 'node:stream';

import type { Handler, Service, ServiceContext } from '../context/service-context.ts';
import { unavailable, unknownRun } from '../problem/service-problem.ts';
import { isFinal, type RunEvent } from '../runs/runs.ts';
import { findRun } from './results.ts';

/**
 * The time in milliseconds between two comments in an idle event stream. Without comments, a proxy would close the
 * connection.
 */
export const HEARTBEAT_MILLIS = 15_000;

/** Options of an event stream. */
export interface EventStreamOptions {
  /** Writes to the stream. */
  readonly send: (text: string) => void;
  readonly heartbeatMillis: number;
  /** Called when the client has disconnected or the stream has ended. */
  readonly onClose: () => void;
}

/** Answers with server-sent events, and sends a comment regularly while there are no events. */
export function answerEventStream(
  context: ServiceContext,
  stream: PassThrough,
  { send, heartbeatMillis, onClose }: EventStreamOptions,
): void {
  const heartbeat = setInterval(send, heartbeatMillis, ': still here\n\n');
  stream.once('close', () => {
    clearInterval(heartbeat);
    onClose();
  });
  context.set({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  context.type = 'text/event-stream; charset=utf-8';
  context.body = stream;
}

/** The maximum number of clients that follow runs. Each client holds a connection and about 30 kB of the heap. */
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
    const stream = new PassThrough().once('close', () => (followers -= 1));
    try {
      await follow(context, runs, stream);
    } catch (error) {
      stream.destroy();
      throw error;
    }
  };
}

/** Answers with the events of a run. If there are no more events, the stream is destroyed. */
async function follow(context: ServiceContext, runs: Service['runs'], stream: PassThrough): Promise<void> {
  const seen = lastEventId(context);
  const record = await findRun(context, runs);
  const { runId } = record;
  if (isFinal(record.status) && seen >= record.lastEventId) {
    // An EventSource reconnects whenever a stream ends, until it receives 204.
    context.status = 204;
    stream.destroy();
    return;
  }
  const unfollow = await runs.follow(runId, seen, (event) => {
    stream.write(eventText(event));
    if (event.type === 'status' && isFinal(event.status)) stream.end();
  });
  if (unfollow === undefined) throw unknownRun(runId);
  answerEventStream(context, stream, {
    send: (text) => stream.write(text),
    heartbeatMillis: HEARTBEAT_MILLIS,
    onClose: unfollow,
  });
}

/** Returns the ID of the last event that the client has received; 0 for none, so that all events are sent. */
function lastEventId(context: ServiceContext): number {
  const seen = Number(context.get('last-event-id'));
  return Number.isSafeInteger(seen) && seen > 0 ? seen : 0;
}

function eventText({ id, type, ...data }: RunEvent): string {
  return `id: ${String(id)}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
