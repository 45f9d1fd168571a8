import type { IncomingMessage } from 'node:http';

import type { ServiceProblem } from '../problem/service-problem.ts';
import { clientGone, tooLarge, tooSlow } from './intake-problems.ts';

/** What a body may be at most, and how slow. */
export interface BodyLimits {
  readonly mostBytes: number;
  readonly idleMillis: number;
}

/** A client that sends less in `idleMillis` keeps a connection without using it. */
const LEAST_BYTES = 1024;

/**
 * Watches a body come in, from before it is read to its end.
 * @param fail called once, where it is too large, too slow, or ends because the client goes away
 * @returns ends the watch
 */
export function watchBody(
  request: IncomingMessage,
  { mostBytes, idleMillis }: BodyLimits,
  fail: (problem: ServiceProblem) => void,
): () => void {
  let received = 0;
  let atLastLook = 0;
  let isOver = false;
  const timer = setTimeout(() => {
    // While the disk is what is slow, the request is paused and the client is not to blame.
    if (request.isPaused()) timer.refresh();
    else giveUp(tooSlow(idleMillis, LEAST_BYTES));
  }, idleMillis);
  const onData = (chunk: Buffer): void => {
    received += chunk.length;
    if (received > mostBytes) giveUp(tooLarge(mostBytes));
    else if (received >= atLastLook + LEAST_BYTES) {
      atLastLook = received;
      timer.refresh();
    }
  };
  const onGone = (cause?: unknown): void => {
    giveUp(clientGone(cause));
  };
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
    // The listener of errors stays: without one a connection that breaks later would be an uncaught error.
    request.off('data', onData).off('end', stop).off('close', onGone);
  };
  const giveUp = (problem: ServiceProblem): void => {
    if (isOver) return;
    stop();
    fail(problem);
  };
  request.on('data', onData).once('end', stop).once('close', onGone).on('error', onGone);
  return stop;
}
