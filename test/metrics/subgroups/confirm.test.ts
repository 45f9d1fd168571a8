import { expect } from 'chai';

import { confirmSubgroups, type Confirmed } from '../../../src/metrics/subgroups/confirm.ts';
import { newcombeInterval } from '../../../src/metrics/subgroups/difference-test.ts';
import { searchLattice } from '../../../src/metrics/subgroups/lattice.ts';
import { drawMaxOfLattice } from '../../../src/metrics/subgroups/max-t.ts';
import { normalCdf } from '../../../src/stats/normal.ts';
import { type CodedData, codedRows } from '../../helpers/coded-rows.ts';

/** Rows with the same codes: how many in the searched and in the tested half, and how many of each have the value 1. */
interface Cell {
  readonly codes: readonly number[];
  readonly rows: readonly [searched: number, tested: number];
  readonly ones: readonly [searched: number, tested: number];
}

function rowsOf(cells: readonly Cell[]): CodedData {
  const rows = cells.flatMap(({ codes, rows: counts, ones }) =>
    counts.flatMap((count, half) =>
      Array.from({ length: count }, (_, row) => ({ codes, half, value: Number(row < (ones[half] as number)) })),
    ),
  );
  return {
    codes: (cells[0] as Cell).codes.map((_, column) => rows.map(({ codes }) => codes[column] as number)),
    values: rows.map(({ value }) => value),
    halves: rows.map(({ half }) => half),
  };
}

const SETTINGS = { method: 'split', maxDepth: 2, minGroupSize: 50, candidates: 20, alpha: 0.05, samples: 99, seed: 1, hasClusters: false } as const; // prettier-ignore

const confirm = (data: CodedData, settings: Partial<Parameters<typeof confirmSubgroups>[1]> = {}): Promise<Confirmed> =>
  confirmSubgroups(codedRows(data, true), { ...SETTINGS, hasClusters: data.clusters !== undefined, ...settings });

/** The conditions of each finding, such as `0=1 1=2`. */
const textOf = ({ columns, codes }: { columns: readonly number[]; codes: readonly number[] }): string =>
  columns.map((column, index) => `${column}=${codes[index]}`).join(' ');
const named = ({ findings }: Confirmed): string[] => findings.map(({ conjunction }) => textOf(conjunction));

/** Four groups with 100 rows in each half: their shares of ones in the searched and in the tested half. */
const groups = (...shares: readonly (readonly [number, number])[]): CodedData =>
  rowsOf(shares.map((ones, code) => ({ codes: [code], rows: [100, 100], ones })));

