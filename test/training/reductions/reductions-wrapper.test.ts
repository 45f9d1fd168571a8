import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { shuffle, createRandom } from '../../../src/internal/random.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { REDUCTION_CONSTRAINTS } from '../../../src/training/reductions/constraint-names.ts';
import type { ReductionFitOptions } from '../../../src/training/reductions/reduction-rows.ts';
import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import type { ReductionsOptions } from '../../../src/training/reductions/reductions-options.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { LeastSquares } from './least-squares.ts';
import { groupedRows } from './random-rows.ts';
import { TableLearner } from './table-learner.ts';

const EXACT = 1e-12;
const { x, y, sensitive } = groupedRows();

function wrap(options: ReductionsOptions = {}): ReductionsWrapper {
  const isValue = options.constraint === 'bounded_group_loss' && options.loss !== 'zero_one';
  return new ReductionsWrapper({ estimator: new LeastSquares({ isClassifier: !isValue }), eps: 0.05, ...options });
}

async function failure(work: Promise<unknown> | (() => unknown)): Promise<unknown> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

/** What must agree between two fits that are the same but for names or order. */
function expectSame({ result: own }: ReductionsWrapper, { result: other }: ReductionsWrapper): void {
  expect(own.oracleCalls).to.equal(other.oracleCalls);
  expect(own.bestIteration).to.equal(other.bestIteration);
  for (const [index, weight] of other.weights.entries()) expect(own.weights[index]).to.be.closeTo(weight, 1e-9);
  for (const [index, step] of other.history.entries()) {
    expect(own.history[index]?.error).to.be.closeTo(step.error, 1e-9);
    expect(own.history[index]?.violation).to.be.closeTo(step.violation, 1e-9);
  }
}

