import { expect } from 'chai';

import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { encodeGroups } from '../../../src/table/index.ts';
import { readMatrix } from '../../../src/training/data/read-matrix.ts';
import { parseConstraint } from '../../../src/training/reductions/constraint-options.ts';
import { exponentiatedGradient } from '../../../src/training/reductions/exponentiated-gradient.ts';
import { createOracle } from '../../../src/training/reductions/oracle.ts';
import type { ReductionProblem } from '../../../src/training/reductions/reduction-problem.ts';
import { poseProblem } from '../../../src/training/reductions/pose-problem.ts';
import type { ReductionConstraint } from '../../../src/training/reductions/constraint-names.ts';
import { describeWithReference } from '../../helpers/reference.ts';
import { LeastSquares } from './least-squares.ts';
import { costsOf, ourName, readSmoke } from './smoke-inputs.ts';

const EXACT = 1e-12;

/** The values that fairlearn prints for a run: gap, iterations, violation, error, calls, constants, predictors. */
type Published = readonly [
  constraint: ReductionConstraint,
  eps: number,
  disp: number,
  error: number,
  calls: number,
  dummies: number,
  predictors: number,
];

/** The cases of fairlearn's own smoke test with ratio_bound 0.8 and ratio_bound_slack eps; its tolerance is 1e-6. */
const RATIO_CASES: readonly Published[] = [
  ['demographic_parity', 0.1, -0.02, 0.25, 17, 12, 2],
  ['demographic_parity', 0.05, -0.02, 0.25, 17, 12, 2],
  ['demographic_parity', 0.02, -0.02, 0.25, 17, 12, 2],
  ['demographic_parity', 0.01, -0.02, 0.25, 17, 12, 2],
  ['demographic_parity', 0.005, -0.02, 0.25, 17, 12, 2],
  ['equalized_odds', 0.1, 0.1, 0.25, 22, 12, 4],
  ['equalized_odds', 0.05, 0.05, 0.277016, 22, 12, 4],
  ['equalized_odds', 0.02, 0.02, 0.296612, 22, 12, 4],
  ['equalized_odds', 0.01, 0.01, 0.303145, 22, 12, 4],
  ['equalized_odds', 0.005, 0.005, 0.306411, 22, 12, 4],
  ['error_rate_parity', 0.1, 0.092857, 0.25, 17, 0, 3],
  ['error_rate_parity', 0.05, 0.05, 0.253472, 26, 0, 6],
  ['error_rate_parity', 0.02, 0.02, 0.268055, 26, 0, 5],
  ['error_rate_parity', 0.01, 0.01, 0.272916, 26, 0, 5],
  ['error_rate_parity', 0.005, 0.005, 0.275347, 26, 0, 5],
  // Not in that test; computed with fairlearn 0.12.0 on the same rows.
  ['true_positive_rate_parity', 0.1, -0.2, 0.25, 16, 0, 1],
  ['true_positive_rate_parity', 0.005, -0.01818181818, 0.25, 17, 0, 2],
  ['false_positive_rate_parity', 0.05, 0.05, 0.27701612903, 22, 12, 4],
];

/** Computed with fairlearn 0.12.0 on the smoke test's rows; every third row has control 'hi', the others 'lo'. */
const CONTROL_CASES: readonly Published[] = [
  ['demographic_parity', 0.1, 0.1, 0.2944520547945205, 19, 0, 5],
  ['demographic_parity', 0.02, 0.02, 0.418890410958904, 19, 0, 5],
  ['equalized_odds', 0.1, 0.1, 0.39392857142857146, 19, 0, 7],
  ['equalized_odds', 0.02, 0.02, 0.43878571428571433, 19, 0, 7],
];

/**
 * The same, for runs in which a learner's score equals its threshold to the last bit. Rounding then determines the
 * path of the search, so only the results are compared: bound, violation, error.
 */
const TIED_CONTROL_CASES: readonly (readonly [number, number, number])[] = [
  [0.1, 0.1, 0.26545454545454544],
  [0.02, 0.02, 0.41477358490566035],
];

