/**
 * The smallest k for which two samples of n values of one continuous law have a
 * Kolmogorov-Smirnov statistic of at least k / n with probability at most alpha:
 * P(D >= k/n) = 2 sum over j >= 1 of (-1)^(j-1) C(2n, n - jk) / C(2n, n).
 * @returns null where even a statistic of 1 is likelier than alpha
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

/** C(2n, n - shift) / C(2n, n) as a product of ratios below 1, so that nothing overflows. */
function shiftedPaths(n: number, shift: number): number {
  let ratio = 1;
  for (let i = 1; i <= shift; i++) ratio *= (n - shift + i) / (n + i);
  return ratio;
}
