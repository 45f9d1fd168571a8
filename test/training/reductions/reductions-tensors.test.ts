import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { withTensors } from '../../../src/metrics/reduce/tensors/row-states.ts';
import { countReads, loadTensorflow } from '../../../src/tensor/index.ts';
import { adaptEstimator } from '../../../src/training/estimators/adapt-estimator.ts';
import { LinearRegression } from '../../../src/training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { parseConstraint } from '../../../src/training/reductions/constraint-options.ts';
import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import { poseTensorProblem, readTensorReductionRows } from '../../../src/training/reductions/pose-tensor-problem.ts';
import type { ReductionsOptions } from '../../../src/training/reductions/reductions-options.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';
import { LeastSquares } from './least-squares.ts';
import { groupedRows } from './random-rows.ts';
import { costsOf, ourName, readSmoke } from './smoke-inputs.ts';
import { onTensors, TensorLeastSquares, type TensorRows } from './tensor-rows.ts';
import { failure } from './wrapped-learner.ts';

/** The largest deviation of float32 sums on tensors from the published float64 values. */
const TOLERANCE = 1e-5;

/** Activates a backend, and checks that each test disposes of its tensors. */
function onBackend(backend: (typeof TESTED_BACKENDS)[number]): void {
  let tensors = 0;
  before(async () => {
    await loadTensorflow({ backend });
    tensors = tf.memory().numTensors;
  });
  afterEach('leaves no tensor behind', () => {
    expect(tf.memory().numTensors).to.equal(tensors);
  });
}

async function using<T>(rows: TensorRows, work: (rows: TensorRows) => Promise<T>): Promise<T> {
  try {
    return await work(rows);
  } finally {
    rows.dispose();
  }
}

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `reductions of tensors on ${backend}`, () => {
    onBackend(backend);

    describeWithReference('the cases of fairlearn', () => {
      const { rows, classification, regression } = readSmoke();
      for (const published of classification) {
        const { constraint, eps, flipped_labels: isFlipped, objective_costs: costs, computed } = published;
        it(`${constraint} ${eps}${isFlipped ? ', flipped labels' : ''}${costs === undefined ? '' : ', costs'}`, async () => {
          const labels = rows.labels.map((label) => (isFlipped ? 1 - label : label));
          const model = new ReductionsWrapper({
            estimator: new TensorLeastSquares(),
            constraint: ourName(constraint),
            eps,
            costs: costsOf(published),
          });
          await using(onTensors(rows.x, labels, rows.sensitive), async ({ x, y, sensitive }) => {
            const { result } = await model.fit(x, y, { sensitive });
            const best = result.history[result.bestIteration];
            expect([result.lastIteration, result.bestIteration]).to.deep.equal([published.last_iter, published.best_iter]);
            expect(result.oracleCalls).to.equal(published.n_oracle_calls);
            expect(result.constantAnswers).to.equal(published.n_oracle_calls_dummy_returned);
            expect(result.predictors).to.have.lengthOf(published.n_predictors);
            expect(best?.error).to.be.closeTo(published.error, TOLERANCE);
            expect(best?.violation).to.be.closeTo(published.disp, TOLERANCE);
            expect(result.nu).to.be.closeTo(computed.nu, TOLERANCE);
            expect(result.bestGap).to.be.closeTo(computed.best_gap, TOLERANCE);
            const probabilities = await model.predictProba(x);
            for (const [row, value] of computed.predict_prob.entries()) {
              expect(probabilities[row]).to.be.closeTo(value, TOLERANCE);
            }
          });
        });
      }

      for (const { upper_bound: upperBound, loss, eps, weights, ...published } of regression) {
        it(`bounded group loss ${upperBound}, ${loss.type}`, async () => {
          const names = { SquareLoss: 'square', AbsoluteLoss: 'absolute', ZeroOneLoss: 'zero_one' } as const;
          const model = new ReductionsWrapper({
            estimator: new TensorLeastSquares({ isClassifier: false }),
            constraint: 'bounded_group_loss',
            loss: names[loss.type as keyof typeof names],
            upperBound,
            eps,
            T: published.max_iter,
            nu: published.nu,
          });
          await using(onTensors(rows.x, rows.regressionTargets, rows.sensitive), async ({ x, y, sensitive }) => {
            const { result } = await model.fit(x, y, { sensitive });
            expect([result.lastIteration, result.bestIteration]).to.deep.equal([published.last_iter, published.best_iter]);
            expect(result.predictors).to.have.lengthOf(published.n_predictors);
            expect(result.bestGap).to.be.closeTo(published.best_gap, TOLERANCE);
            for (const [index, weight] of result.weights.entries()) {
              expect(weight).to.be.closeTo(weights[index] ?? NaN, TOLERANCE);
            }
          });
        });
      }
    });
  });
}
