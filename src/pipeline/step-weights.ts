/** Weights of two origins multiplied; null where there are none. */
export function multiplyWeights(
  a: ArrayLike<number> | null | undefined,
  b: ArrayLike<number> | null,
): Float64Array | null;
export function multiplyWeights(a: ArrayLike<number> | null | undefined, b: ArrayLike<number>): Float64Array;
export function multiplyWeights(
  a: ArrayLike<number> | null | undefined,
  b: ArrayLike<number> | null,
): Float64Array | null {
  const [first, second] = [a ?? null, b];
  if (first === null) return second === null ? null : Float64Array.from(second);
  return Float64Array.from(first, (weight, row) => weight * (second === null ? 1 : (second[row] as number)));
}

/** What makes the mean of weights 1 over rows that may weigh themselves. */
export function scaleOf(weights: Float64Array, own: ArrayLike<number> | undefined): number {
  let [sum, total] = [0, 0];
  for (let row = 0; row < weights.length; row++) {
    const weight = own?.[row] ?? 1;
    sum += weight * (weights[row] as number);
    total += weight;
  }
  return sum > 0 ? total / sum : 1;
}
