import { DataValidationError } from '../../exceptions/index.ts';
import type { ClusterErrors, ClusterPair } from '../../stats/cluster-gap.ts';
import { addInto, emptyStratum, groupOf, pairOf, type StratumSums } from '../../stats/stratum-sums.ts';

/**
 * The statistics of rows that come in clusters: the rows of a cluster, such as a person, a school or a household, may
 * depend on each other, and clusters are independent.
 *
 * A measure of a group is, in large samples, linear in the totals of its cells. Its variance, and its covariance with the
 * measure of another group, therefore follow from the covariances of the totals, which are sums over clusters (Taylor
 * linearisation; Binder 1983). The number of rows does not matter any more.
 */
export interface ClusterStats {
  /** The number of clusters with rows of each group, [groups]. */
  readonly clusters: Float64Array;
  /** The number of strata with rows of each group, [groups]; 1 without strata. */
  readonly strata: Float64Array;
  /** The pairs of different groups for which clusters have rows of both, or whose totals are correlated. */
  readonly shared: readonly SharedClusters[];
  /**
   * The data for variances: covariances of the totals of cells for decisions and numbers, and the clusters themselves
   * for scores.
   */
  readonly totals: ClusterProducts | ClusterEntries;
  /** The number of strata with only one cluster. Their clusters are compared with the mean of all clusters. */
  readonly lonely: number;
}

/** The clusters that two groups share. */
interface SharedClusters {
  readonly first: number;
  readonly second: number;
  readonly clusters: number;
}

/** The covariances of the totals of the cells of groups. */
interface ClusterProducts {
  readonly kind: 'products';
  /** The number of cells of a group. */
  readonly size: number;
  /** For numbers: what was subtracted from each quantity, so that large numbers lose no digits. */
  readonly shifts?: readonly number[] | undefined;
  /** For pairs of groups, with `first` <= `second`: the covariances of their cells, [size x size]. */
  readonly blocks: readonly { readonly first: number; readonly second: number; readonly values: Float64Array }[];
  /** The totals of cells, [groups, size]. */
  readonly sums: Float64Array;
  /** The sums over clusters of the products of two cells of a group, [groups, size, size]. */
  readonly squares: Float64Array;
}

/** The weights of cells in clusters. */
export interface ClusterEntries extends ClusterRows {
  readonly kind: 'entries';
  /** The cell of each entry, [entries]. */
  readonly cells: Int32Array;
  readonly weights: Float64Array;
}

/** The clusters, strata and groups of entries or rows. */
export interface ClusterRows {
  /** The cluster of each entry, from 0, [entries]. */
  readonly clusters: Int32Array;
  /** The group of each entry; entries with a negative group are not used, [entries]. */
  readonly groups: Int32Array;
  /** The stratum of each cluster, from 0, [clusters]; undefined without strata. */
  readonly strata?: Int32Array | undefined;
  readonly clusterCount: number;
  readonly groupCount: number;
}

/** The totals of the cells of one group in one cluster, for each part of the data in which a cluster has a group. */
interface Slots extends ClusterRows {
  readonly size: number;
  /** [slots x size] */
  readonly totals: Float64Array;
}

/**
 * Adds the rows of each cluster and group.
 * @param add adds a row to the totals that start at an index
 */
export function sumClusters(
  rows: ClusterRows,
  size: number,
  add: (totals: Float64Array, start: number, row: number) => void,
): ClusterStats {
  return clusterStats(slotsOf(rows, size, add));
}

/** Returns the statistics with the numbers that were subtracted from the quantities of regression. */
export function withShifts(stats: ClusterStats, shifts: readonly number[]): ClusterStats {
  return stats.totals.kind === 'products' ? { ...stats, totals: { ...stats.totals, shifts } } : stats;
}

