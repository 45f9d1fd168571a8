/** The sums over the clusters of one stratum. Without strata, all clusters are in one stratum. */
export interface StratumSums {
  /** The number of clusters with rows of any group. */
  clusters: number;
  /** For each group with rows in the stratum: its clusters, and the totals of its cells. */
  readonly groups: Map<number, GroupTotals>;
  /** For pairs of groups, with `first` <= `second`: their common clusters, and the sums of products of their cells. */
  readonly pairs: Map<number, SharedProducts>;
}

/** The clusters of a group, and the totals of its cells. */
interface GroupTotals {
  clusters: number;
  readonly sums: Float64Array;
}

/** The sums over the clusters that two groups share. */
interface SharedProducts {
  readonly first: number;
  readonly second: number;
  clusters: number;
  /** [cells of the first group, cells of the second group] */
  readonly products: Float64Array;
}

/** Returns sums without any group. */
export function emptyStratum(clusters: number): StratumSums {
  return { clusters, groups: new Map(), pairs: new Map() };
}

/** Returns the totals of a group, which start at 0. */
export function groupOf({ groups }: StratumSums, group: number, size: number): GroupTotals {
  let own = groups.get(group);
  if (own === undefined) groups.set(group, (own = { clusters: 0, sums: new Float64Array(size) }));
  return own;
}

/** Returns the products of two groups, with `first` <= `second`, which start at 0. */
export function pairOf(
  { pairs }: StratumSums,
  groupCount: number,
  first: number,
  second: number,
  size: number,
): SharedProducts {
  const key = first * groupCount + second;
  let own = pairs.get(key);
  if (own === undefined)
    pairs.set(key, (own = { first, second, clusters: 0, products: new Float64Array(size * size) }));
  return own;
}

/** Adds values to the elements of an array, from an index on. */
export function addInto(target: Float64Array, start: number, values: ArrayLike<number>): void {
  for (let index = 0; index < values.length; index++)
    target[start + index] = (target[start + index] as number) + (values[index] as number);
}
