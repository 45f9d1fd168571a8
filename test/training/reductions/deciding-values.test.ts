import { expect } from 'chai';

import { TrainingError } from '../../../src/exceptions/index.ts';
import { LinearRegression } from '../../../src/training/estimators/linear-regression.ts';
import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { groupedRows } from './random-rows.ts';
import { failure } from './wrapped-learner.ts';

const EXACT = 1e-12;
const { x, y, sensitive } = groupedRows();

function meanOf(values: ArrayLike<number>, isIn: (row: number) => boolean): number {
  const own = Array.from(values).filter((_, row) => isIn(row));
  return own.reduce((sum, value) => sum + value, 0) / own.length;
}

/** Counts the share of wrong decisions, and the largest distance of a group's rate from the overall rate. */
function count(p: ArrayLike<number>): { error: number; violation: number } {
  const wrong = y.map((label, row) => Math.abs(label - (p[row] ?? NaN)));
  const overall = meanOf(p, () => true);
  const gaps = ['g0', 'g1', 'g2'].map((group) => Math.abs(meanOf(p, (row) => sensitive[row] === group) - overall));
  return { error: meanOf(wrong, () => true), violation: Math.max(...gaps) };
}

describe('a regression as the estimator of decisions', () => {
  const estimator = new LinearRegression();

  it('is evaluated by its decisions at a threshold of 0.5', async () => {
    const model = await new ReductionsWrapper({ estimator, differenceBound: 0.02 }).fit(x, y, { sensitive });
    const { history, bestIteration } = model.result;
    const counted = count(await model.predictProba(x));
    expect(history[bestIteration]?.error).to.be.closeTo(counted.error, EXACT);
    expect(history[bestIteration]?.violation).to.be.closeTo(counted.violation, EXACT);
    expect(counted.violation).to.be.at.most(0.02 + model.bestGap + EXACT);
  });

  it("is evaluated in the same way under a bounded loss 'zero_one'", async () => {
    const model = await new ReductionsWrapper({
      estimator,
      constraint: 'bounded_group_loss',
      loss: 'zero_one',
      upperBound: 0.4,
    }).fit(x, y, { sensitive });
    const { weights, errors, predictors } = model.result;
    for (const [index, predictor] of predictors.entries()) {
      const decisions = (await predictor.predict(x)).map((value) => Number(value >= 0.5));
      expect(errors[index]).to.be.closeTo(count(decisions).error, EXACT);
    }
    const expected = errors.reduce((sum, error, index) => sum + error * (weights[index] ?? NaN), 0);
    expect(count(await model.predictProba(x)).error).to.be.closeTo(expected, EXACT);
  });

  it('also decides in a grid search, which supports another threshold', async () => {
    const search = await new GridSearchReduction({ estimator }).fit(x, y, { sensitive });
    const values = await search.best.predict(x);
    const decisions = await search.predict(x);
    expect(decisions).to.deep.equal(Uint8Array.from(values, (value) => Number(value >= 0.5)));
    expect(search.result.errors[search.bestIndex]).to.be.closeTo(count(decisions).error, EXACT);
    expect(await search.predict(x, { threshold: 0.7 })).to.deep.equal(
      Uint8Array.from(values, (value) => Number(value >= 0.7)),
    );
  });

  it('returns values in a grid search of a square loss', async () => {
    const search = await new GridSearchReduction({ estimator, constraint: 'bounded_group_loss' }).fit(x, y, {
      sensitive,
    });
    expect(await search.predict(x)).to.deep.equal(await search.best.predict(x));
  });

  const gives = (value: number): LinearRegression => {
    const model = new (class extends LinearRegression {
      override predict(rows: unknown): Promise<Float64Array> {
        return Promise.resolve(new Float64Array((rows as { rows: number }).rows).fill(value));
      }
      override clone(): LinearRegression {
        return gives(value);
      }
    })();
    return model;
  };
  const REFUSED: readonly [string, number, 'demographic_parity' | 'bounded_group_loss', string][] = [
    ['values for any threshold, under a parity', 0.3, 'demographic_parity', '0.3 at index 0'],
    ['NaN under a parity', NaN, 'demographic_parity', 'NaN at index 0'],
    ['infinite values under a loss', Infinity, 'bounded_group_loss', 'Infinity at index 0'],
  ];
  for (const [title, value, constraint, message] of REFUSED) {
    it(`is rejected if it returns ${title}`, async () => {
      for (const Reduction of [ReductionsWrapper, GridSearchReduction]) {
        const work = new Reduction({ estimator: gives(value), constraint }).fit(x, y, { sensitive });
        const error = await failure(work);
        expect(error).to.be.instanceOf(TrainingError);
        expect((error as TrainingError).message).to.contain(message);
      }
    });
  }
});

describe('an estimator that decides by its own rule', () => {
  it('is used by its decisions, and not by its probabilities', async () => {
    const own = () => ({
      fit: () => undefined,
      predict: (rows: number[][]) => rows.map(([first = 0]) => Number(first > 1)),
      predictProba: (rows: number[][]) => rows.map(() => 0.9),
    });
    const model = await new ReductionsWrapper({ estimator: own, differenceBound: 1 }).fit(x, y, { sensitive });
    expect([...(await model.predictProba(x))]).to.deep.equal(x.map(([first = 0]) => Number(first > 1)));
  });
});
