import type { GapFamily } from './gap-family.ts';
import type { Interval } from './proportion-interval.ts';
import { tOfNormal, welchDegrees } from './welch-t.ts';

/**
 * The interval of a family's gap from intervals of all its pairs: a pair's
 * difference lies within `critical` standard errors, or within the Welch t as far
 * in the tail where degrees of freedom are given. O(groups squared).
 */
export function gapRange(family: Omit<GapFamily, 'draw'>, critical: number, degrees?: Float64Array): Interval {
  const { centres, variances, point, ceiling, leastHigh = 0, unit = 1 } = family;
  // Welch's degrees of a pair are at least the smaller of its groups', so this quantile bounds the pair's.
  const widest = degrees?.map((df) => tOfNormal(critical, df));
  let low = 0;
  let high = 0;
  for (let i = 1; i < centres.length; i++) {
    const centre = centres[i] as number;
    const vi = variances[i] as number;
    for (let j = 0; j < i; j++) {
      const difference = Math.abs(centre - (centres[j] as number));
      const vj = variances[j] as number;
      const error = Math.sqrt(vi + vj);
      // No error is none at any quantile, also an infinite one.
      let half = error === 0 ? 0 : critical * error;
      if (degrees !== undefined && widest !== undefined && error > 0) {
        const most = Math.max(widest[i] as number, widest[j] as number) * error;
        // Most pairs can neither raise the lower end nor the upper one: they are spared the quantile.
        if (difference - half <= low && difference + most <= high) continue;
        half = error * tOfNormal(critical, welchDegrees(vi, degrees[i] as number, vj, degrees[j] as number));
      }
      if (difference - half > low) low = difference - half;
      if (difference + half > high) high = difference + half;
    }
  }
  const top = Math.min(ceiling, Math.max(leastHigh, high * unit));
  return [Math.min(low * unit, point), Math.max(point, top)];
}
