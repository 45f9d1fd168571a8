import type { Socket } from 'node:net';

import type { Logger } from 'pino';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import { createDeferred } from '../../internal/deferred.ts';
import type { MetricsJson } from '../middleware/metrics.ts';
import { type Channel, createChannel } from './channel.ts';
import type { Exit, ForkedWorker, Handlers, PrimaryMethods, WorkerMethods } from './protocol.ts';

/** Who takes connections. */
export interface Taker {
  readonly name: string;
  /** Sends a connection; `took` is called when it is there. */
  readonly give: (id: number, socket: Socket) => void;
}

/** Hands connections to workers in turn. */
interface ConnectionGiver {
  /** To whoever is next; where there is nobody, to the first who comes. */
  readonly give: (socket: Socket) => void;
  readonly add: (taker: Taker) => void;
  /** A taker has ended: what it was given and has not taken goes to others. */
  readonly remove: (name: string) => void;
  readonly took: (id: number) => void;
  /** Ends connections that nobody has taken. */
  readonly close: () => void;
}

/** Connections that wait for a worker; more are closed as they come. */
const MAX_WAITING = 1_000;

/**
 * Makes a giver. It holds each connection until the worker has said that it has it: one that is on its way to a worker
 * that is killed would else be lost, and its client wait in vain. (node:cluster loses them.)
 */
export function createConnectionGiver(): ConnectionGiver {
  let takers: readonly Taker[] = [];
  let waiting: Socket[] = [];
  const given = new Map<number, { readonly socket: Socket; readonly name: string }>();
  let count = 0;

  const give = (socket: Socket): void => {
    const [taker, ...others] = takers;
    if (taker === undefined) {
      if (waiting.length < MAX_WAITING) waiting.push(socket);
      else socket.destroy();
      return;
    }
    takers = [...others, taker];
    const id = ++count;
    given.set(id, { socket, name: taker.name });
    taker.give(id, socket);
  };

  return {
    give,
    add: (taker) => {
      takers = [taker, ...takers];
      const sockets = waiting;
      waiting = [];
      sockets.forEach(give);
    },
    remove: (name) => {
      takers = takers.filter((taker) => taker.name !== name);
      for (const [id, { socket, name: owner }] of [...given]) {
        if (owner !== name) continue;
        given.delete(id);
        give(socket);
      }
    },
    took: (id) => {
      // The worker has a descriptor of its own, so that this ends nothing but our hold on it.
      given.get(id)?.socket.destroy();
      given.delete(id);
    },
    close: () => {
      for (const socket of [...waiting, ...[...given.values()].map(({ socket: held }) => held)]) socket.destroy();
      waiting = [];
      given.clear();
    },
  };
}

/** What follows the end of a worker. */
export type AfterDeath = { readonly kind: 'replace'; readonly pauseMillis: number } | { readonly kind: 'give-up' };

/** A worker that lived less died quickly: it will hardly do better the next time. */
const QUICK_MILLIS = 5_000;

/** So many quick deaths in a row are enough. */
const MAX_QUICK_DEATHS = 10;

const FIRST_PAUSE_MILLIS = 100;
const MAX_PAUSE_MILLIS = 2_000;

/**
 * Decides what follows when a worker ends: another at once, or, where workers end as soon as they begin, after a pause that
 * doubles from 0.1 s up to 2 s, and after ten of these in a row nothing any more.
 * @returns a function of how long the worker lived, in milliseconds
 */
export function createRestartPolicy(): (livedMillis: number) => AfterDeath {
  let quickDeaths = 0;
  return (livedMillis) => {
    quickDeaths = livedMillis < QUICK_MILLIS ? quickDeaths + 1 : 0;
    if (quickDeaths >= MAX_QUICK_DEATHS) return { kind: 'give-up' };
    if (quickDeaths <= 1) return { kind: 'replace', pauseMillis: 0 };
    return {
      kind: 'replace',
      pauseMillis: Math.min(FIRST_PAUSE_MILLIS * 2 ** (quickDeaths - 2), MAX_PAUSE_MILLIS),
    };
  };
}

/** Options of {@link createWorkerGroup}. */
export interface WorkerGroupOptions {
  /** Workers at once. */
  readonly count: number;
  readonly fork: () => ForkedWorker;
  /** What a worker of this name may ask. */
  readonly handlersOf: (name: string) => Handlers<Omit<PrimaryMethods, 'ready'>>;
  /** A worker has ended, whose process had that number. */
  readonly onExit: (name: string, pid: number | undefined) => void;
  readonly logger: Logger;
  /** In milliseconds. */
  readonly clock: () => number;
  /**
   * What follows when a worker ends that lived for so many milliseconds.
   * @defaultValue `createRestartPolicy()`
   */
  readonly afterDeath?: (livedMillis: number) => AfterDeath;
}

