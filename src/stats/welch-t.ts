/**
 * Student's t against the normal distribution by Wallace's approximation (1959),
 *
 *     z = (8 v + 1) / (8 v + 3) sqrt(v ln(1 + t^2 / v)),
 *
 * at a few operations: there are millions of pairs where groups are many. From 10
 * degrees of freedom on t is within 2% down to tails of 1e-7; with fewer it errs
 * to the wide side in tails that far.
 */
export function tOfNormal(z: number, degrees: number): number {
  const scaled = (z * (8 * degrees + 3)) / (8 * degrees + 1);
  return Math.sqrt(degrees * Math.expm1((scaled * scaled) / degrees));
}

/** The normal value as far in the tail as t; the inverse of {@link tOfNormal}. */
export function normalOfT(t: number, degrees: number): number {
  return ((8 * degrees + 1) / (8 * degrees + 3)) * Math.sqrt(degrees * Math.log1p((t * t) / degrees));
}

/** Welch's degrees of freedom of a difference of two means with variances v and their degrees. */
export function welchDegrees(v1: number, degrees1: number, v2: number, degrees2: number): number {
  const total = v1 + v2;
  return (total * total) / ((v1 * v1) / degrees1 + (v2 * v2) / degrees2);
}
