import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** A seeded random number generator. The same seed gives the same numbers in every run and on every machine. */
export interface Random {
  /** Returns a number in [0, 1) with 53 random bits. */
  next(): number;
  /** Returns an integer in [0, bound). */
  integer(bound: number): number;
  /** Returns a number from the standard normal distribution. */
  normal(): number;
}

/**
 * Creates a random number generator from a seed. Each stream of a seed is independent: additional numbers from one
 * stream never change the numbers of another stream.
 */
export function createRandom(seed: number, stream = 0): Random {
  const generator = xoroshiro128plus(mix(Math.trunc(seed) ^ mix(stream + 0x9e3779b9)));
  const bits = (): number => generator.next() >>> 0;
  // 27 high bits and 26 low bits form one double, as in the reference code of the Mersenne Twister.
  const next = (): number => ((bits() >>> 5) * 67108864 + (bits() >>> 6)) / 9007199254740992;
  return {
    next,
    integer: (bound) => Math.floor(next() * bound),
    // Box-Muller transform; 1 - next() keeps the logarithm finite.
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
}

/** Shuffles an array in place (Fisher and Yates). */
export function shuffle(values: Int32Array, random: Random): void {
  for (let last = values.length - 1; last > 0; last--) {
    const other = random.integer(last + 1);
    const kept = values[last] as number;
    values[last] = values[other] as number;
    values[other] = kept;
  }
}

/** Mixes the bits of a seed, so that similar seeds give different states (the finaliser of MurmurHash3). */
export function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
