import type { CodedBatch, CodedRows } from './coded-rows.ts';
import type { Conjunction, RowTotals } from './lattice.ts';

/** Sums over clusters of the products of cluster totals: d is the number of rows, y the centred sum of values. */
interface ClusterProducts {
  readonly yy: number;
  readonly yd: number;
  readonly dd: number;
}

/** The totals of a subgroup, and sums over clusters of its cluster totals by those of all rows (Y, D). */
export interface SubgroupTotals extends ClusterProducts {
  readonly count: number;
  /** The sum of the values, not centred. */
  readonly sum: number;
  /** The number of clusters with a row. Without clusters, every row is one. */
  readonly clusters: number;
  /** The number of clusters that have no other rows. */
  readonly within: number;
  readonly yY: number;
  readonly yD: number;
  readonly dY: number;
  readonly dD: number;
}

/** Measured subgroups, in the order in which they were given. */
export interface Measured {
  readonly all: SubgroupTotals;
  /** The number that was subtracted from values before their products were summed. */
  readonly centre: number;
  readonly subgroups: readonly SubgroupTotals[];
  /** Of two subgroups, the rows that are in both. */
  shared(a: number, b: number): { readonly count: number; readonly sum: number };
}

/** The sums in a row of a table of {@link Measuring}. */
const SUMS = ['count', 'sum', 'clusters', 'within', 'yy', 'yd', 'dd', 'yY', 'yD', 'dY', 'dD'] as const;

/**
 * Measures subgroups and their overlaps in one pass over the rows of a half, or over all rows.
 * @param options.centre a number near the mean; subtracted from the values, so that sums of squares keep their digits
 */
export async function measureSubgroups(
  rows: CodedRows,
  subgroups: readonly Pick<Conjunction, 'columns' | 'codes'>[],
  options: { readonly half: number | undefined; readonly centre: number },
): Promise<Measured> {
  const measuring = new Measuring(subgroups, options.centre);
  for await (const batch of rows.batches()) measuring.add(batch, options.half);
  return measuring.finish();
}

class Measuring {
  readonly #conditions: readonly (readonly (readonly [column: number, code: number])[])[];
  readonly #centre: number;
  /** The sums of each subgroup, and in the last row those of all rows. */
  readonly #sums: Float64Array;
  readonly #shared: Float64Array;
  /** Of the current cluster: y and d of each subgroup, and of all rows. */
  readonly #own: Float64Array;
  #touched: number[] = [];
  #cluster = -1;