describe('confirmSubgroups with two halves', () => {
  const data = groups([60, 45], [10, 15], [30, 30], [30, 31]);

  it('tests the candidates of one half on the other half, with the weights of their ranks', async () => {
    const found = await confirm(data);
    // Only the first two are candidates: without them, the others do not differ. The first one had the larger |t|.
    expect(found.tested).to.equal(2);
    expect(named(found)).to.deep.equal(['0=1', '0=0']);
    const [second, first] = found.findings;
    expect([first?.difference.value, first?.difference.rest]).to.deep.equal([0.45, 76 / 300]);
    // scipy 1.17: Fisher's exact test by hypergeom, Holm's method with the weights 2/3 and 1/3, Newcombe's interval.
    expect(second?.pAdjusted).to.be.closeTo(0.0003324120376113989, 1e-10);
    expect(first?.pAdjusted).to.be.closeTo(0.0004427683219191209, 1e-10);
    for (const [ci, expected] of [
      [first?.ci, [0.08042067049029143, 0.3134165108043838]],
      [second?.ci, [-0.2984858704817477, -0.08165948243037027]],
    ] as const) {
      expected.forEach((end, index) => expect(ci?.[index]).to.be.closeTo(end, 1e-9));
    }
    expect(found.findings.map(({ n, nTested }) => [n, nTested])).to.deep.equal([
      [200, 100],
      [200, 100],
    ]);
    expect([found.n, found.mean, found.nClusters, found.isConstant]).to.deep.equal([800, 251 / 800, null, false]);
    expect([found.searched, found.measured, found.warnings]).to.deep.equal([4, 4, []]);
  });

  it('states what a tested half can detect, for the smallest subgroups and for shares of the rows', async () => {
    const { detectable } = await confirm(data);
    // scipy 1.17: 50 of 800 rows have 25 tested ones, 200 have 100. The last of 20 candidates has the weight of 72 tests.
    expect(detectable.map(({ n }) => n)).to.deep.equal([50, 200]);
    expect(detectable[0]?.difference).to.be.closeTo(0.4095509811576617, 1e-9);
    expect(detectable[1]?.difference).to.be.closeTo(0.22894595853006677, 1e-9);
    // No subgroup has more than half of the rows, and clusters have no simple formula.
    expect((await confirm(data, { minGroupSize: 400 })).detectable.map(({ n }) => n)).to.deep.equal([400]);
    expect((await confirm(data, { minGroupSize: 401 })).detectable).to.deep.equal([]);
    expect((await confirm(data, { minGroupSize: 200 })).detectable.map(({ n }) => n)).to.deep.equal([200]);
    expect((await confirm({ ...data, clusters: data.values.map((_, row) => row) })).detectable).to.deep.equal([]);
    expect((await confirm(groups([10, 10], [10, 10]), { candidates: 1 })).detectable).to.have.length(2);
  });

  it('tests at most the given number of candidates, and adjusts for no others', async () => {
    const found = await confirm(data, { candidates: 1 });
    expect([found.tested, ...named(found)]).to.deep.equal([1, '0=0']);
    expect(found.findings[0]?.pAdjusted).to.be.closeTo(0.0004427683219191208, 1e-10);
    expect(found.findings[0]?.ci[0]).to.be.closeTo(0.08931087652077788, 1e-9);
  });

  it('reports only what is confirmed: a difference of the searched half alone is chance', async () => {
    expect(named(await confirm(groups([60, 30], [10, 30], [30, 30], [30, 30])))).to.deep.equal([]);
    expect(named(await confirm(data, { alpha: 0.0004 }))).to.deep.equal(['0=1']);
  });

  it('leaves out a confirmed subgroup that differs only because of another one', async () => {
    const found = await confirm(groups([60, 60], [10, 25], [30, 30], [30, 30]));
    expect(named(found)).to.deep.equal(['0=0']);
    expect(found.leftOut.map(([one, other]) => [textOf(one), textOf(other)])).to.deep.equal([['0=1', '0=0']]);
  });

  for (const [name, special, others] of [
    ['higher', 120, 60],
    ['lower', 20, 80],
  ] as const) {
    it(`orders the conditions of a ${name} subgroup by what each adds`, async () => {
      // The first column has two values, the second one three: a condition on the second one contains more of it.
      const cells = [0, 1].flatMap((a) =>
        [0, 1, 2].map((b): Cell => {
          const ones = a === 1 && b === 0 ? special : others;
          return { codes: [a, b], rows: [200, 200], ones: [ones, ones] };
        }),
      );
      const swapped = cells.map(({ codes: [a = 0, b = 0], ...cell }) => ({ ...cell, codes: [b, a] }));
      const found = await confirm(rowsOf(cells));
      expect(named(found)).to.deep.equal(['0=1 1=0']);
      const path = found.findings[0]?.path ?? [];
      expect(path.map(({ conjunction }) => textOf(conjunction))).to.deep.equal(['1=0', '0=1 1=0']);
      expect(path.map(({ nTested }) => nTested)).to.deep.equal([400, 200]);
      const all = (special + 5 * others) / 1200;
      const half = (special + others) / 400;
      expect(path[0]?.difference).to.be.closeTo(half - (all * 1200 - half * 400) / 800, 1e-12);
      expect(path[1]?.difference).to.be.closeTo((special - others) / 200, 1e-12);
      const other = await confirm(rowsOf(swapped));
      expect(other.findings[0]?.path.map(({ conjunction }) => textOf(conjunction))).to.deep.equal(['0=0', '0=0 1=1']);
    });
  }

  it('tests one of nested subgroups, if the others only inherit its difference', async () => {
    // The rate depends on the first column only: its complement and all refinements are the same finding.
    const cells = [0, 1].flatMap((a) =>
      [0, 1, 2].map((b): Cell => ({ codes: [a, b], rows: [100, 100], ones: a === 0 ? [30, 30] : [60, 60] })),
    );
    const found = await confirm(rowsOf(cells));
    expect([found.measured, found.tested, ...named(found)]).to.deep.equal([11, 1, '0=0']);
  });

  it('finds nothing if all rows have the same outcome', async () => {
    const found = await confirm(groups([100, 100], [100, 100], [100, 100]));
    expect([found.isConstant, found.tested, found.mean]).to.deep.equal([true, 0, 1]);
    expect([found.findings, found.detectable, found.warnings]).to.deep.equal([[], [], []]);
  });

  it('warns if the tested rows of a candidate do not vary', async () => {
    const data = groups([60, 0], [10, 0], [30, 0]);
    const scores = await confirmSubgroups(codedRows(data, false), SETTINGS);
    expect(scores.tested).to.equal(2);
    expect(scores.warnings).to.deep.equal(['2 candidates could not be tested, because the tested rows do not vary']);
  });
});

