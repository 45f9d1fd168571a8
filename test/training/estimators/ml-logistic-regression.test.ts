import { createRequire } from 'node:module';

import { expect } from 'chai';
import { Matrix } from 'ml-matrix';

import { TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import {
  MlLogisticRegression,
  type MlLogisticRegressionOptions,
} from '../../../src/training/estimators/ml-logistic-regression.ts';
import { largestDistance } from './definitions.ts';

/** The parts of the package that are used here. */
interface MlModel {
  train(x: Matrix, y: Matrix): void;
  readonly classifiers: { testScores(x: Matrix): number[] }[];
}
const Package = createRequire(import.meta.url)('ml-logistic-regression') as new (options: object) => MlModel;

function makeRows(rows: number, seed: number) {
  const random = createRandom(seed);
  const x = Array.from({ length: rows }, () => [random.normal(), random.normal()]);
  const y = x.map(([a = 0, b = 0]) => Number(a - b + random.normal() > 0.3));
  return { x, y, weights: x.map(() => 2 * random.next()) };
}

describe('MlLogisticRegression', () => {
  const { x, y, weights } = makeRows(120, 1);

  it("returns the package's own scores on rows with a column of ones", async () => {
    const options = { numSteps: 70, learningRate: 0.004 };
    const theirs = new Package(options);
    const widened = new Matrix(x.map((row) => [...row, 1]));
    theirs.train(widened, Matrix.columnVector(y));
    const model = await new MlLogisticRegression(options).fit(x, y);
    const probabilities = await model.predictProba(x);
    expect(largestDistance(probabilities, theirs.classifiers[0]?.testScores(widened) ?? [])).to.be.below(1e-14);
  });

  it('converges to the result of Newton, also with fractional weights', async () => {
    const model = await new MlLogisticRegression({ numSteps: 3000 }).fit(x, y, { sampleWeight: weights });
    const newton = new LogisticRegression({ l2: 0, precision: 'float64' });
    await newton.fit(x, y, { sampleWeight: weights });
    expect(largestDistance(model.coefficients, newton.coefficients)).to.be.below(1e-9);
    expect([model.converged, model.warnings, model.iterations]).to.deep.equal([true, [], 3000]);
  });

  it('warns if it stopped before it converged', async () => {
    const model = await new MlLogisticRegression({ numSteps: 3 }).fit(x, y);
    expect(model.converged).to.equal(false);
    expect(model.warnings.join()).to.match(/mean gradient of 0\.\d+ is left after 3 steps; increase numSteps/);
  });

  it('reports steps that are so long that values overflow', async () => {
    const failure = await new MlLogisticRegression({ numSteps: 5, learningRate: 1e308 })
      .fit([[10], [-20], [30]], [0, 1, 1])
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(TrainingError);
    expect((failure as TrainingError).suggestion).to.match(/learningRate/);
  });

  const refusals: [MlLogisticRegressionOptions, RegExp][] = [
    [{ numSteps: 0 }, /numSteps parameter must be a whole number above 0\. Got 0 instead/],
    [{ numSteps: 2.5 }, /numSteps/],
    [{ learningRate: 0 }, /learningRate parameter must be above 0/],
    [{ learningRate: Infinity }, /learningRate/],
  ];
  for (const [options, message] of refusals) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new MlLogisticRegression(options)).to.throw(ValueError, message);
    });
  }
});
