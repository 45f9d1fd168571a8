/** A family of groups reduced to what a gap interval needs: centres, variances and a way to draw both again. */
export interface GapFamily {
  readonly centres: Float64Array;
  readonly variances: Float64Array;
  /** Degrees of freedom behind each variance; absent where the variance follows from the centre. */
  readonly degrees?: Float64Array | undefined;
  /** The gap as observed. */
  readonly point: number;
  /** The largest gap there can be. */
  readonly ceiling: number;
  /** The upper end is at least this: Infinity where the data set no bound. */
  readonly leastHigh?: number | undefined;
  /** Centres are counted in this unit, so that their squares stay in float64; 1 unless given. */
  readonly unit?: number | undefined;
  /** Draws a replicate's centres and variances into the given arrays. */
  draw(centres: Float64Array, variances: Float64Array): void;
}

/** The largest minus the smallest value; 0 of none. */
export function spread(values: ArrayLike<number>): number {
  let low = Infinity;
  let high = -Infinity;
  for (let index = 0; index < values.length; index++) {
    low = Math.min(low, values[index] as number);
    high = Math.max(high, values[index] as number);
  }
  return high > low ? high - low : 0;
}

/** The family with its groups from the outermost centres inward: largest, smallest, next largest, ... */
export function outermostFirst(family: GapFamily): GapFamily {
  const { centres, variances, degrees } = family;
  const ascending = Uint32Array.from(centres.keys()).sort((a, b) => (centres[a] as number) - (centres[b] as number));
  const last = ascending.length - 1;
  const order = ascending.map((_, place) => ascending[place % 2 === 0 ? last - place / 2 : (place - 1) / 2] as number);
  const reordered = (values: Float64Array): Float64Array =>
    Float64Array.from(order, (group) => values[group] as number);
  return {
    ...family,
    centres: reordered(centres),
    variances: reordered(variances),
    degrees: degrees === undefined ? undefined : reordered(degrees),
  };
}