/** Workers, each of which is replaced when it ends. */
export interface WorkerGroup {
  /** Resolves when all take connections; rejects where they cannot be started. */
  readonly started: Promise<unknown>;
  /** Rejects when workers end again and again, so that they are no longer replaced. */
  readonly failed: Promise<never>;
  /** Hands a connection to the next worker. */
  readonly give: (socket: Socket) => void;
  /** What each living worker has counted; one that does not answer in time is left out. */
  readonly metrics: () => Promise<ReadonlyMap<string, MetricsJson>>;
  /** No worker is replaced any more, and none takes connections; resolves when all requests are answered. */
  readonly drain: () => Promise<void>;
  /** Ends the workers; one that does not end by itself is killed. */
  readonly end: () => Promise<void>;
}

interface Member {
  readonly worker: ForkedWorker;
  readonly channel: Channel<WorkerMethods>;
  readonly exited: Promise<void>;
}

/** A worker that does not tell its metrics so long is busy or about to end. */
const METRICS_MILLIS = 2_000;

/** A worker that does not end so long is killed. */
const END_MILLIS = 1_000;

/** Starts the workers and keeps their number. */
export function createWorkerGroup(options: WorkerGroupOptions): WorkerGroup {
  const { count, fork, handlersOf, onExit, logger, clock } = options;
  const members = new Map<string, Member>();
  const ready = new Set<string>();
  const giver = createConnectionGiver();
  const started = createDeferred<undefined>();
  const failed = createDeferred<never>();
  const afterDeath = options.afterDeath ?? createRestartPolicy();
  let isEnding = false;
  let births = 0;

  const fail = (error: Error): void => {
    isEnding = true;
    started.reject(error);
    failed.reject(error);
  };

  const bear = (): void => {
    if (isEnding) return;
    const name = String(++births);
    const bornAt = clock();
    const worker = fork();
    const channel = createChannel<WorkerMethods, PrimaryMethods>(worker.line, {
      ...handlersOf(name),
      ready: () => {
        ready.add(name);
        giver.add({ name, give: worker.give });
        if (ready.size === count) started.resolve(undefined);
        return undefined;
      },
    });
    worker.onTook(giver.took);
    const exited = new Promise<void>((resolve) => {
      worker.onExit((exit) => {
        members.delete(name);
        ready.delete(name);
        giver.remove(name);
        onExit(name, worker.pid);
        resolve();
        if (!isEnding) replace(name, exit, clock() - bornAt);
      });
    });
    members.set(name, { worker, channel, exited });
  };

  const replace = (name: string, exit: Exit, livedMillis: number): void => {
    const next = afterDeath(livedMillis);
    logger.error({ worker: name, ...exit, lived_seconds: Math.round(livedMillis / 1000) }, 'a worker has ended');
    if (next.kind === 'give-up') fail(endedAgainAndAgain(exit));
    else setTimeout(bear, next.pauseMillis);
  };

  for (let index = 0; index < count; index++) bear();

  return {
    started: started.promise,
    failed: failed.promise,
    give: giver.give,
    metrics: async () => {
      const asked = await Promise.all(
        [...members].map(async ([name, { channel }]) => [name, await metricsOf(channel)] as const),
      );
      // One that has ended meanwhile is counted by what was last known of it.
      return new Map(
        asked.filter((entry): entry is [string, MetricsJson] => {
          const [name, metrics] = entry;
          return metrics !== undefined && members.has(name);
        }),
      );
    },
    drain: async () => {
      isEnding = true;
      await Promise.allSettled([...members.values()].map(({ channel }) => channel.call('drain', undefined)));
    },
    end: async () => {
      isEnding = true;
      giver.close();
      await Promise.all([...members.values()].map(endMember));
    },
  };
}

async function metricsOf(channel: Channel<WorkerMethods>): Promise<MetricsJson | undefined> {
  try {
    return await channel.call('metrics', undefined, AbortSignal.timeout(METRICS_MILLIS));
  } catch {
    return undefined;
  }
}

async function endMember({ worker, channel, exited }: Member): Promise<void> {
  const kill = setTimeout(() => {
    worker.kill();
  }, END_MILLIS);
  // It is gone before it could answer.
  channel.call('end', undefined).catch(() => undefined);
  await exited;
  clearTimeout(kill);
}

function endedAgainAndAgain({ code, signal }: Exit): FairnessToolkitError {
  const how = signal === null ? `with exit code ${String(code)}` : `by ${signal}`;
  return new FairnessToolkitError(
    `The workers of the service ended ${String(MAX_QUICK_DEATHS)} times in a row soon after they began, the last ${how}.`,
    {
      context: { code, signal },
      suggestion: 'The lines above say why; with --workers 1 the service runs in one process.',
    },
  );
}
