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

  it('keeps an unfitted reduction', () => {
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
    it(`rejects ${title}`, () => {
      expect(() => ReductionsWrapper.fromJSON(json)).to.throw(DataValidationError);
    });
  }

  it('cannot be modified through the returned objects', async () => {
    const { result } = await wrap().fit(x, y, { sensitive });
    for (const part of [result, result.weights, result.history, result.history[0], result.lambda, result.predictors]) {
      expect(Object.isFrozen(part)).to.equal(true);
    }
  });

  it('clones to the same options, unfitted', async () => {
    const copy = (await wrap({ eps: 0.2 }).fit(x, y, { sensitive })).clone();
    expect(copy.toJSON()).to.deep.equal(wrap({ eps: 0.2 }).toJSON());
  });
});

describe('saved reductions that were modified', () => {
  type Json = { kind: string; params: Record<string, unknown>; state: Record<string, unknown> };
  const estimator = new LogisticRegression({ precision: 'float64' });
  const fitted = async (): Promise<Json> =>
    JSON.parse(JSON.stringify(await new ReductionsWrapper({ estimator }).fit(x, y, { sensitive }))) as Json;
  const searched = async (): Promise<Json> =>
    JSON.parse(
      JSON.stringify(await new GridSearchReduction({ estimator, gridSize: 3 }).fit(x, y, { sensitive })),
    ) as Json;

  const STATES: readonly [string, (state: Record<string, unknown[]>) => Record<string, unknown>][] = [
    ['no weights', () => ({ weights: [] })],
    ['no predictors', () => ({ predictors: [], weights: [], errors: [], excesses: [] })],
    ['a sum of weights of 5', ({ weights = [] }) => ({ weights: weights.map((_, index) => (index === 0 ? 5 : 0)) })],
    ['a negative weight', ({ weights = [] }) => ({ weights: weights.map((_, index) => [2, -1][index] ?? 0) })],
    ['a best iteration beyond the last', () => ({ best_iteration: 99 })],
    ['a best iteration below 0', () => ({ best_iteration: -1 })],
    ['a last iteration without history', () => ({ last_iteration: 99 })],
    ['too few excesses', ({ excesses = [] }) => ({ excesses: excesses.slice(1) })],
    ['too few errors', ({ errors = [] }) => ({ errors: errors.slice(1) })],
    ['too little history', ({ history = [] }) => ({ history: history.slice(1) })],
    ['a predictor without a kind', ({ predictors = [] }) => ({ predictors: predictors.map(() => ({ kind: {} })) })],
  ];
  for (const [title, change] of STATES) {
    it(`are rejected with ${title}`, async () => {
      const json = await fitted();
      Object.assign(json.state, change(json.state as Record<string, unknown[]>));
      expect(() => ReductionsWrapper.fromJSON(json)).to.throw(DataValidationError, 'reductions_wrapper');
    });
  }

  const GRIDS: readonly [string, (state: Record<string, unknown[]>) => Record<string, unknown>][] = [
    ['a best index beyond the last', () => ({ best_index: 9 })],
    ['a best index below 0', () => ({ best_index: -1 })],
    ['no predictors', () => ({ predictors: [], lambdas: [], errors: [], violations: [] })],
    ['too few lambdas', ({ lambdas = [] }) => ({ lambdas: lambdas.slice(1) })],
    ['too few violations', ({ violations = [] }) => ({ violations: violations.slice(1) })],
  ];
  for (const [title, change] of GRIDS) {
    it(`are rejected with ${title}, as a grid search`, async () => {
      const json = await searched();
      Object.assign(json.state, change(json.state as Record<string, unknown[]>));
      expect(() => GridSearchReduction.fromJSON(json)).to.throw(DataValidationError, 'grid_search_reduction');
    });
  }

  const PARAMS: readonly Record<string, unknown>[] = [
    { constraint: 5 },
    { constraint: {} },
    { constraint: 'bounded_group_loss', range: 5 },
    { costs: 5 },
    { costs: null },
    { class_weight: 5 },
    { estimator: 5 },
    { ratio_bound: 7 },
  ];
  for (const params of PARAMS) {
    it(`are rejected with the options ${JSON.stringify(params)}`, () => {
      for (const [Reduction, kind] of [
        [ReductionsWrapper, 'reductions_wrapper'],
        [GridSearchReduction, 'grid_search_reduction'],
      ] as const) {
        expect(() => Reduction.fromJSON({ kind, params, state: null })).to.throw(DataValidationError);
      }
    });
  }

  it('are rejected with options out of range, and name the option', () => {
    for (const [params, name] of [
      [{ eps: -1 }, 'eps'],
      [{ eta0: 0 }, 'eta0'],
      [{ nu: '0.1' }, 'nu'],
      [{ T: 0.5 }, 'T'],
      [{ bound: 3 }, 'bound'],
    ] as const) {
      const read = (): unknown => ReductionsWrapper.fromJSON({ kind: 'reductions_wrapper', params, state: null });
      expect(read).to.throw(DataValidationError, `The ${name} parameter must`);
    }
    for (const params of [{ grid: 5 }, { grid_size: 0 }, { difference_bound: 0.1 }]) {
      const json = { kind: 'grid_search_reduction', params, state: null };
      expect(() => GridSearchReduction.fromJSON(json)).to.throw(DataValidationError, 'parameter must');
    }
  });
});
