import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { ValueError } from '../../exceptions/index.ts';
import { quote } from '../../internal/arguments.ts';
import { isPlainObject } from '../../internal/values.ts';
import { VERSION } from '../../internal/version.ts';
import { type BlobKey, digestOf, getBlob, keepBlob, putBlob } from '../redis/blobs.ts';
import type { Redis } from '../redis/open-redis.ts';
import type { JsonValue, Task, TaskData } from './task-queue.ts';

/** The maximum depth of values. Deeper values, such as an object that contains itself, are not data. */
const MAX_DEPTH = 200;

/**
 * Returns values as JSON text with sorted keys, so that equal values have equal texts. Properties that are undefined are
 * left out, as in JSON.
 * @throws {ValueError} if JSON cannot represent a value
 */
function canonicalJson(value: unknown, path = 'values', depth = 0): string {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return Object.is(value, -0) ? '-0' : JSON.stringify(value);
  if (depth < MAX_DEPTH && Array.isArray(value)) {
    const items = Array.from(value, (item, index) => canonicalJson(item, `${path}[${String(index)}]`, depth + 1));
    return `[${items.join(',')}]`;
  }
  if (depth < MAX_DEPTH && isPlainObject(value)) {
    const entries = Object.entries(value)
      .filter(([, own]) => own !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([name, own]) => `${JSON.stringify(name)}:${canonicalJson(own, `${path}.${name}`, depth + 1)}`).join(',')}}`;
  }
  throw new ValueError(`A task holds only values of JSON, and bytes. ${path} is ${describe(value)}.`, {
    context: { parameter: path, received: describe(value) },
    suggestion: 'Convert it to numbers, text, lists and plain objects, or send it as bytes (Uint8Array).',
  });
}

function describe(value: unknown): string {
  if (typeof value === 'object' && value !== null)
    return isPlainObject(value) || Array.isArray(value)
      ? `nested more than ${String(MAX_DEPTH)} levels deep`
      : Object.prototype.toString.call(value);
  return typeof value === 'symbol' || typeof value === 'function' ? `a ${typeof value}` : quote(value);
}

/** Values and bytes that are checked and ready to be sent. */
export interface EncodedData {
  /** The values as canonical JSON. */
  readonly text: string;
  readonly bytes: Readonly<Record<string, Uint8Array>>;
}

/**
 * Checks values and bytes, and returns them ready to be sent.
 * @throws {ValueError} if they cannot be sent
 */
export function encodeData({ values, bytes }: TaskData): EncodedData {
  for (const [name, own] of Object.entries(bytes)) {
    if (own instanceof Uint8Array) continue;
    throw new ValueError(`The bytes '${name}' of a task must be a Uint8Array.`, {
      context: { parameter: `bytes.${name}`, expected: 'Uint8Array', received: typeof own },
    });
  }
  return { text: canonicalJson(values), bytes };
}

/** Reverses {@link encodeData}. The bytes are not copied. */
export function decodeData({ text, bytes }: EncodedData): TaskData {
  return { values: JSON.parse(text) as JsonValue, bytes };
}

/** A checked task. */
export interface EncodedTask extends EncodedData {
  readonly kind: string;
  readonly id: string;
  /** The SHA-256 of the bytes, by name. */
  readonly digests: Readonly<Record<string, string>>;
}

/** Kinds and identifiers become parts of names in Redis. */
const NAME = /^[\w.-]{1,200}$/;

/** @throws {ValueError} if a kind or an identifier has other characters than letters, digits, `_`, `.` and `-` */
export function assertName(parameter: string, name: string): void {
  if (typeof name === 'string' && NAME.test(name)) return;
  throw new ValueError(
    `The ${parameter} parameter of a queue must have 1 to 200 letters, digits, underscores, dots or hyphens. Got ${quote(name)} instead.`,
    { context: { parameter, received: name } },
  );
}

/**
 * Checks a task, and computes its identifier: the SHA-256 of the version, the kind and the input.
 * @param id an identifier that replaces the computed one
 * @throws {ValueError} if the task cannot be sent
 */
export function encodeTask({ kind, ...input }: Task, id?: string): EncodedTask {
  assertName('kind', kind);
  if (id !== undefined) assertName('id', id);
  const data = encodeData(input);
  const digests = Object.fromEntries(Object.entries(data.bytes).map(([name, bytes]) => [name, digestOf(bytes)]));
  return { ...data, kind, digests, id: id ?? hashOf([VERSION, kind, data.text, canonicalJson(digests)]) };
}

function hashOf(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** Stored values and bytes: the keys of blobs. */
export interface StoredData {
  /** The canonical JSON of the values. */
  readonly values: BlobKey;
  readonly bytes: Readonly<Record<string, BlobKey>>;
}

/** Options of {@link openDataStore}. */
interface DataStoreOptions {
  readonly prefix: string;
  readonly keepSeconds: number;
  /** The bytes of read blobs that are kept in memory. Tasks often share their largest blobs. */
  readonly cacheBytes: number;
}

/** The bytes that a cached blob needs in addition to its own. */
const ENTRY_BYTES = 200;

/** Stores values and bytes in Redis as blobs. */
export interface DataStore {
  put(data: EncodedData, digests?: Readonly<Record<string, string>>): Promise<StoredData>;
  /** @throws {DataValidationError} if the data have expired or are damaged */
  get(stored: StoredData): Promise<EncodedData>;
  /** Keeps stored data for at least some seconds from now. */
  keep(stored: StoredData, seconds: number): Promise<void>;
}

/** Opens the store of the data of tasks. */
export function openDataStore(redis: Redis, { prefix, keepSeconds, cacheBytes }: DataStoreOptions): DataStore {
  const cache = new LRUCache<BlobKey, Uint8Array>({
    maxSize: Math.max(1, cacheBytes),
    sizeCalculation: ({ length }) => length + ENTRY_BYTES,
  });
  // Tasks that are sent or read at the same time share the transfer of the same bytes.
  const putting = new Map<string, Promise<BlobKey>>();
  const getting = new Map<BlobKey, Promise<Uint8Array>>();
  const put = (bytes: Uint8Array, digest: string): Promise<BlobKey> =>
    shared(putting, digest, () => putBlob(redis, prefix, bytes, keepSeconds, digest));
  const get = async (key: BlobKey): Promise<Uint8Array> => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const bytes = await shared(getting, key, () => getBlob(redis, key));
    cache.set(key, bytes);
    return bytes;
  };
  return {
    async put({ text, bytes }, digests = {}) {
      const values = Buffer.from(text);
      const [key, ...keys] = await Promise.all([
        put(values, digestOf(values)),
        ...Object.entries(bytes).map(([name, own]) => put(own, digests[name] ?? digestOf(own))),
      ]);
      return { values: key, bytes: Object.fromEntries(Object.keys(bytes).map((name, at) => [name, keys[at] ?? ''])) };
    },
    async get(stored) {
      const [text, ...bytes] = await Promise.all([stored.values, ...Object.values(stored.bytes)].map(get));
      const named = Object.keys(stored.bytes).map((name, at) => [name, bytes[at]]);
      return { text: Buffer.from(text ?? []).toString(), bytes: Object.fromEntries(named) as EncodedData['bytes'] };
    },
    async keep(stored, seconds) {
      for (const key of [stored.values, ...Object.values(stored.bytes)]) await keepBlob(redis, key, seconds);
    },
  };
}

/** Runs work under a key, or joins the work that runs under it. */
async function shared<Result>(
  running: Map<string, Promise<Result>>,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const own = running.get(key) ?? work();
  running.set(key, own);
  try {
    return await own;
  } finally {
    running.delete(key);
  }
}
