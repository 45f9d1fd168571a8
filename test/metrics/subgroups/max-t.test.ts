import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { type Conjunction, searchLattice } from '../../../src/metrics/subgroups/lattice.ts';
import { drawMaxOfLattice, type MaxT } from '../../../src/metrics/subgroups/max-t.ts';
import { type CodedData, codedRows } from '../../helpers/coded-rows.ts';

async function draw(data: CodedData, samples: number, maxDepth = 1): Promise<MaxT & { found: readonly Conjunction[] }> {
  const rows = codedRows(data, false);
  const { found, totals } = await searchLattice(rows, { maxDepth, minRows: 1, keep: Infinity, isSplit: false, prunes: false }); // prettier-ignore
  return { ...(await drawMaxOfLattice(rows, found, totals, { samples, seed: 1 })), found };
}

const range = (count: number): number[] => [...Array(count).keys()];
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const meanOf = (values: ArrayLike<number>): number => sumOf(Array.from(values)) / values.length;

/** Returns the sum of the values of some rows, above what the mean of all rows gives. */
function excess(values: readonly number[], isIn: (row: number) => boolean): number {
  return sumOf(values.filter((_, row) => isIn(row))) - values.filter((_, row) => isIn(row)).length * meanOf(values);
}

/** The value below which three independent standard normal |z| stay with probability 0.95. */
const CRITICAL_OF_THREE = 2.3877;

describe('the largest |t| of all conjunctions, if nothing differs', () => {
  const random = createRandom(11);
  const values = range(900).map(() => (random.next() < 0.3 ? 1 : 0));

  it('is the standardised sum, whose permutations have the variance of sampling without replacement', async () => {
    const isIn = (row: number): boolean => row % 9 < 2;
    const { observed, maxima, found } = await draw({ codes: [values.map((_, row) => (isIn(row) ? 1 : 0))], values }, 4000); // prettier-ignore
    const mean = meanOf(values);
    // 200 of 900 rows are in the group. The other rows have the same |t|.
    const scale = Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)) * 200 * (1 - 200 / 900));
    expect(found).to.have.length(2);
    for (const t of observed) expect(t).to.be.closeTo(Math.abs(excess(values, isIn)) / scale, 1e-10);
    // The variance of a sum without replacement is larger than scale^2 by N / (N - 1); that of t^2 is about 2.
    expect(meanOf(maxima.map((t) => t * t))).to.be.closeTo(900 / 899, 4 * Math.sqrt(2 / 4000));
    expect([...maxima]).to.deep.equal([...maxima].sort((a, b) => a - b));
  });

  it('exceeds the critical value of three independent tests in 5% of the replicates of three columns', async () => {
    const codes = [2, 4, 8].map((period) => values.map((_, row) => (row % period < period / 2 ? 0 : 1)));
    const { maxima, observed, found } = await draw({ codes, values }, 3000);
    const share = maxima.filter((t) => t >= CRITICAL_OF_THREE).length / 3000;
    expect(share).to.be.closeTo(0.05, 4 * Math.sqrt((0.05 * 0.95) / 3000));
    found.forEach(({ columns, codes: [code] }, index) => {
      const own = codes[columns[0] as number] as number[];
      const count = own.filter((one) => one === code).length;
      const variance = meanOf(values.map((value) => (value - meanOf(values)) ** 2));
      const exact = Math.sqrt(variance * count * (1 - count / 900));
      expect(observed[index]).to.be.closeTo(Math.abs(excess(values, (row) => own[row] === code)) / exact, 1e-10);
    });
  });

  it('is the same for the same seed, and covers intersections of columns', async () => {
    const codes = [2, 4].map((period) => values.map((_, row) => (row % period < period / 2 ? 0 : 1)));
    const [first, second] = [await draw({ codes, values }, 50, 2), await draw({ codes, values }, 50, 2)];
    expect(first).to.deep.equal(second);
    const both = first.found.findIndex(({ columns }) => columns.length === 2);
    const [a, b] = (first.found[both] as Conjunction).codes;
    const isIn = (row: number): boolean => codes[0]?.[row] === a && codes[1]?.[row] === b;
    const variance = meanOf(values.map((value) => (value - meanOf(values)) ** 2));
    expect(first.observed[both]).to.be.closeTo(
      Math.abs(excess(values, isIn)) / Math.sqrt(variance * 225 * 0.75),
      1e-10,
    );
  });
});

