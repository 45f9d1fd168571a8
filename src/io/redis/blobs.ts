import { createHash } from 'node:crypto';

import { DataValidationError } from '../../exceptions/index.ts';
import { formatCount } from '../../internal/format.ts';
import type { Redis } from './open-redis.ts';

/** The size of a part. One command carries one part, so that no command blocks Redis for long. */
export const PART_BYTES = 4 * 2 ** 20;

/** The name under which bytes are stored: a prefix and the SHA-256 of the bytes. */
export type BlobKey = string;

/** Returns the SHA-256 of bytes, in hexadecimal. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Stores bytes in Redis in parts, for some seconds. The same bytes are stored once: storing them again only extends the
 * time.
 * @param digest the SHA-256 of the bytes, if it is known
 * @returns the key for {@link getBlob}
 */
export async function putBlob(
  redis: Redis,
  prefix: string,
  bytes: Uint8Array,
  expireSeconds: number,
  digest: string = digestOf(bytes),
): Promise<BlobKey> {
  const { client } = redis;
  const key = `${prefix}:blob:${digest}`;
  const length = String(bytes.length);
  // A part that Redis has evicted is stored again below.
  if ((await client.call('GET', key)) === length && (await extendBlob(redis, key, bytes.length, expireSeconds)))
    return key;
  for (const [part, partKey] of partKeys(key, bytes.length).entries()) {
    const own = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
    await client.call('SET', partKey, Buffer.from(own.buffer, own.byteOffset, own.length), 'EX', expireSeconds);
  }
  // Written last, so that a blob with this key is complete.
  await client.call('SET', key, length, 'EX', expireSeconds);
  return key;
}

/** Keeps stored bytes for at least some seconds from now. Bytes that have expired stay expired. */
export async function keepBlob(redis: Redis, key: BlobKey, expireSeconds: number): Promise<void> {
  const length = (await redis.client.call('GET', key)) as string | null;
  if (length !== null) await extendBlob(redis, key, Number(length), expireSeconds);
}

/** Extends the time of keys, but never shortens it, because others may need the bytes for longer. */
const EXTEND = `
local complete = 1
for _, key in ipairs(KEYS) do
  local left = redis.call('TTL', key)
  if left == -2 then complete = 0
  elseif left ~= -1 and left < tonumber(ARGV[1]) then redis.call('EXPIRE', key, ARGV[1]) end
end
return complete`;

/** Extends the time of all parts. Returns whether all parts are there. */
async function extendBlob({ client }: Redis, key: BlobKey, length: number, expireSeconds: number): Promise<boolean> {
  const keys = [key, ...partKeys(key, length)];
  return Number(await client.call('EVAL', EXTEND, keys.length, ...keys, expireSeconds)) === 1;
}

/**
 * Returns stored bytes, after a check of their SHA-256.
 * @throws {DataValidationError} if they have expired, or are not the bytes that were stored
 */
export async function getBlob({ client, name }: Redis, key: BlobKey): Promise<Uint8Array> {
  const length = (await client.call('GET', key)) as string | null;
  if (length === null) throw lostBlob(name, key, 'has expired');
  const bytes = new Uint8Array(Number(length));
  for (let start = 0, part = 0; start < bytes.length; start += PART_BYTES, part++) {
    const own = (await client.callBuffer('GET', `${key}:${String(part)}`)) as Buffer | null;
    if (own === null || own.length !== Math.min(PART_BYTES, bytes.length - start))
      throw lostBlob(name, key, 'is incomplete');
    bytes.set(own, start);
  }
  if (key.endsWith(`:blob:${digestOf(bytes)}`)) return bytes;
  throw lostBlob(name, key, `of ${formatCount(bytes.length)} bytes is damaged`);
}

/** Returns the keys of the parts of a blob. */
export function partKeys(key: BlobKey, length: number): string[] {
  const count = Math.max(1, Math.ceil(length / PART_BYTES));
  return Array.from({ length: count }, (_, part) => `${key}:${String(part)}`);
}

/** Returns the error for bytes that are not there any more. */
export function lostBlob(engine: string, key: string, problem: string): DataValidationError {
  return new DataValidationError(`Data stored in ${engine} ${problem}.`, {
    code: 'engine-failed',
    context: { engine, key, reason: 'lost' },
    suggestion:
      'Start the work again. If this happens often, give Redis more memory, or set maxmemory-policy noeviction.',
  });
}
