/** The smallest x for which four terms of the series are exact to 2e-14. */
const FIRST_BY_SERIES = 16;

/**
 * Returns the error of Stirling's formula, ln Gamma(x + 1) - (x + 1/2) ln x + x - ln(2 pi) / 2, for x > 0.
 *
 * The error is small even if ln x! is large. Sums of such logarithms that nearly cancel, such as ln B or ln of a
 * binomial coefficient, therefore keep their precision.
 * @param x above 0; integers are fastest
 * @see C. Loader, Fast and accurate computation of binomial probabilities (2000)
 */
export function stirlingError(x: number): number {
  if (x >= FIRST_BY_SERIES) return bySeries(x);
  return SMALL_INTEGER[x] ?? byRecurrence(x);
}

/** B_2k / (2k (2k - 1) x^(2k - 1)) for k = 1 to 5. */
function bySeries(x: number): number {
  const inverse = 1 / x;
  const square = inverse * inverse;
  return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))));
}

/** Uses (x + 1)! = (x + 1) x! to step down from an argument at which the series is exact. */
function byRecurrence(x: number): number {
  let above = 0;
  let at = x;
  for (; at < FIRST_BY_SERIES; at++) above += (at + 0.5) * Math.log1p(1 / at) - 1;
  return above + bySeries(at);
}

/** At x = 0 the error is infinite because of the term ln(0) / 2. */
const SMALL_INTEGER: readonly number[] = [
  Infinity,
  ...Array.from({ length: FIRST_BY_SERIES - 1 }, (_, index) => byRecurrence(index + 1)),
];