describe('ReductionsWrapper', () => {
  for (const constraint of REDUCTION_CONSTRAINTS) {
    it(`keeps the largest violation within its bound and gap: ${constraint}`, async () => {
      for (const groups of [2, 3, 7]) {
        const rows = groupedRows({ groups, seed: 3 });
        const options = constraint === 'bounded_group_loss' ? { upperBound: 0.25 } : { differenceBound: 0.05 };
        const model = await wrap({ constraint, ...options }).fit(rows.x, rows.y, { sensitive: rows.sensitive });
        const { history, bestIteration, bestGap } = model.result;
        const bound = options.upperBound ?? options.differenceBound;
        expect(history[bestIteration]?.violation).to.be.at.most((bound ?? NaN) + bestGap + EXACT);
      }
    });
  }

  it('reports the violation that its predictions have: the largest rate of a group less the overall rate', async () => {
    const model = await wrap({ differenceBound: 0.03 }).fit(x, y, { sensitive });
    const p = await model.predictProba(x);
    const mean = (picked: readonly number[]): number => picked.reduce((sum, row) => sum + (p[row] ?? NaN), 0) / picked.length;
    const all = [...x.keys()];
    const gaps = [...new Set(sensitive)].map((group) => Math.abs(mean(all.filter((row) => sensitive[row] === group)) - mean(all)));
    const { history, bestIteration } = model.result;
    expect(history[bestIteration]?.violation).to.be.closeTo(Math.max(...gaps), EXACT);
    const errors = all.map((row) => (y[row] === 1 ? 1 - (p[row] ?? NaN) : (p[row] ?? NaN)));
    expect(history[bestIteration]?.error).to.be.closeTo(errors.reduce((a, b) => a + b, 0) / all.length, EXACT);
  });

  it('lets two groups differ by twice the bound, and pairwise by no more than it', async () => {
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

  describe('laws', () => {
    it('weights of one equal none', async () => {
      const sampleWeight = new Float64Array(x.length).fill(1);
      const weighted = await wrap().fit(x, y, { sensitive, sampleWeight });
      expect(weighted.result.history).to.deep.equal((await wrap().fit(x, y, { sensitive })).result.history);
    });

    for (const constraint of REDUCTION_CONSTRAINTS) {
      it(`a row of weight 2 counts as two rows, one of weight 0 as none: ${constraint}`, async () => {
        const sampleWeight = x.map((_, row) => row % 3);
        const repeated = [...x.keys()].flatMap((row) => new Array<number>(row % 3).fill(row));
        const take = <T>(values: readonly T[]): T[] => repeated.map((row) => values[row] as T);
        const upperBound = constraint === 'bounded_group_loss' ? 0.25 : undefined;
        const weighted = await wrap({ constraint, upperBound }).fit(x, y, { sensitive, sampleWeight });
        const rows = await wrap({ constraint, upperBound }).fit(take(x), take(y), { sensitive: take(sensitive) });
        expectSame(weighted, rows);
      });
    }

    it('renaming groups changes nothing but names', async () => {
      const names: Record<string, string> = { g0: 'z', g1: 'm', g2: 'a' };
      const renamed = await wrap({ constraint: 'equalized_odds' }).fit(x, y, { sensitive: sensitive.map((name) => names[name]) });
      const plain = await wrap({ constraint: 'equalized_odds' }).fit(x, y, { sensitive });
      expect(renamed.weights).to.deep.equal(plain.weights);
      expect(await renamed.predictProba(x)).to.deep.equal(await plain.predictProba(x));
      expect(Object.values(renamed.lambda)).to.deep.equal(Object.values(plain.lambda));
    });

    it('permuting rows changes nothing beyond rounding', async () => {
      const order = Int32Array.from(x.keys());
      shuffle(order, createRandom(5));
      const take = <T>(values: readonly T[]): T[] => Array.from(order, (row) => values[row] as T);
      expectSame(await wrap().fit(take(x), take(y), { sensitive: take(sensitive) }), await wrap().fit(x, y, { sensitive }));
    });

    it('fitting twice is fitting once', async () => {
      const model = await wrap().fit(x, y, { sensitive });
      const first = model.result;
      await model.fit(x, y, { sensitive });
      expect(model.result.history).to.deep.equal(first.history);
    });

    it('a control feature of one level is none', async () => {
      const one = await wrap().fit(x, y, { sensitive, control: x.map(() => 'all rows') });
      expect(one.weights).to.deep.equal((await wrap().fit(x, y, { sensitive })).weights);
    });

    it('several attributes are crossed', async () => {
      const crossed = await wrap().fit(x, y, {
        sensitive: { group: sensitive, half: x.map((_, row) => (row < 60 ? 'first' : 'second')) },
      });
      expect(Object.keys(crossed.history[0]?.multipliers ?? {})).to.have.lengthOf(12);
    });

    it('asks a question that it has asked before from memory, and counts it', async () => {
      const estimator = new LeastSquares();
      const model = await wrap({ estimator }).fit(x, y, { sensitive });
      expect(estimator.counter.fits).to.equal(model.result.fits);
      expect(model.result.fits).to.be.below(model.oracleCalls);
    });
  });

  describe('predictions', () => {
    it('are 1 as often as the probability says, by seed', async () => {
      const model = await wrap({ differenceBound: 0.02 }).fit(x, y, { sensitive });
      const p = await model.predictProba(x);
      const draws = 400;
      const counts = new Float64Array(x.length);
      for (let seed = 0; seed < draws; seed++) {
        (await model.predict(x, { seed })).forEach((decision, row) => ((counts[row] as number) += decision));
      }
      expect(p.some((value) => value > 0.05 && value < 0.95)).to.equal(true);
      // Six standard errors of a proportion.
      for (const [row, value] of p.entries()) {
        expect((counts[row] ?? NaN) / draws).to.be.closeTo(value, 6 * Math.sqrt((value * (1 - value)) / draws) + EXACT);
      }
    });

    it('are the same for the same seed', async () => {
      const model = await wrap({ seed: 3 }).fit(x, y, { sensitive });
      expect(await model.predict(x)).to.deep.equal(await model.predict(x, { seed: 3 }));
      expect(await model.predict(x)).to.be.instanceOf(Uint8Array);
    });

    it("by row give equal rows equal answers, whatever the other rows: randomization 'row'", async () => {
      const model = await wrap({ differenceBound: 0.02, randomization: 'row' }).fit(x, y, { sensitive });
      const whole = await model.predict(x);
      const doubled = await model.predict([...x.slice(50), ...x]);
      expect([...doubled]).to.deep.equal([...whole.slice(50), ...whole]);
      for (const row of [0, 17, 63]) expect((await model.predict([x[row] ?? []]))[0]).to.equal(whole[row]);
      expect(await model.predict(x, { seed: 1 })).to.not.deep.equal(await model.predict(x, { seed: 2 }));
    });

    it('by row still have the rates of the mixture, to sampling error', async () => {
      const many = groupedRows({ rows: 20_000, seed: 11 });
      const model = await wrap({ differenceBound: 0.02 }).fit(x, y, { sensitive });
      const p = await model.predictProba(many.x);
      const decisions = await model.predict(many.x, { randomization: 'row' });
      const mean = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => a + b, 0) / values.length;
      expect(mean(decisions)).to.be.closeTo(mean(p), 6 * Math.sqrt(0.25 / many.x.length));
    });

    it('under a loss are the values of predictors, each as often as its weight', async () => {
      const model = await wrap({ constraint: 'bounded_group_loss', upperBound: 0.12, eps: 0.01 }).fit(x, y, { sensitive });
      const values = await Promise.all(model.predictors.map((predictor) => predictor.predict(x)));
      const drawn = await model.predict(x);
      for (const [row, value] of drawn.entries()) {
        const matching = values.filter((_, index) => (model.weights[index] ?? 0) > 0).map((each) => each[row]);
        expect(matching).to.include(value);
      }
    });

    it('under a loss have a mean with no larger loss for any group than the draws have', async () => {
      const model = await wrap({ constraint: 'bounded_group_loss', upperBound: 0.12, eps: 0.01 }).fit(x, y, { sensitive });
      const means = await model.predictMean(x);
      const values = await Promise.all(model.predictors.map((predictor) => predictor.predict(x)));
      const cut = (value: number): number => Math.min(1, Math.max(0, value));
      for (const group of new Set(sensitive)) {
        let [ofMean, ofDraws] = [0, 0];
        for (const row of x.keys()) {
          if (sensitive[row] !== group) continue;
          ofMean += ((y[row] ?? NaN) - (means[row] ?? NaN)) ** 2;
          ofDraws += model.weights.reduce((sum, weight, index) => sum + weight * ((y[row] ?? NaN) - cut(values[index]?.[row] ?? NaN)) ** 2, 0);
        }
        expect(ofMean).to.be.at.most(ofDraws + EXACT);
      }
    });

    it('are probabilities for decisions and means for values, and say so', async () => {
      const values = await wrap({ constraint: 'bounded_group_loss' }).fit(x, y, { sensitive });
      expect(String(await failure(values.predictProba(x)))).to.contain('predictMean');
      const decisions = await wrap().fit(x, y, { sensitive });
      expect(String(await failure(decisions.predictMean(x)))).to.contain('predictProba');
      const zeroOne = await wrap({ constraint: 'bounded_group_loss', loss: 'zero_one' }).fit(x, y, { sensitive });
      expect(await zeroOne.predictProba(x)).to.deep.equal(await zeroOne.predictMean(x));
    });
  });

  describe('bestDeterministic', () => {
    it('is the predictor of least error among those within the bound', async () => {
      const model = await wrap({ differenceBound: 0.2 }).fit(x, y, { sensitive });
      const { index, predictor, error, excess } = model.bestDeterministic();
      const { errors, excesses } = model.result;
      expect(predictor).to.equal(model.predictors[index]);
      expect([error, excess]).to.deep.equal([errors[index], excesses[index]]);
      expect(excess).to.be.at.most(EXACT);
      for (const [other, value] of errors.entries()) if ((excesses[other] ?? 1) <= 0) expect(value).to.be.at.least(error);
      const { history, bestIteration, bestGap } = model.result;
      expect(error).to.be.at.least((history[bestIteration]?.error ?? NaN) - bestGap - EXACT);
    });

    it('says by how much the nearest predictor misses the bound, where all do', async () => {
      // Each learner decides by group alone; only a mixture is even.
      const rows = { x: [[0], [0], [1], [1]], y: [0, 0, 1, 1], sensitive: ['a', 'a', 'b', 'b'] };
      const model = wrap({
        estimator: () => ({ fit: () => undefined, predict: (given: number[][]) => given.map(([value = 0]) => value) }),
      });
      await model.fit(rows.x, rows.y, rows);
      const error = await failure(() => model.bestDeterministic());
      expect(error).to.be.instanceOf(TrainingError);
      // A group's rate of 1 is 0.5 above the overall one, and 0.05 are allowed.
      expect((error as TrainingError).context['smallestExcess']).to.be.closeTo(0.45, EXACT);
      expect((error as TrainingError).suggestion).to.contain("'row'");
    });
  });

  describe('class weights', () => {
    const labels = x.map((_, row) => Number(row % 10 === 0));

    it('of an estimator become costs of errors, by the true labels', async () => {
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
      expect(inside.clone().toJSON()).to.deep.equal(new ReductionsWrapper({
        ...options,
        estimator: new LogisticRegression({ precision: 'float64', classWeight: 'balanced' }),
      }).toJSON());
    });

    it('are costs: weights 1 and 3 are a false negative that costs 3', async () => {
      const weighted = await wrap({ classWeight: { 0: 1, 1: 3 } }).fit(x, y, { sensitive });
      const costly = await wrap({ costs: { falsePositive: 1, falseNegative: 3 } }).fit(x, y, { sensitive });
      expect(weighted.result.history).to.deep.equal(costly.result.history);
    });

    it('balanced raise the selection rate of a rare class, within the same bound', async () => {
      const rate = async (classWeight: 'balanced' | null): Promise<number> => {
        const model = await wrap({ classWeight, differenceBound: 0.05 }).fit(x, labels, { sensitive });
        expect(model.history[model.bestIteration]?.violation).to.be.at.most(0.05 + model.bestGap + EXACT);
        return (await model.predictProba(x)).reduce((a, b) => a + b, 0) / x.length;
      };
      expect(await rate('balanced')).to.be.above(await rate(null));
    });

    it('are refused where they are given twice, or weigh a loss', () => {
      const estimator = new LogisticRegression({ classWeight: 'balanced' });
      expect(() => new ReductionsWrapper({ estimator, classWeight: 'balanced' })).to.throw(ValueError, 'both');
      expect(() => new ReductionsWrapper({ estimator, constraint: 'bounded_group_loss', loss: 'zero_one' })).to.throw(ValueError, 'bounded_group_loss');
    });
  });

  describe('at the edges', () => {
    it('learns constants where all labels are one', async () => {
      const ones = x.map(() => 1);
      const model = await wrap().fit(x, ones, { sensitive });
      expect(new Set(await model.predictProba(x))).to.deep.equal(new Set([1]));
      expect(model.result.constantAnswers).to.be.above(0);
      expect(model.bestGap).to.equal(0);
    });

    it('stops as soon as it may where the first predictor is perfect', async () => {
      const groups = y.map((_, row) => `g${row % 2}`);
      const model = await wrap({ estimator: new TableLearner(), differenceBound: 1 }).fit(y.map((label) => [label]), y, { sensitive: groups });
      expect(model.lastIteration).to.equal(5);
      expect(model.history.at(-1)?.error).to.equal(0);
    });

    it('takes one iteration', async () => {
      const model = await wrap({ T: 1 }).fit(x, y, { sensitive });
      expect([model.lastIteration, model.weights]).to.deep.equal([0, [1]]);
    });

    it('takes small weights that sum to 1 as it takes weights', async () => {
      const sampleWeight = x.map(() => 1 / x.length);
      const model = await wrap().fit(x, y, { sensitive, sampleWeight });
      expectSame(model, await wrap().fit(x, y, { sensitive }));
    });

    it('warns of a group without positives, and leaves it unconstrained there', async () => {
      const labels = y.map((label, row) => (sensitive[row] === 'g1' ? 0 : label));
      const model = await wrap({ constraint: 'true_positive_rate_parity' }).fit(x, labels, { sensitive });
      expect(model.warnings).to.deep.equal(['1 of 3 groups have no rows in the event label=1 and are not constrained there']);
      expect(model.history.every(({ error, gap, violation }) => [error, gap, violation].every(Number.isFinite))).to.equal(true);
    });

    const BAD_ROWS: readonly [string, unknown, unknown, ReductionFitOptions, string][] = [
      ['one group', x, y, { sensitive: x.map(() => 'all') }, 'only one'],
      ['one group with weight', x, y, { sensitive, sampleWeight: sensitive.map((group) => Number(group === 'g0')) }, 'only one'],
      ['no rows', [], [], { sensitive: [] }, 'no rows'],
      ['a label of 2', x, y.map(() => 2), { sensitive }, '2 at index 0'],
      ['text labels', x, y.map(() => 'yes'), { sensitive }, "'yes'"],
      ['a missing label', x, y.with(4, NaN), { sensitive }, 'index 4'],
      ['a missing group', x, y, { sensitive: sensitive.with(9, null as unknown as string) }, 'sensitive is missing at index 9'],
      ['a missing control', x, y, { sensitive, control: sensitive.with(9, null as unknown as string) }, 'control is missing at index 9'],
      ['a missing feature', x.with(3, [NaN, 0, 1]), y, { sensitive }, 'row 4, column 1'],
      ['too few groups', x, y, { sensitive: sensitive.slice(1) }, '119'],
      ['a negative weight', x, y, { sensitive, sampleWeight: y.map(() => -1) }, '-1 at index 0'],
      ['weights of 0', x, y, { sensitive, sampleWeight: y.map(() => 0) }, '0 in every row'],
    ];
    for (const [title, features, labels, options, message] of BAD_ROWS) {
      it(`refuses ${title}`, async () => {
        const error = await failure(wrap().fit(features as number[][], labels as number[], options));
        expect(error).to.be.instanceOf(DataValidationError);
        expect((error as Error).message).to.contain(message);
      });
    }

    it('refuses a true positive rate without positives', async () => {
      const error = await failure(wrap({ constraint: 'true_positive_rate_parity' }).fit(x, y.map(() => 0), { sensitive }));
      expect(error).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.contain('label=1');
    });

    it("refuses targets outside [0, 1] for the loss 'zero_one'", async () => {
      const error = await failure(wrap({ constraint: 'bounded_group_loss', loss: 'zero_one' }).fit(x, y.with(2, 1.5), { sensitive }));
      expect((error as Error).message).to.contain('1.5 at index 2');
    });

    it('holds one group to a bounded loss', async () => {
      const model = await wrap({ constraint: 'bounded_group_loss', upperBound: 0.5 }).fit(x, y, { sensitive: x.map(() => 'all') });
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
      ['a seed that is no number', { seed: NaN }, 'seed'],
    ];
    for (const [title, options, parameter] of WRONG) {
      it(`refuses ${title}`, () => {
        expect(() => new ReductionsWrapper(options)).to.throw(ValueError, `The ${parameter} parameter must`);
      });
    }

    it('names the constraints it knows', () => {
      expect(() => new ReductionsWrapper({ constraint: 'parity' as 'demographic_parity' })).to.throw(ValueError, REDUCTION_CONSTRAINTS.join(', '));
    });

    it('has nothing to tell before fit', async () => {
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

    it('passes an error of the estimator on, and learns nothing', async () => {
      const model = wrap({ estimator: () => ({ fit: () => Promise.reject(new Error('no memory')), predict: () => [] }) });
      expect(((await failure(model.fit(x, y, { sensitive }))) as Error).message).to.contain('no memory');
      expect(() => model.result).to.throw(TrainingError);
    });
  });

  describe('saving', () => {
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
      const model = await new ReductionsWrapper({ estimator }).fit(x, x.map(() => 0), { sensitive });
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
});
