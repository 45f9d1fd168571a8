import { createRandom } from '../../../internal/random.ts';
import { murmurHash, uniformOf } from '../../murmur-hash.ts';

/**
 * The ways to draw predictions: with a new random number for each row, or with a number derived from the row's content.
 */
export const DRAWS = ['sequence', 'stable'] as const;

/** The name of a draw mode. */
export type DrawName = (typeof DRAWS)[number];

/** Draws one number in [0, 1) per row, from the seed and the row's position. */
export function drawInSequence(count: number, seed: number): Float64Array {
  const random = createRandom(seed);
  return Float64Array.from({ length: count }, () => random.next());
}

/**
 * Derives one number in [0, 1) per row from the seed and the content of the row: its score, group and id. The number
 * consists of 53 bits of two MurmurHash3 hashes of the JSON of the seed and the content.
 */
export function drawStably(
  count: number,
  seed: number,
  contentAt: (row: number) => readonly (string | number | null)[],
): Float64Array {
  const encoder = new TextEncoder();
  return Float64Array.from({ length: count }, (_, row) => {
    const bytes = encoder.encode(JSON.stringify([seed, ...contentAt(row)]));
    return uniformOf(murmurHash(bytes, 0), murmurHash(bytes, 1));
  });
}
