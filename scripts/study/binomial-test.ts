import gammaln from '@stdlib/math-base-special-gammaln';

/** Returns P(X <= successes) for X from B(trials, rate): the one-sided p-value of "the rate is at least this". */
export function lowerTail(successes: number, trials: number, rate: number): number {
  let sum = 0;
  for (let k = successes; k >= 0; k--) {
    const term = Math.exp(
      gammaln(trials + 1) -
        gammaln(k + 1) -
        gammaln(trials - k + 1) +
        k * Math.log(rate) +
        (trials - k) * Math.log1p(-rate),
    );
    sum += term;
    // Below the mode the terms only decrease.
    if (k < trials * rate && term < 1e-12 * sum) break;
  }
  return Math.min(1, sum);
}
