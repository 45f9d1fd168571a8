import type { PassThrough } from 'node:stream';

import type { ServiceContext } from '../context/service-context.ts';

/** Proxies drop a connection that is silent for long. */
export const HEARTBEAT_MILLIS = 15_000;

/** What keeps a stream of events alive, and what follows its end. */
export interface EventStreamOptions {
  /** Writes to the stream. */
  readonly send: (text: string) => void;
  readonly heartbeatMillis: number;
  /** The client has gone, or the stream has ended. */
  readonly onClose: () => void;
}

/** Answers with server-sent events, and with a word from time to time while nothing happens. */
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
