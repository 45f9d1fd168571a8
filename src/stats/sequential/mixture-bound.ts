import { rootBetween } from './root-between.ts';

/**
 * The s >= 0 at which a log-mixture that grows in s reaches ln(1 / alpha).
 * @param largest the most that s can be, where there is a most
 * @returns `largest` where the mixture never gets there
 */
export function mixtureBound(
  logMixture: (s: number) => number,
  alpha: number,
  scale: number,
  largest = Infinity,
): number {
  const excess = (s: number): number => logMixture(s) - Math.log(1 / alpha);
  let high = Math.min(scale, largest);
  while (excess(high) < 0) {
    if (high === largest) return largest;
    high = Math.min(2 * high, largest);
  }
  return rootBetween(excess, 0, high);
}