describe('the largest |t| with clusters', () => {
  it('has the scale of the sums of clusters, if they have the same size and one group each', async () => {
    const random = createRandom(5);
    const own = range(120).map(() => random.next());
    // Five rows of a person vary around the value of the person.
    const values = range(600).map((row) => (own[Math.floor(row / 5)] as number) + 0.3 * random.next());
    const clusters = range(600).map((row) => Math.floor(row / 5));
    const isIn = (row: number): boolean => Math.floor(row / 5) % 4 === 0;
    const codes = [values.map((_, row) => (isIn(row) ? 1 : 0))];
    const { observed, maxima } = await draw({ codes, values, clusters }, 2000);
    const mean = meanOf(values);
    const sums = range(120).map((person) => sumOf(values.slice(5 * person, 5 * person + 5)) - 5 * mean);
    // 30 of 120 people: k (1 - k / K) times the variance of the sums.
    const scale = Math.sqrt(meanOf(sums.map((sum) => sum * sum)) * 30 * 0.75);
    for (const t of observed) expect(t).to.be.closeTo(Math.abs(excess(values, isIn)) / scale, 1e-9);
    expect(meanOf(maxima.map((t) => t * t))).to.be.closeTo(120 / 119, 4 * Math.sqrt(2 / 2000));
  });

  it('is that of independent rows if each row is a cluster', async () => {
    const random = createRandom(6);
    const values = range(300).map(() => random.next());
    const codes = [values.map((_, row) => (row % 3 === 0 ? 1 : 0))];
    const [alone, clustered] = [await draw({ codes, values }, 10), await draw({ codes, values, clusters: range(300) }, 10)]; // prettier-ignore
    clustered.observed.forEach((t, index) => expect(t).to.be.closeTo(alone.observed[index] ?? NaN, 1e-12));
  });

  it('does not judge groups with fewer than 10 clusters inside or outside', async () => {
    const clusters = range(600).map((row) => Math.floor(row / 5));
    const values = clusters.map((cluster) => cluster % 7);
    const observedFor = async (inside: number): Promise<number[]> => {
      const codes = [clusters.map((cluster) => (cluster < inside ? 1 : 0))];
      return [...(await draw({ codes, values, clusters }, 1)).observed];
    };
    expect(await observedFor(9)).to.deep.equal([0, 0]);
    expect(await observedFor(111)).to.deep.equal([0, 0]);
    for (const inside of [10, 110]) for (const t of await observedFor(inside)) expect(t).to.be.above(0);
  });

  it('exchanges outcomes only between clusters of the same size, if 20 have it', async () => {
    // 40 clusters of one row, 40 of two and 40 of three; all rows of a size have the same value.
    const sizes = range(120).map((cluster) => 1 + (cluster % 3));
    const clusters = sizes.flatMap((size, cluster) => Array<number>(size).fill(cluster));
    const values = clusters.map((cluster) => 10 ** (sizes[cluster] as number));
    const codes = [clusters.map((cluster) => (cluster % 2 === 0 ? 1 : 0))];
    const { observed, maxima } = await draw({ codes, values, clusters }, 20);
    for (const t of maxima) expect(t).to.be.closeTo(Math.max(...observed), 1e-9);
  });

  it('joins the largest sizes with the size before, if fewer than 20 clusters have them', async () => {
    const maximaFor = async (largest: number): Promise<number> => {
      const sizes = range(40 + largest).map((cluster) => (cluster < 40 ? 1 : 2));
      const clusters = sizes.flatMap((size, cluster) => Array<number>(size).fill(cluster));
      const values = clusters.map((cluster) => ((sizes[cluster] as number) === 1 ? 1 : 0));
      const codes = [clusters.map((cluster) => (cluster % 4 === 0 ? 1 : 0))];
      const { maxima } = await draw({ codes, values, clusters }, 40);
      return new Set([...maxima].map((t) => t.toFixed(9))).size;
    };
    // All clusters of a size have the same value: exchanges within a size change nothing.
    expect(await maximaFor(20)).to.equal(1);
    expect(await maximaFor(19)).to.be.above(5);
  });

  it('joins sizes that fewer than 20 clusters have with the next size', async () => {
    const sizes = range(100).map((cluster) => (cluster < 19 ? 1 : cluster < 60 ? 2 : 3));
    const clusters = sizes.flatMap((size, cluster) => Array<number>(size).fill(cluster));
    const values = clusters.map((cluster) => ((sizes[cluster] as number) === 1 ? 1 : 0));
    const codes = [clusters.map((cluster) => (cluster % 2 === 0 ? 1 : 0))];
    // The values of single rows move to clusters of two rows, in which they are repeated.
    const { maxima } = await draw({ codes, values, clusters }, 40);
    expect(new Set([...maxima].map((t) => t.toFixed(9))).size).to.be.above(5);
  });
});
