import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { countReads, loadTensorflow } from '../../../src/tensor/index.ts';
import { ConstantClassifier } from '../../../src/training/estimators/constant-classifier.ts';
import { LinearRegression } from '../../../src/training/estimators/linear-regression.ts';
import { LogisticRegression } from '../../../src/training/estimators/logistic-regression.ts';
import { logit, sigmoid } from '../../../src/training/logistic.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';
import { failure } from '../reductions/wrapped-learner.ts';

/** The largest deviation of float32 from float64, in probabilities and values of order 1. */
const TOLERANCE = 1e-5;

/** Rows with an ordinary column, a year, a column with two values, and one that varies only in rows of weight 0. */
function makeRows(rows: number): { x: number[][]; y: number[]; weights: number[] } {
  const random = createRandom(5);
  const weights = Array.from({ length: rows }, (_, row) => (row % 7 === 0 ? 0 : random.next() + 0.1));
  const x = weights.map((weight) => [
    random.normal(),
    2000 + random.integer(20),
    random.integer(2),
    weight === 0 ? random.integer(9) : 3,
  ]);
  const y = x.map(([first = 0, year = 0]) => Number(first + 0.1 * (year - 2010) + random.normal() > 0));
  return { x, y, weights };
}

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `estimators of tensors on ${backend}`, () => {
    let tensors = 0;
    before(async () => {
      await loadTensorflow({ backend });
      tensors = tf.memory().numTensors;
    });
    afterEach('leaves no tensor behind', () => {
      expect(tf.memory().numTensors).to.equal(tensors);
    });

    // 4,500 rows make two blocks of rows.
    for (const rows of [40, 4500]) {
      for (const [name, create] of [
        [
          'LogisticRegression',
          (precision: 'float32' | 'float64') => new LogisticRegression({ precision, classWeight: 'balanced' }),
        ],
        ['LinearRegression', (precision: 'float32' | 'float64') => new LinearRegression({ precision, l2: 0.5 })],
      ] as const) {
        it(`${name} equals the fit on the host: ${rows} rows`, async () => {
          const given = makeRows(rows);
          const host = await create('float64').fit(given.x, given.y, { sampleWeight: given.weights });
          const x = tf.tensor2d(given.x);
          const [y, sampleWeight] = [tf.tensor1d(given.y, 'int32'), tf.tensor1d(given.weights)];
          const model = await create('float32').fit(x, y, { sampleWeight });
          expect(model.warnings).to.deep.equal(host.warnings);
          const [own, expected] = [await model.predictProba(x), await host.predictProba(given.x)];
          for (const [row, value] of expected.entries()) expect(own[row]).to.be.closeTo(value, TOLERANCE);
          const onDevice = await model.predictTensor(x, { threshold: 0.4 });
          expect([...(await onDevice.data())]).to.deep.equal([...(await host.predict(given.x, { threshold: 0.4 }))]);
          tf.dispose([x, y, sampleWeight, onDevice]);
        });
      }
    }
  });
}

describe('estimators of tensors', () => {
  it('read sums and coefficients, and not rows', async () => {
    await loadTensorflow({ backend: 'wasm' });
    const given = makeRows(20_000);
    const [x, y] = [tf.tensor2d(given.x), tf.tensor1d(given.y)];
    const { reads, values, result } = await countReads(tf, () => new LogisticRegression().fit(x, y));
    // X: 3 numbers; y: 3; classes: 2; columns: 4 x 4; and 31 numbers for each step that computes X'WX, else 6.
    expect(values).to.be.at.most(24 + 31 * (2 * result.iterations + 1));
    expect(reads).to.be.at.most(4 + 2 * result.iterations);
    const { values: predicted } = await countReads(tf, () => result.predict(x));
    // Predictions read one score per row, three numbers for the check, and the mean of each column.
    expect(predicted).to.equal(20_000 + 3 + 4);
    tf.dispose([x, y]);
  });

  it('predict one class everywhere if all labels are equal', async () => {
    await loadTensorflow({ backend: 'wasm' });
    const [x, y] = [tf.tensor2d([[1], [2], [3]]), tf.ones([3])];
    const model = await new LogisticRegression().fit(x, y);
    expect([model.intercept, model.warnings.length]).to.deep.equal([37, 1]);
    const constant = await new ConstantClassifier(1).predictTensor(x);
    expect([...(await constant.data())]).to.deep.equal([1, 1, 1]);
    tf.dispose([x, y, constant]);
  });

  it('name the shapes of features that do not fit', async () => {
    await loadTensorflow({ backend: 'wasm' });
    const [x, y] = [tf.tensor2d([[1], [2], [3]]), tf.tensor1d([0, 1, 1])];
    const model = await new LogisticRegression().fit(x, y);
    const [wide, flat] = [tf.zeros([2, 3]), tf.zeros([2])];
    expect(await failure(model.predict(wide))).to.match(/X has 3 features, but .* fitted on 1/);
    expect(await failure(model.predict(flat))).to.match(/X has shape \[2\]/);
    tf.dispose([x, y, wide, flat]);
  });
});

describe('logit', () => {
  it('inverts the sigmoid, also at the ends', () => {
    for (const p of [1e-9, 0.1, 0.5, 0.99]) expect(sigmoid(logit(p))).to.be.closeTo(p, 1e-15);
    expect([logit(0), logit(-1), logit(2)]).to.deep.equal([-Infinity, -Infinity, Infinity]);
    expect(sigmoid(logit(1))).to.equal(1);
  });
});
