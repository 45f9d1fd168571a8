import type { Client } from 'openapi-fetch';

import type { RunEvent } from './client-types.ts';
import { parseEvents, type StreamEvent } from './parse-events.ts';
import { isBusy, pause, retryAfterMillis } from './pause.ts';
import { errorOf } from './problem-of-answer.ts';
import type { paths } from './schema.ts';

/** Options of `followRun`. */
export interface FollowOptions {
  /**
   * The number of the last event that is known; those after it are told.
   * @defaultValue 0, all of them
   */
  readonly lastEventId?: number | undefined;
  /**
   * Ends the following; the run goes on.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds before a lost connection is made again.
   * @defaultValue 1000
   */
  readonly retryMillis?: number | undefined;
  /**
   * Connections in a row that may give no event before it is given up.
   * @defaultValue 5
   */
  readonly mostRetries?: number | undefined;
}

/**
 * Tells what happens to a run until its final status, over as many connections as it takes.
 * @yields each event once
 */
export async function* followRun(
  client: Client<paths>,
  runId: string,
  { lastEventId = 0, signal, retryMillis = 1000, mostRetries = 5 }: FollowOptions = {},
): AsyncGenerator<RunEvent, void, undefined> {
  let seen = lastEventId;
  let losses = 0;
  for (;;) {
    try {
      const stream = await connect(client, runId, seen, signal);
      if (stream === undefined) return;
      for await (const event of eventsOf(stream, signal)) {
        seen = event.id;
        losses = 0;
        yield event;
        if (isLast(event)) return;
      }
      throw new ConnectionLost('the stream of events ended before the run did');
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      losses += 1;
      if (losses > mostRetries) throw error.cause instanceof Error ? error.cause : error;
    }
    await pause(retryMillis, signal);
  }
}

/** A connection that broke, or was not made: worth another one. */
class ConnectionLost extends Error {}

/**
 * The events of one connection.
 * @yields each as it comes
 */
async function* eventsOf(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunEvent, void, undefined> {
  const events = parseEvents(stream);
  try {
    for (;;) {
      const next = await lostIfBroken(events.next(), signal);
      if (next.done === true) return;
      yield runEventOf(next.value);
    }
  } finally {
    await events.return();
  }
}

/** The stream of events after one that was seen; undefined where the service says that nothing more will come. */
async function connect(
  client: Client<paths>,
  runId: string,
  seen: number,
  signal: AbortSignal | undefined,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const result = await lostIfBroken(
    client.GET('/results/{run_id}/events', {
      params: { path: { run_id: runId }, header: { 'Last-Event-ID': seen } },
      headers: { accept: 'text/event-stream' },
      parseAs: 'stream',
      ...(signal === undefined ? {} : { signal }),
    }),
    signal,
  );
  if (result.response.status === 204) return undefined;
  if (result.response.ok && result.data instanceof ReadableStream) return result.data;
  if (!isBusy(result.response)) throw errorOf(result);
  await pause(retryAfterMillis(result.response) ?? 0, signal);
  throw new ConnectionLost('busy', { cause: errorOf(result) });
}

/** What a broken connection throws depends on where this runs; only an end that was asked for is told from it. */
async function lostIfBroken<Value>(step: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  try {
    return await step;
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new ConnectionLost('the connection was lost', { cause });
  }
}

function runEventOf({ id, type, data }: StreamEvent): RunEvent {
  return { ...(JSON.parse(data) as object), id: Number(id), type } as RunEvent;
}

function isLast(event: RunEvent): boolean {
  return event.type === 'status' && ['succeeded', 'failed', 'cancelled'].includes(event.status);
}
