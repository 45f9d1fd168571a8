import type { RateLimiter, Service } from '../context/service-context.ts';
import type { KeptRun, RunEvent, Runs } from '../runs/runs.ts';
import type { Channel } from './channel.ts';
import type { Streams } from '../streams/streams.ts';
import type { WebhookSender } from '../webhooks/webhook-deliveries.ts';
import {
  type ErrorPacket,
  type Handlers,
  packError,
  type RunMethods,
  type StreamMethods,
  unpackError,
  type WebhookMethods,
} from './protocol.ts';

/** Returns a `Runs` object that forwards its calls to another process on this machine. */
export function createRemoteRuns(channel: Channel<RunMethods>): Runs {
  const keep = createKeeper((runs) => channel.call('keep', runs));
  return Object.freeze({
    keep,
    submit: (request) => channel.call('submit', request),
    wait: (runId, signal) => channel.call('wait', runId, signal),
    get: (runId) => channel.call('get', runId),
    list: () => channel.call('list', undefined),
    remove: (runId) => channel.call('remove', runId),
    follow: async (runId, after, onEvent) => {
      const { answer, end } = await channel.subscribe('follow', { runId, after }, (event: RunEvent) => {
        onEvent(event);
      });
      if (answer) return end;
      end();
      return undefined;
    },
    work: (job) => channel.call('work', job),
    counts: () => channel.call('counts', undefined),
    fileOf: (runId, name) => channel.call('fileOf', { runId, name }),
  } satisfies Runs);
}

/** A run that waits to be stored. */
interface WaitingRun {
  readonly run: KeptRun;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The number of waiting runs that are sent at once. */
const MAX_WAITING = 16;

/** The minimum time between two messages. A run that arrives later than that after a message does not wait. */
const PAUSE_MILLIS = 3;

/**
 * Returns a function that stores runs together: the runs of one turn of the event loop, and under load those of a few
 * milliseconds, are sent as one message. A message costs more than the runs in it, because it wakes another process.
 */
function createKeeper(
  store: (runs: readonly KeptRun[]) => Promise<readonly (ErrorPacket | null)[]>,
): (run: KeptRun) => Promise<void> {
  let waiting: WaitingRun[] = [];
  let sentAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let isScheduled = false;
  const send = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    isScheduled = false;
    const sent = waiting;
    waiting = [];
    if (sent.length === 0) return;
    sentAt = performance.now();
    try {
      const outcomes = await store(sent.map(({ run }) => run));
      sent.forEach(({ resolve, reject }, index) => {
        const error = outcomes[index] ?? null;
        if (error === null) resolve();
        else reject(unpackError(error));
      });
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  };
  const schedule = (): void => {
    const isUrgent = waiting.length >= MAX_WAITING || performance.now() - sentAt >= PAUSE_MILLIS;
    if (isUrgent && !isScheduled) {
      isScheduled = true;
      setImmediate(() => void send());
    } else if (!isUrgent) timer ??= setTimeout(() => void send(), PAUSE_MILLIS);
  };
  return (run) =>
    new Promise((resolve, reject) => {
      waiting.push({ run, resolve, reject });
      schedule();
    });
}

/** Creates a rate limiter that forwards its calls to another process, so that all processes share one limit. */
export function createRemoteLimiter(channel: Channel<RunMethods>): RateLimiter {
  return Object.freeze({ take: (client: string) => channel.call('take', client) });
}

/**
 * Returns the handlers for the calls of `createRemoteRuns`. If the calling process ends, its pending calls and
 * subscriptions are dropped, but its runs continue.
 */
export function serveRuns({ runs, limiter }: Pick<Service, 'runs' | 'limiter'>): Handlers<RunMethods> {
  return {
    keep: (all) =>
      Promise.all(
        all.map(async (run, index) => {
          try {
            await runs.keep(run);
            return null;
          } catch (error) {
            return packError(index, error);
          }
        }),
      ),
    submit: (request) => runs.submit(request),
    wait: (runId, { signal }) => runs.wait(runId, signal),
    get: (runId) => runs.get(runId),
    list: () => runs.list(),
    remove: (runId) => runs.remove(runId),
    follow: async ({ runId, after }, { signal, emit }) => {
      const unfollow = await runs.follow(runId, after, emit);
      if (unfollow === undefined) return false;
      if (signal.aborted) unfollow();
      else signal.addEventListener('abort', unfollow, { once: true });
      return true;
    },
    work: (job) => runs.work(job),
    counts: () => runs.counts(),
    fileOf: ({ runId, name }) => runs.fileOf(runId, name),
    take: (client) => {
      if (limiter === null) throw new Error('The rate limiter was called, but no rate limit is set.');
      return limiter.take(client);
    },
  };
}

/** Returns monitored streams that forward their calls to another process on this machine. */
export function createRemoteStreams(channel: Channel<StreamMethods>): Streams {
  return Object.freeze({
    append: (lines) => channel.call('appendToStream', lines),
    get: (name) => channel.call('getStream', name),
    view: (name) => channel.call('viewStream', name),
    list: (tenant) => channel.call('listStreams', tenant),
    remove: async (name) => {
      await channel.call('removeStream', name);
    },
  } satisfies Streams);
}

/** Returns the handlers for the calls of `createRemoteStreams`. */
export function serveStreams(streams: Streams): Handlers<StreamMethods> {
  return {
    appendToStream: (lines) => streams.append(lines),
    getStream: (name) => streams.get(name),
    viewStream: (name) => streams.view(name),
    listStreams: (tenant) => streams.list(tenant),
    removeStream: async (name) => {
      await streams.remove(name);
      return undefined;
    },
  };
}

/** Returns a sender of webhooks that forwards its calls to another process on this machine. */
export function createRemoteWebhooks(channel: Channel<WebhookMethods>): WebhookSender {
  return Object.freeze({
    add: async (webhook) => {
      await channel.call('addWebhook', webhook);
    },
  } satisfies WebhookSender);
}

/** Returns the handlers for the calls of `createRemoteWebhooks`. */
export function serveWebhooks(sender: WebhookSender): Handlers<WebhookMethods> {
  return {
    addWebhook: async (webhook) => {
      await sender.add(webhook);
      return undefined;
    },
  };
}
