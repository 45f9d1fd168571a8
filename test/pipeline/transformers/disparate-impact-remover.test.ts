import { expect } from 'chai';
import fc from 'fast-check';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import {
  DisparateImpactRemover,
  type DisparateImpactRemoverOptions,
} from '../../../src/pipeline/transformers/repair/disparate-impact-remover.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

type Values = readonly (number | null)[];

interface Case {
  readonly test: string;
  readonly group: (string | number)[];
  readonly repair_level: number;
  readonly feature?: number[];
  readonly expected?: number[];
  readonly f1?: number[];
  readonly f2?: number[];
  readonly repaired_f1?: number[];
  readonly repaired_f2?: number[];
}

const remover = (options: Partial<DisparateImpactRemoverOptions> = {}) =>
  new DisparateImpactRemover({ sensitive: 'g', features: ['x'], minGroupSize: 1, ...options });

/** Repairs one column of the rows fitted, or of others. */
const repair = async (
  options: Partial<DisparateImpactRemoverOptions>,
  rows: { g: (string | number | null)[]; x: Values },
  others = rows,
) => {
  const fitted = await remover(options).fit({ ...rows });
  return (await fitted.transform({ ...others })).table.toColumns()['x'] ?? [];
};

describeWithReference('DisparateImpactRemover, compat aif360, on the cases of BlackBoxAuditing and AIF360', () => {
  const { cases } = readVectors('disparate_impact_remover.json') as { cases: Case[] };

  for (const { test, group, repair_level: repairLevel, feature, expected, ...two } of cases) {
    it(`${test}, level ${repairLevel}`, async () => {
      const columns = feature === undefined ? { f1: two.f1 ?? [], f2: two.f2 ?? [] } : { f1: feature };
      const fitted = await new DisparateImpactRemover({ sensitive: 'group', repairLevel, compat: 'aif360' }).fit({
        group,
        ...columns,
      });
      const { table } = await fitted.transform({ group, ...columns });
      expect(table.toColumns()['f1']).to.deep.equal(expected ?? two.repaired_f1);
      if (feature === undefined) expect(table.toColumns()['f2']).to.deep.equal(two.repaired_f2);
    });
  }

  it('are six', () => {
    expect(cases).to.have.length(6);
  });
});