/** Adds the rows of each cluster and group. The slots are in the order of their clusters. */
function slotsOf(
  rows: ClusterRows,
  size: number,
  add: (totals: Float64Array, start: number, row: number) => void,
): Slots {
  const { clusters, clusterCount, groups, groupCount } = rows;
  const order = rowsByCode(clusters, clusterCount, groups);
  const slots = new Int32Array(groups.length);
  // The last cluster with rows of each group, and the slot of the group in it.
  const lastCluster = new Int32Array(groupCount).fill(-1);
  const lastSlot = new Int32Array(groupCount);
  let count = 0;
  for (const row of order) {
    const group = groups[row] as number;
    const cluster = clusters[row] as number;
    if (lastCluster[group] !== cluster) {
      lastCluster[group] = cluster;
      lastSlot[group] = count++;
    }
    slots[row] = lastSlot[group] as number;
  }
  const totals = new Float64Array(count * size);
  const [clusterOf, groupOf] = [new Int32Array(count), new Int32Array(count)];
  for (const row of order) {
    const slot = slots[row] as number;
    clusterOf[slot] = clusters[row] as number;
    groupOf[slot] = groups[row] as number;
    add(totals, slot * size, row);
  }
  return { ...rows, clusters: clusterOf, groups: groupOf, size, totals };
}

/** Returns the rows that have a group, sorted by their codes below `count`, and in their order within a code. */
export function rowsByCode(codes: ArrayLike<number>, count: number, groups: ArrayLike<number>): Int32Array {
  const next = new Int32Array(count + 1);
  for (let row = 0; row < groups.length; row++) {
    if ((groups[row] as number) < 0) continue;
    const code = codes[row] as number;
    next[code + 1] = (next[code + 1] as number) + 1;
  }
  for (let code = 0; code < count; code++) next[code + 1] = (next[code + 1] as number) + (next[code] as number);
  const order = new Int32Array(next[count] as number);
  for (let row = 0; row < groups.length; row++) {
    if ((groups[row] as number) < 0) continue;
    const code = codes[row] as number;
    order[next[code] as number] = row;
    next[code] = (next[code] as number) + 1;
  }
  return order;
}

