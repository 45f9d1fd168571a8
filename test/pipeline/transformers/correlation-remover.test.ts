import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { CorrelationRemover } from '../../../src/pipeline/transformers/correlation/correlation-remover.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

interface Block {
  readonly X: number[][];
  readonly sensitive: number[];
  readonly alpha?: number;
  readonly expected: number[][];
}

interface Reference {
  readonly tests: Block[];
  readonly one_column: Block;
  readonly two_columns: Omit<Block, 'expected'> & { readonly correct: number[][] };
}

type Rows = Record<string, (number | string | null)[]>;

const remove = async (options: ConstructorParameters<typeof CorrelationRemover>[0], rows: Rows, others = rows) => {
  const remover = await new CorrelationRemover(options).fit(rows);
  return { remover, columns: (await remover.transform(others)).table.toColumns() };
};

const expectClose = (actual: readonly unknown[] | undefined, expected: readonly number[], tolerance = 1e-12) => {
  expect(actual).to.have.length(expected.length);
  expected.forEach((value, row) => {
    expect(actual?.[row], `row ${row}`).to.be.closeTo(value, tolerance);
  });
};

/** Pearson's correlation, over rows that have both. */
const correlation = (a: readonly number[], b: readonly number[]) => {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [ma, mb] = [mean(a), mean(b)];
  const product = (x: readonly number[], mx: number, y: readonly number[], my: number) =>
    x.reduce((sum, value, row) => sum + (value - mx) * ((y[row] ?? NaN) - my), 0);
  return product(a, ma, b, mb) / Math.sqrt(product(a, ma, a, ma) * product(b, mb, b, mb));
};

describeWithReference('CorrelationRemover against fairlearn', () => {
  const { tests, one_column: one, two_columns: two } = readVectors('fairlearn_correlation_remover.json') as Reference;
  const blocks = [
    ...tests.map((block, index) => ({ title: `test ${index + 1}, alpha ${block.alpha}`, block })),
    { title: 'one sensitive column', block: one },
    { title: 'two of different scale, each centred by its own mean', block: { ...two, expected: two.correct } },
  ];

  for (const { title, block } of blocks) {
    it(title, async () => {
      const names = (block.X[0] ?? []).map((_, position) => `c${position}`);
      const rows = Object.fromEntries(
        names.map((name, position) => [name, block.X.map((row) => row[position] ?? NaN)]),
      );
      const sensitive = block.sensitive.map((position) => `c${position}`);
      const { columns } = await remove({ sensitive, alpha: block.alpha }, rows);
      names
        .filter((name) => !sensitive.includes(name))
        .forEach((name, position) => {
          expectClose(
            columns[name],
            block.expected.map((row) => row[position] ?? NaN),
          );
        });
    });
  }
});

