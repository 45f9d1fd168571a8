import type { LRUCache } from 'lru-cache';

import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { loadLruCache } from '../packages.ts';

/** Letters, digits, dots, dashes and underscores, so that an id is a file's name on every system and never a way out of its folder. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Whether an id can be the name of a file or a folder. */
export function isSafeId(id: string): boolean {
  return SAFE_ID.test(id);
}

/** Entries that a store holds unless it is told otherwise. */
const CAPACITY = 500;

/** Room is made at once for as many entries as there may be. */
const MAX_CAPACITY = 10_000_000;

/** Options of {@link ResultStore}. */
export interface ResultStoreOptions<Value> {
  /**
   * How many entries it holds at most, from 1 to 10,000,000.
   * @defaultValue 500
   */
  readonly capacity?: number | undefined;
  /**
   * How many bytes its values have at most, all together, as `sizeOf` counts them. One value that is larger is held alone.
   * @defaultValue as many as there are
   */
  readonly mostBytes?: number | undefined;
  /**
   * The bytes of a value, from 0; it is to tell the same whenever it is asked.
   * @defaultValue none, so that `mostBytes` needs it
   */
  readonly sizeOf?: ((value: Value) => number) | undefined;
  /**
   * Told of an entry that had to go for a new one, after it has gone. It is not told of entries that are replaced or deleted.
   * @defaultValue nobody is told
   */
  readonly onEvict?: ((id: string, value: Value) => void) | undefined;
}

/** Lists the options of {@link ResultStoreOptions}. */
export const RESULT_STORE_OPTION_NAMES: OptionNames<ResultStoreOptions<unknown>> = {
  capacity: true,
  mostBytes: true,
  sizeOf: true,
  onEvict: true,
};

/** A value in a box, since the cache takes `undefined` for nothing. */
interface Box<Value> {
  readonly value: Value;
}

/**
 * Results by their run's id, in memory, at most `capacity` of them: a new one beyond that evicts the one that was least
 * recently used, and so does one beyond `mostBytes`, as often as it takes. A value that is larger than `mostBytes` by itself
 * is held too, alone, until the next is set: what was promised can be fetched, and memory is bounded by the larger of
 * both. `get` and `set` use an entry; `has`, `delete`, `size` and `entries` do not. Each takes O(1), but for
 * `entries`, which copies.
 *
 * It is safe to share, since every method ends before another begins: JavaScript runs them on one thread. Other threads
 * and processes have no part in it; `evenhand serve --workers N` lets all of them ask the one process that holds it.
 *
 * Values are kept as they are given, not copied.
 * @throws {ValueError} for a capacity or a number of bytes out of range, or `mostBytes` without `sizeOf`
 * @throws {DependencyError} where the package lru-cache is not installed
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
  /** How many entries it holds at most. */
  readonly capacity: number;
  readonly #cache: LRUCache<string, Box<Value>>;

  constructor(options: ResultStoreOptions<Value> = {}) {
    assertKnownOptions('ResultStore', options, RESULT_STORE_OPTION_NAMES);
    const { capacity = CAPACITY, mostBytes, sizeOf, onEvict } = options;
    this.capacity = requireWhole('capacity', capacity, MAX_CAPACITY);
    const bound = mostBytes === undefined ? undefined : boundOf(mostBytes, sizeOf);
    const { LRUCache } = loadLruCache();
    this.#cache = new LRUCache<string, Box<Value>>({
      max: capacity,
      ...bound,
      // After, so that who is told may use the store.
      disposeAfter: ({ value }, id, reason) => {
        if (reason === 'evict') onEvict?.(id, value);
      },
    });
  }

  /** How many entries it holds. */
  get size(): number {
    return this.#cache.size;
  }

  /** The value of an id, which is used by that; undefined where there is none. */
  get(id: string): Value | undefined {
    return this.#cache.get(id)?.value;
  }

  /** Adds or replaces a value, which is used by that. */
  set(id: string, value: Value): this {
    this.#cache.set(id, { value });
    return this;
  }

  /** Whether there is a value, which is not used by that. */
  has(id: string): boolean {
    return this.#cache.has(id);
  }

  /** Removes a value; whether there was one. */
  delete(id: string): boolean {
    return this.#cache.delete(id);
  }

  /** All entries as they are now, the least recently used first. */
  entries(): (readonly [id: string, value: Value])[] {
    // The cache's own list has the latest first.
    return [...this.#cache.entries()].reverse().map(([id, { value }]) => [id, value] as const);
  }
}

/** What bounds the cache by bytes, in its own names. */
interface ByteBound<Value> {
  readonly maxSize: number;
  readonly sizeCalculation: (box: Box<Value>) => number;
}

function boundOf<Value>(mostBytes: number, sizeOf: ((value: Value) => number) | undefined): ByteBound<Value> {
  const maxSize = requireWhole('mostBytes', mostBytes, Number.MAX_SAFE_INTEGER);
  if (sizeOf === undefined) throw invalidParameter('sizeOf', 'be given where mostBytes is', sizeOf);
  const sizeCalculation = ({ value }: Box<Value>): number => {
    const size = sizeOf(value);
    if (!(size >= 0)) throw invalidParameter('sizeOf', 'give a number of bytes, from 0', size);
    // The cache takes nothing larger than the whole of it, and nothing of no size.
    return Math.min(maxSize, Math.max(1, Math.ceil(size)));
  };
  return { maxSize, sizeCalculation };
}

/** A whole number that a store can work with. */
function requireWhole(name: string, given: number, most: number): number {
  if (Number.isSafeInteger(given) && given >= 1 && given <= most) return given;
  throw invalidParameter(name, `be a whole number from 1 to ${String(most)}`, given);
}

/**
 * Where results are kept, at most so many of them; what was least recently used goes first. `get` and `set` use an entry,
 * `has`, `delete` and `entries` do not. A method may answer at once or with a promise.
 */
export interface ResultStoreLike<Value> {
  get(id: string): Value | undefined | Promise<Value | undefined>;
  set(id: string, value: Value): unknown;
  has(id: string): boolean | Promise<boolean>;
  delete(id: string): boolean | Promise<boolean>;
  /** The least recently used first. */
  entries(): Iterable<readonly [id: string, value: Value]>;
}
