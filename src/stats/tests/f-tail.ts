import betainc from '@stdlib/math-base-special-betainc';

/**
 * The probability that an F variable is at least a value, I_x(d2 / 2, d1 / 2)
 * with x = d2 / (d2 + d1 f), the regularised incomplete beta function.
 * @param value 0 or more
 * @param between degrees of freedom d1 of the numerator, above 0
 * @param within degrees of freedom d2 of the denominator, above 0
 */
export function fTail(value: number, between: number, within: number): number {
  return value === Infinity ? 0 : betainc(within / (within + between * value), within / 2, between / 2, true, false);
}
