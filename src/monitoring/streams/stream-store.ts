import { DataValidationError } from '../../exceptions/index.ts';
import type { Redis } from '../../io/redis/open-redis.ts';

/** The maximum number of entries that one command acknowledges. Lua limits the number of arguments. */
const MAX_ACKS = 1000;

/** The maximum number of alert changes that are kept. */
const MAX_ALERTS = 10_000;

/**
 * Takes over a partition. From then on, saves of the earlier owner are refused, because they have an older epoch.
 * Returns the epoch, the version, the position, the index of the current window and the state.
 */
const CLAIM = `
redis.call('SADD', KEYS[2], ARGV[1])
local epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
local saved = redis.call('HMGET', KEYS[1], 'version', 'position', 'state', 'waiting')
return {epoch, saved[1] or '0', saved[2], saved[3], saved[4], redis.call('HGET', KEYS[3], 'window') or '0'}
`;

/**
 * Saves the state of a partition, together with the position up to which it has counted, and acknowledges the entries
 * that it has counted. Does all of this or nothing. A save that is repeated because its answer was lost has no effect.
 */
const SAVE = `
local saved = redis.call('HMGET', KEYS[1], 'epoch', 'version')
if saved[1] ~= ARGV[1] then return {'lost'} end
local window = redis.call('HGET', KEYS[2], 'window') or '0'
if saved[2] == ARGV[3] then return {'saved', window} end
if (saved[2] or '0') ~= ARGV[2] then return {'lost'} end
redis.call('HSET', KEYS[1], 'version', ARGV[3], 'position', ARGV[4], 'state', ARGV[5])
if ARGV[7] ~= '' then redis.call('HSET', KEYS[1], 'waiting', ARGV[7]) end
local ids = {}
for id in string.gmatch(ARGV[8], '%S+') do
  ids[#ids + 1] = id
  if #ids == ${String(MAX_ACKS)} then
    redis.call('XACK', KEYS[3], ARGV[6], unpack(ids))
    ids = {}
  end
end
if #ids > 0 then redis.call('XACK', KEYS[3], ARGV[6], unpack(ids)) end
return {'saved', window}
`;

/** Becomes or stays the leader. Returns the epoch of the leader, or 0 if another process is the leader. */
const LEAD = `
local leader = redis.call('GET', KEYS[1])
if leader == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.call('GET', KEYS[2])
end
if leader then return '0' end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return tostring(redis.call('INCR', KEYS[2]))
`;

