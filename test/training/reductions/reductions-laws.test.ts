import { expect } from 'chai';
import { shuffle, createRandom } from '../../../src/internal/random.ts';
import { REDUCTION_CONSTRAINTS } from '../../../src/training/reductions/constraint-names.ts';
import { LeastSquares } from './least-squares.ts';
import { expectSame, wrap } from './wrapped-learner.ts';
import { groupedRows } from './random-rows.ts';

const { x, y, sensitive } = groupedRows();

describe('laws of ReductionsWrapper', () => {
  it('weights of one equal no weights', async () => {
    const sampleWeight = new Float64Array(x.length).fill(1);
    const weighted = await wrap().fit(x, y, { sensitive, sampleWeight });
    expect(weighted.result.history).to.deep.equal((await wrap().fit(x, y, { sensitive })).result.history);
  });

  for (const constraint of REDUCTION_CONSTRAINTS) {
    it(`a row of weight 2 counts as two rows, a row of weight 0 as none: ${constraint}`, async () => {
      const sampleWeight = x.map((_, row) => row % 3);
      const repeated = [...x.keys()].flatMap((row) => new Array<number>(row % 3).fill(row));
      const take = <T>(values: readonly T[]): T[] => repeated.map((row) => values[row] as T);
      const upperBound = constraint === 'bounded_group_loss' ? 0.25 : undefined;
      const weighted = await wrap({ constraint, upperBound }).fit(x, y, { sensitive, sampleWeight });
      const rows = await wrap({ constraint, upperBound }).fit(take(x), take(y), { sensitive: take(sensitive) });
      expectSame(weighted, rows);
    });
  }

  it('renaming groups changes only names', async () => {
    const names: Record<string, string> = { g0: 'z', g1: 'm', g2: 'a' };
    const renamed = await wrap({ constraint: 'equalized_odds' }).fit(x, y, {
      sensitive: sensitive.map((name) => names[name]),
    });
    const plain = await wrap({ constraint: 'equalized_odds' }).fit(x, y, { sensitive });
    expect(renamed.weights).to.deep.equal(plain.weights);
    expect(await renamed.predictProba(x)).to.deep.equal(await plain.predictProba(x));
    expect(Object.values(renamed.lambda)).to.deep.equal(Object.values(plain.lambda));
  });

  it('permuting rows changes results only by rounding', async () => {
    const order = Int32Array.from(x.keys());
    shuffle(order, createRandom(5));
    const take = <T>(values: readonly T[]): T[] => Array.from(order, (row) => values[row] as T);
    expectSame(
      await wrap().fit(take(x), take(y), { sensitive: take(sensitive) }),
      await wrap().fit(x, y, { sensitive }),
    );
  });

  it('fitting twice equals fitting once', async () => {
    const model = await wrap().fit(x, y, { sensitive });
    const first = model.result;
    await model.fit(x, y, { sensitive });
    expect(model.result.history).to.deep.equal(first.history);
  });

  it('a control feature with one level has no effect', async () => {
    const one = await wrap().fit(x, y, { sensitive, control: x.map(() => 'all rows') });
    expect(one.weights).to.deep.equal((await wrap().fit(x, y, { sensitive })).weights);
  });

  it('several attributes are combined', async () => {
    const crossed = await wrap().fit(x, y, {
      sensitive: { group: sensitive, half: x.map((_, row) => (row < 60 ? 'first' : 'second')) },
    });
    expect(Object.keys(crossed.history[0]?.multipliers ?? {})).to.have.lengthOf(12);
  });

  it('answers a repeated oracle call from memory, and counts it', async () => {
    const estimator = new LeastSquares();
    const model = await wrap({ estimator }).fit(x, y, { sensitive });
    expect(estimator.counter.fits).to.equal(model.result.fits);
    expect(model.result.fits).to.be.below(model.oracleCalls);
  });
});
