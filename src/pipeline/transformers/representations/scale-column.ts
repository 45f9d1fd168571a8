/** Where a column's known values lie. */
export interface ColumnScale {
  /** NaN without known values. */
  readonly mean: number;
  /** The population standard deviation; 0 for one value only. */
  readonly scale: number;
}

/** Mean and spread of the values that are not NaN, in units of the largest deviation so that squares stay finite. */
export function scaleColumn(values: Float64Array): ColumnScale {
  const known = values.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return { mean: NaN, scale: 0 };
  const [first = NaN] = known;
  // The rounded mean of a constant may differ from it, and would leave a spread of rounding errors.
  if (known.every((value) => value === first)) return { mean: first, scale: 0 };
  let mean = 0;
  known.forEach((value, index) => (mean += (value - mean) / (index + 1)));
  const unit = known.reduce((most, value) => Math.max(most, Math.abs(value - mean)), 0);
  const square = known.reduce((sum, value) => sum + ((value - mean) / unit) ** 2, 0) / known.length;
  return { mean, scale: unit * Math.sqrt(square) };
}
