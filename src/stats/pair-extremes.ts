/** The groups of a family: their centres and the variances of the centres. */
interface Groups {
  readonly centres: Float64Array;
  readonly variances: Float64Array;
}

/** The largest lower end and the largest upper end over all pairs, at least 0. */
export interface PairExtremes {
  readonly low: number;
  readonly high: number;
}

/** Below this number of groups, all pairs are tried. */
const FEW = 24;

/**
 * Returns the largest |ci - cj| - h and the largest |ci - cj| + h over all pairs of groups, with the half-width h =
 * `critical` sqrt(vi + vj); at least 0. The result is the same as if all pairs were tried, but usually takes a small
 * part of the time.
 *
 * Groups with similar variances are in the same bin. The extremes of two bins limit the ends of all pairs between them.
 * Only the pairs of bins and groups are tried whose limit is above a value that was already found. A limit is computed
 * with the same operations as an end, and each of them is monotone, also when it is rounded.
 */
export function pairExtremes(groups: Groups, critical: number): PairExtremes {
  if (groups.centres.length <= FEW || !isFinite(groups, critical)) return tryAllPairs(groups, critical);
  const bins = binsOf(groups);
  return {
    low: largestEnd(groups, bins, -critical, ({ least }) => least),
    high: largestEnd(groups, bins, critical, ({ most }) => most),
  };
}

/** Tries all pairs. With a variance of 0, the half-width is 0 for any critical value, even for an infinite one. */
function tryAllPairs({ centres, variances }: Groups, critical: number): PairExtremes {
  let low = 0;
  let high = 0;
  for (let i = 1; i < centres.length; i++) {
    for (let j = 0; j < i; j++) {
      const difference = Math.abs((centres[i] as number) - (centres[j] as number));
      const error = Math.sqrt((variances[i] as number) + (variances[j] as number));
      const half = error === 0 ? 0 : critical * error;
      if (difference - half > low) low = difference - half;
      if (difference + half > high) high = difference + half;
    }
  }
  return { low, high };
}

function isFinite({ centres, variances }: Groups, critical: number): boolean {
  let largest = 0;
  for (let index = 0; index < centres.length; index++) {
    // NaN makes every later maximum NaN.
    largest = Math.max(largest, Math.abs(centres[index] as number), variances[index] as number);
  }
  return Number.isFinite(4 * largest * critical);
}

/** Groups with similar variances. */
interface Bin {
  readonly members: number[];
  /** The groups with the largest and the smallest centre. */
  top: number;
  bottom: number;
  /** The smallest and the largest variance. */
  least: number;
  most: number;
}

function binsOf({ centres, variances }: Groups): readonly Bin[] {
  const errors = variances.map(Math.sqrt);
  const widest = errors.reduce((most, error) => Math.max(most, error), 0);
  const count = Math.ceil(Math.sqrt(centres.length));
  const bins: Bin[] = [];
  for (let group = 0; group < centres.length; group++) {
    const share = widest === 0 ? 0 : (errors[group] as number) / widest;
    const index = Math.min(count - 1, Math.floor(share * count));
    const variance = variances[group] as number;
    const bin = (bins[index] ??= { members: [], top: group, bottom: group, least: variance, most: variance });
    bin.members.push(group);
    if ((centres[group] as number) > (centres[bin.top] as number)) bin.top = group;
    if ((centres[group] as number) < (centres[bin.bottom] as number)) bin.bottom = group;
    bin.least = Math.min(bin.least, variance);
    bin.most = Math.max(bin.most, variance);
  }
  // Empty bins are holes in the list.
  return Object.values(bins);
}

/**
 * Returns the largest ci - cj + `critical` sqrt(vi + vj) over all ordered pairs of groups, at least 0.
 * @param varianceOf returns the variance of a bin that makes an end the largest
 */
function largestEnd(
  { centres, variances }: Groups,
  bins: readonly Bin[],
  critical: number,
  varianceOf: (bin: Bin) => number,
): number {
  const end = (upper: number, lower: number, first: number, second: number): number =>
    upper - lower + critical * Math.sqrt(first + second);
  const endOf = (i: number, j: number): number =>
    end(centres[i] as number, centres[j] as number, variances[i] as number, variances[j] as number);
  let best = 0;
  for (const { top } of bins) {
    for (const { bottom } of bins) if (top !== bottom) best = Math.max(best, endOf(top, bottom));
  }
  for (const bin of bins) {
    const upper = centres[bin.top] as number;
    const first = varianceOf(bin);
    for (const other of bins) {
      const lower = centres[other.bottom] as number;
      const second = varianceOf(other);
      if (!(end(upper, lower, first, second) > best)) continue;
      const rows = bin.members.filter((i) => end(centres[i] as number, lower, variances[i] as number, second) > best);
      const columns = other.members.filter(
        (j) => end(upper, centres[j] as number, first, variances[j] as number) > best,
      );
      for (const i of rows) for (const j of columns) if (i !== j) best = Math.max(best, endOf(i, j));
    }
  }
  return best;
}
