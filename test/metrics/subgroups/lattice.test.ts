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
        fc.asyncProperty(cases(value), fc.integer({ min: 1, max: 6 }), async (rows, minRows) => {
          const { found, measured } = await searchLattice(codedRows(rows, true), { ...settings, minRows, keep: Infinity, prunes: false }); // prettier-ignore
          const expected = bruteForce(rows, 3, minRows);
          expect(measured).to.equal(expected.size);
          for (const { columns, codes, t } of found) {
            const key = JSON.stringify(columns.map((column, index) => [column, codes[index]]));
            expect(Math.abs(t), key).to.be.closeTo(expected.get(key) ?? NaN, 1e-6);
          }
        }),
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
