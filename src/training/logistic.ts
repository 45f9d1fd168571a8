/** Computes 1 / (1 + exp(-x)), without overflow. */
export function sigmoid(x: number): number {
  if (x >= 0) return 1 / (1 + Math.exp(-x));
  const power = Math.exp(x);
  return power / (1 + power);
}

/** A logit whose probability is 1 in float64. */
export const CERTAIN_LOG_ODDS = 37;

/** Computes log(p / (1 - p)), the inverse of {@link sigmoid}; -Infinity below 0 and Infinity above 1. */
export function logit(p: number): number {
  if (p <= 0) return -Infinity;
  if (p >= 1) return p === 1 ? CERTAIN_LOG_ODDS : Infinity;
  return Math.log(p) - Math.log1p(-p);
}

/** Computes the binary cross-entropy of a logit and a label: log(1 + exp(-x)) for 1 and log(1 + exp(x)) for 0. */
export function crossEntropy(logit: number, y: number): number {
  const x = y === 1 ? logit : -logit;
  return Math.log1p(Math.exp(-Math.abs(x))) + Math.max(-x, 0);
}
