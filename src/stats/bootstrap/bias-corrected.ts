import { normalCdf } from '../normal-cdf.ts';
import { normalQuantile } from '../normal-quantile.ts';
import type { BootstrapStatistic } from './statistic.ts';

/** A bootstrap that was run. */
interface Bootstrapped {
  readonly values: Float64Array;
  readonly statistic: BootstrapStatistic;
  /** The statistic of the sample itself. */
  readonly estimate: number;
  /** The statistic of the replicates, in ascending order. */
  readonly replicates: Float64Array;
}

/** Which quantiles of the replicates take the place of the given ones: bias-corrected and accelerated (Efron 1987). */
export function biasCorrectedProbabilities(
  probabilities: readonly [low: number, high: number],
  bootstrapped: Bootstrapped,
): [low: number, high: number] {
  const bias = medianBias(bootstrapped);
  const acceleration = jackknifeAcceleration(bootstrapped);
  const [low, high] = probabilities;
  return [correct(low, bias, acceleration), correct(high, bias, acceleration)];
}

/** Phi(z0 + (z0 + z) / (1 - a (z0 + z))); past the pole, where the correction has no meaning, the outermost replicate. */
function correct(probability: number, bias: number, acceleration: number): number {
  const shifted = bias + normalQuantile(probability);
  const scale = 1 - acceleration * shifted;
  if (scale <= 0) return shifted > 0 ? 1 : 0;
  return normalCdf(bias + shifted / scale);
}

/** z0: the normal quantile of the share of replicates below the estimate, those equal to it counted half. */
function medianBias({ replicates, estimate }: Bootstrapped): number {
  let below = 0;
  for (const replicate of replicates) below += replicate < estimate ? 1 : replicate === estimate ? 0.5 : 0;
  const count = replicates.length;
  return normalQuantile(Math.min(count - 0.5, Math.max(0.5, below)) / count);
}

/** a = sum u^3 / (6 (sum u^2)^1.5), u the mean of the leave-one-out statistics less each; 0 where that is undefined. */
function jackknifeAcceleration({ values, statistic }: Bootstrapped): number {
  const leftOut = leaveOneOut(values, statistic);
  const mean = leftOut.reduce((sum, value) => sum + value, 0) / leftOut.length;
  let squares = 0;
  let cubes = 0;
  for (const value of leftOut) {
    const influence = mean - value;
    squares += influence ** 2;
    cubes += influence ** 3;
  }
  const acceleration = cubes / (6 * squares ** 1.5);
  return Number.isFinite(acceleration) ? acceleration : 0;
}

/** The statistic without each value; equal values leave equal samples, which are evaluated once. */
function leaveOneOut(values: Float64Array, statistic: BootstrapStatistic): Float64Array {
  const known = new Map<number, number>();
  const rest = new Float64Array(values.length - 1);
  return values.map((value, place) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    rest.set(values.subarray(0, place));
    rest.set(values.subarray(place + 1), place);
    const without = statistic(rest);
    known.set(value, without);
    return without;
  });
}
