import { expect } from 'chai';
import fc from 'fast-check';

import { searchLattice } from '../../../src/metrics/subgroups/lattice.ts';
import { type CodedData, codedRows } from '../../helpers/coded-rows.ts';

/** Every conjunction with at least `minRows` rows, found by filtering the rows of each. */
function bruteForce({ codes, values }: CodedData, maxDepth: number, minRows: number): Map<string, number> {
  const found = new Map<string, number>();
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  const extend = (first: number, chosen: readonly (readonly [number, number])[]): void => {
    if (chosen.length > 0) {
      const own = values.filter((_, row) => chosen.every(([column, code]) => codes[column]?.[row] === code));
      if (own.length >= minRows && own.length < values.length) {
        const rest = values.length - own.length;
        const sum = own.reduce((total, value) => total + value, 0);
        const difference = sum / own.length - (mean * values.length - sum) / rest;
        const error = Math.sqrt(variance * (1 / own.length + 1 / rest));
        found.set(JSON.stringify(chosen), error > 0 ? Math.abs(difference / error) : 0);
      }
    }
    if (chosen.length === maxDepth) return;
    for (let column = first; column < codes.length; column++) {
      for (const code of [0, 1, 2]) extend(column + 1, [...chosen, [column, code]]);
    }
  };
  extend(0, []);
  return found;
}

const cases = (value: fc.Arbitrary<number>): fc.Arbitrary<CodedData> =>
  fc.integer({ min: 8, max: 60 }).chain((rows) =>
    fc.record({
      // 255 is a missing value.
      codes: fc.array(fc.array(fc.constantFrom(0, 0, 1, 1, 2, 255), { minLength: rows, maxLength: rows }), {
        minLength: 1,
        maxLength: 5,
      }),
      values: fc.array(value, { minLength: rows, maxLength: rows }),
    }),
  );

const settings = { maxDepth: 3, isSplit: false } as const;

describe('searchLattice', () => {
  for (const [name, value] of [
    ['rates', fc.constantFrom(0, 0, 1)],
    ['scores', fc.integer({ min: -20, max: 50 }).map((number) => number / 10)],
  ] as const) {
    it(`measures exactly the conjunctions with enough rows (${name})`, async () => {
      await fc.assert(
        fc.asyncProperty(cases(value), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 5 }), async (rows, minRows, maxDepth) => {
          const { found, measured } = await searchLattice(codedRows(rows, true), { ...settings, maxDepth, minRows, keep: Infinity, prunes: false });
          const expected = bruteForce(rows, maxDepth, minRows);
          expect(measured).to.equal(expected.size);
          for (const { columns, codes, count, sum, t } of found) {
            const key = JSON.stringify(columns.map((column, index) => [column, codes[index]]));
            expect(Math.abs(t), key).to.be.closeTo(expected.get(key) ?? NaN, 1e-6);
            const own = rows.values.filter((_, row) => columns.every((column, index) => rows.codes[column]?.[row] === codes[index]));
            expect([count, sum], key).to.deep.equal([own.length, own.reduce((total, one) => total + one, 0)]);
          }
        }), // prettier-ignore
        { numRuns: 60 },
      );
    });

    it(`finds the same conjunctions with and without the upper bound (${name})`, async () => {
      let skipped = 0;
      await fc.assert(
        fc.asyncProperty(cases(value), fc.integer({ min: 2, max: 6 }), fc.integer({ min: 1, max: 8 }), async (rows, minRows, keep) => {
          const [pruned, complete] = await Promise.all(
            [true, false].map((prunes) => searchLattice(codedRows(rows, true), { ...settings, minRows, keep, prunes })),
          );
          expect(pruned?.found).to.deep.equal(complete?.found);
          skipped += (complete?.measured ?? 0) - (pruned?.measured ?? 0);
        }), // prettier-ignore
        { numRuns: 150 },
      );
      expect(skipped, 'the bound skips conjunctions').to.be.above(100);
    });
  }

  it('searches one half of the rows, and all codes that occur in it', async () => {
    const halves = [0, 1, 0, 1, 0, 0, 1, 0, 1, 0];
    const codes = [
      [0, 1, 1, 1, 0, 1, 2, 1, 2, 0],
      [254, 0, 0, 0, 254, 0, 0, 254, 0, 254],
    ];
    const values = [1, 5, 2, 5, 3, 4, 5, 6, 5, 9];
    const { found, totals, searched } = await searchLattice(codedRows({ codes, values, halves }, false), { ...settings, isSplit: true, minRows: 1, keep: Infinity, prunes: true }); // prettier-ignore
    expect(totals).to.deep.equal({ count: 6, sum: 25, sumSquares: 147, min: 1, max: 9 });
    // (1 + 2x)(1 + 2x): the code 2 is only in the other half.
    expect(searched).to.equal(8);
    const one = found.find(({ columns, codes: own }) => columns.join() === '0,1' && own.join() === '0,254');
    expect([one?.count, one?.sum]).to.deep.equal([3, 13]);
  });

  it('orders equal |t| by the number of conditions, then by columns and codes', async () => {
    // Each value differs from the other as much as the complement: all |t| are 1.
    const codes = [
      [0, 0, 1, 1],
      [1, 1, 0, 0],
    ];
    const { found } = await searchLattice(codedRows({ codes, values: [0, 0, 1, 1] }, true), { ...settings, minRows: 1, keep: 5, prunes: false }); // prettier-ignore
    expect(found.map(({ columns, codes: own }) => `${columns.join()}|${own.join()}`)).to.deep.equal([
      '0|0',
      '0|1',
      '1|0',
      '1|1',
      '0,1|0,1',
    ]);
    expect(found.map(({ t }) => Math.round(t))).to.deep.equal([-2, 2, 2, -2, -2]);
  });

  it('has no difference if all rows have the same value, also if their sums are rounded', async () => {
    for (const value of [0.1, 1e9 + 0.1, 1 / 3]) {
      const codes = [Array.from({ length: 1000 }, (_, row) => row % 3)];
      const { found } = await searchLattice(codedRows({ codes, values: Array<number>(1000).fill(value) }, false), { ...settings, minRows: 1, keep: 9, prunes: true }); // prettier-ignore
      expect(found.map(({ t }) => t)).to.deep.equal([0, 0, 0]);
    }
  });

  it('counts the conjunctions of values that occur', async () => {
    const rows = {
      codes: [
        [0, 1, 0, 1],
        [0, 1, 2, 255],
        [0, 0, 0, 0],
      ],
      values: [0, 1, 0, 1],
    };
    // (1 + 2x)(1 + 3x)(1 + x) = 1 + 6x + 11x^2 + 6x^3
    const counts = await Promise.all(
      [1, 2, 3, 4].map((maxDepth) => searchLattice(codedRows(rows, true), { ...settings, maxDepth, minRows: 1, keep: 9, prunes: true })), // prettier-ignore
    );
    expect(counts.map(({ searched }) => searched)).to.deep.equal([6, 17, 23, 23]);
  });
});
