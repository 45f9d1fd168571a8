import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import { FixedMatrix } from '../../../src/training/data/read-matrix.ts';
import { ConstantClassifier } from '../../../src/training/estimators/constant-classifier.ts';
import {
  LogisticRegression,
  type LogisticRegressionOptions,
} from '../../../src/training/estimators/logistic-regression.ts';
import { projectRoot } from '../../helpers/project-files.ts';
import { largestDistance, objectiveOf, scaledSlopesOf } from './definitions.ts';
import { makeRows } from './mixed-rows.ts';

const PRECISIONS: LogisticRegressionOptions[] = [{ precision: 'float64' }, { precision: 'float32', backend: 'wasm' }];

describe('LogisticRegression', () => {
  for (const how of PRECISIONS) {
    describe(`in ${how.precision}`, () => {
      const precise = how.precision === 'float64';

      it('has the log odds ratio as the coefficient of one binary feature', async () => {
        // 30 of 40 against 20 of 80: log odds log 3 and -log 3.
        const x = [...Array<number[]>(40).fill([1]), ...Array<number[]>(80).fill([0])];
        const y = x.map((_, row) => Number(row < 30 || (row >= 40 && row < 60)));
        const model = await new LogisticRegression({ l2: 0, ...how }).fit(x, y);
        const tolerance = precise ? 1e-12 : 1e-6;
        expect(model.coefficients[0]).to.be.closeTo(2 * Math.log(3), tolerance);
        expect(model.intercept).to.be.closeTo(-Math.log(3), tolerance);
        const cells = 30 * Math.log(0.75) + 10 * Math.log(0.25) + 20 * Math.log(0.25) + 60 * Math.log(0.75);
        expect(model.deviance).to.be.closeTo(-2 * cells, precise ? 1e-10 : 1e-4);
        expect([model.converged, model.warnings]).to.deep.equal([true, []]);
      });

      it('predicts the log odds of the labels if the features carry no information', async () => {
        const model = await new LogisticRegression(how).fit([[5], [5], [5], [5]], [1, 1, 1, 0]);
        expect(model.intercept).to.be.closeTo(Math.log(3), 1e-6);
        expect([...model.coefficients]).to.deep.equal([0]);
      });

      for (const l2 of [0, 0.1, 1, 50]) {
        it(`has a zero gradient at its solution, l2 = ${l2}`, async () => {
          const rows = makeRows(1000);
          const model = await new LogisticRegression({ l2, ...how }).fit(rows.x, rows.y, {
            sampleWeight: rows.weights,
          });
          // Per unit of weight and of each feature's root mean square.
          expect(Math.max(...scaledSlopesOf(rows, model, l2))).to.be.below(precise ? 1e-12 : 1e-5);
          expect(model.converged).to.equal(true);
        });
      }

      it('stops at maxIterations and warns', async () => {
        const { x, y } = makeRows(300);
        const model = await new LogisticRegression({ maxIterations: 1, ...how }).fit(x, y);
        expect([model.iterations, model.converged]).to.deep.equal([1, false]);
        expect(model.warnings).to.deep.equal(['not converged after 1 iterations']);
      });

      it('needs fewer steps from a close start, and not more from a distant start', async () => {
        const { x, y } = makeRows(500);
        const cold = await new LogisticRegression(how).fit(x, y);
        const near = await cold.clone().fit(x, y, { startFrom: cold });
        const opposite = await new LogisticRegression({ l2: 0, ...how }).fit(
          x,
          y.map((label) => 1 - label),
        );
        const far = await cold.clone().fit(x, y, { startFrom: opposite });
        expect(near.iterations).to.equal(1);
        expect(far.iterations).to.equal(cold.iterations);
        expect(largestDistance(near.coefficients, cold.coefficients)).to.be.below(precise ? 1e-9 : 1e-2);
      });

      it('ignores a start that does not fit', async () => {
        const { x, y } = makeRows(100);
        const cold = await new LogisticRegression(how).fit(x, y);
        const narrow = await new LogisticRegression(how).fit(
          x.map(([a = 0]) => [a]),
          y,
        );
        for (const startFrom of [narrow, new LogisticRegression(how), new ConstantClassifier(1)]) {
          const model = await cold.clone().fit(x, y, { startFrom });
          expect([...model.coefficients]).to.deep.equal([...cold.coefficients]);
        }
      });

      it('is not affected by a start that was fitted on only one class', async () => {
        const { x, y } = makeRows(200);
        const startFrom = await new LogisticRegression(how).fit(
          x,
          y.map(() => 1),
        );
        expect([startFrom.intercept, startFrom.iterations, startFrom.converged]).to.deep.equal([37, 0, true]);
        expect(startFrom.warnings).to.deep.equal(['y is 1 in every row, so the model always predicts 1']);
        const cold = await new LogisticRegression(how).fit(x, y);
        expect((await cold.clone().fit(x, y, { startFrom })).toJSON()).to.deep.equal(cold.toJSON());
      });

      it('gives the same result on a matrix with fixed values', async () => {
        const { x, y } = makeRows(200);
        const matrix = new FixedMatrix({ rows: x.length, columns: 7, values: Float64Array.from(x.flat()) });
        const plain = await new LogisticRegression(how).fit(x, y);
        for (let time = 0; time < 2; time++) {
          expect((await plain.clone().fit(matrix, y)).toJSON()).to.deep.equal(plain.toJSON());
        }
      });
    });
  }

  it('equals in float32 the result in float64, to 1e-4 of the largest coefficient', async () => {
    const { x, y, weights } = makeRows(20_000);
    const [exact, quick] = await Promise.all(
      PRECISIONS.map((how) => new LogisticRegression(how).fit(x, y, { sampleWeight: weights })),
    );
    expect(largestDistance(exact?.coefficients ?? [], quick?.coefficients ?? [])).to.be.below(
      1e-4 * Math.max(...(exact?.coefficients ?? []).map(Math.abs)),
    );
    const probabilities = [await exact?.predictProba(x), await quick?.predictProba(x)];
    expect(largestDistance(probabilities[0] ?? [], probabilities[1] ?? [])).to.be.below(1e-5);
  });

  it('applies class weights as weights of rows', async () => {
    const { x, y, weights = [] } = makeRows(300);
    const fit = (options: LogisticRegressionOptions, sampleWeight: readonly number[]) =>
      new LogisticRegression({ precision: 'float64', ...options }).fit(x, y, { sampleWeight });
    const mapped = await fit({ classWeight: { 0: 3, 1: 0.5 } }, weights);
    const byHand = await fit(
      {},
      weights.map((weight, row) => weight * (y[row] === 1 ? 0.5 : 3)),
    );
    expect(largestDistance(mapped.coefficients, byHand.coefficients)).to.be.below(1e-12);
    const oneOnly = await fit({ classWeight: { 1: 4 } }, weights);
    const oneByHand = await fit(
      {},
      weights.map((weight, row) => weight * (y[row] === 1 ? 4 : 1)),
    );
    expect(largestDistance(oneOnly.coefficients, oneByHand.coefficients)).to.be.below(1e-12);
  });

  it('gives both classes half of the weight with balanced', async () => {
    const { x, y, weights = [] } = makeRows(300);
    const totalOf = (label: number) => weights.reduce((sum, weight, row) => sum + (y[row] === label ? weight : 0), 0);
    const half = (totalOf(0) + totalOf(1)) / 2;
    const balanced = await new LogisticRegression({ classWeight: 'balanced', precision: 'float64' }).fit(x, y, {
      sampleWeight: weights,
    });
    const byHand = await new LogisticRegression({ precision: 'float64' }).fit(x, y, {
      sampleWeight: weights.map((weight, row) => (weight * half) / totalOf(y[row] ?? NaN)),
    });
    expect(largestDistance(balanced.coefficients, byHand.coefficients)).to.be.below(1e-12);
    const without = await new LogisticRegression({ classWeight: 'balanced', precision: 'float64' }).fit(
      [[1], [1], [1], [1]],
      [0, 0, 0, 1],
    );
    expect(without.intercept).to.be.closeTo(0, 1e-12);
  });

  it('ends closer to the minimum with a smaller tolerance', async () => {
    const rows = makeRows(500);
    const objectiveAt = async (tolerance: number) => {
      const model = new LogisticRegression({ precision: 'float64', tolerance });
      return objectiveOf(rows, await model.fit(rows.x, rows.y, { sampleWeight: rows.weights }), 1);
    };
    const min = await objectiveAt(1e-14);
    const total = (rows.weights ?? []).reduce((sum, weight) => sum + weight, 0);
    for (const tolerance of [1e-2, 1e-4, 1e-8]) {
      expect((await objectiveAt(tolerance)) - min).to.be.within(-1e-9, tolerance * total);
    }
  });

  it('leaks no tensors, also if it is aborted', async () => {
    const { tf: loaded } = await loadTensorflow({ backend: 'wasm' });
    const { x, y } = makeRows(300);
    const before = loaded.memory().numTensors;
    const model = new LogisticRegression({ backend: 'wasm', tolerance: 1e-30 });
    await model.fit(x, y);
    const stop = new AbortController();
    const reason = new Error('enough');
    setImmediate(() => {
      stop.abort(reason);
    });
    expect(await model.fit(x, y, { signal: stop.signal }).catch((error: unknown) => error)).to.equal(reason);
    await model.predict(x).catch((error: unknown) => {
      expect(error).to.be.instanceOf(TrainingError);
    });
    expect(tf.memory().numTensors).to.equal(before);
  });

  it('does not load TensorFlow.js in float64', async () => {
    const source = `
      import { createRequire } from 'node:module';
      import { LogisticRegression } from './src/training/estimators/logistic-regression.ts';
      const isLoaded = () =>
        Object.keys(createRequire(process.cwd() + '/any.js').cache).some((file) => file.includes('@tensorflow'));
      const rows = [[[0], [1], [1]], [0, 1, 0]];
      await new LogisticRegression({ precision: 'float64' }).fit(...rows);
      const before = isLoaded();
      await new LogisticRegression({ backend: 'cpu' }).fit(...rows);
      console.log(before, isLoaded());`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type', 'module', '--eval', source],
      { cwd: projectRoot },
    );
    expect(stdout.trim()).to.equal('false true');
  });

  it('rejects values too large to be summed', async () => {
    const failure = await new LogisticRegression({ precision: 'float64' })
      .fit([[1.7e308], [1.6e308], [3]], [0, 1, 1])
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(TrainingError);
    expect((failure as TrainingError).suggestion).to.match(/too large/);
  });

  const refusals: [LogisticRegressionOptions, RegExp][] = [
    [{ l2: -1 }, /l2 parameter must be 0 or more\. Got -1 instead/],
    [{ l2: NaN }, /l2/],
    [{ l2: Infinity }, /l2/],
    [{ maxIterations: 0 }, /maxIterations parameter must be a whole number above 0/],
    [{ maxIterations: 1.5 }, /maxIterations/],
    [{ tolerance: 0 }, /tolerance parameter must be above 0/],
    [{ tolerance: Infinity }, /tolerance/],
    [{ precision: 'float16' as 'float32' }, /precision parameter must be one of float32, float64\. Got 'float16'/],
    [{ classWeight: 'even' as 'balanced' }, /classWeight parameter must be 'balanced', null, .* Got 'even' instead/],
    [{ classWeight: { 0: 1, 1: -1 } }, /classWeight/],
    [{ classWeight: { 2: 1 } as object }, /Got \{"2":1\} instead/],
  ];
  for (const [options, message] of refusals) {
    it(`rejects ${JSON.stringify(options)}`, () => {
      expect(() => new LogisticRegression(options)).to.throw(ValueError, message);
    });
  }

  it('rejects a threshold that is NaN', async () => {
    const model = await new LogisticRegression({ precision: 'float64' }).fit([[0], [1]], [0, 1]);
    const failure = await model.predict([[1]], { threshold: NaN }).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(ValueError);
  });
});
