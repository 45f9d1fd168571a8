import { expect } from 'chai';
import { TrainingError } from '../../../src/exceptions/index.ts';
import { failure, wrap } from './wrapped-learner.ts';
import { groupedRows } from './random-rows.ts';

const EXACT = 1e-12;
const { x, y, sensitive } = groupedRows();

describe('predictions of ReductionsWrapper', () => {
  it('are 1 as often as the probability states, by seed', async () => {
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

  it("give equal rows equal predictions, regardless of the other rows: randomization 'row'", async () => {
    const model = await wrap({ differenceBound: 0.02, randomization: 'row' }).fit(x, y, { sensitive });
    const complete = await model.predict(x);
    const doubled = await model.predict([...x.slice(50), ...x]);
    expect([...doubled]).to.deep.equal([...complete.slice(50), ...complete]);
    for (const row of [0, 17, 63]) expect((await model.predict([x[row] ?? []]))[0]).to.equal(complete[row]);
    expect(await model.predict(x, { seed: 1 })).to.not.deep.equal(await model.predict(x, { seed: 2 }));
  });

  it('have the rates of the mixture up to sampling error with randomization by row', async () => {
    const many = groupedRows({ rows: 20_000, seed: 11 });
    const model = await wrap({ differenceBound: 0.02 }).fit(x, y, { sensitive });
    const p = await model.predictProba(many.x);
    const decisions = await model.predict(many.x, { randomization: 'row' });
    const mean = (values: ArrayLike<number>): number => Array.from(values).reduce((a, b) => a + b, 0) / values.length;
    expect(mean(decisions)).to.be.closeTo(mean(p), 6 * Math.sqrt(0.25 / many.x.length));
  });

  it('are the values of predictors under a loss, each as often as its weight', async () => {
    const model = await wrap({ constraint: 'bounded_group_loss', upperBound: 0.12, eps: 0.01 }).fit(x, y, {
      sensitive,
    });
    const values = await Promise.all(model.predictors.map((predictor) => predictor.predict(x)));
    const drawn = await model.predict(x);
    for (const [row, value] of drawn.entries()) {
      const matching = values.filter((_, index) => (model.weights[index] ?? 0) > 0).map((each) => each[row]);
      expect(matching).to.include(value);
    }
  });

  it('have a mean under a loss whose loss is for no group larger than that of the draws', async () => {
    const model = await wrap({ constraint: 'bounded_group_loss', upperBound: 0.12, eps: 0.01 }).fit(x, y, {
      sensitive,
    });
    const means = await model.predictMean(x);
    const values = await Promise.all(model.predictors.map((predictor) => predictor.predict(x)));
    const cut = (value: number): number => Math.min(1, Math.max(0, value));
    for (const group of new Set(sensitive)) {
      let [ofMean, ofDraws] = [0, 0];
      for (const row of x.keys()) {
        if (sensitive[row] !== group) continue;
        ofMean += ((y[row] ?? NaN) - (means[row] ?? NaN)) ** 2;
        ofDraws += model.weights.reduce(
          (sum, weight, index) => sum + weight * ((y[row] ?? NaN) - cut(values[index]?.[row] ?? NaN)) ** 2,
          0,
        );
      }
      expect(ofMean).to.be.at.most(ofDraws + EXACT);
    }
  });

  it('are probabilities for decisions and means for values; errors explain this', async () => {
    const values = await wrap({ constraint: 'bounded_group_loss' }).fit(x, y, { sensitive });
    expect(String(await failure(values.predictProba(x)))).to.contain('predictMean');
    const decisions = await wrap().fit(x, y, { sensitive });
    expect(String(await failure(decisions.predictMean(x)))).to.contain('predictProba');
    const zeroOne = await wrap({ constraint: 'bounded_group_loss', loss: 'zero_one' }).fit(x, y, { sensitive });
    expect(await zeroOne.predictProba(x)).to.deep.equal(await zeroOne.predictMean(x));
  });

  describe('bestDeterministic', () => {
    it('is the predictor of least error among those within the bound', async () => {
      const model = await wrap({ differenceBound: 0.2 }).fit(x, y, { sensitive });
      const { index, predictor, error, excess } = model.bestDeterministic();
      const { errors, excesses } = model.result;
      expect(predictor).to.equal(model.predictors[index]);
      expect([error, excess]).to.deep.equal([errors[index], excesses[index]]);
      expect(excess).to.be.at.most(EXACT);
      for (const [other, value] of errors.entries())
        if ((excesses[other] ?? 1) <= 0) expect(value).to.be.at.least(error);
      const { history, bestIteration, bestGap } = model.result;
      expect(error).to.be.at.least((history[bestIteration]?.error ?? NaN) - bestGap - EXACT);
    });

    it('reports by how much the nearest predictor misses the bound, if all do', async () => {
      // Each learner decides only by group; only a mixture satisfies the constraint.
      const rows = { x: [[0], [0], [1], [1]], y: [0, 0, 1, 1], sensitive: ['a', 'a', 'b', 'b'] };
      const model = wrap({
        estimator: () => ({ fit: () => undefined, predict: (given: number[][]) => given.map(([value = 0]) => value) }),
      });
      await model.fit(rows.x, rows.y, { sensitive: rows.sensitive });
      const error = await failure(() => model.bestDeterministic());
      expect(error).to.be.instanceOf(TrainingError);
      // A group's rate of 1 is 0.5 above the overall rate, and 0.05 is allowed.
      expect((error as TrainingError).context['smallestExcess']).to.be.closeTo(0.45, EXACT);
      expect((error as TrainingError).suggestion).to.contain("'row'");
    });
  });
});
