/** log(s / (1 - s)) of a score that is kept `margin` away from 0 and 1. */
export function toLogit(score: number, margin: number): number {
  const kept = Math.min(1 - margin, Math.max(margin, score));
  return Math.log(kept / (1 - kept));
}

/**
 * How near to 0 or 1 a score may come before its logit is taken.
 *
 * A score of exactly 0 or 1 has an infinite logit. Clipped by the spacing of
 * floats it would lie at 36, far from all others, and a few such rows would
 * decide the fit. Where there are some, they count instead as half as far from
 * the end as the nearest other score, as a count of 0 counts as a half.
 * Otherwise only the spacing of floats is kept.
 */
export function endMargin(scores: Float64Array): number {
  const distances = scores.map((score) => Math.min(score, 1 - score));
  if (!distances.includes(0)) return Number.EPSILON;
  const nearest = distances.reduce((least, distance) => (distance > 0 ? Math.min(least, distance) : least), 0.5);
  return Math.max(Number.EPSILON, nearest / 2);
}
