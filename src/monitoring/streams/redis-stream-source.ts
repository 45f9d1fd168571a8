import { ValueError } from '../../exceptions/index.ts';
import {
  assertKnownOptions,
  type FilledOptions,
  invalidParameter,
  oneOf,
  type OptionNames,
} from '../../internal/arguments.ts';
import { messageOf } from '../../internal/values.ts';
import type { EventSource, OpenSource, SourceContext } from './event-source.ts';
import { fieldOf, RedisStreamReader, unreadable } from './redis-stream-reader.ts';

/** Options of {@link RedisStreamSource}. */
export interface RedisStreamOptions {
  /** The key of the stream. */
  readonly key: string;
  /**
   * The consumer group. Processes with the same group share the work. Another group counts everything again.
   * @defaultValue 'evenhand'
   */
  readonly group?: string | undefined;
  /**
   * The name of this consumer in the group. Two processes cannot use the same name at the same time.
   * @defaultValue the first free one of `consumer-1`, `consumer-2`, …
   */
  readonly consumer?: string | undefined;
  /**
   * Where a new group begins: at the first entry of the stream, or after its last one.
   * @defaultValue 'beginning'
   */
  readonly from?: 'beginning' | 'end' | undefined;
}

const NAMES: OptionNames<RedisStreamOptions> = { key: true, group: true, consumer: true, from: true };

/**
 * A stream in Redis (XADD). Each entry has a field `event` with a JSON object.
 *
 * Every process reads as one consumer of a consumer group. Redis remembers which entries it has delivered to a consumer,
 * and forgets an entry when it is acknowledged. evenhand acknowledges entries in the same step in which it saves their
 * counts, so that every entry is either pending or counted, never both. If a process is lost, another process takes over
 * its consumer with its saved counts, and counts the pending entries.
 */
export class RedisStreamSource implements EventSource {
  readonly name: string;
  readonly stream: string;
  readonly #options: FilledOptions<Omit<RedisStreamOptions, 'consumer'>> & Pick<RedisStreamOptions, 'consumer'>;

  /** @throws {ValueError} if an option is invalid */
  constructor(options: RedisStreamOptions) {
    assertKnownOptions('RedisStreamSource', options, NAMES);
    const { key, group = 'evenhand', consumer, from = 'beginning' } = options;
    for (const [name, value] of Object.entries({ key, group, ...(consumer === undefined ? {} : { consumer }) })) {
      if (typeof value !== 'string' || value === '') throw invalidParameter(name, 'be a text that is not empty', value);
    }
    this.#options = { key, group, consumer, from: oneOf('from', from, ['beginning', 'end']) };
    this.name = `the stream '${key}' of Redis`;
    this.stream = `redis:${encodeURIComponent(key)}:${encodeURIComponent(group)}`;
  }

  async open(context: SourceContext): Promise<OpenSource> {
    const { key, group, from } = this.#options;
    if (context.store === null) throw new ValueError('A stream of Redis keeps its state in Redis.');
    const { redis, root } = context.store;
    const { client } = redis;
    const isNew = Number(await client.call('EXISTS', key)) === 0;
    try {
      await client.call('XGROUP', 'CREATE', key, group, from === 'beginning' ? '0' : '$', 'MKSTREAM');
    } catch (error) {
      if (!messageOf(error).startsWith('BUSYGROUP')) throw unreadable(this.name, error);
    }
    if (isNew)
      context.onWarning(`There was no stream '${key}' in Redis. It was created, and is empty until entries are added.`);
    const end = context.untilEnd ? fieldOf(await client.call('XINFO', 'STREAM', key), 'last-generated-id') : '0-0';
    return new RedisStreamReader(this.name, this.#options, context, {
      redis,
      root,
      reader: await redis.open(),
      end: String(end),
    });
  }
}
