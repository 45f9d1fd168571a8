import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';

import { formatCount } from '../../internal/format.ts';
import { lostBlob, PART_BYTES, partKeys } from './blobs.ts';
import type { RedisClient } from './open-redis.ts';

/**
 * Stores a file in parts under its SHA-256, for some seconds. Only one part at a time is in memory.
 * @param beforeStoring called with all keys before the first one is written, for example to note what to remove later
 * @returns the SHA-256 and the number of bytes
 */
export async function putFile(
  { client }: { readonly client: Pick<RedisClient, 'call'> },
  prefix: string,
  file: string,
  expireSeconds: number,
  beforeStoring: (keys: readonly string[]) => Promise<void>,
): Promise<{ readonly digest: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 2 ** 20 })) hash.update(chunk as Buffer);
  const digest = hash.digest('hex');
  const { size: bytes } = await stat(file);
  const key = `${prefix}:blob:${digest}`;
  const parts = partKeys(key, bytes);
  await beforeStoring([key, ...parts]);
  const handle = await open(file);
  try {
    for (const [part, partKey] of parts.entries()) {
      const own = Buffer.alloc(Math.min(PART_BYTES, bytes - part * PART_BYTES));
      const { bytesRead } = await handle.read(own, 0, own.length, part * PART_BYTES);
      if (bytesRead !== own.length) throw new Error(`The file '${file}' changed while it was stored.`);
      await client.call('SET', partKey, own, 'EX', expireSeconds);
    }
  } finally {
    await handle.close();
  }
  await client.call('SET', key, String(bytes), 'EX', expireSeconds);
  return { digest, bytes };
}

/**
 * Writes a stored file to a new local file, after a check of its size and SHA-256. Only one part at a time is in memory.
 * @throws {DataValidationError} if it has expired, or is not the file that was stored. The local file is then incomplete
 */
export async function getFile(
  { client, name }: { readonly client: Pick<RedisClient, 'call' | 'callBuffer'>; readonly name: string },
  prefix: string,
  { digest, bytes }: { readonly digest: string; readonly bytes: number },
  target: string,
): Promise<void> {
  const key = `${prefix}:blob:${digest}`;
  const hash = createHash('sha256');
  const handle = await open(target, 'wx', 0o600);
  try {
    if ((await client.call('GET', key)) !== String(bytes)) throw lostBlob(name, key, 'has expired');
    for (const [part, partKey] of partKeys(key, bytes).entries()) {
      const own = (await client.callBuffer('GET', partKey)) as Buffer | null;
      if (own?.length !== Math.min(PART_BYTES, bytes - part * PART_BYTES)) throw lostBlob(name, key, 'is incomplete');
      hash.update(own);
      await handle.writeFile(own);
    }
  } finally {
    await handle.close();
  }
  if (hash.digest('hex') !== digest) throw lostBlob(name, key, `of ${formatCount(bytes)} bytes is damaged`);
}
