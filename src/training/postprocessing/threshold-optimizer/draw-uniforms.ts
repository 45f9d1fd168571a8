import { createRandom } from '../../../internal/random.ts';
import { murmurHash } from './murmur-hash.ts';

/** How predictions are drawn: one number per row in turn, or one that the row's own content fixes. */
export const DRAWS = ['sequence', 'stable'] as const;

/** The name of a way to draw. */
export type DrawName = (typeof DRAWS)[number];

/** One number in [0, 1) per row, from the seed and the row's place. */
export function drawInSequence(count: number, seed: number): Float64Array {
  const random = createRandom(seed);
  return Float64Array.from({ length: count }, () => random.next());
}

/**
 * One number in [0, 1) per row, from the seed and the row's score, group and id
 * alone: 53 bits of two MurmurHash3 of their JSON.
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