/** Stops being the leader, if this process is the leader. */
const RESIGN = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/** Saves the result of a check, if this process is still the leader and nobody has saved since the last check. */
const SAVE_CHECK = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'lost' end
local version = redis.call('HGET', KEYS[1], 'version') or '0'
if version == ARGV[3] then return 'saved' end
if version ~= ARGV[2] then return 'lost' end
redis.call('HSET', KEYS[1], 'version', ARGV[3], 'window', ARGV[4], 'covered', ARGV[5], 'state', ARGV[6])
if ARGV[7] ~= '' then redis.call('HSET', KEYS[1], 'history', ARGV[7]) end
for index = 8, #ARGV do
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ${String(MAX_ALERTS)}, '*', 'change', ARGV[index])
end
return 'saved'
`;

/** A partition that was taken over. */
export interface ClaimedPartition {
  readonly epoch: string;
  /** The number of saves so far. */
  readonly version: number;
  /** The position at which counting continues; null if the partition was never saved. */
  readonly position: string | null;
  readonly state: Buffer | null;
  /** The events that wait for their labels; null if there are none. */
  readonly waiting: Buffer | null;
  /** The index of the current window of the merged stream. */
  readonly window: number;
}

/** A save of a partition. */
export interface PartitionSave {
  readonly partition: string;
  readonly epoch: string;
  /** The number of saves before this one. */
  readonly version: number;
  readonly position: string;
  readonly state: Buffer;
  readonly waiting: Buffer | null;
  /** The entries of a Redis stream that are acknowledged in the same step. */
  readonly acks: Acknowledgement | null;
}

/** Entries of a Redis stream that have been counted. */
interface Acknowledgement {
  readonly key: string;
  readonly group: string;
  readonly ids: readonly string[];
}

/** The last check of the merged stream. */
export interface SavedCheck {
  /** The number of saved checks. */
  readonly version: number;
  readonly state: Buffer | null;
  readonly history: Buffer | null;
  /** The version of each partition that the check has read. */
  readonly covered: Readonly<Record<string, number>>;
}

/** A new check of the merged stream, and the changes of alerts that it found. */
export interface CheckSave {
  readonly epoch: string;
  readonly version: number;
  readonly window: number;
  readonly covered: Readonly<Record<string, number>>;
  readonly state: Buffer;
  /** The history, if it has changed. */
  readonly history: Buffer | null;
  readonly changes: readonly string[];
}

/** A partition as it was saved. */
export interface SavedPartition {
  readonly partition: string;
  readonly version: number;
  readonly position: string | null;
}

/** A change of an alert, with its id in the list of changes. */
export interface ListedChange {
  readonly id: string;
  readonly text: string;
}

/**
 * The state of a stream in Redis: one record for each partition, one for the merged stream, the lock of the leader, and
 * the list of alert changes. Every change is one script, which Redis executes completely or not at all.
 */
export class StreamStore {
  readonly #redis: Redis;
  /** The first part of all names. */
  readonly root: string;

  constructor(redis: Redis, prefix: string, stream: string) {
    this.#redis = redis;
    this.root = `${prefix}:monitor:${stream}`;
  }

  /** The name of the Redis server in messages. */
  get name(): string {
    return this.#redis.name;
  }

  /** Stores the options of a stream, or returns the options with which it was started. */
  async optionsOf(own: string): Promise<string> {
    await this.#call('SET', `${this.root}:options`, own, 'NX');
    return (await this.#call('GET', `${this.root}:options`)) as string;
  }

  async claim(partition: string): Promise<ClaimedPartition> {
    const keys = [this.#keyOf(partition), `${this.root}:partitions`, `${this.root}:check`];
    const [epoch, version, position, state, waiting, window] = (await this.#script(CLAIM, keys, [partition])) as [
      number,
      Buffer,
      Buffer | null,
      Buffer | null,
      Buffer | null,
      Buffer,
    ];
    return {
      epoch: String(epoch),
      version: Number(version),
      position: position === null ? null : String(position),
      state,
      waiting,
      window: Number(window),
    };
  }

  /**
   * Saves a partition.
   * @returns the index of the current window; null if the partition has another owner, or Redis has lost earlier saves
   */
  async save({ partition, epoch, version, position, state, waiting, acks }: PartitionSave): Promise<number | null> {
    const keys = [this.#keyOf(partition), `${this.root}:check`, ...(acks === null ? [] : [acks.key])];
    const args = [
      epoch,
      String(version),
      String(version + 1),
      position,
      state,
      acks?.group ?? '',
      waiting ?? '',
      // One argument, because there can be more ids than arguments.
      acks?.ids.join(' ') ?? '',
    ];
    const [answer, window] = (await this.#script(SAVE, keys, args)) as [Buffer, Buffer?];
    return String(answer) === 'saved' ? Number(window) : null;
  }

  /** Returns the index of the current window. */
  async window(): Promise<number> {
    return Number((await this.#call('HGET', `${this.root}:check`, 'window')) ?? 0);
  }

  /** Returns all partitions that were ever taken over, sorted by name. */
  async partitions(): Promise<SavedPartition[]> {
    const names = ((await this.#call('SMEMBERS', `${this.root}:partitions`)) as string[]).sort(byName);
    return Promise.all(
      names.map(async (partition) => {
        const [version, position] = (await this.#call('HMGET', this.#keyOf(partition), 'version', 'position')) as [
          string | null,
          string | null,
        ];
        return { partition, version: Number(version ?? 0), position };
      }),
    );
  }

  /** Returns the saved state of a partition, with its version; null if it was never saved. */
  async stateOf(partition: string): Promise<{ readonly version: number; readonly state: Buffer } | null> {
    const [version, state] = (await this.#redis.client.callBuffer(
      'HMGET',
      this.#keyOf(partition),
      'version',
      'state',
    )) as [Buffer | null, Buffer | null];
    return state === null ? null : { version: Number(version), state };
  }

  /**
   * Becomes or stays the leader for some time.
   * @returns the epoch of the leader; null if another process is the leader
   */
  async lead(token: string, millis: number): Promise<string | null> {
    const keys = [`${this.root}:leader`, `${this.root}:leader:epoch`];
    const epoch = String(await this.#script(LEAD, keys, [token, String(millis)]));
    return epoch === '0' ? null : epoch;
  }

  async resign(token: string): Promise<void> {
    await this.#script(RESIGN, [`${this.root}:leader`], [token]);
  }

  async lastCheck(): Promise<SavedCheck> {
    const [version, covered, state, history] = (await this.#redis.client.callBuffer(
      'HMGET',
      `${this.root}:check`,
      'version',
      'covered',
      'state',
      'history',
    )) as (Buffer | null)[];
    return {
      version: Number(version ?? 0),
      covered: JSON.parse(String(covered ?? '{}')) as Record<string, number>,
      state: state ?? null,
      history: history ?? null,
    };
  }

  /** @returns whether the check was saved; false if this process is no longer the leader */
  async saveCheck(check: CheckSave): Promise<boolean> {
    const { epoch, version, window, covered, state, history, changes } = check;
    const keys = [`${this.root}:check`, `${this.root}:leader:epoch`, `${this.root}:alerts`];
    const answer = await this.#script(SAVE_CHECK, keys, [
      epoch,
      String(version),
      String(version + 1),
      String(window),
      JSON.stringify(covered),
      state,
      history ?? '',
      ...changes,
    ]);
    return String(answer) === 'saved';
  }

  /** Returns the id of the last change of an alert. */
  async lastChange(): Promise<string> {
    const [last] = (await this.#call('XREVRANGE', `${this.root}:alerts`, '+', '-', 'COUNT', 1)) as [string, string[]][];
    return last?.[0] ?? '0-0';
  }

  /** Returns the changes of alerts after one with the given id, oldest first. */
  async changesAfter(id: string): Promise<ListedChange[]> {
    const found = (await this.#call('XRANGE', `${this.root}:alerts`, `(${id}`, '+')) as [string, string[]][];
    return found.map(([own, fields]) => ({ id: own, text: fields[1] ?? '' }));
  }

  /** Returns the id of the last change that was delivered, and stores a new one. */
  async delivered(id?: string): Promise<string> {
    if (id !== undefined) await this.#call('HSET', `${this.root}:check`, 'delivered', id);
    return id ?? ((await this.#call('HGET', `${this.root}:check`, 'delivered')) as string | null) ?? '0-0';
  }

  #keyOf(partition: string): string {
    return `${this.root}:partition:${partition}`;
  }

  #call(command: string, ...args: readonly (string | number)[]): Promise<unknown> {
    return this.#redis.client.call(command, ...args);
  }

  #script(script: string, keys: readonly string[], args: readonly (string | Buffer)[]): Promise<unknown> {
    return this.#redis.client.callBuffer('EVAL', script, keys.length, ...keys, ...args);
  }
}

/** Sorts numbers among the names as numbers. */
function byName(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** Returns the error for a state in Redis that cannot be read. */
export function badStreamState(store: StreamStore, what: string, cause: unknown): DataValidationError {
  return new DataValidationError(`${what} of the stream in ${store.name} cannot be read.`, {
    code: 'invalid-state',
    context: { engine: store.name, key: store.root },
    suggestion: `Start a new stream with another consumer group, or delete the keys that begin with '${store.root}:'.`,
    cause,
  });
}
