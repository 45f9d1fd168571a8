import { stirlingError } from '../stirling-error.ts';

/** The largest number of values for which the exact distribution is always used. */
const MAX_FOR_EXACT = 140;

/**
 * If n d^2 is above this value, the tail is computed as twice the one-sided tail. For up to 140 values, the
 * double-counted part is below 1e-10.
 */
const SMALL_TAIL_EXACT = 4;
const SMALL_TAIL_SERIES = 2.2;

/**
 * The largest number of values for which the one-sided tail is computed as a sum. With more values, its asymptotic form
 * is used.
 */
const MAX_FOR_SUM = 100_000;

/** The value of n d^(3/2) above which the series of Pelz and Good is accurate. */
const WIDE_ENOUGH_FOR_SERIES = 1.4;

/** The value of n d^2 above which the tail underflows float64. */
const OUT_OF_RANGE = 370;

/**
 * Computes the probability that the empirical distribution function of n independent values differs from their
 * continuous distribution by at least d somewhere.
 *
 * The function uses the most accurate method for the given n and d, as recommended by R. Simard and P. L'Ecuyer,
 * Computing the two-sided Kolmogorov-Smirnov distribution (2011): twice the one-sided tail, Marsaglia, Tsang and Wang's
 * matrix, or Pelz and Good's series. For up to 140 values, the error is at most 1e-10. Just above 140 values, it is at
 * most 5e-6, and it decreases as the number of values grows.
 * @param n an integer; 0 gives 1
 * @param d from 0 to 1
 */
export function kolmogorovTail(n: number, d: number): number {
  const square = n * d * d;
  if (n < 1 || 2 * n * d <= 1) return 1;
  if (square >= OUT_OF_RANGE) return 0;
  if (square >= (n <= MAX_FOR_EXACT ? SMALL_TAIL_EXACT : SMALL_TAIL_SERIES)) return Math.min(1, 2 * oneSidedTail(n, d));
  if (n <= MAX_FOR_EXACT || n * d ** 1.5 <= WIDE_ENOUGH_FOR_SERIES) return 1 - byMatrix(n, d);
  return 1 - bySeries(n, d);
}

/**
 * Computes d sum over j of C(n, j) (d + j/n)^(j - 1) (1 - d - j/n)^(n - j), in which all terms are positive (Smirnov
 * 1944). The limit of this sum is exp(-2 n d^2 - 2 d / 3 - 1 / (18 n)).
 */
function oneSidedTail(n: number, d: number): number {
  if (n > MAX_FOR_SUM) return Math.exp(-((6 * n * d + 1) ** 2) / (18 * n));
  let sum = Math.exp(n * Math.log1p(-d));
  for (let j = 1; j < n * (1 - d); j++) sum += d * Math.exp(logTerm(n, j, d));
  return sum;
}

/** By Stirling's formula, C(n, j) (j/n)^j (1 - j/n)^(n - j) equals sqrt(n / (2 pi j (n - j))) up to small errors. */
function logTerm(n: number, j: number, d: number): number {
  const rest = n - j;
  const choose = Math.log(n / (2 * Math.PI * j * rest)) / 2 + stirlingError(n) - stirlingError(j) - stirlingError(rest);
  return choose + j * Math.log1p((d * n) / j) + rest * Math.log1p((-d * n) / rest) - Math.log(d + j / n);
}

/**
 * Computes n! / n^n times the middle entry of H^n, by repeated squaring. H has 2 k - 1 rows, where k = ceil(n d).
 * @see G. Marsaglia, W. W. Tsang, J. Wang, Evaluating Kolmogorov's distribution (2003)
 */
function byMatrix(n: number, d: number): number {
  const k = Math.ceil(n * d);
  const size = 2 * k - 1;
  let [power, result] = [transitions(size, k - n * d), identity(size)];
  let [powerExponent, exponent] = [0, 0];
  for (let left = n; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) {
      result = product(result, power, size);
      exponent += powerExponent + rescale(result);
    }
    power = product(power, power, size);
    powerExponent = 2 * powerExponent + rescale(power);
  }
  const middle = result[(k - 1) * size + k - 1] as number;
  // ln(n! / n^n)
  const scale = stirlingError(n) + Math.log(2 * Math.PI * n) / 2 - n;
  return Math.min(1, Math.exp(scale + exponent + Math.log(middle)));
}

