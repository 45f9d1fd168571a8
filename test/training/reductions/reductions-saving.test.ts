import { expect } from 'chai';
import { DataValidationError } from '../../../src/exceptions/index.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { wrap } from './wrapped-learner.ts';
import { groupedRows } from './random-rows.ts';

const { x, y, sensitive } = groupedRows();

describe('saving of reductions', () => {
  const estimator = new LogisticRegression({ precision: 'float64', l2: 0.5 });

  it('keeps options, predictors and predictions through JSON', async () => {
    const options = {
      estimator,
      constraint: 'equalized_odds',
      eps: 0.1,
      differenceBound: 0.05,
      bound: 'pairwise',
      T: 20,
      costs: { falsePositive: 1, falseNegative: 2 },
      classWeight: { 0: 1, 1: 1.5 },
      seed: 9,
      randomization: 'row',
    } as const;
    const model = await new ReductionsWrapper(options).fit(x, y, { sensitive });
    const copy = ReductionsWrapper.fromJSON(JSON.parse(JSON.stringify(model)));
    expect(copy.toJSON()).to.deep.equal(JSON.parse(JSON.stringify(model)));
    expect(await copy.predictProba(x)).to.deep.equal(await model.predictProba(x));
    expect(await copy.predict(x)).to.deep.equal(await model.predict(x));
    expect(copy.history).to.deep.equal(model.history);
    expect(copy.bestGap).to.equal(model.bestGap);
    expect((await copy.clone().fit(x, y, { sensitive })).weights).to.deep.equal(model.weights);
  });

  it('keeps a grid search', async () => {
    const search = await new GridSearchReduction({ estimator, gridSize: 5 }).fit(x, y, { sensitive });
    const copy = GridSearchReduction.fromJSON(JSON.parse(JSON.stringify(search)));
    expect(copy.toJSON()).to.deep.equal(JSON.parse(JSON.stringify(search)));
    expect(await copy.predictProba(x)).to.deep.equal(await search.predictProba(x));
    expect(copy.clone().toJSON().state).to.equal(null);
  });

  it('keeps what has learned nothing', () => {
    const copy = ReductionsWrapper.fromJSON(JSON.parse(JSON.stringify(new ReductionsWrapper({ eps: 0.2 }))));
    expect(copy.toJSON()).to.deep.equal({ kind: 'reductions_wrapper', params: { eps: 0.2 }, state: null });
  });

  it('keeps constants', async () => {
    const model = await new ReductionsWrapper({ estimator }).fit(
      x,
      x.map(() => 0),
      { sensitive },
    );
    const copy = ReductionsWrapper.fromJSON(JSON.parse(JSON.stringify(model)));
    expect(await copy.predictProba(x)).to.deep.equal(new Float64Array(x.length));
  });

  const UNREADABLE: readonly [string, unknown][] = [
    ['another kind', { kind: 'logistic_regression', params: {}, state: null }],
    ['a state without weights', { kind: 'reductions_wrapper', params: {}, state: { predictors: [] } }],
    ['nothing', null],
  ];
  for (const [title, json] of UNREADABLE) {
    it(`refuses ${title}`, () => {
      expect(() => ReductionsWrapper.fromJSON(json)).to.throw(DataValidationError);
    });
  }

  it('cannot be changed through what it shows', async () => {
    const { result } = await wrap().fit(x, y, { sensitive });
    for (const part of [result, result.weights, result.history, result.history[0], result.lambda, result.predictors]) {
      expect(Object.isFrozen(part)).to.equal(true);
    }
  });

  it('clones to the same options, and nothing learned', async () => {
    const copy = (await wrap({ eps: 0.2 }).fit(x, y, { sensitive })).clone();
    expect(copy.toJSON()).to.deep.equal(wrap({ eps: 0.2 }).toJSON());
  });
});