/**
 * The first three multipliers of the 30th iteration in fairlearn 0.12.0 with nu=0 and max_iter=30, then its oracle
 * calls and predictors. They depend on all earlier learning rates.
 */
const LONG_RUNS: readonly (readonly [ReductionConstraint, number, readonly number[], number, number])[] = [
  ['demographic_parity', 0.1, [0.9664378723150185, 1.655573460765096, 1.333953982183286], 68, 3],
  ['demographic_parity', 0.02, [6.722321781023012, 7.48642021119873, 7.169893069114046], 70, 5],
  ['equalized_odds', 0.02, [3.601355864012107, 4.156376814769499, 3.8532247821132284], 75, 8],
  ['error_rate_parity', 0.02, [6.829303172524315, 7.23091439853518, 7.3279722046673665], 69, 4],
];

describeWithReference('exponentiated gradient, the cases of fairlearn', () => {
  const { rows, classification, regression, tolerance } = readSmoke();
  const { x, sensitive } = rows;

  it('reads all cases', () => {
    expect([classification.length, regression.length]).to.deep.equal([22, 4]);
  });

  for (const published of classification) {
    const { constraint, eps, flipped_labels: isFlipped, objective_costs: costs, computed } = published;
    const title = `${constraint} ${eps}${isFlipped ? ', flipped labels' : ''}${costs === undefined ? '' : ', costs'}`;
    it(title, async () => {
      const labels = rows.labels.map((label) => (isFlipped ? 1 - label : label));
      const model = new ReductionsWrapper({
        estimator: new LeastSquares(),
        constraint: ourName(constraint),
        eps,
        costs: costsOf(published),
      });
      await model.fit(x, labels, { sensitive });
      const { result } = model;
      const best = result.history[result.bestIteration];
      expect([result.lastIteration, result.bestIteration]).to.deep.equal([published.last_iter, published.best_iter]);
      expect(result.oracleCalls).to.equal(published.n_oracle_calls);
      expect(result.constantAnswers).to.equal(published.n_oracle_calls_dummy_returned);
      expect(result.predictors).to.have.lengthOf(published.n_predictors);
      expect(result.bestGap).to.be.closeTo(published.best_gap, tolerance);
      expect(best?.error).to.be.closeTo(published.error, tolerance);
      expect(best?.violation).to.be.closeTo(published.disp, tolerance);
      expect(result.nu).to.be.closeTo(computed.nu, EXACT);
      expect(result.bestGap).to.be.closeTo(computed.best_gap, EXACT);
      for (const [index, weight] of computed.weights.entries()) {
        expect(result.weights[index]).to.be.closeTo(weight, EXACT);
      }
      for (const [index, coefficients] of computed.predictor_coefs.entries()) {
        const own = (result.predictors[index] as LeastSquares).coefficients;
        for (const [column, value] of coefficients.entries()) expect(own[column]).to.be.closeTo(value, EXACT);
      }
      const probabilities = await model.predictProba(x);
      for (const [row, value] of computed.predict_prob.entries())
        expect(probabilities[row]).to.be.closeTo(value, EXACT);
    });
  }

  for (const published of regression) {
    const { upper_bound: upperBound, loss, eps, weights, error, disp } = published;
    it(`bounded group loss ${upperBound}, ${loss.type}`, async () => {
      const names = { SquareLoss: 'square', AbsoluteLoss: 'absolute', ZeroOneLoss: 'zero_one' } as const;
      const model = new ReductionsWrapper({
        estimator: new LeastSquares({ isClassifier: false }),
        constraint: 'bounded_group_loss',
        loss: names[loss.type as keyof typeof names],
        upperBound,
        eps,
        T: published.max_iter,
        nu: published.nu,
      });
      await model.fit(x, rows.regressionTargets, { sensitive });
      const { result } = model;
      expect([result.lastIteration, result.bestIteration]).to.deep.equal([published.last_iter, published.best_iter]);
      expect(result.oracleCalls).to.equal(published.n_oracle_calls);
      expect(result.constantAnswers).to.equal(published.n_oracle_calls_dummy_returned);
      expect(result.predictors).to.have.lengthOf(published.n_predictors);
      expect(result.bestGap).to.be.closeTo(published.best_gap, tolerance);
      for (const [index, weight] of result.weights.entries()) {
        expect(weight).to.be.closeTo(weights[index] ?? NaN, tolerance);
        // fairlearn calls only the predictors that have weight; for the others it prints the losses of a constant 0.
        if (weight === 0) continue;
        expect(result.errors[index]).to.be.closeTo(error[index] ?? NaN, tolerance);
        expect((result.excesses[index] ?? NaN) + upperBound).to.be.closeTo(disp[index] ?? NaN, tolerance);
      }
    });
  }

  const expectPublished = (
    { result }: ReductionsWrapper,
    [, , disp, error, calls, dummies, count]: Published,
  ): void => {
    const best = result.history[result.bestIteration];
    expect([result.lastIteration, result.bestIteration]).to.deep.equal([5, 5]);
    expect([result.oracleCalls, result.constantAnswers]).to.deep.equal([calls, dummies]);
    expect(result.predictors).to.have.lengthOf(count);
    expect(result.bestGap).to.be.closeTo(0, 1e-6);
    expect(best?.violation).to.be.closeTo(disp, 1e-6);
    expect(best?.error).to.be.closeTo(error, 1e-6);
  };

  for (const published of RATIO_CASES) {
    const [constraint, eps] = published;
    it(`${constraint} with a ratio of 0.8 and a slack of ${eps}`, async () => {
      const estimator = new LeastSquares();
      const model = new ReductionsWrapper({ estimator, constraint, eps, ratioBound: 0.8, ratioBoundSlack: eps });
      expectPublished(await model.fit(x, rows.labels, { sensitive }), published);
    });
  }

  const control = x.map((_, row) => (row % 3 === 0 ? 'hi' : 'lo'));
  for (const published of CONTROL_CASES) {
    const [constraint, eps] = published;
    it(`${constraint} ${eps} within the levels of a control feature`, async () => {
      const model = new ReductionsWrapper({ estimator: new LeastSquares(), constraint, eps });
      expectPublished(await model.fit(x, rows.labels, { sensitive, control }), published);
    });
  }

  for (const [eps, violation, error] of TIED_CONTROL_CASES) {
    it(`error_rate_parity ${eps} within the levels of a control feature, the result`, async () => {
      const model = new ReductionsWrapper({ estimator: new LeastSquares(), constraint: 'error_rate_parity', eps });
      const { result } = await model.fit(x, rows.labels, { sensitive, control });
      expect(result.bestGap).to.be.closeTo(0, EXACT);
      expect(result.history[result.bestIteration]?.error).to.be.closeTo(error, EXACT);
      expect(result.history[result.bestIteration]?.violation).to.be.closeTo(violation, EXACT);
    });
  }

  for (const [constraint, eps, multipliers, calls, count] of LONG_RUNS) {
    it(`${constraint} ${eps} up to the 30th iteration, with the same multipliers`, async () => {
      const problem = poseProblem(parseConstraint({ constraint }, eps), {
        x: await readMatrix(x),
        y: Float64Array.from(rows.labels),
        weights: new Float64Array(x.length).fill(1),
        groups: encodeGroups([...sensitive]),
        control: undefined,
      });
      const asked: Float64Array[] = [];
      const recorded: ReductionProblem = {
        ...problem,
        respond(given) {
          asked.push(given);
          return problem.respond(given);
        },
      };
      const oracle = createOracle({
        estimator: new LeastSquares(),
        x: await readMatrix(x),
        signal: undefined,
        predicts: 'decisions',
      });
      const found = await exponentiatedGradient(recorded, oracle, {
        eps,
        iterations: 30,
        nu: 0,
        eta0: 2,
        onProgress: undefined,
      });
      expect([found.oracleCalls, found.members.length]).to.deep.equal([calls, count]);
      const distances = asked.map((given) =>
        Math.max(...multipliers.map((value, position) => Math.abs(value - (given[position] ?? NaN)))),
      );
      expect(Math.min(...distances)).to.be.below(1e-9);
    });
  }
});
