import type { PassThrough } from 'node:stream';

import type { ServiceContext } from '../context/service-context.ts';

/** The interval of heartbeats. Proxies close connections that are idle for long. */
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