describe('DisparateImpactRemover', () => {
  it('moves both of two groups to the mean of their values at each rank', async () => {
    const rows = { g: ['a', 'a', 'a', 'b', 'b', 'b'], x: [3, 1, 2, 30, 10, 50] };
    expect(await repair({}, rows)).to.deep.equal([26.5, 5.5, 16, 16, 5.5, 26.5]);
  });

  it('moves three groups to the median of their values at each rank', async () => {
    const rows = { g: ['a', 'a', 'b', 'b', 'c', 'c'], x: [0, 10, 4, 20, 100, 200] };
    expect(await repair({}, rows)).to.deep.equal([4, 20, 4, 20, 4, 20]);
  });

  it('treats ranks of groups of different sizes as shares: quantiles of type 7 between values', async () => {
    // Ranks 0, 1/2, 1 and 0, 1/3, 2/3, 1: numpy.quantile([0, 10, 40], 1/3) = 20/3, of 2/3 = 20; of [0, 3, 6, 9], 1/2 = 4.5.
    const rows = { g: ['a', 'a', 'a', 'b', 'b', 'b', 'b'], x: [0, 10, 40, 0, 3, 6, 9] };
    const found = await repair({}, rows);
    [0, 7.25, 24.5, 0, (20 / 3 + 3) / 2, 13, 24.5].forEach((value, row) => {
      expect(found[row], `row ${row}`).to.be.closeTo(value, 1e-12);
    });
  });

  it('moves values by the share repairLevel', async () => {
    const rows = { g: ['a', 'a', 'b', 'b'], x: [0, 10, 100, 130] };
    expect(await repair({ repairLevel: 0.25 }, rows)).to.deep.equal([12.5, 25, 87.5, 115]);
  });

  it('returns every value bit for bit at level 0', async () => {
    const x = [0.1, -0, 5e-324, 1.7976931348623157e308, 1 / 3, NaN];
    const g = ['a', 'b', 'a', 'b', 'a', 'b'];
    const fitted = await remover({ repairLevel: 0 }).fit({ g, x });
    const { table } = await fitted.transform({ g, x });
    const column = table.numeric('x').values;
    x.forEach((value, row) => {
      expect(Object.is(column[row], value), `row ${row}`).to.equal(true);
    });
  });

  it('treats a value beyond the range of its group as the nearest value in it', async () => {
    const rows = { g: ['a', 'a', 'b', 'b'], x: [0, 10, 100, 130] };
    expect(await repair({}, rows, { g: ['a', 'a', 'b'], x: [-5, 11, 1000] })).to.deep.equal([50, 70, 70]);
    expect(await repair({ repairLevel: 0.5 }, rows, { g: ['a'], x: [-10] })).to.deep.equal([20]);
  });

  it('interpolates linearly between the values fitted', async () => {
    const rows = { g: ['a', 'a', 'b', 'b'], x: [0, 10, 100, 130] };
    expect(await repair({}, rows, { g: ['a', 'b'], x: [5, 106] })).to.deep.equal([60, 54]);
  });

  it('keeps ties tied, at the mean of the values for their ranks', async () => {
    // Targets at ranks 0, 1/3, 2/3, 1: 0, 0, 0.5, 1.
    const rows = { g: ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b'], x: [0, 0, 0, 1, 0, 0, 1, 1] };
    const found = await repair({}, rows);
    [0.5 / 3, 0.5 / 3, 0.5 / 3, 1, 0, 0, 0.75, 0.75].forEach((value, row) => {
      expect(found[row], `row ${row}`).to.be.closeTo(value, 1e-12);
    });
  });

  it('gives groups of equal size the same mean, however many ties they have', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 5 })), {
          minLength: 2,
          maxLength: 40,
        }),
        async (pairs) => {
          const rows = { g: pairs.flatMap(() => ['a', 'b']), x: pairs.flat() };
          const found = (await repair({}, rows)) as number[];
          const sum = (group: string) =>
            found.reduce((total, value, row) => total + (rows.g[row] === group ? value : 0), 0);
          expect(sum('a')).to.be.closeTo(sum('b'), 1e-9);
        },
      ),
      { numRuns: 100 },
    ));

  for (const compat of [undefined, 'aif360'] as const) {
    it(`never changes the order of values within a group (compat ${compat})`, () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.double({ noNaN: true, min: -1e9, max: 1e9 })), {
            minLength: 4,
            maxLength: 60,
          }),
          fc.double({ noNaN: true, min: 0, max: 1 }),
          async (pairs, repairLevel) => {
            const rows = { g: pairs.map(([g]) => g), x: pairs.map(([, x]) => x) };
            const found = (await repair({ repairLevel, compat }, rows)) as number[];
            for (const group of ['a', 'b', 'c']) {
              const own = [...rows.x.keys()]
                .filter((row) => rows.g[row] === group)
                .sort((a, b) => (rows.x[a] ?? 0) - (rows.x[b] ?? 0));
              own.slice(1).forEach((row, position) => {
                expect(found[row]).to.be.at.least(found[own[position] ?? 0] ?? NaN);
              });
            }
          },
        ),
        { numRuns: compat === undefined ? 200 : 100 },
      ));
  }

  it('gives groups of 30,000 and 20,000 rows the same distribution, to the grid of a thousandth', async () => {
    const random = createRandom(5);
    const g = Array.from({ length: 50_000 }, (_, row) => (row < 30_000 ? 'a' : 'b'));
    const x = g.map((group) => (group === 'a' ? random.normal() : Math.exp(1 + 0.5 * random.normal())));
    const found = (await repair({}, { g, x })) as number[];
    const sorted = (group: string) => Float64Array.from(found.filter((_, row) => g[row] === group)).sort();
    const [a, b] = [sorted('a'), sorted('b')];
    for (let share = 0.01; share < 1; share += 0.01) {
      const [left, right] = [a[Math.floor(share * a.length)], b[Math.floor(share * b.length)]];
      expect(left, `share ${share}`).to.be.closeTo(right ?? NaN, 0.005);
    }
  });

  it('keeps values at both ends of the float64 range finite', async () => {
    const most = Number.MAX_VALUE;
    const rows = { g: ['a', 'a', 'a', 'b', 'b'], x: [-most, 0, most, -most, most] };
    expect(await repair({}, rows, { g: ['a', 'b', 'b'], x: [-most, most, 0] })).to.deep.equal([-most, most, 0]);
  });

  it('leaves missing values missing', async () => {
    const rows = { g: ['a', 'a', 'a', 'b', 'b'], x: [0, null, 10, 100, 130] };
    expect(await repair({}, rows)).to.deep.equal([50, null, 70, 50, 70]);
  });

  it('does not change rows without a group', async () => {
    const rows = { g: ['a', 'a', null, 'b', 'b'], x: [0, 10, 5, 100, 130] };
    expect(await repair({}, rows)).to.deep.equal([50, 70, 5, 50, 70]);
  });

  it('does not change groups with fewer than minGroupSize values, and names them', async () => {
    const g = [...Array.from({ length: 40 }, (_, row) => (row % 2 === 0 ? 'a' : 'b')), 'c', 'c'];
    const x = g.map((group, row) => (group === 'b' ? 100 : 0) + row);
    const fitted = await new DisparateImpactRemover({ sensitive: 'g', features: ['x'] }).fit({ g, x });
    const found = (await fitted.transform({ g, x })).table.toColumns()['x'] ?? [];
    expect(found.slice(40)).to.deep.equal([40, 41]);
    expect(found[0]).to.equal(50.5);
    expect(fitted.warnings).to.deep.equal([`unchanged: the group 'c', with fewer than 20 values of 'x'`]);
  });

  it('does not change groups that it has not seen, and names them', async () => {
    const fitted = await remover().fit({ g: ['a', 'a', 'b', 'b'], x: [0, 10, 100, 130] });
    const { table } = await fitted.transform({ g: ['z', 'a'], x: [7, 10] });
    expect(table.toColumns()['x']).to.deep.equal([7, 70]);
    expect(fitted.warnings.join()).to.match(/^unchanged: the group 'z', not seen in fit$/);
    await fitted.transform({ g: ['a'], x: [0] });
    expect(fitted.warnings).to.deep.equal([]);
  });

  for (const { title, sensitive, rows, note } of [
    {
      title: 'one row without a group',
      sensitive: ['g'],
      rows: { g: ['a', null], h: ['p', 'p'], x: [0, 7] },
      note: `unchanged: 1 row without a value of 'g'`,
    },
    {
      title: 'rows that lack one part of an intersection',
      sensitive: ['g', 'h'],
      rows: { g: ['a', null, 'b', null], h: [null, 'p', 'p', null], x: [7, 8, 9, 10] },
      note: `unchanged: 3 rows without a value of 'g', 'h'`,
    },
    {
      title: 'a whole table without groups',
      sensitive: ['g'],
      rows: { g: [null, null], h: ['p', 'p'], x: [7, 8] },
      note: `unchanged: 2 rows without a value of 'g'`,
    },
  ]) {
    it(`counts ${title}, for the latest transform`, async () => {
      const known = { g: ['a', 'a', 'b', 'b'], h: ['p', 'p', 'p', 'p'], x: [0, 10, 100, 130] };
      const fitted = await remover({ sensitive }).fit(known);
      expect(fitted.warnings).to.deep.equal([]);
      await fitted.transform(rows);
      expect(fitted.warnings).to.deep.equal([note]);
      await fitted.transform(known);
      expect(fitted.warnings).to.deep.equal([]);
    });
  }

  it('counts the rows that fit excludes, and has no note on unchanged rows if no row is repaired', async () => {
    const rows = { g: ['a', 'a', null, 'b', 'b'], x: [0, 10, 5, 100, 130] };
    const learned = `1 row without a value of 'g' is excluded from the fit`;
    for (const options of [{ repairLevel: 0 }, { minGroupSize: 3 }]) {
      const fitted = await remover(options).fit(rows);
      await fitted.transform({ g: [null, 'z'], x: [1, 2] });
      expect(fitted.warnings.filter((text) => !text.includes('fewer than two groups'))).to.deep.equal([learned]);
    }
  });

  it('does not change a column for which fewer than two groups have values, and names it', async () => {
    const rows = { g: ['a', 'a', 'b'], x: [1, 2, null] };
    const fitted = await remover().fit(rows);
    expect((await fitted.transform(rows)).table.toColumns()['x']).to.deep.equal([1, 2, null]);
    expect(fitted.warnings.join()).to.match(/^unchanged: 'x', because fewer than two groups have at least 1 values$/);
  });

  it('moves constants of groups to one constant', async () => {
    expect(await repair({}, { g: ['a', 'a', 'b', 'b'], x: [1, 1, 3, 3] })).to.deep.equal([2, 2, 2, 2]);
    expect(await repair({}, { g: ['a', 'a', 'b', 'b'], x: [4, 4, 4, 4] })).to.deep.equal([4, 4, 4, 4]);
  });

  it('places a group with one value at the middle rank', async () => {
    expect(await repair({}, { g: ['a', 'b', 'b', 'b'], x: [9, 1, 3, 7] })).to.deep.equal([6, 5, 6, 8]);
  });

  it('crosses several attributes', async () => {
    const rows = { a: ['p', 'p', 'q', 'q'], b: ['r', 's', 'r', 's'], x: [1, 2, 3, 4] };
    const fitted = await remover({ sensitive: ['a', 'b'] }).fit(rows);
    expect((await fitted.transform(rows)).table.toColumns()['x']).to.deep.equal([2.5, 2.5, 2.5, 2.5]);
  });

  it('repairs the numeric columns that are neither sensitive nor the label, if none are named', async () => {
    const rows = { g: [0, 0, 1, 1], x: [0, 10, 100, 130], y: [0, 1, 0, 1], city: ['u', 'v', 'u', 'v'] };
    const fitted = await new DisparateImpactRemover({ sensitive: 'g', label: 'y', minGroupSize: 1 }).fit(rows);
    expect((await fitted.transform(rows)).table.toColumns()).to.deep.equal({ ...rows, x: [50, 70, 50, 70] });
  });

  it('repairs with compat a value that its group did not have like the nearest one', async () => {
    const rows = { g: ['a', 'a', 'b', 'b'], x: [0, 10, 100, 130] };
    const all = await repair({ compat: 'aif360' }, rows);
    expect(all).to.deep.equal([0, 10, 0, 10]);
    expect(await repair({ compat: 'aif360' }, rows, { g: ['a', 'b', 'b'], x: [4, 116, 1] })).to.deep.equal([0, 10, 0]);
  });

  it('needs the sensitive column in transform', async () => {
    const fitted = await remover().fit({ g: ['a', 'b'], x: [0, 1] });
    const failure = await fitted.transform({ x: [0] }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataValidationError);
  });

  it('rejects infinite values, with the index', async () => {
    const failure = await remover()
      .fit({ g: ['a', 'b'], x: [0, Infinity] })
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataValidationError);
    expect((failure as DataValidationError).context).to.include({ argument: 'x', index: 1, value: Infinity });
  });

  for (const options of [
    { repairLevel: -0.1 },
    { repairLevel: 1.1 },
    { repairLevel: NaN },
    { minGroupSize: 0 },
    { compat: 'fairlearn' as 'aif360' },
    { sensitive: [] },
  ]) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => remover(options)).to.throw(ValueError);
    });
  }

  it('rejects the label and sensitive columns as features', async () => {
    for (const features of [['g'], ['y']]) {
      const failure = await remover({ features, label: 'y' })
        .fit({ g: ['a', 'b'], y: [0, 1] })
        .catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(ValueError);
    }
  });
});
