import { expect } from 'chai';
import fc from 'fast-check';

import { cramersVOf } from '../../../src/stats/association/cramers-v.ts';
import { crossCounts, crossCountsOf } from '../../../src/stats/association/cross-counts.ts';
import { etaSquaredOf, varianceParts } from '../../../src/stats/association/variance-parts.ts';
import { golden } from './detectors-golden.ts';

const corrected = (table: readonly (readonly number[])[]) =>
  cramersVOf(crossCountsOf(table.flat(), table.length, table[0]?.length ?? 0));

const etaSquared = (values: ArrayLike<number>, codes: ArrayLike<number>, groups: number) =>
  etaSquaredOf(varianceParts(values, codes, groups));

const transposed = (table: readonly (readonly number[])[]) =>
  (table[0] ?? []).map((_, column) => table.map((row) => row[column] as number));

const tables = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 })).chain(([rows, columns]) =>
  fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { minLength: columns, maxLength: columns }), {
    minLength: rows,
    maxLength: rows,
  }),
);

describe("Cramér's V with Bergsma's correction", () => {
  it('of two by two, by hand', () => {
    // chi2 = 80 (30 30 - 10 10)^2 / 40^4 = 20; phi2~ = 20 / 80 - 1 / 79; r~ - 1 = c~ - 1 = 78 / 79.
    expect(corrected([[30, 10], [10, 30]])).to.be.closeTo(Math.sqrt((20 / 80 - 1 / 79) / (78 / 79)), 1e-15); // prettier-ignore
  });

  for (const { name, table, cramers_v: expected } of golden.contingency) {
    it(`${name}: as from SciPy's chi2_contingency`, () => {
      expect(corrected(table)).to.be.closeTo(expected, 1e-12);
    });
  }

  it('is 1 if each determines the other, for any shares', () => {
    expect(corrected([[5, 0], [0, 900]])).to.be.closeTo(1, 1e-12); // prettier-ignore
  });

  it('of identifiers is 0, and of nearly unique ones about 0; without correction both would be near 1', () => {
    const rows = 1000;
    const groups = Int32Array.from({ length: rows }, (_, row) => Number(row % 3 === 0));
    const unique = Int32Array.from(groups.keys());
    expect(cramersVOf(crossCounts(groups, unique, 2, rows))).to.equal(0);
    // Adjacent rows share an identifier: by chance a third of the pairs differ in group, and here more do.
    const pairs = unique.map((row) => row >> 1);
    expect(cramersVOf(crossCounts(groups, pairs, 2, rows / 2))).to.be.below(0.1);
  });

  it('of a noise column of many levels stays near 0', () => {
    const groups = Int32Array.from({ length: 4000 }, (_, row) => row % 2);
    const levels = groups.map((_, row) => ((row * 2654435761) >>> 8) % 400);
    expect(cramersVOf(crossCounts(groups, levels, 2, 400))).to.be.below(0.08);
  });

  for (const [title, table] of [
    ['one row', [[3, 4, 5]]],
    ['one column', [[3], [4]]],
    [
      'one row with counts',
      [
        [3, 4],
        [0, 0],
      ],
    ],
    [
      'no counts',
      [
        [0, 0],
        [0, 0],
      ],
    ],
    [
      'a single count',
      [
        [1, 0],
        [0, 0],
      ],
    ],
    ['no table', []],
  ] as const) {
    it(`is undefined with ${title}`, () => {
      expect(corrected(table)).to.be.NaN;
    });
  }

  it('lies in [0, 1], and does not depend on exchanged or reordered rows and columns or on empty ones', () => {
    fc.assert(
      fc.property(tables, (table) => {
        const value = corrected(table);
        const others = [
          transposed(table),
          [...table].reverse(),
          [...table, (table[0] ?? []).map(() => 0)],
          table.map((row) => [0, ...row]),
        ].map(corrected);
        if (Number.isNaN(value)) {
          expect(others.every(Number.isNaN)).to.equal(true);
          return;
        }
        expect(value).to.be.within(0, 1);
        // A square root near 0 loses half the digits.
        for (const other of others) expect(other * other).to.be.closeTo(value * value, 1e-12);
      }),
    );
  });
});

describe('counts of pairs', () => {
  const pairsOf = (first: readonly number[], second: readonly number[], columns: number) => {
    const counts = new Map<number, number>();
    first.forEach((row, i) => {
      const column = second[i] as number;
      if (row >= 0 && column >= 0) counts.set(row * columns + column, (counts.get(row * columns + column) ?? 0) + 1);
    });
    return [...counts].sort(([a], [b]) => a - b);
  };

  // Three by four is counted in a table; 5,000 by 100,000 is sorted.
  for (const [rows, columns] of [
    [3, 4],
    [5000, 100_000],
  ] as const) {
    it(`of a table of ${rows} by ${columns} equal those of a dictionary`, () => {
      const code = (below: number) => fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: below - 1 }), fc.integer({ min: 0, max: 2 })); // prettier-ignore
      fc.assert(
        fc.property(fc.array(fc.tuple(code(rows), code(columns))), (pairs) => {
          const [first, second] = [pairs.map(([row]) => row), pairs.map(([, column]) => column)];
          const { n, cells, counts, rowTotals, columnTotals } = crossCounts(first, second, rows, columns);
          const expected = pairsOf(first, second, columns);
          expect(Array.from(cells, (cell, index) => [cell, counts[index]])).to.deep.equal(expected);
          expect(n).to.equal(expected.reduce((sum, [, count]) => sum + count, 0));
          expect(rowTotals.reduce((sum, count) => sum + count, 0)).to.equal(n);
          expect(columnTotals.reduce((sum, count) => sum + count, 0)).to.equal(n);
        }),
        { numRuns: 30 },
      );
    });
  }

  it('of a complete table are its counts', () => {
    const { cells, counts, rowTotals, columnTotals, n } = crossCountsOf([1, 0, 2, 0, 0, 3], 2, 3);
    expect([[...cells], [...counts], [...rowTotals], [...columnTotals], n]).to.deep.equal([
      [0, 2, 5],
      [1, 2, 3],
      [3, 3],
      [1, 0, 5],
      6,
    ]);
  });
});