  constructor(subgroups: readonly Pick<Conjunction, 'columns' | 'codes'>[], centre: number) {
    this.#conditions = subgroups.map(({ columns, codes }) =>
      columns.map((column, index) => [column, codes[index] as number] as const),
    );
    this.#centre = centre;
    this.#sums = new Float64Array((subgroups.length + 1) * SUMS.length);
    this.#own = new Float64Array((subgroups.length + 1) * 2);
    this.#shared = new Float64Array(subgroups.length ** 2 * 2);
  }

  add({ rowCount, codes, values, halves, clusters }: CodedBatch, half: number | undefined): void {
    const size = this.#conditions.length;
    for (let row = 0; row < rowCount; row++) {
      if (half !== undefined && halves[row] !== half) continue;
      const cluster = clusters === undefined ? -1 : (clusters[row] as number);
      if (cluster < 0 || cluster !== this.#cluster) this.#closeCluster();
      this.#cluster = cluster;
      const value = values[row] as number;
      const matched: number[] = [];
      for (let index = 0; index < size; index++) {
        const own = this.#conditions[index] as readonly (readonly [number, number])[];
        let holds = true;
        for (const [column, code] of own) holds &&= codes[column]?.[row] === code;
        if (holds) matched.push(index);
      }
      for (let first = 0; first < matched.length; first++) {
        const index = matched[first] as number;
        this.#addRow(index, value);
        for (let second = 0; second < first; second++) {
          const at = 2 * (index * size + (matched[second] as number));
          this.#shared[at] = (this.#shared[at] as number) + 1;
          this.#shared[at + 1] = (this.#shared[at + 1] as number) + value;
        }
      }
      this.#addRow(size, value);
    }
  }

  #addRow(index: number, value: number): void {
    const own = this.#own;
    const sums = this.#sums;
    if (own[2 * index + 1] === 0) this.#touched.push(index);
    own[2 * index] = (own[2 * index] as number) + value - this.#centre;
    own[2 * index + 1] = (own[2 * index + 1] as number) + 1;
    const at = index * SUMS.length;
    sums[at] = (sums[at] as number) + 1;
    sums[at + 1] = (sums[at + 1] as number) + value;
  }

  #closeCluster(): void {
    const size = this.#conditions.length;
    const [Y, D] = [this.#own[2 * size] as number, this.#own[2 * size + 1] as number];
    for (const index of this.#touched) {
      const y = this.#own[2 * index] as number;
      const d = this.#own[2 * index + 1] as number;
      const at = index * SUMS.length;
      const products = [1, d === D ? 1 : 0, y * y, y * d, d * d, y * Y, y * D, d * Y, d * D];
      for (let product = 0; product < products.length; product++) {
        this.#sums[at + 2 + product] = (this.#sums[at + 2 + product] as number) + (products[product] as number);
      }
      this.#own[2 * index] = 0;
      this.#own[2 * index + 1] = 0;
    }
    this.#touched = [];
  }

  finish(): Measured {
    this.#closeCluster();
    const size = this.#conditions.length;
    const totalsOf = (index: number): SubgroupTotals => {
      const own = SUMS.map((name, at) => [name, this.#sums[index * SUMS.length + at] as number]);
      return Object.fromEntries(own) as Record<(typeof SUMS)[number], number>;
    };
    return {
      all: totalsOf(size),
      centre: this.#centre,
      subgroups: this.#conditions.map((_, index) => totalsOf(index)),
      shared: (a, b) => {
        const at = 2 * (Math.max(a, b) * size + Math.min(a, b));
        if (a === b) return totalsOf(a);
        return { count: this.#shared[at] as number, sum: this.#shared[at + 1] as number };
      },
    };
  }
}

/** A subgroup with its number of rows and the sum of their values. */
type Part = Pick<Conjunction, 'count' | 'sum'>;

/** From this share of common rows (Jaccard), two subgroups are the same finding. */
const SAME_ROWS = 0.8;

/** If a difference is below this number of standard errors, it adds nothing to another finding. */
const NOTICEABLE = 2;

/**
 * Returns whether the difference of a subgroup is explained by another one with a larger |t|. It is if both have nearly
 * the same rows, or if those of its rows that are not in the other one do not differ noticeably from the rows outside
 * both.
 */
export function isExplainedBy(totals: RowTotals, one: Part, other: Part, shared: Part): boolean {
  if (shared.count >= SAME_ROWS * (one.count + other.count - shared.count)) return true;
  const sign = Math.sign(meanAbove(totals, one));
  const own = minus(one, shared);
  // A refinement counts by itself if its rows differ more than the other rows of the subgroup that it refines.
  const [part, rest] = own.count === 0 ? [one, minus(other, shared)] : [own, minus(minus(totals, other), own)];
  return sign * contrast(totals, part, rest) < NOTICEABLE;
}

function minus(one: Part, other: Part): Part {
  return { count: one.count - other.count, sum: one.sum - other.sum };
}

function meanAbove({ count, sum }: RowTotals, part: Part): number {
  return part.sum / part.count - sum / count;
}

/** Returns t of the difference between the means of two disjoint parts. */
function contrast({ count, sum, sumSquares }: RowTotals, one: Part, other: Part): number {
  const mean = sum / count;
  if (other.count === 0) return 0;
  const variance = Math.max(0, sumSquares / count - mean * mean) * (1 / one.count + 1 / other.count);
  const difference = one.sum / one.count - other.sum / other.count;
  return variance > 0 ? difference / Math.sqrt(variance) : 0;
}
