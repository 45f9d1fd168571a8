import { expect } from 'chai';
import { ValueError } from '../../../src/exceptions/index.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { REDUCTION_CONSTRAINTS } from '../../../src/training/reductions/constraint-names.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { wrap } from './wrapped-learner.ts';
import { groupedRows } from './random-rows.ts';

const EXACT = 1e-12;
const { x, y, sensitive } = groupedRows();

describe('ReductionsWrapper', () => {
  for (const constraint of REDUCTION_CONSTRAINTS) {
    it(`keeps the largest violation within the bound and the gap: ${constraint}`, async () => {
      for (const groups of [2, 3, 7]) {
        const rows = groupedRows({ groups, seed: 3 });
        const isLoss = constraint === 'bounded_group_loss';
        const bound = isLoss ? 0.25 : 0.05;
        const model = await wrap({ constraint, ...(isLoss ? { upperBound: bound } : { differenceBound: bound }) }).fit(
          rows.x,
          rows.y,
          { sensitive: rows.sensitive },
        );
        const { history, bestIteration, bestGap } = model.result;
        expect(history[bestIteration]?.violation).to.be.at.most(bound + bestGap + EXACT);
      }
    });
  }

  it('reports the violation of its predictions: the largest rate of a group minus the overall rate', async () => {
    const model = await wrap({ differenceBound: 0.03 }).fit(x, y, { sensitive });
    const p = await model.predictProba(x);
    const mean = (picked: readonly number[]): number =>
      picked.reduce((sum, row) => sum + (p[row] ?? NaN), 0) / picked.length;
    const all = [...x.keys()];
    const gaps = [...new Set(sensitive)].map((group) =>
      Math.abs(mean(all.filter((row) => sensitive[row] === group)) - mean(all)),
    );
    const { history, bestIteration } = model.result;
    expect(history[bestIteration]?.violation).to.be.closeTo(Math.max(...gaps), EXACT);
    const errors = all.map((row) => (y[row] === 1 ? 1 - (p[row] ?? NaN) : (p[row] ?? NaN)));
    expect(history[bestIteration]?.error).to.be.closeTo(errors.reduce((a, b) => a + b, 0) / all.length, EXACT);
  });

  it('allows two groups to differ by twice the bound, and with pairwise by the bound', async () => {
    const rates = async (bound: 'overall' | 'pairwise'): Promise<number> => {
      const model = await wrap({ differenceBound: 0.04, bound, nu: 1e-6 }).fit(x, y, { sensitive });
      const p = await model.predictProba(x);
      const means = [...new Set(sensitive)].map((group) => {
        const own = p.filter((_, row) => sensitive[row] === group);
        return own.reduce((a, b) => a + b, 0) / own.length;
      });
      return Math.max(...means) - Math.min(...means);
    };
    expect(await rates('overall')).to.be.within(0.04, 0.08 + 1e-6);
    expect(await rates('pairwise')).to.be.at.most(0.04 + 1e-6);
  });

  describe('class weights', () => {
    const labels = x.map((_, row) => Number(row % 10 === 0));

    it('become costs of errors by the true labels if an estimator has them', async () => {
      const options = { constraint: 'demographic_parity', eps: 0.05 } as const;
      const inside = new ReductionsWrapper({
        ...options,
        estimator: new LogisticRegression({ precision: 'float64', classWeight: 'balanced' }),
      });
      const outside = new ReductionsWrapper({
        ...options,
        classWeight: 'balanced',
        estimator: new LogisticRegression({ precision: 'float64' }),
      });
      await inside.fit(x, labels, { sensitive });
      await outside.fit(x, labels, { sensitive });
      expect(inside.weights).to.deep.equal(outside.weights);
      expect(await inside.predictProba(x)).to.deep.equal(await outside.predictProba(x));
      expect(inside.clone().toJSON()).to.deep.equal(
        new ReductionsWrapper({
          ...options,
          estimator: new LogisticRegression({ precision: 'float64', classWeight: 'balanced' }),
        }).toJSON(),
      );
    });

    it('are costs: weights 1 and 3 mean that a false negative costs 3', async () => {
      const weighted = await wrap({ classWeight: { 0: 1, 1: 3 } }).fit(x, y, { sensitive });
      const costly = await wrap({ costs: { falsePositive: 1, falseNegative: 3 } }).fit(x, y, { sensitive });
      expect(weighted.result.history).to.deep.equal(costly.result.history);
    });

    it('raise the selection rate of a rare class if balanced, within the same bound', async () => {
      const rate = async (classWeight: 'balanced' | null): Promise<number> => {
        const model = await wrap({ classWeight, differenceBound: 0.05 }).fit(x, labels, { sensitive });
        expect(model.history[model.bestIteration]?.violation).to.be.at.most(0.05 + model.bestGap + EXACT);
        return (await model.predictProba(x)).reduce((a, b) => a + b, 0) / x.length;
      };
      expect(await rate('balanced')).to.be.above(await rate(null));
    });

    it('are rejected if they are given twice, or for a loss', () => {
      const estimator = new LogisticRegression({ classWeight: 'balanced' });
      expect(() => new ReductionsWrapper({ estimator, classWeight: 'balanced' })).to.throw(ValueError, 'both');
      expect(() => new ReductionsWrapper({ estimator, constraint: 'bounded_group_loss', loss: 'zero_one' })).to.throw(
        ValueError,
        'bounded_group_loss',
      );
    });
  });
});
