import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { InstanceReweighting } from '../../../src/pipeline/transformers/weighting/instance-reweighting.ts';

type Rows = Record<string, (string | number | null)[]>;

const weigh = async (
  options: ConstructorParameters<typeof InstanceReweighting>[0],
  rows: Rows,
  sampleWeight?: readonly number[],
) => {
  const weigher = await new InstanceReweighting(options).fit(rows, { sampleWeight });
  const { sampleWeight: weights } = await weigher.transform(rows);
  return { weigher, weights: [...(weights ?? [])] };
};

const repeat = <Value>(value: Value, times: number): Value[] => Array.from({ length: times }, () => value);

const expectClose = (actual: readonly number[], expected: readonly number[], tolerance = 1e-12) => {
  expect(actual).to.have.length(expected.length);
  actual.forEach((value, row) => {
    expect(value, `row ${row}`).to.be.closeTo(expected[row] ?? NaN, tolerance);
  });
};

describe('InstanceReweighting', () => {
  it('weights each group by its benchmark share over its observed share', async () => {
    const sex = [...repeat('female', 20), ...repeat('male', 80)];
    const { weights } = await weigh({ sensitive: 'sex', benchmarks: { sex: { female: 0.51, male: 0.49 } } }, { sex });
    expectClose(weights, [...repeat(0.51 / 0.2, 20), ...repeat(0.49 / 0.8, 80)]);
  });

  it('gives groups equal shares without a benchmark', async () => {
    const { weights } = await weigh({ sensitive: 'g' }, { g: ['a', 'a', 'a', 'b', 'c', 'c'] });
    expectClose(weights, [2 / 3, 2 / 3, 2 / 3, 2, 1, 1]);
  });

  it('reads numbers as groups', async () => {
    const { weights } = await weigh({ sensitive: 'g', benchmarks: { g: { 0: 0.5, 1: 0.5 } } }, { g: [0, 1, 1, 1] });
    expectClose(weights, [2, 2 / 3, 2 / 3, 2 / 3]);
  });

  it('counts rows by their weights, and has mean 1 over them', async () => {
    const { weights } = await weigh({ sensitive: 'g' }, { g: ['a', 'a', 'b'] }, [1, 2, 9]);
    expectClose(weights, [2, 2, 2 / 3]);
    expect(1 * (weights[0] ?? 0) + 2 * (weights[1] ?? 0) + 9 * (weights[2] ?? 0)).to.be.closeTo(12, 1e-12);
  });

  describe('with several attributes', () => {
    it('is the product of both shares if the attributes are independent', async () => {
      const a = ['x', 'x', 'x', 'x', 'y', 'y'];
      const b = ['p', 'p', 'q', 'q', 'p', 'q'];
      const { weights } = await weigh(
        { sensitive: ['a', 'b'], benchmarks: { a: { x: 0.5, y: 0.5 }, b: { p: 0.8, q: 0.2 } } },
        { a, b },
      );
      const [x, y, p, q] = [0.5 / (4 / 6), 0.5 / (2 / 6), 0.8 / 0.5, 0.2 / 0.5];
      expectClose(weights, [x * p, x * p, x * q, x * q, y * p, y * q]);
    });

    it('keeps the odds ratio and matches both margins if they are not', async () => {
      // 40, 10, 20, 30 rows: with margins of a half, the first cell has share r / (2 (1 + r)), r the root of the odds ratio.
      const a = [...repeat('x', 50), ...repeat('y', 50)];
      const b = [...repeat('p', 40), ...repeat('q', 10), ...repeat('p', 20), ...repeat('q', 30)];
      const { weights, weigher } = await weigh({ sensitive: ['a', 'b'] }, { a, b });
      const root = Math.sqrt((40 * 30) / (10 * 20));
      const own = root / (2 * (1 + root));
      expectClose(
        [weights[0], weights[40], weights[50], weights[70]].map((weight) => weight ?? NaN),
        [own / 0.4, (0.5 - own) / 0.1, (0.5 - own) / 0.2, own / 0.3],
        1e-10,
      );
      expect(weigher.warnings).to.deep.equal([]);
    });

    it('stops and reports the largest difference if no weights can match the margins', async () => {
      const rows = { a: ['x', 'x', 'y'], b: ['p', 'p', 'q'] };
      const { weigher, weights } = await weigh(
        { sensitive: ['a', 'b'], benchmarks: { a: { x: 0.5, y: 0.5 }, b: { p: 0.9, q: 0.1 } } },
        rows,
      );
      expect(weigher.warnings.join()).to.match(/^no weights match .* difference is 0\.4\d*$/);
      expect(weights.reduce((sum, weight) => sum + weight, 0)).to.be.closeTo(3, 1e-9);
    });

    it('uses equal shares for an attribute without a benchmark', async () => {
      const rows = { a: ['x', 'x', 'x', 'y'], b: ['p', 'q', 'p', 'q'] };
      const alone = await weigh({ sensitive: ['a', 'b'], benchmarks: { a: { x: 0.75, y: 0.25 } } }, rows);
      const both = await weigh(
        { sensitive: ['a', 'b'], benchmarks: { a: { x: 0.75, y: 0.25 }, b: { p: 0.5, q: 0.5 } } },
        rows,
      );
      expectClose(alone.weights, both.weights);
    });
  });

  describe('caps weights', () => {
    it('at 10 and distributes the excess among the other rows', async () => {
      const g = [...repeat('rare', 1), ...repeat('common', 99)];
      const { weights, weigher } = await weigh({ sensitive: 'g' }, { g });
      expectClose(weights, [10, ...repeat(90 / 99, 99)]);
      expect(weigher.warnings.join()).to.match(/^weights are capped at 10, so the shares are not reached$/);
    });

    it('at maxWeight', async () => {
      const { weights } = await weigh({ sensitive: 'g', maxWeight: 1.5 }, { g: ['a', 'b', 'b', 'b'] });
      expectClose(weights, [1.5, 2.5 / 3, 2.5 / 3, 2.5 / 3]);
    });

    it('but keeps the mean at 1, with a warning', async () => {
      const g = [...repeat('rare', 1), ...repeat('common', 19)];
      const { weights, weigher } = await weigh({ sensitive: 'g', benchmarks: { g: { rare: 1, common: 0 } } }, { g });
      expectClose(weights, [20, ...repeat(0, 19)]);
      expect(weigher.warnings.join()).to.match(/^weights are capped at 20, so the shares are not reached$/);
    });
  });

  describe('keeps the weight 1, and names the group', () => {
    it('for groups with fewer than minCount rows', async () => {
      const { weights, weigher } = await weigh(
        { sensitive: 'g', minCount: 2 },
        { g: ['a', 'a', 'b', 'b', 'b', 'b', 'c'] },
      );
      expectClose(weights, [1.5, 1.5, 0.75, 0.75, 0.75, 0.75, 1]);
      expect(weigher.warnings.join()).to.match(/'c' have the weight 1 \(fewer than 2 rows in a group\)$/);
    });

    it('for groups that the benchmark does not name', async () => {
      const { weights, weigher } = await weigh(
        { sensitive: 'g', benchmarks: { g: { a: 0.5, b: 0.5 } } },
        { g: ['a', 'b', 'b', 'c'] },
      );
      expectClose(weights, [1.5, 0.75, 0.75, 1]);
      expect(weigher.warnings.join()).to.match(/'c' have the weight 1 \(no benchmark\)$/);
    });

    it('for rows without a group, and for groups that the fit has not seen', async () => {
      const weigher = await new InstanceReweighting({ sensitive: 'g' }).fit({ g: ['a', 'b', 'b', null] });
      const { sampleWeight } = await weigher.transform({ g: ['a', null, 'z'] });
      expectClose([...(sampleWeight ?? [])], [1.5, 1, 1]);
      expect(weigher.warnings).to.deep.equal([`g: rows of the group 'z' have the weight 1 (not seen in fit)`]);
    });

    it('for all, if every group is too small', async () => {
      const { weights } = await weigh({ sensitive: 'g', minCount: 5 }, { g: ['a', 'b', 'b'] });
      expectClose(weights, [1, 1, 1]);
    });
  });

  it('distributes the shares of benchmark groups without rows', async () => {
    const { weights, weigher } = await weigh(
      { sensitive: 'g', benchmarks: { g: { a: 0.25, b: 0.25, z: 0.5 } } },
      { g: ['a', 'b', 'b', 'b'] },
    );
    expectClose(weights, [2, 2 / 3, 2 / 3, 2 / 3]);
    expect(weigher.warnings.join()).to.match(
      /no row is in the group 'z' of the benchmark, and weights cannot change that$/,
    );
  });

  it('rescales benchmarks, with a warning', async () => {
    const { weights, weigher } = await weigh({ sensitive: 'g', benchmarks: { g: { a: 3, b: 1 } } }, { g: ['a', 'b'] });
    expectClose(weights, [1.5, 0.5]);
    expect(weigher.warnings.join()).to.match(/sums to 4, rescaled to 1$/);
  });

  it('returns no weights for rows without the sensitive column', async () => {
    const weigher = await new InstanceReweighting({ sensitive: 'g' }).fit({ g: ['a', 'b'] });
    expect((await weigher.transform({ x: [1, 2] })).sampleWeight).to.equal(null);
  });

  for (const { title, options } of [
    { title: 'no column', options: { sensitive: [] } },
    { title: 'an empty name', options: { sensitive: '' } },
    { title: 'a benchmark of another column', options: { sensitive: 'g', benchmarks: { h: { a: 1 } } } },
    { title: 'a negative proportion', options: { sensitive: 'g', benchmarks: { g: { a: -0.1, b: 1.1 } } } },
    { title: 'proportions of 0', options: { sensitive: 'g', benchmarks: { g: { a: 0 } } } },
    { title: 'a largest weight below 1', options: { sensitive: 'g', maxWeight: 0.9 } },
    { title: 'a largest weight of NaN', options: { sensitive: 'g', maxWeight: NaN } },
    { title: 'a fraction of a row', options: { sensitive: 'g', minCount: 1.5 } },
  ]) {
    it(`rejects ${title}`, () => {
      expect(() => new InstanceReweighting(options)).to.throw(ValueError, /parameter must/);
    });
  }

  for (const { title, rows, benchmarks } of [
    { title: 'a benchmark whose groups have no rows', rows: { g: ['a', 'b'] }, benchmarks: { g: { z: 1 } } },
    {
      title: 'a benchmark of 0 for all groups with rows',
      rows: { g: ['a'] },
      benchmarks: { g: { a: 0, b: 1 } },
    },
  ]) {
    it(`rejects ${title}`, async () => {
      const failure = await new InstanceReweighting({ sensitive: 'g', benchmarks })
        .fit(rows)
        .catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(DataValidationError);
    });
  }

  it('rejects benchmarks that leave no row with a weight', async () => {
    const weigher = new InstanceReweighting({
      sensitive: ['a', 'b'],
      benchmarks: { a: { x: 1, y: 0 }, b: { p: 0, q: 1 } },
    });
    const failure = await weigher.fit({ a: ['x', 'y'], b: ['p', 'q'] }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataValidationError);
  });
});
