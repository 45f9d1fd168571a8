/**
 * The maximum number of steps. About two dozen steps are usual. Bisection alone takes about sixty, but the method may
 * bisect only every second step.
 */
const MAX_STEPS = 200;

/**
 * Returns a root of a continuous function between two points with opposite signs, exact to the last few digits. The
 * function uses Chandrupatla's method: inverse quadratic interpolation if the last three points are suitable, otherwise
 * bisection.
 * @param rootOf the function, finite at and between both points
 * @see T. R. Chandrupatla, A new hybrid quadratic/bisection algorithm (1997)
 */
export function rootBetween(rootOf: (x: number) => number, from: number, to: number): number {
  let [newest, other, oldest] = [from, to, to];
  let [atNewest, atOther, atOldest] = [rootOf(from), rootOf(to), rootOf(to)];
  let share = 0.5;
  for (let step = 0; step < MAX_STEPS; step++) {
    const x = newest + share * (other - newest);
    const value = rootOf(x);
    // The two newest points bracket the root.
    if (value > 0 === atNewest > 0) [oldest, atOldest] = [newest, atNewest];
    else [oldest, other, atOldest, atOther] = [other, newest, atOther, atNewest];
    [newest, atNewest] = [x, value];
    const best = Math.abs(atNewest) < Math.abs(atOther) ? newest : other;
    const smallest = (2 * Number.EPSILON * Math.abs(best)) / Math.abs(other - newest);
    if (smallest > 0.5 || value === 0 || other === newest) return best;
    share = Math.min(1 - smallest, Math.max(smallest, nextShare()));
  }
  return newest;

  function nextShare(): number {
    const across = (newest - other) / (oldest - other);
    const rise = (atNewest - atOther) / (atOldest - atOther);
    if (!(rise * rise < across && (1 - rise) * (1 - rise) < 1 - across)) return 0.5;
    const turn = (oldest - newest) / (other - newest);
    return (
      (atNewest / (atOther - atNewest)) * (atOldest / (atOther - atOldest)) +
      turn * (atNewest / (atOldest - atNewest)) * (atOther / (atOldest - atOther))
    );
  }
}

/**
 * Returns the s >= 0 at which a log-mixture that increases in s reaches ln(1 / alpha).
 * @param largest the largest possible s; undefined if s has no upper limit
 * @returns `largest` if the mixture does not reach ln(1 / alpha)
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
