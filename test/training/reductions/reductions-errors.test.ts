import { expect } from 'chai';
import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { REDUCTION_CONSTRAINTS } from '../../../src/training/reductions/constraint-names.ts';
import type { ReductionFitOptions } from '../../../src/training/reductions/row-cells.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { TableLearner } from './table-learner.ts';
import { expectSame, failure, wrap } from './wrapped-learner.ts';
import { groupedRows } from './random-rows.ts';

const { x, y, sensitive } = groupedRows();

describe('ReductionsWrapper, edge cases', () => {
  it('learns constants if all labels are 1', async () => {
    const ones = x.map(() => 1);
    const model = await wrap().fit(x, ones, { sensitive });
    expect(new Set(await model.predictProba(x))).to.deep.equal(new Set([1]));
    expect(model.result.constantAnswers).to.be.above(0);
    expect(model.bestGap).to.equal(0);
  });

  it('stops as early as possible if the first predictor is perfect', async () => {
    const groups = y.map((_, row) => `g${row % 2}`);
    const model = await wrap({ estimator: new TableLearner(), differenceBound: 1 }).fit(
      y.map((label) => [label]),
      y,
      { sensitive: groups },
    );
    expect(model.lastIteration).to.equal(5);
    expect(model.history.at(-1)?.error).to.equal(0);
  });

  it('accepts a single iteration', async () => {
    const model = await wrap({ T: 1 }).fit(x, y, { sensitive });
    expect([model.lastIteration, model.weights]).to.deep.equal([0, [1]]);
  });

  it('gives small weights that sum to 1 the same effect as larger weights', async () => {
    const sampleWeight = x.map(() => 1 / x.length);
    const model = await wrap().fit(x, y, { sensitive, sampleWeight });
    expectSame(model, await wrap().fit(x, y, { sensitive }));
  });

  it('warns about a group without positives, and does not constrain it there', async () => {
    const labels = y.map((label, row) => (sensitive[row] === 'g1' ? 0 : label));
    const model = await wrap({ constraint: 'true_positive_rate_parity' }).fit(x, labels, { sensitive });
    expect(model.warnings).to.deep.equal([
      '1 of 3 groups have no rows in the event label=1 and are not constrained there',
    ]);
    expect(model.history.every(({ error, gap, violation }) => [error, gap, violation].every(Number.isFinite))).to.equal(
      true,
    );
  });

  const BAD_ROWS: readonly [string, unknown, unknown, ReductionFitOptions, string][] = [
    ['one group', x, y, { sensitive: x.map(() => 'all') }, 'only one'],
    [
      'one group with weight',
      x,
      y,
      { sensitive, sampleWeight: sensitive.map((group) => Number(group === 'g0')) },
      'only one',
    ],
    ['no rows', [], [], { sensitive: [] }, 'no rows'],
    ['a label of 2', x, y.map(() => 2), { sensitive }, '2 at index 0'],
    ['text labels', x, y.map(() => 'yes'), { sensitive }, "'yes'"],
    ['a missing label', x, y.with(4, NaN), { sensitive }, 'index 4'],
    [
      'a missing group',
      x,
      y,
      { sensitive: sensitive.with(9, null as unknown as string) },
      'sensitive is missing at index 9',
    ],
    [
      'a missing control',
      x,
      y,
      { sensitive, control: sensitive.with(9, null as unknown as string) },
      'control is missing at index 9',
    ],
    ['a missing feature', x.with(3, [NaN, 0, 1]), y, { sensitive }, 'row 4, column 1'],
    ['too few groups', x, y, { sensitive: sensitive.slice(1) }, '119'],
    ['a negative weight', x, y, { sensitive, sampleWeight: y.map(() => -1) }, '-1 at index 0'],
    ['weights of 0', x, y, { sensitive, sampleWeight: y.map(() => 0) }, '0 in every row'],
  ];
  for (const [title, features, labels, options, message] of BAD_ROWS) {
    it(`rejects ${title}`, async () => {
      const error = await failure(wrap().fit(features as number[][], labels as number[], options));
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.contain(message);
    });
  }

  it('rejects a true positive rate without positives', async () => {
    const error = await failure(
      wrap({ constraint: 'true_positive_rate_parity' }).fit(
        x,
        y.map(() => 0),
        { sensitive },
      ),
    );
    expect(error).to.be.instanceOf(DataValidationError);
    expect((error as Error).message).to.contain('label=1');
  });

  it("rejects targets outside [0, 1] for the loss 'zero_one'", async () => {
    const error = await failure(
      wrap({ constraint: 'bounded_group_loss', loss: 'zero_one' }).fit(x, y.with(2, 1.5), { sensitive }),
    );
    expect((error as Error).message).to.contain('1.5 at index 2');
  });

  it('accepts one group for a bounded loss', async () => {
    const model = await wrap({ constraint: 'bounded_group_loss', upperBound: 0.5 }).fit(x, y, {
      sensitive: x.map(() => 'all'),
    });
    expect(model.result.excesses[0]).to.be.below(0);
  });

  const WRONG: readonly [string, Record<string, unknown>, string][] = [
    ['an unknown constraint', { constraint: 'demographic_party' }, 'constraint'],
    ['an unknown loss', { constraint: 'bounded_group_loss', loss: 'hinge' }, 'loss'],
    ['an unknown bound', { bound: 'pairs' }, 'bound'],
    ['an unknown randomization', { randomization: 'rows' }, 'randomization'],
    ['eps 0', { eps: 0 }, 'eps'],
    ['eps NaN', { eps: NaN }, 'eps'],
    ['a negative difference bound', { differenceBound: -0.1 }, 'differenceBound'],
    ['an infinite upper bound', { constraint: 'bounded_group_loss', upperBound: Infinity }, 'upperBound'],
    ['a ratio above 1', { ratioBound: 1.2 }, 'ratioBound'],
    ['a ratio of 0', { ratioBound: 0 }, 'ratioBound'],
    ['two kinds of bound', { ratioBound: 0.8, differenceBound: 0.1 }, 'differenceBound'],
    ['slack without a ratio', { ratioBoundSlack: 0.1 }, 'ratioBoundSlack'],
    ['a loss for a parity', { loss: 'square' }, 'loss'],
    ['costs for a loss', { constraint: 'bounded_group_loss', costs: { falsePositive: 1, falseNegative: 1 } }, 'costs'],
    ['an empty range', { constraint: 'bounded_group_loss', range: [1, 1] }, 'range'],
    ['a range for zero_one', { constraint: 'bounded_group_loss', loss: 'zero_one', range: [0, 2] }, 'range'],
    ['costs of 0', { costs: { falsePositive: 0, falseNegative: 0 } }, 'costs'],
    ['a negative cost', { costs: { falsePositive: -1, falseNegative: 2 } }, 'costs'],
    ['class weights by other names', { classWeight: 'even' }, 'classWeight'],
    ['T 0', { T: 0 }, 'T'],
    ['T 1.5', { T: 1.5 }, 'T'],
    ['a negative nu', { nu: -1 }, 'nu'],
    ['eta0 0', { eta0: 0 }, 'eta0'],
    ['a seed that is not a number', { seed: NaN }, 'seed'],
  ];
  for (const [title, options, parameter] of WRONG) {
    it(`rejects ${title}`, () => {
      expect(() => new ReductionsWrapper(options)).to.throw(ValueError, `The ${parameter} parameter must`);
    });
  }

  it('names the known constraints', () => {
    expect(() => new ReductionsWrapper({ constraint: 'parity' as 'demographic_parity' })).to.throw(
      ValueError,
      REDUCTION_CONSTRAINTS.join(', '),
    );
  });

  it('has no result before fit', async () => {
    const model = wrap();
    expect(() => model.weights).to.throw(TrainingError);
    expect(() => model.bestDeterministic()).to.throw(TrainingError);
    expect(await failure(model.predict(x))).to.be.instanceOf(TrainingError);
    expect(await failure(model.predictProba(x))).to.be.instanceOf(TrainingError);
  });

  it('reports each iteration, and stops between two fits at a signal', async () => {
    const controller = new AbortController();
    const seen: number[] = [];
    const work = wrap().fit(x, y, {
      sensitive,
      signal: controller.signal,
      onProgress: ({ done, total, stage }) => {
        expect([total, stage]).to.deep.equal([50, 'exponentiated gradient']);
        seen.push(done);
        if (done === 2) controller.abort(new Error('enough'));
      },
    });
    expect(((await failure(work)) as Error).message).to.equal('enough');
    expect(seen).to.deep.equal([1, 2]);
  });

  it('rethrows an error of the estimator, and stays unfitted', async () => {
    const model = wrap({
      estimator: () => ({ fit: () => Promise.reject(new Error('no memory')), predict: () => [] }),
    });
    expect(((await failure(model.fit(x, y, { sensitive }))) as Error).message).to.contain('no memory');
    expect(() => model.result).to.throw(TrainingError);
  });
});
