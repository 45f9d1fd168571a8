import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';

import { FairnessToolkitError } from '../../exceptions/index.ts';
import { MonitoredStream } from '../../integration/monitor/monitored-stream.ts';
import type { MonitoringView } from '../../monitoring/dashboard/monitoring-view.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { checkJsonText, withChecksum } from '../../io/checksum.ts';
import { type MonitorTexts, parseMonitorWire } from '../../schemas/monitor-wire.ts';
import { problemOfToolkitError } from '../jobs/problem-of-toolkit-error.ts';
import { fieldProblem, internalProblem, serviceEnds, ServiceProblem, unavailable } from '../problem/service-problem.ts';
import { LiveStream } from './live-stream.ts';
import { STREAM_NAME, type StreamLines, type StreamName, type Streams, type StreamSummary } from './streams.ts';

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

interface Config extends StreamSummary {
  readonly tenant: string;
  /** The column of times; null if events are timed when they arrive. */
  readonly timestamp: string | null;
}

/** The streams of one process, in memory and, if it has a store, on disk. A stream on disk is opened on first use. */
export class LocalStreams implements Streams {
  readonly #options: LocalStreamsOptions;
  readonly #configs = new Map<string, Config>();
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
        const config = JSON.parse(checkJsonText(decodeUtf8(bytes, own), own).text) as Config;
        this.#configs.set(keyOf(config), config);
      } catch (error) {
        logger.error({ err: error, folder: own }, 'a monitored stream cannot be read');
      }
    }
  }

  async append({ kind, text, options, ...name }: StreamLines): Promise<string> {
    if (this.#isClosing) throw serviceEnds();
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    if (lines.length === 0) throw fieldProblem(422, '', 'There are no lines.', 'Send one JSON object per line.');
    const stream = await this.#streamFor(name, kind, options, lines);
    const { accepted, repeated, unknown, alerts } = await stream.append(kind, lines);
    const { events, labels } = stream.counts;
    return JSON.stringify({
      stream: name.stream,
      accepted,
      repeated,
      ...(kind === 'labels' ? { unknown } : {}),
      n_events: events,
      n_labels: labels,
      alerts,
    });
  }

  async get(name: StreamName): Promise<string> {
    const stream = await this.#existing(name);
    const { createdAt } = this.#configs.get(keyOf(name)) ?? { createdAt: null };
    return JSON.stringify({ stream: name.stream, created_at: createdAt, ...stream.toJson() });
  }

  async view(name: StreamName): Promise<MonitoringView> {
    return (await this.#existing(name)).view();
  }

  list(tenant: string): Promise<readonly StreamSummary[]> {
    const own = [...this.#configs.values()].filter((config) => config.tenant === tenant);
    const summaries = own.map(({ stream, createdAt, options }) => ({ stream, createdAt, options }));
    return Promise.resolve(summaries.sort((a, b) => (a.stream < b.stream ? -1 : 1)));
  }

  async remove(name: StreamName): Promise<void> {
    const key = keyOf(name);
    await this.#alone(key, async () => {
      if (!this.#configs.has(key)) throw unknownStream(name.stream);
      const live = this.#live.get(key);
      await live?.then((stream) => stream.close({ isSaved: false })).catch(() => undefined);
      const { folder } = this.#options;
      if (folder !== undefined) {
        const own = path.join(folder, folderNameOf(key));
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

  /** Returns the stream for lines. The first events create it. */
  async #streamFor(
    name: StreamName,
    kind: StreamLines['kind'],
    options: MonitorTexts,
    lines: readonly string[],
  ): Promise<LiveStream> {
    const key = keyOf(name);
    await this.#changing.get(key)?.catch(() => undefined);
    if (!this.#configs.has(key)) {
      if (kind === 'labels') throw unknownStream(name.stream);
      await this.#alone(key, () => this.#create(name, options, lines));
    }
    const config = this.#configs.get(key);
    if (config !== undefined) assertSameOptions(config, options);
    if (kind === 'labels' && config?.options['y_true'] === undefined) {
      const detail = `The stream '${name.stream}' has no field of true labels.`;
      throw fieldProblem(422, 'y_true', detail, 'Name it as y_true in the query of the first events.');
    }
    return this.#existing(name);
  }

  async #create(name: StreamName, options: MonitorTexts, lines: readonly string[]): Promise<void> {
    const key = keyOf(name);
    if (this.#configs.has(key)) return;
    if (!STREAM_NAME.test(name.stream)) {
      const detail = 'The name of a stream has 1 to 100 letters, digits, dots, dashes and underscores.';
      throw fieldProblem(422, 'stream', detail, 'Use another name, such as credit-decisions.');
    }
    const { folder, clock, maxStreams } = this.#options;
    if ((await this.list(name.tenant)).length >= maxStreams) {
      const detail = `There are ${String(maxStreams)} streams already, which is the limit of this service.`;
      throw unavailable(detail, 'Delete a stream, or ask the operator for a higher limit.', 60);
    }
    const request = this.#explained(() => parseMonitorWire(options));
    const timestamp = MonitoredStream.timestampOf(request, lines[0] ?? '');
    const monitored = this.#explained(() => new MonitoredStream({ request, timestamp }));
    // A request with an invalid line creates nothing.
    const found = await monitored.check('events', lines);
    if (!('rows' in found)) throw LiveStream.invalid(found);
    const createdAt = new Date(clock()).toISOString();
    const config: Config = { ...name, createdAt, options, timestamp: timestamp ?? null };
    if (folder !== undefined) {
      const own = path.join(folder, folderNameOf(key));
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
    const key = keyOf(name);
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

  async #open(key: string, config: Config): Promise<LiveStream> {
    const { folder, clock, createId, logger } = this.#options;
    try {
      return await LiveStream.open({
        request: parseMonitorWire(config.options),
        timestamp: config.timestamp ?? undefined,
        folder: folder === undefined ? undefined : path.join(folder, folderNameOf(key)),
        clock,
        logger,
      });
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

  /** Calls a function of the library, whose errors become problems of the request. */
  #explained<Value>(step: () => Value): Value {
    try {
      return step();
    } catch (error) {
      if (!FairnessToolkitError.isInstance(error)) throw error;
      throw problemOfToolkitError(error, 'monitor-report') ?? error;
    }
  }
}

function keyOf({ tenant, stream }: StreamName): string {
  return `${tenant}\0${stream}`;
}

/** Returns the name of a stream's folder, which is valid in every file system. */
function folderNameOf(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

function assertSameOptions({ options, stream }: Config, given: MonitorTexts): void {
  const other = Object.keys(given).find((name) => JSON.stringify(given[name]) !== JSON.stringify(options[name]));
  if (other === undefined) return;
  const was = options[other];
  const detail = `The stream '${stream}' was created with ${was === undefined ? `no ${other}` : `${other}=${[was].flat().join(', ')}`}.`;
  throw fieldProblem(422, other, detail, 'Omit the parameter, or use another stream for other options.');
}

/** Returns the problem for an unknown stream. */
function unknownStream(stream: string): ServiceProblem {
  return new ServiceProblem(404, {
    detail: `There is no stream '${stream.slice(0, 100)}'.`,
    suggestion: 'Send its first events to POST /monitor/{stream}/events, with y_pred and sensitive in the query.',
  });
}
