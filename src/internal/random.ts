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
  return derived(next);
}

/** Returns a generator from a function that draws uniform numbers. */
function derived(next: () => number): Random {
  return {
    next,
    integer: (bound) => Math.floor(next() * bound),
    // Box-Muller transform; 1 - next() keeps the logarithm finite.
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
}

/** A generator that can also return many numbers at once. */
export interface BulkRandom extends Random {
  /** Returns the next `count` numbers of `next()`. The caller must not change them. */
  take(count: number): Float64Array;
}

/** The numbers at the start of the first stream of a seed. */
interface Beginning {
  numbers: Float64Array;
  readonly random: Random;
}

/** The seeds whose first numbers are kept, and how many numbers are kept for each: 512 KiB. */
const MAX_SEEDS = 8;
const MAX_KEPT = 65_536;

const beginnings = new Map<number, Beginning>();

/**
 * Creates a generator with the same numbers as `createRandom(seed)`. The first numbers of recent seeds are remembered,
 * because drawing them takes longer than using them: most callers use the default seed.
 */
export function rememberedRandom(seed: number): BulkRandom {
  let numbers: Float64Array = new Float64Array();
  let used = 0;
  let rest: Random | undefined;
  const remember = (count: number): boolean => {
    if (used + count <= numbers.length) return true;
    if (used + count > MAX_KEPT) return false;
    numbers = firstNumbers(seed, used + count);
    return true;
  };
  const restOf = (): Random => {
    if (rest !== undefined) return rest;
    rest = createRandom(seed);
    for (let index = 0; index < used; index++) rest.next();
    return rest;
  };
  const next = (): number => (rest === undefined && remember(1) ? (numbers[used++] as number) : restOf().next());
  const take = (count: number): Float64Array => {
    if (rest === undefined && remember(count)) return numbers.subarray(used, (used += count));
    const random = restOf();
    return Float64Array.from({ length: count }, () => random.next());
  };
  return { ...derived(next), take };
}

/** Returns at least the first `count` numbers of a seed. */
function firstNumbers(seed: number, count: number): Float64Array {
  let own = beginnings.get(seed);
  if (own === undefined) {
    own = { numbers: new Float64Array(), random: createRandom(seed) };
    beginnings.set(seed, own);
    const [oldest] = beginnings.keys();
    if (beginnings.size > MAX_SEEDS && oldest !== undefined) beginnings.delete(oldest);
  }
  const { numbers, random } = own;
  if (numbers.length >= count) return numbers;
  const grown = new Float64Array(Math.min(MAX_KEPT, Math.max(count, 2 * numbers.length, 1024)));
  grown.set(numbers);
  for (let index = numbers.length; index < grown.length; index++) grown[index] = random.next();
  own.numbers = grown;
  return grown;
}

/** Shuffles an array in place (Fisher and Yates). */
export function shuffle(values: Int32Array | Float64Array, random: Random): void {
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