describe('confirmSubgroups with clusters', () => {
  /** Clusters of 10 rows with the same group and outcome. */
  function clustered(
    parts: readonly (readonly [code: number, half: number, zeros: number, ones: number])[],
  ): CodedData {
    const rows = parts.flatMap(([code, half, zeros, ones]) =>
      [...Array<number>(zeros).fill(0), ...Array<number>(ones).fill(1)].map((value) => ({ code, half, value })),
    );
    const each = <Item>(read: (row: (typeof rows)[number], cluster: number) => Item): Item[] =>
      rows.flatMap((row, cluster) => Array<Item>(10).fill(read(row, cluster)));
    return {
      codes: [each(({ code }) => code)],
      values: each(({ value }) => value),
      halves: each(({ half }) => half),
      clusters: each((_, cluster) => cluster),
    };
  }

  it('searches only subgroups with rows in 10 clusters, and outside', async () => {
    const with9 = await confirm(clustered([[0, 0, 0, 9], [1, 0, 30, 6], [0, 1, 0, 12], [1, 1, 30, 6]])); // prettier-ignore
    expect([with9.tested, with9.nClusters]).to.deep.equal([0, 93]);
    const with10 = await confirm(clustered([[0, 0, 0, 10], [1, 0, 30, 6], [0, 1, 0, 12], [1, 1, 30, 6]])); // prettier-ignore
    // A subgroup and its complement are one finding.
    expect([with10.tested, with10.findings.length]).to.deep.equal([1, 1]);
    expect(with10.findings[0]?.difference.difference).to.be.closeTo((named(with10)[0] === '0=0' ? 1 : -1) * (5 / 6), 1e-12); // prettier-ignore
    expect([with10.n, with10.nClusters]).to.deep.equal([940, 94]);
  });

  it('warns if a candidate has too few clusters in the tested half', async () => {
    const found = await confirm(clustered([[0, 0, 0, 12], [1, 0, 30, 6], [0, 1, 0, 9], [1, 1, 30, 6]])); // prettier-ignore
    expect(found.warnings).to.deep.equal([
      '1 candidate could not be tested, because fewer than 10 clusters have rows in the subgroup, or outside',
    ]);
    expect(found.findings).to.deep.equal([]);
  });

  it('ranks candidates by their clusters, not by their rows', async () => {
    // Group 0: 12 clusters whose rows all agree, 75% ones. Group 1: 120 clusters, 70% zeros. Others: half and half.
    const parts = [0, 1].flatMap((half) => [[0, half, 3, 9], [1, half, 84, 36], [2, half, 30, 30]] as const); // prettier-ignore
    const { findings } = await confirm(clustered(parts), { alpha: 0.9, candidates: 1 });
    expect(findings.map(({ conjunction }) => textOf(conjunction))).to.deep.equal(['0=1']);
  });
});