function clusterStats(slots: Slots): ClusterStats {
  const { clusters, strata, groupCount, size } = slots;
  const byStratum = new Map<number, StratumSums>();
  for (let first = 0, end = 0; first < clusters.length; first = end) {
    const cluster = clusters[first] as number;
    while (end < clusters.length && clusters[end] === cluster) end++;
    const stratum = strata?.[cluster] ?? 0;
    let sums = byStratum.get(stratum);
    if (sums === undefined) byStratum.set(stratum, (sums = emptyStratum(0)));
    addCluster(sums, slots, first, end);
  }
  return finishClusters([...byStratum.values()], { groupCount, size, isStratified: strata !== undefined });
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Adds the totals and products of the slots of one cluster. */
function addCluster(sums: StratumSums, { groups, groupCount, size, totals }: Slots, start: number, end: number): void {
  sums.clusters++;
  for (let a = start; a < end; a++) {
    const first = groups[a] as number;
    const own = groupOf(sums, first, size);
    own.clusters++;
    addInto(own.sums, 0, totals.subarray(a * size, (a + 1) * size));
    for (let b = start; b < end; b++) {
      const second = groups[b] as number;
      if (second < first) continue;
      const pair = pairOf(sums, groupCount, first, second, size);
      pair.clusters++;
      addProducts(pair.products, totals, a * size, b * size, size);
    }
  }
}

/** Adds the products of all cells of two slots. Most cells of decisions are 0. */
function addProducts(products: Float64Array, totals: Float64Array, a: number, b: number, size: number): void {
  for (let i = 0; i < size; i++) {
    const value = totals[a + i] as number;
    if (value === 0) continue;
    for (let j = 0; j < size; j++) {
      const cell = i * size + j;
      products[cell] = (products[cell] as number) + value * (totals[b + j] as number);
    }
  }
}

/**
 * Computes the covariances of totals from the sums of each stratum.
 *
 * Without strata, the covariance of the totals T of two groups with m and m' clusters is sqrt(m / (m - 1) m' / (m' - 1))
 * sum_c T_c T'_c: the influences of the clusters of a group add up to 0, so that no mean has to be subtracted. For one
 * group, and for clusters that all have both groups, this is the usual correction m / (m - 1).
 *
 * With strata, it is the sum over strata of n / (n - 1) sum_c (T_c - mean T)(T'_c - mean T')^T over the n clusters of the
 * stratum, as in software for surveys. A stratum with one cluster contributes its squared distance from the mean of all.
 */
export function finishClusters(
  strata: readonly StratumSums[],
  {
    groupCount,
    size,
    isStratified,
  }: { readonly groupCount: number; readonly size: number; readonly isStratified: boolean },
): ClusterStats {
  const clusters = new Float64Array(groupCount);
  const strataOf = new Float64Array(groupCount);
  const shared = new Map<number, SharedClusters>();
  const blocks = new Map<number, ClusterProducts['blocks'][number]>();
  const addTo = (first: number, second: number, factor: number, products: (cell: number) => number): void => {
    const key = first * groupCount + second;
    let block = blocks.get(key);
    if (block === undefined) blocks.set(key, (block = { first, second, values: new Float64Array(size * size) }));
    const { values } = block;
    for (let cell = 0; cell < values.length; cell++) values[cell] = (values[cell] as number) + factor * products(cell);
  };
  const sums = new Float64Array(groupCount * size);
  const squares = new Float64Array(groupCount * size * size);
  for (const { groups, pairs } of strata) {
    for (const [group, own] of groups) {
      clusters[group] = (clusters[group] as number) + own.clusters;
      strataOf[group] = (strataOf[group] as number) + 1;
      addInto(sums, group * size, own.sums);
    }
    for (const [key, { first, second, clusters: common, products }] of pairs) {
      if (first === second) {
        addInto(squares, first * size * size, products);
        continue;
      }
      shared.set(key, { first, second, clusters: common + (shared.get(key)?.clusters ?? 0) });
    }
  }
  for (const stratum of strata) {
    for (const { first, second, products } of stratum.pairs.values()) {
      const factor = isStratified
        ? withinStratum(stratum.clusters)
        : Math.sqrt(factorOf(clusters[first] as number) * factorOf(clusters[second] as number));
      addTo(first, second, factor, (cell) => products[cell] as number);
    }
    if (!isStratified || stratum.clusters === 1) continue;
    for (const [first, { sums: a }] of stratum.groups) {
      for (const [second, { sums: b }] of stratum.groups) {
        if (second < first) continue;
        const factor = -withinStratum(stratum.clusters) / stratum.clusters;
        addTo(first, second, factor, (cell) => (a[Math.floor(cell / size)] as number) * (b[cell % size] as number));
      }
    }
  }
  for (const [key, { first, second }] of blocks) {
    if (first !== second && !shared.has(key)) shared.set(key, { first, second, clusters: 0 });
  }
  return {
    clusters,
    strata: strataOf,
    shared: [...shared.values()],
    totals: { kind: 'products', size, blocks: [...blocks.values()], sums, squares },
    lonely: isStratified ? strata.filter((stratum) => stratum.clusters === 1).length : 0,
  };
}

function factorOf(clusters: number): number {
  return clusters / (clusters - 1);
}

function withinStratum(clusters: number): number {
  return clusters === 1 ? 1 : factorOf(clusters);
}

/** Returns the clusters of scores, whose influences are added when the measure is known. */
export function clusterEntries(entries: Omit<ClusterEntries, 'kind'>): ClusterStats {
  const { clusters, strata, shared, lonely } = sumClusters(entries, 1, () => undefined);
  return { clusters, strata, shared, lonely, totals: { kind: 'entries', ...entries } };
}

/** How the cells of groups determine a measure. For products, arrays have shape [groups, cells]; for entries, [cells]. */
export interface ClusterMeasure {
  /** The change of a group's value per unit of weight in a cell. */
  readonly influence: Float64Array;
  /** The cells of the rows that a value needs: 1, or 0 for other cells. With several lists, it needs rows of each. */
  readonly needed: readonly Float64Array[];
}

/**
 * Computes the errors of a measure.
 *
 * The degrees of freedom use the effective number of clusters, (sum_c B_c)^2 / sum_c B_c^2, where B_c is the weight of the
 * needed rows in a cluster. It is the number of clusters if all are equally large, and smaller if few clusters have most of
 * the rows, since these then determine the variance (Carter, Schnepel and Steigerwald 2017).
 */
export function clusterErrors(stats: ClusterStats, measure: ClusterMeasure): ClusterErrors {
  const { clusters, strata, shared } = stats;
  const { products, influence } = productsOf(stats, measure.influence);
  const effective = effectiveClusters(stats, measure.needed);
  const { size, blocks } = products;
  const variances = new Float64Array(clusters.length).fill(NaN);
  const covariances = new Map<number, number>();
  for (const { first, second, values } of blocks) {
    const sum = quadratic(values, influence.subarray(first * size), influence.subarray(second * size), size);
    if (first !== second) covariances.set(first * clusters.length + second, sum);
    // The influences of a single cluster add up to 0, which says nothing about its variance.
    else if ((effective[first] as number) > 1 + ONE_CLUSTER) variances[first] = Math.max(0, sum);
  }
  const pairs = shared.map(({ first, second, clusters: common }): ClusterPair => {
    const different = (clusters[first] as number) + (clusters[second] as number) - common;
    return {
      ...{ first, second },
      covariance: covariances.get(first * clusters.length + second) ?? 0,
      maxDegrees: Math.max(1, different - Math.max(strata[first] as number, strata[second] as number)),
    };
  });
  const degrees = effective.map((count, group) => Math.max(1, count - (strata[group] as number)));
  return { variances, clusters: effective, degrees, pairs };
}

/** The tolerance for rounding in the effective number of clusters. */
const ONE_CLUSTER = 1e-9;

/** Returns products whose cells the influence belongs to. The influences of entries are added in each cluster first. */
function productsOf(
  { totals, clusters }: ClusterStats,
  influence: Float64Array,
): { readonly products: ClusterProducts; readonly influence: Float64Array } {
  if (totals.kind === 'products') return { products: totals, influence };
  const { weights, cells } = totals;
  const summed = sumClusters(totals, 1, (sums, start, entry) => {
    sums[start] = (sums[start] as number) + (weights[entry] as number) * (influence[cells[entry] as number] as number);
  });
  return { products: summed.totals as ClusterProducts, influence: new Float64Array(clusters.length).fill(1) };
}

function effectiveClusters({ totals, clusters }: ClusterStats, needed: readonly Float64Array[]): Float64Array {
  const least = clusters.slice();
  for (const cells of needed) {
    const own = totals.kind === 'products' ? effectiveOfProducts(totals, cells) : effectiveOfEntries(totals, cells);
    least.forEach((count, group) => (least[group] = Math.min(count, own[group] as number)));
  }
  return least;
}

function effectiveOfProducts({ size, sums, squares }: ClusterProducts, cells: Float64Array): Float64Array {
  return Float64Array.from({ length: sums.length / size }, (_, group) => {
    const own = cells.subarray(group * size, (group + 1) * size);
    const total = own.reduce((sum, is, cell) => sum + is * (sums[group * size + cell] as number), 0);
    return kish(total, quadratic(squares.subarray(group * size * size), own, own, size));
  });
}

function effectiveOfEntries(entries: ClusterEntries, needed: Float64Array): Float64Array {
  const { weights, cells } = entries;
  const { groupCount, groups, totals } = slotsOf(entries, 1, (sums, start, entry) => {
    sums[start] = (sums[start] as number) + (weights[entry] as number) * (needed[cells[entry] as number] as number);
  });
  const [sums, squares] = [new Float64Array(groupCount), new Float64Array(groupCount)];
  totals.forEach((total, slot) => {
    const group = groups[slot] as number;
    sums[group] = (sums[group] as number) + total;
    squares[group] = (squares[group] as number) + total * total;
  });
  return sums.map((sum, group) => kish(sum, squares[group] as number));
}

function kish(sum: number, squares: number): number {
  return squares > 0 ? sum * (sum / squares) : 0;
}

/** Returns a^T M b. */
function quadratic(matrix: Float64Array, a: Float64Array, b: Float64Array, size: number): number {
  let sum = 0;
  for (let i = 0; i < size; i++) {
    const left = a[i] as number;
    if (left === 0) continue;
    for (let j = 0; j < size; j++) sum += left * (matrix[i * size + j] as number) * (b[j] as number);
  }
  return sum;
}

/**
 * Assigns clusters to new groups, like `regroup`. A pooled group has at least as many clusters as each of its parts; how
 * many more is not known, so that its degrees of freedom are too few rather than too many.
 * @param positionOf for each group, the index of its new group; negative if it is excluded
 * @param cellOf for scores: the new index of a cell
 */
export function regroupClusters(
  stats: ClusterStats | undefined,
  positionOf: ArrayLike<number>,
  groupCount: number,
  cellOf: (cell: number) => number = (cell) => cell,
): ClusterStats | undefined {
  if (stats === undefined) return undefined;
  const { totals } = stats;
  const most = (values: Float64Array): Float64Array => {
    const found = new Float64Array(groupCount);
    values.forEach((value, group) => {
      const position = positionOf[group] as number;
      if (position >= 0) found[position] = Math.max(found[position] as number, value);
    });
    return found;
  };
  if (totals.kind === 'entries') {
    const { groups } = totals;
    return clusterEntries({
      ...totals,
      groupCount,
      groups: groups.map((group) => (group < 0 ? group : (positionOf[group] as number))),
      cells: totals.cells.map((cell, entry) => ((positionOf[groups[entry] as number] ?? -1) < 0 ? -1 : cellOf(cell))),
    });
  }
  const { size } = totals;
  const blocks = new Map<number, Mutable<ClusterProducts['blocks'][number]>>();
  const addBlock = (first: number, second: number, valueAt: (i: number, j: number) => number): void => {
    const key = first * groupCount + second;
    const block = blocks.get(key) ?? { first, second, values: new Float64Array(size * size) };
    blocks.set(key, block);
    block.values.forEach((value, cell) => (block.values[cell] = value + valueAt(Math.floor(cell / size), cell % size)));
  };
  const shared = new Map<number, Mutable<SharedClusters>>();
  for (const { first, second, values } of totals.blocks) {
    const [a, b] = [positionOf[first] as number, positionOf[second] as number];
    if (a < 0 || b < 0) continue;
    if (a <= b) addBlock(a, b, (i, j) => values[i * size + j] as number);
    if (a > b || (a === b && first !== second)) addBlock(b, a, (i, j) => values[j * size + i] as number);
  }
  for (const { first, second, clusters } of stats.shared) {
    const [a, b] = [positionOf[first] as number, positionOf[second] as number].sort((x, y) => x - y) as [
      number,
      number,
    ];
    if (a < 0 || a === b) continue;
    const key = a * groupCount + b;
    shared.set(key, { first: a, second: b, clusters: clusters + (shared.get(key)?.clusters ?? 0) });
  }
  return {
    ...stats,
    clusters: most(stats.clusters),
    strata: most(stats.strata),
    shared: [...shared.values()],
    totals: {
      ...totals,
      blocks: [...blocks.values()],
      sums: regroupedSums(totals.sums, positionOf, groupCount, size),
      squares: regroupedSums(totals.squares, positionOf, groupCount, size * size),
    },
  };
}

function regroupedSums(
  values: Float64Array,
  positionOf: ArrayLike<number>,
  groups: number,
  width: number,
): Float64Array {
  const regrouped = new Float64Array(groups * width);
  for (let group = 0; group < positionOf.length; group++) {
    const position = positionOf[group] as number;
    if (position >= 0) addInto(regrouped, position * width, values.subarray(group * width, (group + 1) * width));
  }
  return regrouped;
}

/** Returns the error for statistics with clusters where rows are added, removed or pooled. */
export function clustersCannotMerge(): DataValidationError {
  return new DataValidationError(
    'Statistics with clusters cannot be combined, because a cluster may have rows in both.',
    {
      code: 'invalid-data',
      suggestion: 'Count all rows at once, or leave the clusters out.',
    },
  );
}
