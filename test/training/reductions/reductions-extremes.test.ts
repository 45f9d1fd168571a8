import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { automaticGap } from '../../../src/training/reductions/exponentiated-gradient.ts';
import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { groupedRows } from './random-rows.ts';
import { failure, wrap } from './wrapped-learner.ts';

const { x, y, sensitive } = groupedRows();

describe('weights and options of extreme sizes', () => {
  for (const size of [1e-200, 1e-5, 1e200]) {
    it(`accept a weight of ${size} for every row, and stop at a gap that is a number`, async () => {
      const estimator = new LogisticRegression({ l2: 0, precision: 'float64' });
      const sampleWeight = x.map(() => size);
      const plain = await wrap({ estimator, nu: 0.01 }).fit(x, y, { sensitive });
      const model = await wrap({ estimator, nu: 0.01 }).fit(x, y, { sensitive, sampleWeight });
      for (const [index, weight] of plain.weights.entries()) expect(model.weights[index]).to.be.closeTo(weight, 1e-9);
      const own = await wrap({ estimator }).fit(x, y, { sensitive, sampleWeight });
      expect(own.result.nu).to.be.within(1e-8, 1);
    });
  }

  it('count rows by (sum w)^2 / sum w^2 if weights sum to less, in any unit', () => {
    const targets = Float64Array.of(0, 1, 1, 0);
    // Errors 1, 0, 0, 0 with weights 1, 1, 1, 2: mean 0.2, variance 0.16, effective number 25 / 7.
    const expected = 0.5 * Math.sqrt((0.16 * (25 / 7)) / (18 / 7) / (25 / 7));
    for (const unit of [1e-3, 1e-170, 1e-300]) {
      const weights = Float64Array.of(unit, unit, unit, 2 * unit);
      expect(automaticGap(targets, weights, [1, 1, 1, 0])).to.be.closeTo(expected, 1e-12);
    }
  });

  for (const Reduction of [ReductionsWrapper, GridSearchReduction]) {
    it(`reject weights whose sum overflows: ${Reduction.name}`, async () => {
      const error = await failure(new Reduction().fit(x, y, { sensitive, sampleWeight: x.map(() => 1e307) }));
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.match(/sampleWeight/);
      expect((error as DataValidationError).suggestion).to.match(/[Dd]ivide/);
    });
  }

  const WRONG: readonly [string, () => unknown, RegExp][] = [
    ['costs of 1e308', () => new ReductionsWrapper({ costs: { falsePositive: 1e308, falseNegative: 1e308 } }), /costs/],
    ['eps of 1e-300', () => new ReductionsWrapper({ eps: 1e-300 }), /eps parameter must.*1e-300/],
    ['a grid limit of 1e308', () => new GridSearchReduction({ gridLimit: 1e308 }), /gridLimit/],
  ];
  for (const [title, make, message] of WRONG) {
    it(`reject ${title}`, () => {
      expect(make).to.throw(ValueError, message);
    });
  }

  it('reject class weights that make costs too large to sum', async () => {
    const model = new ReductionsWrapper({ classWeight: { 0: 1e300, 1: 1 } });
    expect(await failure(model.fit(x, y, { sensitive }))).to.be.instanceOf(ValueError);
  });

  it('reject multipliers that are too large to weight rows', async () => {
    const search = new GridSearchReduction({ grid: [{ 'all/g1/+': 1e308 }] });
    const error = await failure(search.fit(x, y, { sensitive }));
    expect(error).to.be.instanceOf(TrainingError);
    expect((error as Error).message).to.match(/multipliers/);
  });
});

