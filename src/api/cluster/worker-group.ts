import type { Socket } from 'node:net';

import type { Logger } from 'pino';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import { createDeferred } from '../../internal/deferred.ts';
import type { MetricsJson } from '../middleware/metrics.ts';
import { type Channel, createChannel } from './channel.ts';
import type { Exit, ForkedWorker, Handlers, PrimaryMethods, WorkerMethods } from './protocol.ts';

/** A worker process that accepts connections. */
export interface Taker {
  readonly name: string;
  /** Sends a connection to the worker. `took` is called when the connection has arrived. */
  readonly give: (id: number, socket: Socket) => void;
}

/** The maximum number of connections that wait for a worker. Further connections are closed. */
const MAX_WAITING = 1_000;

/**
 * Hands connections to workers in turn. Each connection is kept until the worker has confirmed it. Without this,
 * connections on their way to a worker would be lost if that worker were killed. Their clients would never get a
 * response, as is the case with node:cluster.
 */
export class ConnectionGiver {
  #takers: readonly Taker[] = [];
  #waiting: Socket[] = [];
  readonly #given = new Map<number, { readonly socket: Socket; readonly name: string }>();
  #count = 0;

  /** Hands a connection to the next worker. If there is no worker yet, the connection waits for the first worker. */
  give(socket: Socket): void {
    const [taker, ...others] = this.#takers;
    if (taker === undefined) {
      if (this.#waiting.length < MAX_WAITING) this.#waiting.push(socket);
      else socket.destroy();
      return;
    }
    this.#takers = [...others, taker];
    const id = ++this.#count;
    this.#given.set(id, { socket, name: taker.name });
    taker.give(id, socket);
  }

  add(taker: Taker): void {
    this.#takers = [taker, ...this.#takers];
    for (const socket of this.#waiting.splice(0)) this.give(socket);
  }

  /** Removes a worker that has ended. The unconfirmed connections of the worker are passed to other workers. */
  remove(name: string): void {
    this.#takers = this.#takers.filter((taker) => taker.name !== name);
    for (const [id, { socket, name: owner }] of [...this.#given]) {
      if (owner !== name) continue;
      this.#given.delete(id);
      this.give(socket);
    }
  }

  took(id: number): void {
    // The worker has its own descriptor, so only the descriptor of this process is closed here.
    this.#given.get(id)?.socket.destroy();
    this.#given.delete(id);
  }

  /** Closes the connections that no worker has accepted. */
  close(): void {
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    for (const id of [...this.#given.keys()]) this.took(id);
  }
}

/** The action after a worker has ended: start another one after a pause, or give up. */
export type AfterDeath = { readonly kind: 'replace'; readonly pauseMillis: number } | { readonly kind: 'give-up' };

/**
 * The lifetime in milliseconds below which a worker has ended early. The replacement of such a worker will probably
 * fail too.
 */
const QUICK_MILLIS = 5_000;

/** The maximum number of consecutive workers that end early. After that, workers are no longer replaced. */
const MAX_QUICK_DEATHS = 10;

const FIRST_PAUSE_MILLIS = 100;
const MAX_PAUSE_MILLIS = 2_000;

/**
 * Creates the policy for replacing workers. A worker that ends is replaced immediately. If workers end soon after they
 * start, the pause before the next start doubles from 0.1 s up to 2 s. After ten consecutive workers have ended early,
 * no worker is replaced.
 * @returns a function of the worker's lifetime in milliseconds
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
  /** The number of workers. */
  readonly count: number;
  readonly fork: () => ForkedWorker;
  /** Returns the functions that handle calls from the worker with this name. */
  readonly handlersOf: (name: string) => Handlers<Omit<PrimaryMethods, 'ready'>>;
  /** Called when a worker has ended, with its process ID. */
  readonly onExit: (name: string, pid: number | undefined) => void;
  readonly logger: Logger;
  /** Returns the current time in milliseconds. */
  readonly clock: () => number;
  /**
   * Decides what to do after a worker has ended, given its lifetime in milliseconds.
   * @defaultValue `createRestartPolicy()`
   */
  readonly afterDeath?: (livedMillis: number) => AfterDeath;
}

/** A group of workers. Each worker is replaced when it ends. */
export interface WorkerGroup {
  /** Resolves when all workers accept connections. Rejects if they cannot be started. */
  readonly started: Promise<unknown>;
  /** Rejects when workers are no longer replaced, because too many workers have ended early. */
  readonly failed: Promise<never>;
  /** Hands a connection to the next worker. */
  readonly give: (socket: Socket) => void;
  /** Returns the metrics of each living worker. Workers that do not answer in time are omitted. */
  readonly metrics: () => Promise<ReadonlyMap<string, MetricsJson>>;
  /** Refuses requests that start work in every worker. Results are still answered. */
  readonly refuseWork: () => Promise<void>;
  /** Stops replacing workers and accepting connections. Resolves when all requests are answered. */
  readonly drain: () => Promise<void>;
  /** Ends the workers. A worker that does not end by itself is killed. */
  readonly end: () => Promise<void>;
}

interface Member {
  readonly worker: ForkedWorker;
  readonly channel: Channel<WorkerMethods>;
  readonly exited: Promise<void>;
}

/**
 * The time to wait for the metrics of a worker. A worker that does not respond in this time is busy or about to end.
 */
const METRICS_MILLIS = 2_000;

/** The time after which a worker that does not end is killed. */
const END_MILLIS = 1_000;

/** Starts the workers, and starts a new one for each worker that ends. */
export function createWorkerGroup(options: WorkerGroupOptions): WorkerGroup {
  const { count, fork, handlersOf, onExit, logger, clock } = options;
  const members = new Map<string, Member>();
  const ready = new Set<string>();
  const giver = new ConnectionGiver();
  const started = createDeferred<undefined>();
  const failed = createDeferred<never>();
  const afterDeath = options.afterDeath ?? createRestartPolicy();
  let isEnding = false;
  let births = 0;

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
    worker.onTook((id) => {
      giver.took(id);
    });
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
    if (next.kind === 'replace') {
      setTimeout(bear, next.pauseMillis);
      return;
    }
    isEnding = true;
    const error = endedAgainAndAgain(exit);
    started.reject(error);
    failed.reject(error);
  };

  for (let index = 0; index < count; index++) bear();

  return {
    started: started.promise,
    failed: failed.promise,
    give: (socket) => {
      giver.give(socket);
    },
    metrics: async () => {
      const found = new Map<string, MetricsJson>();
      await Promise.all(
        [...members].map(async ([name, { channel }]) => {
          const metrics = await channel
            .call('metrics', undefined, AbortSignal.timeout(METRICS_MILLIS))
            .catch(() => undefined);
          if (metrics !== undefined) found.set(name, metrics);
        }),
      );
      // The metrics of a worker that ended in the meantime are omitted, because its last known metrics are used
      // instead.
      return new Map([...found].filter(([name]) => members.has(name)));
    },
    refuseWork: async () => {
      await Promise.allSettled([...members.values()].map(({ channel }) => channel.call('refuseWork', undefined)));
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

async function endMember({ worker, channel, exited }: Member): Promise<void> {
  const kill = setTimeout(() => {
    worker.kill();
  }, END_MILLIS);
  // The worker ends before it can answer.
  channel.call('end', undefined).catch(() => undefined);
  await exited;
  clearTimeout(kill);
}

function endedAgainAndAgain({ code, signal }: Exit): FairnessToolkitError {
  const how = signal === null ? `ended with exit code ${String(code)}` : `was stopped by ${signal}`;
  return new FairnessToolkitError(
    `The workers of the service ended ${String(MAX_QUICK_DEATHS)} consecutive times soon after they started. The last one ${how}.`,
    {
      context: { code, signal },
      suggestion: 'See the log lines above for the reason. With --workers 1 the service runs in one process.',
    },
  );
}
