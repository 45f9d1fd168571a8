import { z } from 'zod';

import { invalidParameter } from '../../internal/arguments.ts';
import { count } from './detector-state.ts';
import { type DetectorKernel, KernelDetector } from './kernel-detector.ts';
import { fraction, type Given, whole } from './parameter-table.ts';

/** The parameters of {@link KsWindowDetector}. */
export interface KsWindowParameters {
  /**
   * The number of values in each of the two windows; at least 5.
   * @defaultValue 200
   */
  readonly windowSize: number;
  /**
   * The significance level, in (0, 1): a comparison with at most this p-value is a change.
   * @defaultValue 0.0001
   */
  readonly alpha: number;
  /**
   * The number of values between comparisons.
   * @defaultValue 20
   */
  readonly clock: number;
}

/** Options of {@link KsWindowDetector}: its parameters, all with defaults. */
export type KsWindowOptions = Given<KsWindowParameters>;

interface KsWindowMemory {
  /**
   * The values of both windows, in a ring buffer. Once the buffer is full, each new value replaces the oldest value.
   */
  readonly ring: Float64Array;
  /** A buffer in which the older window is sorted; `recent` is the buffer for the newer window. */
  readonly reference: Float64Array;
  readonly recent: Float64Array;
  /**
   * The smallest difference between the two empirical distribution functions that is a change, as a number of values.
   */
  readonly critical: number;
  n: number;
}

interface SavedKsWindow {
  readonly n: number;
  /** The latest values, oldest first. */
  readonly values: readonly number[];
}

const KERNEL: DetectorKernel<KsWindowParameters, KsWindowMemory, SavedKsWindow> = {
  name: 'ks_windows',
  domain: 'number',
  parameters: {
    windowSize: whole(200, 5),
    alpha: fraction(0.0001),
    clock: whole(20, 1),
  },
  start,
  step,
  changeAge: (_, { windowSize }) => windowSize - 1,
  schema: ({ windowSize }) =>
    z
      .strictObject({ n: count, values: z.array(z.number()) })
      .refine(({ n, values }) => values.length === Math.min(n, 2 * windowSize), {
        error: 'the number of values does not match the windows',
      }),
  save: ({ n, ring }) => ({
    n,
    values: Array.from(
      { length: Math.min(n, ring.length) },
      (_, age) => ring[(Math.max(0, n - ring.length) + age) % ring.length] as number,
    ),
  }),
  load: ({ n, values }, parameters) => {
    const memory = start(parameters);
    const first = n - values.length;
    values.forEach((value, age) => (memory.ring[(first + age) % memory.ring.length] = value));
    memory.n = n;
    return memory;
  },
};

function start({ windowSize, alpha }: KsWindowParameters): KsWindowMemory {
  const critical = ksCriticalCount(windowSize, alpha);
  if (critical === null) throw invalidParameter('windowSize', `be larger if alpha is ${String(alpha)}`, windowSize);
  return {
    ring: new Float64Array(2 * windowSize),
    reference: new Float64Array(windowSize),
    recent: new Float64Array(windowSize),
    critical,
    n: 0,
  };
}

function step(at: KsWindowMemory, value: number, { windowSize, clock }: KsWindowParameters): boolean {
  const { ring, reference, recent } = at;
  ring[at.n % ring.length] = value;
  at.n++;
  if (at.n < ring.length || (at.n - ring.length) % clock !== 0) return false;
  const oldest = at.n % ring.length;
  copyFrom(ring, oldest, reference);
  copyFrom(ring, (oldest + windowSize) % ring.length, recent);
  return largestCount(reference.sort(), recent.sort()) >= at.critical;
}

/** Fills an array with the values of a ring buffer, starting at an index. */
function copyFrom(ring: Float64Array, from: number, to: Float64Array): void {
  const head = ring.subarray(from, from + to.length);
  to.set(head);
  to.set(ring.subarray(0, to.length - head.length), head.length);
}

/**
 * Returns n max |F - G|, where F and G are the empirical distribution functions of two samples of n values each. The
 * result is a whole number. The samples must be in ascending order.
 */
function largestCount(first: Float64Array, second: Float64Array): number {
  const n = first.length;
  let [i, j, largest] = [0, 0, 0];
  while (i < n && j < n) {
    // Equal values in both samples are a single step of both functions.
    const value = Math.min(first[i] as number, second[j] as number);
    while (i < n && first[i] === value) i++;
    while (j < n && second[j] === value) j++;
    largest = Math.max(largest, Math.abs(i - j));
  }
  return largest;
}

/**
 * Detects changes by comparing two adjacent windows with a Kolmogorov-Smirnov test: the latest `windowSize` values with
 * the same number of values before them. The detector finds any change of the distribution, not only changes of the
 * mean.
 *
 * The test runs every `clock` values, once both windows are full. There is a change if the exact two-sided p-value of
 * the maximum distance of the two empirical distribution functions is at most `alpha`. The change is suspected to begin
 * where the windows meet, `windowSize` - 1 values ago. A large change is detected before it reaches that point, so its
 * true start is more recent. A gradual change can pass through both windows undetected.
 *
 * `alpha` holds for one comparison of continuous values. Ties, as in decisions (0 and 1), make false alarms rarer. Over
 * many comparisons there are more false alarms; see the documentation of drift detectors. The detector keeps 2
 * `windowSize` values and sorts them at each comparison.
 * @see N. Smirnov, Table for estimating the goodness of fit of empirical distributions (1948)
 * @example
 * ```ts
 * import { KsWindowDetector } from 'evenhand/monitoring';
 *
 * const detector = new KsWindowDetector();
 * const spread = (index: number): number => (index < 1000 ? 0.2 : 0.4);
 * const scores = Array.from({ length: 2000 }, (_, index) => 0.5 + spread(index) * Math.sin(index));
 * console.log(scores.findIndex((score) => detector.update(score)));
 * // 1139
 * ```
 */
export class KsWindowDetector extends KernelDetector<KsWindowParameters, KsWindowMemory, SavedKsWindow> {
  /** @throws {ValueError} if a parameter is unknown or out of range, or the windows are too small for `alpha` */
  constructor(options: KsWindowOptions = {}) {
    super(KERNEL, options);
  }
}

/**
 * Returns the smallest k for which a Kolmogorov-Smirnov statistic D of k / n is significant. For two samples of n
 * values from one continuous distribution, D is then at least k / n with probability at most alpha: P(D >= k/n) = 2 sum
 * over j >= 1 of (-1)^(j-1) C(2n, n - jk) / C(2n, n).
 * @returns null if even a statistic of 1 is more likely than alpha
 * @see B. V. Gnedenko and V. S. Korolyuk, On the maximum discrepancy between two empirical distributions (1951)
 */
export function ksCriticalCount(n: number, alpha: number): number | null {
  for (let k = 1; k <= n; k++) {
    if (equalSizesTail(n, k) <= alpha) return k;
  }
  return null;
}

function equalSizesTail(n: number, k: number): number {
  let tail = 0;
  for (let shift = k, sign = 2; shift <= n; shift += k, sign = -sign) tail += sign * shiftedPaths(n, shift);
  return tail;
}

/** Returns C(2n, n - shift) / C(2n, n) as a product of ratios below 1, which avoids overflow. */
function shiftedPaths(n: number, shift: number): number {
  let ratio = 1;
  for (let i = 1; i <= shift; i++) ratio *= (n - shift + i) / (n + i);
  return ratio;
}
