import { z } from 'zod';

import { CHANGE_DIRECTIONS, type ChangeDirection, count } from './detector-state.ts';
import { type DetectorKernel, KernelDetector } from './kernel-detector.ts';
import { choice, type Given, positive, weight, whole } from './parameter-table.ts';

/** The parameters of {@link EwmaDetector}. */
export interface EwmaParameters {
  /**
   * The weight of the newest value, above 0 and at most 1.
   * @defaultValue 0.1
   */
  readonly alpha: number;
  /**
   * The number of standard errors by which the moving average may differ from the mean.
   * @defaultValue 4
   */
  readonly threshold: number;
  /**
   * The minimum number of values before a change can be detected.
   * @defaultValue 30
   */
  readonly minInstances: number;
  /** @defaultValue 'both' */
  readonly mode: ChangeDirection;
}

/** Options of {@link EwmaDetector}: its parameters, all with defaults. */
export type EwmaOptions = Given<EwmaParameters>;

/** The memory of the detector. The fields `recent` and `variance` are exponentially weighted. */
const SCHEMA = z.strictObject({ n: count, mean: z.number(), recent: z.number(), variance: z.number().min(0) });

type EwmaMemory = z.output<typeof SCHEMA>;

const KERNEL: DetectorKernel<EwmaParameters, EwmaMemory> = {
  name: 'ewma',
  domain: 'number',
  parameters: {
    alpha: weight(0.1),
    threshold: positive(4),
    minInstances: whole(30, 1),
    mode: choice('both', CHANGE_DIRECTIONS),
  },
  start: () => ({ n: 0, mean: 0, recent: 0, variance: 0 }),
  step,
  schema: () => SCHEMA,
  changeAge: () => null,
};

function step(at: EwmaMemory, value: number, { alpha, threshold, minInstances, mode }: EwmaParameters): boolean {
  at.n++;
  at.mean += (value - at.mean) / at.n;
  if (at.n === 1) at.recent = value;
  // The update uses differences, so that equal values have a variance of exactly 0 and no deviation.
  const separate = value - at.recent;
  at.recent += alpha * separate;
  at.variance = (1 - alpha) * (at.variance + alpha * separate * separate);
  if (at.n < minInstances) return false;
  const shrinkage = (alpha / (2 - alpha)) * (1 - (1 - alpha) ** (2 * at.n));
  const bound = threshold * Math.sqrt(at.variance * shrinkage);
  const deviation = at.recent - at.mean;
  return (mode !== 'down' && deviation > bound) || (mode !== 'up' && -deviation > bound);
}

/**
 * Detects changes with a control chart of an exponentially weighted moving average. There is a change if this average
 * of the latest values is far from the mean of all values.
 *
 * For each value x, the moving average is z = alpha x + (1 - alpha) z, and v is the exponentially weighted variance
 * with the same alpha. There is a change if |z - mean| is above threshold sqrt(v alpha / (2 - alpha) (1 - (1 -
 * alpha)^(2n))).
 *
 * The detector reacts within about 1/alpha values, and forgets earlier values equally fast. Between rare decisions, the
 * variance v falls to almost 0, which causes false alarms. Use the detector for scores, not for decisions with a rate
 * near 0 or 1. The detector does not locate the change.
 * @see S. W. Roberts, Control chart tests based on geometric moving averages, Technometrics 1 (1959)
 * @example
 * ```ts
 * import { EwmaDetector } from 'evenhand/monitoring';
 *
 * const detector = new EwmaDetector();
 * const scores = Array.from({ length: 2000 }, (_, index) => (index < 1000 ? 0.4 : 0.5) + 0.1 * Math.sin(index));
 * const foundAt = scores.findIndex((score) => detector.update(score));
 * console.log(foundAt, detector.changeAge);
 * // 1013 null
 * ```
 */
export class EwmaDetector extends KernelDetector<EwmaParameters, EwmaMemory> {
  /** @throws {ValueError} if a parameter is unknown or out of range */
  constructor(options: EwmaOptions = {}) {
    super(KERNEL, options);
  }
}