describe('confirmSubgroups with max-t', () => {
  // All rows in one half would be tested too: the method has no halves.
  const data = groups([60, 55], [10, 15], [30, 30], [30, 31]);
  const settings = { method: 'max-t', samples: 199, seed: 5 } as const;

  async function drawn(): Promise<{ readonly t: Map<string, number>; readonly maxima: readonly number[] }> {
    const rows = codedRows(data, true);
    const { found, totals } = await searchLattice(rows, { maxDepth: 2, minRows: 50, keep: Infinity, isSplit: false, prunes: false }); // prettier-ignore
    const { observed, maxima } = await drawMaxOfLattice(rows, found, totals, settings);
    return { t: new Map(found.map((own, index) => [textOf(own), observed[index] as number])), maxima: [...maxima] };
  }

  it('adjusts by the share of replicates whose maximum is at least as large', async () => {
    const { t, maxima } = await drawn();
    for (const alpha of [0.05, 0.99]) {
      const found = await confirm(data, { ...settings, alpha });
      expect(found.findings).to.have.length.above(1);
      for (const { conjunction, pAdjusted } of found.findings) {
        const reached = maxima.filter((one) => one >= (t.get(textOf(conjunction)) as number)).length;
        expect(pAdjusted).to.be.closeTo((1 + reached) / 200, 1e-12);
        expect(pAdjusted).to.be.at.most(alpha);
      }
    }
  });

  it('reports all rows, the largest |t| first, with the simultaneous interval', async () => {
    const { t, maxima } = await drawn();
    const found = await confirm(data, settings);
    expect(named(found)).to.deep.equal(['0=0', '0=1']);
    expect(t.get('0=0')).to.be.above(t.get('0=1') as number);
    expect(found.findings.map(({ n, nTested }) => [n, nTested])).to.deep.equal([
      [200, 200],
      [200, 200],
    ]);
    expect([found.n, found.mean, found.measured, found.tested]).to.deep.equal([800, 261 / 800, 4, 4]);
    // The critical value is the 190th of 199 maxima: 95% of 200.
    const critical = maxima.toSorted((a, b) => a - b)[189] as number;
    const interval = newcombeInterval([115, 200], [146, 600], 1 - 2 * normalCdf(-critical));
    interval.forEach((end, index) => expect(found.findings[0]?.ci[index]).to.be.closeTo(end, 1e-9));
  });

  it('has unbounded intervals and no finding if there are too few replicates for the level', async () => {
    expect((await confirm(data, { ...settings, alpha: 0.004 })).findings).to.deep.equal([]);
    expect(named(await confirm(data, { ...settings, alpha: 0.005 }))).to.deep.equal(['0=0', '0=1']);
  });

  it('reports at most the given number, and no subgroup that another one explains', async () => {
    expect(named(await confirm(data, { ...settings, candidates: 1 }))).to.deep.equal(['0=0']);
    const cells = [0, 1].flatMap((a) =>
      [0, 1, 2].map((b): Cell => ({ codes: [a, b], rows: [100, 100], ones: a === 0 ? [30, 30] : [60, 60] })),
    );
    expect(named(await confirm(rowsOf(cells), settings))).to.deep.equal(['0=0']);
  });

  it('finds nothing if all rows have the same outcome', async () => {
    const found = await confirm(groups([100, 100], [100, 100], [100, 100]), settings);
    expect([found.isConstant, found.findings, found.warnings]).to.deep.equal([true, [], []]);
  });
});
