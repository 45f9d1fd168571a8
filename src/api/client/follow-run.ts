import type { Client } from 'openapi-fetch';

import { Utf8Stream } from '../../internal/decode-utf8.ts';
import { isBusy, pause, retryAfterMillis } from './pause.ts';
import type { paths } from './schema.ts';
import { errorOf, type RunEvent } from './service-error.ts';

/** An event of a stream, as it was sent. */
interface StreamEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

const LINE_END = /\r\n|\n|\r(?!$)/;

/**
 * The events of a stream (`text/event-stream`, WHATWG HTML section 9.2). An event that the end of the stream cuts off is
 * left out, as the standard asks.
 * @yields each event when its last line has come
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
    // Whoever stops reading lets go of the connection. What is lost with a connection that broke is told by `read`.
    await reader.cancel().catch(() => undefined);
  }
}

/** The lines of one event. The last id holds until another one comes. */
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
    // A line that begins with a colon is a comment, sent to keep the connection.
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