describe('eta squared', () => {
  it('of two groups, by hand', () => {
    // Means 2 and 5 around 3.5: between 6 x 1.5^2 = 13.5, within 2 + 2.
    expect(etaSquared([1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1], 2)).to.be.closeTo(13.5 / 17.5, 1e-15);
  });

  for (const { name, values, codes, eta_squared: expected } of golden.anova) {
    it(`${name}: as from numpy`, () => {
      const numbers = values.map((value) => value ?? NaN);
      // With 1e9 added numpy's own values keep seven digits after the point.
      expect(etaSquared(numbers, codes, 4)).to.be.closeTo(expected, name === 'far from zero' ? 1e-7 : 1e-12);
    });
  }

  it('is the same for any offset and unit, to the last digits if those are exact', () => {
    const [values, codes] = [
      [1, 2, 3, 4, 5, 9],
      [0, 0, 1, 1, 2, 2],
    ];
    const plain = etaSquared(values, codes, 3);
    for (const change of [
      (value: number) => value + 1e9,
      (value: number) => value - 2 ** 52,
      (value: number) => value * 2 ** 1000,
      (value: number) => value * 2 ** -1000,
      (value: number) => -value,
    ]) {
      expect(etaSquared(values.map(change), codes, 3)).to.be.closeTo(plain, 1e-14);
    }
  });

  it('is correct at the limits of float64', () => {
    const largest = Number.MAX_VALUE;
    expect(etaSquared([largest, largest, -largest, -largest], [0, 0, 1, 1], 2)).to.equal(1);
  });

  it('of a 0/1 column and two groups is the squared phi of their table', () => {
    // chi2 / n of [[30, 10], [10, 30]] is 1/4.
    const values = [...Array<number>(30).fill(0), ...Array<number>(10).fill(1), ...Array<number>(10).fill(0), ...Array<number>(30).fill(1)]; // prettier-ignore
    const codes = values.map((_, row) => Number(row >= 40));
    expect(etaSquared(values, codes, 2)).to.be.closeTo(0.25, 1e-14);
  });

  for (const [title, values, codes, expected] of [
    ['equal means', [1, 3, 2, 2], [0, 0, 1, 1], 0],
    ['no spread within', [0.1, 0.1, 0.1, 0.3, 0.3], [0, 0, 0, 1, 1], 1],
    ['one value a group', [1, 2, 3], [0, 1, 2], 1],
  ] as const) {
    it(`is ${expected} with ${title}`, () => {
      expect(etaSquared(values, codes, 3)).to.equal(expected);
    });
  }

  for (const [title, values, codes] of [
    ['no values', [], []],
    ['only missing values', [NaN, NaN], [0, 1]],
    ['only missing groups', [1, 2], [-1, -1]],
    ['one group', [1, 2, 3], [1, 1, 1]],
    ['no spread', [0.1, 0.1, 0.1], [0, 1, 1]],
    ['an infinite value', [1, Infinity, 3], [0, 1, 1]],
    ['infinities of both signs', [-Infinity, Infinity, 3], [0, 1, 1]],
  ] as const) {
    it(`is undefined with ${title}`, () => {
      expect(etaSquared(values, codes, 2)).to.be.NaN;
    });
  }

  it('ignores an infinite value without a group', () => {
    expect(etaSquared([1, 2, 3, 4, Infinity], [0, 0, 1, 1, -1], 2)).to.equal(etaSquared([1, 2, 3, 4], [0, 0, 1, 1], 2));
  });

  it('lies in [0, 1] and does not change with the names of the groups or the order of rows', () => {
    const row = fc.tuple(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.integer({ min: -1, max: 3 }));
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const of = (some: readonly (readonly [number, number])[]) =>
          etaSquared(some.map(([value]) => value), some.map(([, code]) => code), 4); // prettier-ignore
        const value = of(rows);
        const others = [of([...rows].reverse()), of(rows.map(([x, code]) => [x, code < 0 ? code : 3 - code]))];
        if (Number.isNaN(value)) {
          expect(others.every(Number.isNaN)).to.equal(true);
          return;
        }
        expect(value).to.be.within(0, 1);
        for (const other of others) expect(other).to.be.closeTo(value, 1e-12);
      }),
    );
  });
});