describe('CorrelationRemover', () => {
  const random = createRandom(3);
  const n = 300;
  const sex = Array.from({ length: n }, () => (random.next() < 0.4 ? 'f' : 'm'));
  const race = Array.from({ length: n }, () => ['x', 'y', 'z'][random.integer(3)] ?? 'x');
  const age = Array.from({ length: n }, (_, row) => 40 + 10 * random.normal() + (sex[row] === 'f' ? 5 : 0));
  const score = age.map((value, row) => 0.3 * value + (race[row] === 'x' ? 4 : 0) + random.normal());

  it('gives groups of a text column the same mean, and keeps the mean of all', async () => {
    const rows = { g: ['a', 'a', 'a', 'b', 'c', 'c'], x: [1, 2, 6, 10, 0, 4] };
    // Means 3, 10 and 2 about the mean 23/6.
    const mean = 23 / 6;
    const { columns } = await remove({ sensitive: 'g' }, rows);
    expectClose(
      columns['x'],
      [1 - 3, 2 - 3, 6 - 3, 0, 0 - 2, 4 - 2].map((value) => value + mean),
    );
  });

  it('leaves no correlation with any of several columns, numbers and texts', async () => {
    const { columns } = await remove({ sensitive: ['sex', 'race', 'age'] }, { sex, race, age, score });
    const left = (columns['score'] ?? []) as number[];
    const indicators = [
      age,
      sex.map((value) => Number(value === 'f')),
      ...['x', 'y', 'z'].map((label) => race.map((value) => Number(value === label))),
    ];
    for (const indicator of indicators) expect(Math.abs(correlation(left, indicator))).to.be.below(1e-12);
  });

  it('leaves no correlation with columns that are almost equal', async () => {
    const twin = age.map((value) => value + 1e-3 * random.normal());
    const { columns } = await remove({ sensitive: ['age', 'twin'] }, { age, twin, score });
    const left = (columns['score'] ?? []) as number[];
    const separate = age.map((value, row) => value - (twin[row] ?? NaN));
    for (const column of [age, twin, separate]) expect(Math.abs(correlation(left, column))).to.be.below(1e-11);
  });

  it('treats a text column with two labels like the numbers 0 and 1', async () => {
    const coded = sex.map((value) => Number(value === 'f'));
    const [text, numbers] = [
      await remove({ sensitive: ['sex', 'age'] }, { sex, age, score }),
      await remove({ sensitive: ['coded', 'age'] }, { coded, age, score }),
    ];
    expectClose(text.columns['score'], numbers.columns['score'] as number[], 1e-11);
  });

  it('ignores linear combinations of other sensitive columns', async () => {
    const twice = age.map((value) => 2 * value - 7);
    const again = race.map((label) => `${label}!`);
    const [plain, more] = [
      await remove({ sensitive: ['race', 'age'], features: ['score'] }, { race, age, score }),
      await remove(
        { sensitive: ['race', 'age', 'twice', 'again'], features: ['score'] },
        { race, age, twice, again, score },
      ),
    ];
    expectClose(more.columns['score'], plain.columns['score'] as number[], 1e-9);
  });

  it('keeps its digits if a sensitive column is far from 0', async () => {
    const far = age.map((value) => 1e9 + value);
    const [near, moved] = [
      await remove({ sensitive: 'age' }, { age, score }),
      await remove({ sensitive: 'far' }, { far, score }),
    ];
    // Adding 1e9 has cost age all but 7 of its decimal places.
    expectClose(moved.columns['score'], near.columns['score'] as number[], 1e-5);
  });

  it('applies the means and coefficients fitted to other rows', async () => {
    // x = 2 s + 1 exactly, with mean 5: the mean remains, and the residuals of other rows.
    const { columns } = await remove({ sensitive: 's' }, { s: [0, 2, 4], x: [1, 5, 9] }, { s: [10, 2], x: [21, 6] });
    expectClose(columns['x'], [5, 6]);
  });

  it('mixes by alpha, and at 0 returns every value bit for bit', async () => {
    const rows = { s: [0, 2, 4], x: [1, 5, 9.1] };
    expect((await remove({ sensitive: 's', alpha: 0 }, rows)).columns['x']).to.deep.equal(rows.x);
    const full = (await remove({ sensitive: 's' }, rows)).columns['x'] as number[];
    const half = (await remove({ sensitive: 's', alpha: 0.5 }, rows)).columns['x'];
    expectClose(
      half,
      full.map((value, row) => (value + (rows.x[row] ?? NaN)) / 2),
    );
  });

  it('treats a row of weight 2 as two rows', async () => {
    const rows = { s: ['a', 'b', 'b', 'a'], t: [1, 2, 4, 8], x: [1, 3, 2, 9] };
    const twice = { s: [...rows.s, 'b'], t: [...rows.t, 4], x: [...rows.x, 2] };
    const weighted = await new CorrelationRemover({ sensitive: ['s', 't'] }).fit(rows, { sampleWeight: [1, 1, 2, 1] });
    const repeated = await new CorrelationRemover({ sensitive: ['s', 't'] }).fit(twice);
    expectClose(
      (await weighted.transform(rows)).table.toColumns()['x'],
      (await repeated.transform(rows)).table.toColumns()['x'] as number[],
    );
  });

  it('leaves missing features missing, and uses the rows that have all values', async () => {
    const rows = { s: [0, 2, 4, 9, null], x: [1, 5, 9, null, 100] };
    const { columns } = await remove({ sensitive: 's' }, rows);
    expect(columns['x']?.[3]).to.equal(null);
    expectClose(columns['x']?.slice(0, 3), [5, 5, 5]);
  });

  it('removes nothing if the sensitive value is missing or its category unseen, and names the category', async () => {
    const { columns, remover } = await remove(
      { sensitive: 'g' },
      { g: ['a', 'b'], x: [1, 3] },
      { g: ['a', null, 'z'], x: [1, 7, 8] },
    );
    expect(columns['x']).to.deep.equal([2, 7, 8]);
    expect(remover.warnings.join()).to.match(/nothing is removed from rows of the group 'z' \(not seen in fit\)/);
  });

  for (const { title, sensitive, notes } of [
    {
      title: 'one text column',
      sensitive: ['g'],
      notes: [`nothing is removed from 1 row without a value of 'g'`],
    },
    {
      title: 'one column of numbers',
      sensitive: ['s'],
      notes: [`nothing is removed from 2 rows without a value of 's'`],
    },
    {
      title: 'columns of both kinds',
      sensitive: ['g', 's'],
      notes: [
        `nothing is removed from 1 row without a value of 'g'`,
        `nothing is removed from 2 rows without a value of 's'`,
      ],
    },
  ]) {
    it(`counts the rows without a value of ${title}, for the latest transform`, async () => {
      const known = { g: ['a', 'b', 'b', 'c'], s: [1, 2, 4, 3], x: [1, 3, 8, 2] };
      const remover = await new CorrelationRemover({ sensitive, features: ['x'] }).fit(known);
      expect(remover.warnings).to.deep.equal([]);
      await remover.transform({ g: ['a', null, 'b', 'c'], s: [1, 2, null, null], x: [1, 2, 3, 4] });
      expect(remover.warnings).to.deep.equal(notes);
      await remover.transform(known);
      expect(remover.warnings).to.deep.equal([]);
    });
  }

  it('counts the rows that fit excludes, and has no notes on rows at alpha 0', async () => {
    const rows = { g: ['a', null, 'b', null], s: [1, 2, null, null], x: [1, 2, 3, 4] };
    const remover = new CorrelationRemover({ sensitive: ['g', 's'], features: ['x'], alpha: 0 });
    await (await remover.fit(rows)).transform(rows);
    expect(remover.warnings).to.deep.equal([`3 rows without a value of 'g', 's' are excluded from the fit`]);
  });

  for (const { title, rows } of [
    { title: 'a constant sensitive column', rows: { s: [3, 3, 3], x: [1, 5, 9] } },
    { title: 'one row', rows: { s: [3], x: [1] } },
    { title: 'one group', rows: { s: ['a', 'a'], x: [1, 5] } },
    { title: 'a constant feature', rows: { s: [1, 2, 4], x: [0.1, 0.1, 0.1] } },
  ]) {
    it(`does not change ${title}`, async () => {
      expectClose((await remove({ sensitive: 's' }, rows)).columns['x'], rows.x, 1e-15);
    });
  }

  it('leaves a feature without complete rows unchanged, and names it', async () => {
    const { columns, remover } = await remove({ sensitive: 's' }, { s: [1, null], x: [null, 5], y: [1, 2] });
    expect(columns['x']).to.deep.equal([null, 5]);
    expect(remover.warnings.join()).to.match(
      /^1 row without a value of 's' is excluded from the fit,unchanged: 'x', because no row has all sensitive values,/,
    );
  });

  it('never changes sensitive columns, the label, or text', async () => {
    const rows = { s: [1, 2, 3], y: [0, 1, 1], city: ['u', 'v', 'v'], x: [1, 2, 3] };
    const { columns } = await remove({ sensitive: 's', label: 'y' }, rows);
    expect({ ...columns, x: rows.x }).to.deep.equal(rows);
    expectClose(columns['x'], [2, 2, 2]);
  });

  it('needs the sensitive columns in transform, as numbers if they were numbers', async () => {
    const remover = await new CorrelationRemover({ sensitive: 's' }).fit({ s: [1, 2], x: [1, 2] });
    for (const rows of [{ x: [1] }, { s: ['much'], x: [1] }]) {
      expect(await remover.transform(rows).catch((error: unknown) => error)).to.be.instanceOf(DataValidationError);
    }
  });

  it('rejects alpha outside 0 to 1', () => {
    for (const alpha of [-0.1, 1.1, NaN]) {
      expect(() => new CorrelationRemover({ sensitive: 's', alpha })).to.throw(ValueError);
    }
  });
});
