import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';

import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { checkJsonText, withChecksum } from '../../io/checksum.ts';
import { internalProblem, serviceEnds } from '../problem/service-problem.ts';
import { LiveStream } from './live-stream.ts';
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
} from './stream-config.ts';
import { FileStreamLog } from './stream-log.ts';
import type { StreamLines, StreamName, Streams, StreamSummary } from './streams.ts';

/** Options of {@link LocalStreams}. */
export interface LocalStreamsOptions {
  /** The folder of all streams; undefined if streams are only kept in memory. */
  readonly folder: string | undefined;
  /** Returns the current time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly createId: () => string;
  readonly logger: Logger;
  /** The maximum number of streams of each tenant. */
  readonly maxStreams: number;
}

/** The file with the name and the options of a stream, written before its first event. */
const CONFIG_FILE = 'stream.json';

/** The streams of one process, in memory and, if it has a store, on disk. A stream on disk is opened on first use. */
export class LocalStreams implements Streams {
  readonly #options: LocalStreamsOptions;
  readonly #configs = new Map<string, StreamConfig>();
  readonly #live = new Map<string, Promise<LiveStream>>();
  /** Streams that are being created or removed. */
  readonly #changing = new Map<string, Promise<unknown>>();
  #isClosing = false;

  constructor(options: LocalStreamsOptions) {
    this.#options = options;
  }

  /** Reads the names and options of the streams on disk. Call and await this method before all others. */
  async start(): Promise<void> {
    const { folder, logger } = this.#options;
    if (folder === undefined) return;
    await mkdir(folder, { recursive: true });
    for (const name of await readdir(folder)) {
      const own = path.join(folder, name);
      // A folder that was being removed.
      if (name.endsWith('.removed')) {
        await rm(own, { recursive: true, force: true });
        continue;
      }
      const bytes = await readFile(path.join(own, CONFIG_FILE)).catch(() => undefined);
      // A stream without this file has no event that was confirmed.
      if (bytes === undefined) continue;
      try {
        const config = JSON.parse(checkJsonText(decodeUtf8(bytes, own), own).text) as StreamConfig;
        this.#configs.set(keyOfStream(config), config);
      } catch (error) {
        logger.error({ err: error, folder: own }, 'a monitored stream cannot be read');
      }
    }
  }

  async append(request: StreamLines): Promise<string> {
    if (this.#isClosing) throw serviceEnds();
    const lines = linesOf(request.text);
    const key = keyOfStream(request);
    await this.#changing.get(key)?.catch(() => undefined);
    if (!this.#configs.has(key)) await this.#alone(key, () => this.#create(request, lines));
    const config = this.#configs.get(key);
    if (config !== undefined) assertFits(config, request);
    const stream = await this.#existing(request);
    return appendedJson(request, await stream.append(request.kind, lines), stream.counts);
  }

  async get(name: StreamName): Promise<string> {
    const stream = await this.#existing(name);
    const config = this.#configs.get(keyOfStream(name));
    if (config === undefined) throw unknownStream(name.stream);
    return streamJson(config, stream);
  }

  async view(name: StreamName): Promise<MonitoringView> {
    return (await this.#existing(name)).view();
  }

  list(tenant: string): Promise<readonly StreamSummary[]> {
    return Promise.resolve(summariesOf([...this.#configs.values()].filter((config) => config.tenant === tenant)));
  }

  async remove(name: StreamName): Promise<void> {
    const key = keyOfStream(name);
    await this.#alone(key, async () => {
      if (!this.#configs.has(key)) throw unknownStream(name.stream);
      const live = this.#live.get(key);
      await live?.then((stream) => stream.close({ isSaved: false })).catch(() => undefined);
      const own = this.#folderOf(key);
      if (own !== undefined) {
        // The name is changed first, so that a stream is never partly removed.
        await rename(own, `${own}.removed`);
        await rm(`${own}.removed`, { recursive: true, force: true });
      }
      this.#live.delete(key);
      this.#configs.delete(key);
    });
  }

  /** Rejects new lines, waits for those that are being written, and saves the state of each stream. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#changing.values());
    for (const live of this.#live.values()) {
      await live
        .then((stream) => stream.close({ isSaved: true }))
        .catch((error: unknown) => {
          // The journal has everything.
          this.#options.logger.warn({ err: error }, 'the state of a monitored stream could not be saved');
        });
    }
    this.#live.clear();
  }

  /** Creates a stream for its first events. */
  async #create(request: StreamLines, lines: readonly string[]): Promise<void> {
    const key = keyOfStream(request);
    if (this.#configs.has(key)) return;
    const { clock, maxStreams } = this.#options;
    const config = await newConfig(request, lines, clock());
    if ((await this.list(request.tenant)).length >= maxStreams) throw tooManyStreams(maxStreams);
    const own = this.#folderOf(key);
    if (own !== undefined) {
      await mkdir(own, { recursive: true });
      await writeFileAtomic(path.join(own, CONFIG_FILE), withChecksum(JSON.stringify(config)));
    }
    this.#configs.set(key, config);
  }

  /**
   * Returns an open stream.
   * @throws {ServiceProblem} 404 if there is no such stream, 500 if its files are damaged
   */
  async #existing(name: StreamName): Promise<LiveStream> {
    const key = keyOfStream(name);
    await this.#changing.get(key)?.catch(() => undefined);
    const config = this.#configs.get(key);
    if (config === undefined) throw unknownStream(name.stream);
    const opened = this.#live.get(key) ?? this.#open(key, config);
    this.#live.set(key, opened);
    opened.catch(() => {
      if (this.#live.get(key) === opened) this.#live.delete(key);
    });
    return opened;
  }

  async #open(key: string, config: StreamConfig): Promise<LiveStream> {
    const { clock, createId, logger } = this.#options;
    const own = this.#folderOf(key);
    try {
      const log = own === undefined ? undefined : await FileStreamLog.open(own);
      return await LiveStream.open({ ...liveOptionsOf(config), log, clock, logger });
    } catch (error) {
      const id = createId();
      logger.error({ err: error, problem: id, stream: config.stream }, 'a monitored stream cannot be opened');
      throw internalProblem(id, error);
    }
  }

  /** Runs a change of a stream after the earlier ones. */
  async #alone(key: string, change: () => Promise<void>): Promise<void> {
    const before = this.#changing.get(key) ?? Promise.resolve();
    const work = before.catch(() => undefined).then(change);
    this.#changing.set(key, work);
    try {
      await work;
    } finally {
      if (this.#changing.get(key) === work) this.#changing.delete(key);
    }
  }

  /** Returns the folder of a stream. Its name is valid in every file system. */
  #folderOf(key: string): string | undefined {
    const { folder } = this.#options;
    return folder === undefined ? undefined : path.join(folder, shortDigest(key));
  }
}
