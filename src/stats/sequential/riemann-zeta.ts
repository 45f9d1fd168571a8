/** Terms summed one by one; the rest by Euler and Maclaurin, here exact to 1e-16 relatively. */
const FIRST_TERMS = 12;

/** B_2k / (2 k)! for k = 1, 2, ... */
const COEFFICIENTS = [1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000];

/** Riemann's zeta function, the sum of k^-s over k from 1 on, for s > 1. */
export function riemannZeta(s: number): number {
  const n = FIRST_TERMS;
  let sum = n ** (1 - s) / (s - 1) + n ** -s / 2;
  for (let k = 1; k < n; k++) sum += k ** -s;
  let rising = s * n ** (-s - 1);
  COEFFICIENTS.forEach((coefficient, index) => {
    sum += coefficient * rising;
    const next = s + 2 * index + 1;
    rising *= (next * (next + 1)) / (n * n);
  });
  return sum;
}
