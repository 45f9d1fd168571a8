import { createParser } from 'eventsource-parser';
import type { Client } from 'openapi-fetch';

import { Utf8Stream } from '../../internal/decode-utf8.ts';
import { retryAfterMillis } from '../../internal/http.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { sleep } from '../../internal/retry.ts';
import type { paths } from './schema.ts';
import { errorOf, isBusy, type RunEvent } from './service-error.ts';

/** An event of a stream, with its unparsed fields. */
interface StreamEvent {
  /** The most recent ID in the stream, from this event or an earlier event; empty if there was none. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/**
 * Parses a stream of events (`text/event-stream`, WHATWG HTML section 9.2). If the stream ends within an event, that
 * event is discarded, as the standard requires.
 * @yields each event once it is complete
 * @throws {DataValidationError} for bytes that are not UTF-8
 */
export async function* parseEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new Utf8Stream('The stream of events');
  const reader = stream.getReader();
  let lastId = '';
  let complete: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      lastId = id ?? lastId;
      complete.push({ id: lastId, type: event ?? 'message', data });
    },
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.write(value));
      const events = complete;
      complete = [];
      yield* events;
    }
  } finally {
    // Closes the connection when the consumer stops. If the connection broke, `read` has already thrown the error.
    await reader.cancel().catch(() => undefined);
  }
}

/** Options of `followRun`. */
export interface FollowOptions {
  /**
   * The number of the last known event. Only later events are returned.
   * @defaultValue 0: all events
   */
  readonly lastEventId?: number | undefined;
  /**
   * Stops following; the run continues.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time in milliseconds to wait before reconnecting.
   * @defaultValue 1000
   */
  readonly retryMillis?: number | undefined;
  /**
   * The number of consecutive connections without an event after which an error is thrown.
   * @defaultValue 5
   */
  readonly maxRetries?: number | undefined;
}

/**
 * Returns the events of a run until its final status. Reconnects if the connection is lost.
 * @yields each event once
 * @throws {ServiceError} 404 for an unknown run
 * @throws the last connection error, after too many consecutive connections without an event; or the signal's reason
 *   when it is aborted
 */
export async function* followRun(
  client: Client<paths>,
  runId: string,
  { lastEventId = 0, signal, retryMillis = 1000, maxRetries = 5 }: FollowOptions = {},
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
      if (losses > maxRetries) throw error.cause instanceof Error ? error.cause : error;
    }
    await sleep(retryMillis, signal);
  }
}

/** A connection that broke or could not be opened; reconnecting may help. */
class ConnectionLost extends Error {}

/**
 * Returns the events of one connection.
 * @yields each event as it arrives
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

/** Opens the stream of events after the last received event; undefined if there are no more events. */
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
  await sleep(retryAfterMillis(result.response.headers, machineClock()) ?? 0, signal);
  throw new ConnectionLost('busy', { cause: errorOf(result) });
}

/**
 * Converts any error except an abort to ConnectionLost, because the errors of broken connections depend on the
 * platform.
 */
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