/**
 * Returns the matrix H of the paper: 1 / (i - j + 1)! on the first superdiagonal and below, with powers of h subtracted
 * in the first column and the last row.
 */
function transitions(size: number, h: number): Float64Array {
  const entries = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= Math.min(i + 1, size - 1); j++) entries[i * size + j] = 1;
  }
  for (let i = 0; i < size; i++) {
    entries[i * size] = (entries[i * size] as number) - h ** (i + 1);
    const lastRow = (size - 1) * size + i;
    entries[lastRow] = (entries[lastRow] as number) - h ** (size - i);
  }
  const corner = (size - 1) * size;
  if (2 * h > 1) entries[corner] = (entries[corner] as number) + (2 * h - 1) ** size;
  for (let i = 0; i < size; i++) {
    let factorial = 1;
    for (let j = i; j >= 0; j--) {
      factorial *= i - j + 1;
      entries[i * size + j] = (entries[i * size + j] as number) / factorial;
    }
  }
  return entries;
}

function identity(size: number): Float64Array {
  return Float64Array.from({ length: size * size }, (_, index) => Number(index % (size + 1) === 0));
}

function product(a: Float64Array, b: Float64Array, size: number): Float64Array {
  const result = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) {
      const factor = a[i * size + k] as number;
      for (let j = 0; j < size; j++)
        result[i * size + j] = (result[i * size + j] as number) + factor * (b[k * size + j] as number);
    }
  }
  return result;
}

/** Divides a matrix by its largest entry, in place, and returns the logarithm of that entry. */
function rescale(matrix: Float64Array): number {
  const largest = matrix.reduce((most, entry) => Math.max(most, entry), 0);
  matrix.forEach((entry, index) => (matrix[index] = entry / largest));
  return Math.log(largest);
}

/**
 * Computes P(D < d) up to terms in n^-2.
 * @see W. Pelz, I. J. Good, Approximating the lower tail-areas of the Kolmogorov-Smirnov one-sample statistic (1976)
 */
function bySeries(n: number, d: number): number {
  const root = Math.sqrt(n);
  const z = root * d;
  const z2 = z * z;
  const z4 = z2 * z2;
  const z6 = z4 * z2;
  let [k0, k1, k2, k3] = [0, 0, 0, 0];
  for (let k = 0; k < 20; k++) {
    // Each odd multiple of pi / 2 also represents its negative.
    const odd = (Math.PI * (k + 0.5)) ** 2;
    const weight = 2 * Math.exp(-odd / (2 * z2));
    k0 += weight;
    k1 += weight * (odd - z2);
    k2 += weight * (6 * z6 + 2 * z4 + odd * (2 * z4 - 5 * z2) + odd * odd * (1 - 2 * z2));
    k3 +=
      weight *
      (odd ** 3 * (5 - 30 * z2) +
        odd * odd * (212 * z4 - 60 * z2) +
        odd * (135 * z4 - 96 * z6) -
        30 * z6 -
        90 * z6 * z2);
  }
  let [even2, even3] = [0, 0];
  for (let k = 1; k < 20; k++) {
    const even = (Math.PI * k) ** 2;
    const weight = 2 * Math.exp(-even / (2 * z2));
    even2 += weight * even;
    even3 += weight * (3 * even * z2 - even * even);
  }
  const first = k0 / z;
  const second = k1 / (6 * z4);
  const third = k2 / (72 * z6 * z) - even2 / (36 * z2 * z);
  const fourth = k3 / (6480 * z6 * z4) + even3 / (108 * z6);
  return Math.sqrt(Math.PI / 2) * (first + second / root + third / n + fourth / (n * root));
}
