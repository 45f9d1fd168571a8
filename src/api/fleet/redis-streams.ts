import { randomUUID } from 'node:crypto';

import type { Logger } from 'pino';

import { checkJsonText, withChecksum } from '../../io/checksum.ts';
import { runScript } from '../../io/redis/run-script.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import { internalProblem, serviceEnds, ServiceProblem } from '../problem/service-problem.ts';
import { LiveStream } from '../streams/live-stream.ts';
import {
  appendedJson,
  assertFits,
  keyOfStream,
  linesOf,
  liveOptionsOf,
  newConfig,
  shortDigest,
  type StreamConfig,
  streamJson,
  summariesOf,
  tooManyStreams,
  unknownStream,
} from '../streams/stream-config.ts';
import { OtherEntries, RemovedStream } from '../streams/stream-log.ts';
import type { StreamLines, StreamName, Streams, StreamSummary } from '../streams/streams.ts';
import type { PromptClient } from './prompt-client.ts';
import { RedisStreamLog } from './redis-stream-log.ts';
import { CREATE_STREAM, REMOVE_STREAM } from './stream-scripts.ts';

/** The time after which a host forgets the state of a stream that no request needs. It can be read again. */
const IDLE_MILLIS = 10 * 60_000;

/** Options of {@link RedisStreams}. */
export interface RedisStreamsOptions {
  readonly prompt: Pick<PromptClient, 'call' | 'callBuffer'>;
  /** The first part of all keys. */
  readonly prefix: string;
  /** The maximum number of streams of each tenant. */
  readonly maxStreams: number;
  /** Returns the current time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly createId: () => string;
  readonly logger: Logger;
}

/** A stream in Redis. */
interface SharedStream {
  readonly id: string;
  readonly config: StreamConfig;
  /** The configuration as it is stored. */
  readonly text: string;
}

/** The state of a stream on this host. */
interface Replica {
  readonly id: string;
  readonly live: Promise<LiveStream>;
  usedAt: number;
}

/**
 * The monitored streams that several hosts share through Redis. Redis has the accepted lines of each stream in one order.
 * Each host counts them in this order, and so any host answers for any stream, with the same state. No host owns a
 * stream: if one is lost, the others go on.
 */
export class RedisStreams implements Streams {
  readonly #options: RedisStreamsOptions;
  /** The name of this host in the turns of a stream. */
  readonly #host = randomUUID();
  readonly #replicas = new Map<string, Replica>();
  #isClosing = false;

  constructor(options: RedisStreamsOptions) {
    this.#options = options;
  }

  async append(request: StreamLines): Promise<string> {
    if (this.#isClosing) throw serviceEnds();
    const lines = linesOf(request.text);
    const shared = (await this.#find(request)) ?? (await this.#create(request, lines));
    assertFits(shared.config, request);
    return this.#with(shared, async (live) =>
      appendedJson(request, await live.append(request.kind, lines), live.counts),
    );
  }

  async get(name: StreamName): Promise<string> {
    const shared = await this.#existing(name);
    return this.#with(shared, async (live) => {
      await live.refresh();
      return streamJson(shared.config, live);
    });
  }

