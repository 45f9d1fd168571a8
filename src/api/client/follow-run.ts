import type { Client } from 'openapi-fetch';

import { Utf8Stream } from '../../internal/decode-utf8.ts';
import { retryAfterMillis } from '../../internal/http.ts';
import { machineClock } from '../../internal/machine-clock.ts';
import { sleep } from '../../internal/retry.ts';
import type { paths } from './schema.ts';
import { errorOf, isBusy, type RunEvent } from './service-error.ts';

/** An event of a stream, with its fields as they were sent. */
interface StreamEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

const LINE_END = /\r\n|\n|\r(?!$)/;

/**
 * Parses a stream of events (`text/event-stream`, WHATWG HTML section 9.2). An event that the end of the stream truncates is
 * discarded, as the standard requires.
 * @yields each event once it is complete
 * @throws {DataValidationError} for bytes that are not UTF-8
 */
export async function* parseEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new Utf8Stream('The stream of events');
  const reader = stream.getReader();
  let rest = '';
  let fields = new EventFields();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.write(value)).split(LINE_END);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line !== '') {
          fields.add(line);
          continue;
        }
        if (fields.hasData) yield fields.toEvent();
        fields = new EventFields(fields.id);
      }
    }
  } finally {
    // Closes the connection when the consumer stops. `read` has already thrown the error of a connection that broke.
    await reader.cancel().catch(() => undefined);
  }
}

/** The fields of one event. An id applies until the next one. */
class EventFields {
  id: string;
  #type = 'message';
  readonly #data: string[] = [];

  constructor(id = '') {
    this.id = id;
  }

  get hasData(): boolean {
    return this.#data.length > 0;
  }

  add(line: string): void {
    const colon = line.indexOf(':');
    // A line that begins with a colon is a comment, which keeps the connection alive.
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') this.id = value;
    else if (name === 'event') this.#type = value;
    else if (name === 'data') this.#data.push(value);
  }

  toEvent(): StreamEvent {
    return { id: this.id, type: this.#type, data: this.#data.join('\n') };
  }
}

/** Options of `followRun`. */
export interface FollowOptions {
  /**
   * The number of the last known event; only later ones are returned.
   * @defaultValue 0: all events
   */
  readonly lastEventId?: number | undefined;
  /**
   * Stops following; the run continues.
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * The wait before a lost connection is opened again, in milliseconds.
   * @defaultValue 1000
   */
  readonly retryMillis?: number | undefined;
  /**
   * The number of consecutive connections without an event after which an error is thrown.
   * @defaultValue 5
   */
  readonly mostRetries?: number | undefined;
}

/**
 * Returns the events of a run until its final status, and reconnects when a connection is lost.
 * @yields each event once
 * @throws {ServiceError} 404 for an unknown run
 * @throws the error of the last connection, after too many in a row without an event; the signal's reason when it is aborted
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

/** Opens the stream of the events after one that was seen; undefined if the service has no more of them. */
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

/** Throws ConnectionLost for any error except an abort: what a broken connection throws depends on the platform. */
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