describe('invalid options of reductions', () => {
  it('report that the sensitive groups are missing', async () => {
    for (const Reduction of [ReductionsWrapper, GridSearchReduction]) {
      for (const options of [undefined, null, {}]) {
        const error = await failure(new Reduction().fit(x, y, options as never));
        expect(error).to.be.instanceOf(DataValidationError);
        expect((error as Error).message).to.match(/sensitive/);
      }
    }
  });

  const FOREIGN = {
    ratioBoundSlack: 0.1,
    differenceBound: 0.1,
    upperBound: 0.1,
    bound: 'pairwise',
    T: 3,
    eps: 0.1,
    nu: 0,
  };
  for (const [name, value] of Object.entries(FOREIGN)) {
    it(`are rejected by a grid search, which does not enforce a bound: ${name}`, () => {
      expect(() => new GridSearchReduction({ ratioBound: 0.8, [name]: value })).to.throw(
        ValueError,
        `The ${name} parameter must be left out`,
      );
    });
  }

  it('name the loss if it has no probabilities', async () => {
    const model = await wrap({ constraint: 'bounded_group_loss' }).fit(x, y, { sensitive });
    expect(((await failure(model.predictProba(x))) as Error).message).to.match(/loss parameter.*Got square instead/);
  });

  it('must be numbers, not numeric text', () => {
    for (const options of [{ nu: '0.1' }, { ratioBound: '0.5' }, { eps: '0.1' }, { range: 5 }, { range: ['0', '1'] }]) {
      const constraint = 'range' in options ? 'bounded_group_loss' : 'demographic_parity';
      expect(() => new ReductionsWrapper({ constraint, ...options } as never), JSON.stringify(options)).to.throw(
        ValueError,
      );
    }
    for (const options of [{ grid: 5 }, { grid: [5] }, { constraintWeight: '0.5' }, { gridSize: '5' }]) {
      expect(() => new GridSearchReduction(options as never), JSON.stringify(options)).to.throw(ValueError);
    }
  });

  it('are described in the error even if the estimator has no prototype', () => {
    for (const estimator of [Object.create(null), 'lr', Symbol('lr')] as never[]) {
      expect(() => new ReductionsWrapper({ estimator })).to.throw(ValueError, 'The estimator parameter must');
    }
  });

  it('name only the group that has weight', async () => {
    const sampleWeight = sensitive.map((group) => Number(group === 'g1'));
    const error = await failure(wrap().fit(x, y, { sensitive, sampleWeight }));
    expect((error as Error).message).to.contain('(g1)');
  });

  it('are copied: later changes to the given objects have no effect', async () => {
    const grid = [{ 'all/g1/+': 0.5 }, {}];
    const search = new GridSearchReduction({ grid });
    (grid[0] as Record<string, number>)['all/g1/+'] = -5;
    grid.push({});
    expect((await search.fit(x, y, { sensitive })).result.lambdas).to.deep.equal([{ 'all/g1/+': 0.5 }, {}]);
    expect(search.toJSON().params['grid']).to.deep.equal([{ 'all/g1/+': 0.5 }, {}]);
    const costs = { falsePositive: 1, falseNegative: 2 };
    const model = new ReductionsWrapper({ costs });
    costs.falsePositive = -1;
    expect(model.clone().toJSON().params['costs']).to.deep.equal({ false_positive: 1, false_negative: 2 });
  });

  it('keep multipliers distinct for any names of groups and levels', async () => {
    const model = await wrap().fit(x, y, {
      sensitive: x.map((_, row) => (row % 2 === 0 ? 'q' : 'z,all/q')),
      control: x.map((_, row) => (row % 3 === 0 ? 'a' : 'a,all/z')),
    });
    expect(Object.keys(model.history[0]?.multipliers ?? {})).to.have.lengthOf(8);
    expect(Object.keys(model.history[0]?.multipliers ?? {})).to.include(String.raw`control=a,all/z,all\/q/+`);
  });

  it('reject the class weight of a subclass, because it cannot be removed', () => {
    class Own extends LogisticRegression {}
    const estimator = new Own({ classWeight: 'balanced' });
    expect(() => new ReductionsWrapper({ estimator })).to.throw(ValueError, 'class weight');
    expect(() => new ReductionsWrapper({ estimator: new Own() })).to.not.throw();
  });
});
