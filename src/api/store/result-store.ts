import { LRUCache } from 'lru-cache';

import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';

/**
 * Matches IDs of letters, digits, dots, dashes and underscores. Such an ID is a valid file name on every system and
 * cannot refer to another folder.
 */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Returns whether an ID can be the name of a file or a folder. */
export function isSafeId(id: string): boolean {
  return SAFE_ID.test(id);
}

/** The default number of entries. */
const CAPACITY = 500;

/** The maximum capacity. Memory for all entries is allocated at once. */
const MAX_CAPACITY = 10_000_000;

/** Options of {@link ResultStore}. */
export interface ResultStoreOptions<Value> {
  /**
   * The maximum number of entries, from 1 to 10,000,000.
   * @defaultValue 500
   */
  readonly capacity?: number | undefined;
  /**
   * The maximum total size of the values in bytes, as measured by `sizeOf`. A value that is larger than the limit is
   * still stored, and all other values are evicted.
   * @defaultValue no limit
   */
  readonly maxBytes?: number | undefined;
  /**
   * Returns the size of a value in bytes, at least 0. The function must always return the same size for the same value.
   * @defaultValue none; required if `maxBytes` is given
   */
  readonly sizeOf?: ((value: Value) => number) | undefined;
  /**
   * Called after an entry was evicted. Not called for entries that are replaced or deleted.
   * @defaultValue none
   */
  readonly onEvict?: ((id: string, value: Value) => void) | undefined;
}

/** Lists the options of {@link ResultStoreOptions}. */
export const RESULT_STORE_OPTION_NAMES: OptionNames<ResultStoreOptions<unknown>> = {
  capacity: true,
  maxBytes: true,
  sizeOf: true,
  onEvict: true,
};

/** A value in an object. The wrapper is needed because the cache treats the value `undefined` as missing. */
interface Box<Value> {
  readonly value: Value;
}

/**
 * Stores at most `capacity` results in memory, by run ID. Above the limit, the least recently used result is evicted.
 * Above `maxBytes`, as many results as necessary are evicted. A single value larger than `maxBytes` is stored alone
 * until the next value is set. Therefore, each result can be read after it was stored, and the memory never exceeds
 * `maxBytes` or the size of the largest value. `get` and `set` mark an entry as used; `has`, `delete`, `size` and
 * `entries` do not. Each call takes O(1), except `entries`, which copies the list.
 *
 * Callers can share a store, because JavaScript's single thread completes every method before another one starts. Other
 * threads and processes cannot access the store. With `evenhand serve --workers N`, all workers call the process that
 * owns the store.
 *
 * Values are stored as given, without a copy.
 * @throws {ValueError} if the capacity or the number of bytes is out of range, or `maxBytes` is given without `sizeOf`
 * @example
 * ```ts
 * import { ResultStore } from 'evenhand/api/store';
 *
 * const store = new ResultStore({ capacity: 2, onEvict: (id) => console.log('evicted', id) });
 * store.set('run-1', { passed: true });
 * store.set('run-2', { passed: false });
 * store.get('run-1');
 * store.set('run-3', { passed: null });
 * console.log(store.size, store.has('run-2'), store.get('run-1'));
 * // evicted run-2
 * // 2 false { passed: true }
 * ```
 */
export class ResultStore<Value = unknown> implements ResultStoreLike<Value> {
  /** The maximum number of entries. */
  readonly capacity: number;
  readonly #cache: LRUCache<string, Box<Value>>;

  constructor(options: ResultStoreOptions<Value> = {}) {
    assertKnownOptions('ResultStore', options, RESULT_STORE_OPTION_NAMES);
    const { capacity = CAPACITY, maxBytes, sizeOf, onEvict } = options;
    this.capacity = requireInteger('capacity', capacity, MAX_CAPACITY);
    const bound = maxBytes === undefined ? undefined : boundOf(maxBytes, sizeOf);
    this.#cache = new LRUCache<string, Box<Value>>({
      max: capacity,
      ...bound,
      // Called after the entry is removed, so that the callback may use the store.
      disposeAfter: ({ value }, id, reason) => {
        if (reason === 'evict') onEvict?.(id, value);
      },
    });
  }

  /** The number of entries. */
  get size(): number {
    return this.#cache.size;
  }

  /** Returns the value for an ID and marks the value as used; undefined if there is no value. */
  get(id: string): Value | undefined {
    return this.#cache.get(id)?.value;
  }

  /** Adds or replaces a value and marks it as used. */
  set(id: string, value: Value): this {
    this.#cache.set(id, { value });
    return this;
  }

  /** Returns whether there is a value for the ID, without marking the value as used. */
  has(id: string): boolean {
    return this.#cache.has(id);
  }

  /** Removes a value. Returns whether the value existed. */
  delete(id: string): boolean {
    return this.#cache.delete(id);
  }

  /** Returns all current entries, least recently used first. */
  entries(): (readonly [id: string, value: Value])[] {
    // The cache lists the most recent entry first.
    return [...this.#cache.entries()].reverse().map(([id, { value }]) => [id, value] as const);
  }
}

/** The limit on the total size, as options of the cache. */
interface ByteBound<Value> {
  readonly maxSize: number;
  readonly sizeCalculation: (box: Box<Value>) => number;
}

function boundOf<Value>(maxBytes: number, sizeOf: ((value: Value) => number) | undefined): ByteBound<Value> {
  const maxSize = requireInteger('maxBytes', maxBytes, Number.MAX_SAFE_INTEGER);
  if (sizeOf === undefined) throw invalidParameter('sizeOf', 'be given if maxBytes is given', sizeOf);
  const sizeCalculation = ({ value }: Box<Value>): number => {
    const size = sizeOf(value);
    if (!(size >= 0)) throw invalidParameter('sizeOf', 'return a number of bytes of at least 0', size);
    // The cache rejects values larger than its limit, and values of size 0.
    return Math.min(maxSize, Math.max(1, Math.ceil(size)));
  };
  return { maxSize, sizeCalculation };
}

/** Returns the given number if it is a whole number in the valid range, and throws otherwise. */
function requireInteger(name: string, given: number, most: number): number {
  if (Number.isSafeInteger(given) && given >= 1 && given <= most) return given;
  throw invalidParameter(name, `be a whole number from 1 to ${String(most)}`, given);
}

/**
 * A store of a limited number of results, which evicts the least recently used one first. `get` and `set` mark an entry
 * as used; `has`, `delete` and `entries` do not. Methods may return a value or a promise.
 */
export interface ResultStoreLike<Value> {
  get(id: string): Value | undefined | Promise<Value | undefined>;
  set(id: string, value: Value): unknown;
  has(id: string): boolean | Promise<boolean>;
  delete(id: string): boolean | Promise<boolean>;
  /** Returns the entries, least recently used first. */
  entries(): Iterable<readonly [id: string, value: Value]>;
}
