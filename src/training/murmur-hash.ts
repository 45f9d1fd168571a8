import { mix } from '../internal/random.ts';

/**
 * Computes MurmurHash3 (x86, 32 bits; Austin Appleby, public domain) of bytes. The result is an integer of 0 or more
 * and below 2^32. The hash is not cryptographically secure.
 */
export function murmurHash(bytes: Uint8Array, seed = 0): number {
  let hash = seed | 0;
  const complete = bytes.length - (bytes.length % 4);
  for (let at = 0; at < complete; at += 4) {
    hash = absorb(hash, byteAt(at) | (byteAt(at + 1) << 8) | (byteAt(at + 2) << 16) | (byteAt(at + 3) << 24));
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= complete; at--) tail = (tail << 8) | byteAt(at);
  return mix(hash ^ scramble(tail) ^ bytes.length) >>> 0;

  function byteAt(at: number): number {
    return bytes[at] as number;
  }
}

/** Adds a word of 32 bits to the state of a MurmurHash3. */
export function absorb(state: number, word: number): number {
  return (Math.imul(rotateLeft(state ^ scramble(word), 13), 5) + 0xe6546b64) | 0;
}

/** Returns a number in [0, 1) with 53 bits: 27 of the first hash and 26 of the second. */
export function uniformOf(high: number, low: number): number {
  return ((high >>> 5) * 67108864 + (low >>> 6)) / 9007199254740992;
}

function scramble(word: number): number {
  return Math.imul(rotateLeft(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
