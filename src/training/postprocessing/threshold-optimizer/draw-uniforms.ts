import { createRandom } from '../../../internal/random.ts';

const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;

/**
 * Computes MurmurHash3 (x86, 32 bits; Austin Appleby, public domain) of bytes: an integer from 0 to 2^32 - 1. Not
 * cryptographically secure.
 */
export function murmurHash(bytes: Uint8Array, seed = 0): number {
  let hash = seed | 0;
  const complete = bytes.length - (bytes.length % 4);
  for (let at = 0; at < complete; at += 4) {
    const word = byteAt(at) | (byteAt(at + 1) << 8) | (byteAt(at + 2) << 16) | (byteAt(at + 3) << 24);
    hash = rotateLeft(hash ^ scramble(word), 13);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= complete; at--) tail = (tail << 8) | byteAt(at);
  return finish(hash ^ scramble(tail) ^ bytes.length);

  function byteAt(at: number): number {
    return bytes[at] as number;
  }
}

function scramble(word: number): number {
  return Math.imul(rotateLeft(Math.imul(word, C1), 15), C2);
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function finish(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** How predictions are drawn: one number per row in turn, or a number derived from the row's content. */
export const DRAWS = ['sequence', 'stable'] as const;

/** The name of a draw mode. */
export type DrawName = (typeof DRAWS)[number];

/** Draws one number in [0, 1) per row, from the seed and the row's position. */
export function drawInSequence(count: number, seed: number): Float64Array {
  const random = createRandom(seed);
  return Float64Array.from({ length: count }, () => random.next());
}

/**
 * Derives one number in [0, 1) per row from the seed and the row's score, group and id only. The number consists of 53
 * bits of two MurmurHash3 hashes of their JSON.
 */
export function drawStably(
  count: number,
  seed: number,
  contentAt: (row: number) => readonly (string | number | null)[],
): Float64Array {
  const encoder = new TextEncoder();
  return Float64Array.from({ length: count }, (_, row) => {
    const bytes = encoder.encode(JSON.stringify([seed, ...contentAt(row)]));
    const high = murmurHash(bytes, 0) >>> 5;
    const low = murmurHash(bytes, 1) >>> 6;
    return (high * 0x4000000 + low) / 0x20000000000000;
  });
}