  async view(name: StreamName): Promise<MonitoringView> {
    return this.#with(await this.#existing(name), async (live) => {
      await live.refresh();
      return live.view();
    });
  }

  async list(tenant: string): Promise<readonly StreamSummary[]> {
    const { prompt } = this.#options;
    const texts = (await prompt.call('HVALS', this.#namesOf(tenant))) as string[];
    return summariesOf(
      texts.flatMap((text) => {
        try {
          return [this.#parse(text).config];
        } catch (error) {
          this.#options.logger.error({ err: error }, 'a monitored stream cannot be read');
          return [];
        }
      }),
    );
  }

  async remove(name: StreamName): Promise<void> {
    const { prompt, prefix } = this.#options;
    const { id, text } = await this.#existing(name);
    const args = [shortDigest(name.tenant), name.stream, text, id];
    const isRemoved = (await runScript(prompt, REMOVE_STREAM, prefix, args)) === 1;
    this.#replicas.delete(keyOfStream(name));
    if (!isRemoved) throw unknownStream(name.stream);
  }

  /** Rejects new lines, and waits for those that are being written. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const closing = [...this.#replicas.values()].map(async ({ live }) => (await live).close({ isSaved: false }));
    await Promise.allSettled(closing);
    this.#replicas.clear();
  }

  /** Calls a function with the state of a stream on this host. */
  async #with<Result>(shared: SharedStream, use: (live: LiveStream) => Promise<Result>): Promise<Result> {
    const { logger, createId } = this.#options;
    const { config } = shared;
    const key = keyOfStream(config);
    for (let attempt = 1; ; attempt++) {
      const replica = this.#replicaOf(key, shared);
      try {
        return await use(await replica.live);
      } catch (error) {
        if (error instanceof ServiceProblem) throw error;
        // The state of this host may be incomplete.
        if (this.#replicas.get(key) === replica) this.#replicas.delete(key);
        if (error instanceof RemovedStream) throw unknownStream(config.stream);
        if (error instanceof OtherEntries && attempt === 1) {
          logger.warn({ stream: config.stream, reason: error.message }, 'a monitored stream is read again from Redis');
          continue;
        }
        const id = createId();
        logger.error({ err: error, problem: id, stream: config.stream }, 'a monitored stream in Redis is damaged');
        throw internalProblem(id, error);
      }
    }
  }

  #replicaOf(key: string, { id, config }: SharedStream): Replica {
    const { prompt: client, prefix, clock, logger } = this.#options;
    const now = performance.now();
    for (const [other, { usedAt }] of this.#replicas) {
      if (now - usedAt > IDLE_MILLIS) this.#replicas.delete(other);
    }
    const known = this.#replicas.get(key);
    if (known?.id === id) {
      known.usedAt = now;
      return known;
    }
    const log = new RedisStreamLog({ client, prefix, id, host: this.#host });
    const replica: Replica = {
      id,
      live: LiveStream.open({ ...liveOptionsOf(config), log, clock, logger }),
      usedAt: now,
    };
    replica.live.catch(() => {
      if (this.#replicas.get(key) === replica) this.#replicas.delete(key);
    });
    this.#replicas.set(key, replica);
    return replica;
  }

  async #existing(name: StreamName): Promise<SharedStream> {
    const found = await this.#find(name);
    if (found === undefined) throw unknownStream(name.stream);
    return found;
  }

  async #find({ tenant, stream }: StreamName): Promise<SharedStream | undefined> {
    const text = await this.#options.prompt.call('HGET', this.#namesOf(tenant), stream);
    return typeof text === 'string' ? this.#parse(text) : undefined;
  }

  /** Creates a stream for its first events. If another host was faster, returns the stream of that host. */
  async #create(request: StreamLines, lines: readonly string[]): Promise<SharedStream> {
    const { prompt, prefix, clock, maxStreams } = this.#options;
    const config = await newConfig(request, lines, clock());
    const id = randomUUID();
    const text = withChecksum(JSON.stringify({ id, config }));
    const args = [shortDigest(request.tenant), request.stream, text, id, maxStreams];
    const [outcome, other] = (await runScript(prompt, CREATE_STREAM, prefix, args)) as [string, string?];
    if (outcome === 'full') throw tooManyStreams(maxStreams);
    return outcome === 'exists' && other !== undefined ? this.#parse(other) : { id, config, text };
  }

  /** @throws {DataValidationError} if the text is damaged */
  #parse(text: string): SharedStream {
    const { id, config } = JSON.parse(checkJsonText(text, this.#options.prefix).text) as Omit<SharedStream, 'text'>;
    return { id, config, text };
  }

  #namesOf(tenant: string): string {
    return `${this.#options.prefix}:streams:${shortDigest(tenant)}`;
  }
}
