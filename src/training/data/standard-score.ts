/** What standardises values: (value - mean) / scale. */
export interface StandardScore {
  readonly mean: number;
  /** The population standard deviation; 0 where all values are the same. */
  readonly scale: number;
}

/**
 * Mean and standard deviation of finite values, computed in units near the
 * largest, so that squares neither overflow nor vanish.
 */
export function standardScore(values: Float64Array): StandardScore {
  if (values.length === 0) return { mean: NaN, scale: NaN };
  const [first = NaN] = values;
  // The rounded mean of a constant may differ from it, and would leave a scale of rounding errors.
  if (values.every((value) => value === first)) return { mean: first, scale: 0 };
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  // A power of two, so that the division rounds nothing.
  const unit = 2 ** Math.max(-1021, Math.min(1022, Math.floor(Math.log2(largest))));
  const mean = values.reduce((sum, value) => sum + value / unit, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value / unit - mean) ** 2, 0) / values.length;
  return { mean: mean * unit, scale: Math.sqrt(variance) * unit };
}
