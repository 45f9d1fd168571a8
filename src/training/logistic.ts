/** Computes 1 / (1 + exp(-x)), without overflow. */
export function sigmoid(x: number): number {
  if (x >= 0) return 1 / (1 + Math.exp(-x));
  const power = Math.exp(x);
  return power / (1 + power);
}

/** Computes the binary cross-entropy of a logit and a label: log(1 + exp(-x)) for 1 and log(1 + exp(x)) for 0. */
export function crossEntropy(logit: number, y: number): number {
  const x = y === 1 ? logit : -logit;
  return Math.log1p(Math.exp(-Math.abs(x))) + Math.max(-x, 0);
}
