import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { demographicParityDifference, equalizedOddsDifference } from '../../../src/metrics/index.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import { compileFair } from '../../../src/training/index.ts';

const N = 400;
const random = createRandom(5);
/** Group 1 has higher values of the first feature, on which the label depends. */
const groups = Int32Array.from({ length: N }, (_, row) => row % 2);
const features = Array.from({ length: N }, (_, row) => [random.normal() + (groups[row] ?? 0), random.normal()]);
const labels = Float32Array.from(features, ([x = 0, z = 0]) => Number(x + z / 2 + random.normal() / 2 > 0.5));

const modelOf = (activation: 'sigmoid' | 'linear' = 'sigmoid', weights: readonly number[] = [0.8, -0.3]) => {
  const model = tf.sequential({
    layers: [tf.layers.dense({ units: 1, inputShape: [2], activation, name: 'output' })],
  });
  model.setWeights([tf.tensor2d([...weights], [2, 1]), tf.tensor1d([0.1])]);
  return model;
};
const x = (): tf.Tensor2D => tf.tensor2d(features);
const weightsOf = (model: tf.LayersModel): number[] => model.getWeights().flatMap((one) => [...one.dataSync()]);
const scoresOf = (weights: readonly number[] = [0.8, -0.3]): number[] =>
  features.map(([a = 0, b = 0]) => 1 / (1 + Math.exp(-((weights[0] ?? 0) * a + (weights[1] ?? 0) * b + 0.1))));
const meanOf = (values: readonly number[], weights: readonly number[]): number =>
  values.reduce((sum, value, row) => sum + value * (weights[row] ?? 0), 0) / weights.reduce((sum, one) => sum + one, 0);

/** Cross-entropy plus eta times the squared difference of the groups' mean scores, by its definition. */
const expectedLoss = (eta: number, weights = Array<number>(N).fill(1)): number => {
  const scores = scoresOf();
  const error = meanOf(
    scores.map((p, row) => -Math.log(labels[row] === 1 ? p : 1 - p)),
    weights,
  );
  const means = [0, 1].map((group) =>
    meanOf(
      scores,
      weights.map((weight, row) => (groups[row] === group ? weight : 0)),
    ),
  );
  return error + eta * ((means[0] ?? NaN) - (means[1] ?? NaN)) ** 2;
};

const evaluate = (model: tf.LayersModel, targets: tf.Tensor): number =>
  ([model.evaluate(x(), targets, { batchSize: N })].flat()[0] as tf.Scalar).dataSync()[0] ?? NaN;

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('compileFair', () => {
  before(async () => {
    await loadTensorflow({ backend: 'cpu' });
  });
  /* eslint-disable no-restricted-properties, @typescript-eslint/unbound-method -- TensorFlow.js shuffles rows by it */
  const unseeded = Math.random;
  beforeEach(() => {
    Math.random = createRandom(7).next;
  });
  afterEach(() => {
    Math.random = unseeded;
  });
  /* eslint-enable no-restricted-properties, @typescript-eslint/unbound-method */

  for (const activation of ['sigmoid', 'linear'] as const) {
    it(`gives a model with a ${activation} output the documented loss`, async () => {
      const model = modelOf(activation);
      const fair = compileFair(model, { penalty: 'mean_gap', eta: 3, groupCount: 2 });
      expect(evaluate(model, await fair.targets(labels, groups))).to.be.closeTo(expectedLoss(3), 1e-5);
      fair.dispose();
    });
  }

  it('weights rows', async () => {
    const weights = Array.from({ length: N }, (_, row) => 1 + (row % 3));
    const model = modelOf();
    const fair = compileFair(model, { penalty: 'mean_gap', eta: 3, groupCount: 2 });
    const targets = await fair.targets(tf.tensor1d(labels), tf.tensor1d(groups, 'int32'), tf.tensor1d(weights));
    expect(evaluate(model, targets)).to.be.closeTo(expectedLoss(3, weights), 1e-5);
    fair.dispose();
  });

  it('trains the same weights as the plain loss if eta is 0', async () => {
    const [plain, model] = [modelOf(), modelOf()];
    const [own, shared] = [tf.train.sgd(0.1), tf.train.sgd(0.1)];
    plain.compile({ optimizer: own, loss: 'binaryCrossentropy', metrics: ['accuracy'] });
    const fair = compileFair(model, { eta: 0, groupCount: 2, optimizer: shared });
    const settings = { epochs: 3, batchSize: 64, shuffle: false };
    const expected = await plain.fit(x(), tf.tensor2d(labels, [N, 1]), settings);
    const found = await model.fit(x(), await fair.targets(labels, groups), settings);
    weightsOf(plain).forEach((value, index) => {
      expect(weightsOf(model)[index]).to.be.closeTo(value, 1e-5);
    });
    const last = (history: tf.History, name: string): number => Number(history.history[name]?.at(-1));
    expect(last(found, 'loss')).to.be.closeTo(last(expected, 'loss'), 1e-5);
    expect(last(found, 'accuracy')).to.be.closeTo(last(expected, 'acc'), 1e-6);
    fair.dispose();
  });

  it('lowers the gap as eta rises, with shuffled rows and validation rows, and keeps the compiled optimizer', async () => {
    const gaps: number[] = [];
    for (const eta of [0, 100]) {
      const model = modelOf();
      model.compile({ optimizer: tf.train.adam(0.05), loss: 'binaryCrossentropy' });
      const { optimizer } = model;
      const fair = compileFair(model, { penalty: 'mean_gap', eta, groupCount: 2 });
      expect(model.optimizer).to.equal(optimizer);
      const rows = { x: x(), labels, groups };
      const watch = fair.watch(rows);
      const targets = await fair.targets(labels, groups);
      const { history } = await model.fit(rows.x, targets, {
        epochs: 15,
        batchSize: 50,
        validationData: [rows.x, await fair.targets(labels, groups)],
        callbacks: watch,
      });
      expect(history['val_loss']).to.have.length(15);
      expect(history['dp_diff']).to.have.length(15);
      gaps.push(watch.epochs.at(-1)?.dpDiff ?? NaN);
      fair.dispose();
    }
    expect(gaps[0]).to.be.above(0.3);
    expect(gaps[1]).to.be.below(0.15);
  });

  it('logs the gaps of the decisions after each epoch, as the metrics define them', async () => {
    const model = modelOf();
    const fair = compileFair(model, { eta: 1, groupCount: 2, optimizer: tf.train.sgd(0) });
    const watch = fair.watch({ x: x(), labels, groups, threshold: 0.6 });
    await model.fit(x(), await fair.targets(labels, groups), { epochs: 1, callbacks: watch });
    const yPred = scoresOf().map((score) => Number(score >= 0.6));
    const sensitive = [...groups].map(String);
    const yTrue = [...labels];
    const [epoch] = watch.epochs;
    expect(epoch?.epoch).to.equal(1);
    expect(epoch?.dpDiff).to.be.closeTo(demographicParityDifference(yPred, sensitive).value, 1e-12);
    expect(epoch?.eoDiff).to.be.closeTo(equalizedOddsDifference(yTrue, yPred, sensitive).value, 1e-12);
    expect(epoch?.accuracy).to.be.closeTo(yPred.filter((one, row) => one === yTrue[row]).length / N, 1e-12);
    fair.dispose();
  });

  it('takes another error, and targets that are numbers', async () => {
    const values = features.map(([a = 0]) => 10 * a);
    const model = modelOf('linear');
    const fair = compileFair(model, {
      loss: (y, z) => tf.losses.absoluteDifference(y, z, undefined, tf.Reduction.NONE),
      penalty: 'mean_gap',
      eta: 0,
      groupCount: 2,
    });
    const outputs = features.map(([a = 0, b = 0]) => 0.8 * a - 0.3 * b + 0.1);
    const expected = outputs.reduce((sum, one, row) => sum + Math.abs(one - (values[row] ?? 0)), 0) / N;
    expect(evaluate(model, await fair.targets(values, groups))).to.be.closeTo(expected, 1e-4);
    fair.dispose();
  });

  it('leaves no tensor behind', async () => {
    const model = modelOf();
    const optimizer = tf.train.sgd(0.1);
    const [input, before] = [x(), tf.memory().numTensors];
    const fair = compileFair(model, { eta: 1, groupCount: 2, optimizer });
    const [first, second] = [await fair.targets(labels, groups), await fair.targets(labels, groups)];
    const watch = fair.watch({ x: input, labels, groups });
    await model.fit(input, first, { epochs: 2, validationData: [input, second], callbacks: watch });
    fair.dispose();
    tf.dispose([first, second]);
    expect(tf.memory().numTensors).to.equal(before);
  });

  it('fails if the labels themselves are passed to fit', async () => {
    const model = modelOf();
    const fair = compileFair(model, { eta: 1, groupCount: 2 });
    await fair.targets(labels, groups);
    const error = await errorOf(() => model.fit(x(), tf.tensor2d(labels, [N, 1]), { epochs: 3, batchSize: 50 }));
    expect(error).to.be.instanceOf(TrainingError);
    expect((error as Error).message).to.match(/targets/);
    fair.dispose();
  });

  it('fails if rows of other targets are passed to fit', async () => {
    const [first, model] = [compileFair(modelOf(), { eta: 1, groupCount: 2 }), modelOf()];
    const others = await first.targets(labels, groups);
    const fair = compileFair(model, { eta: 1, groupCount: 2 });
    await fair.targets([0, 1], [0, 1]);
    const error = await errorOf(() => model.fit(x(), others, { epochs: 3, batchSize: 50 }));
    expect(error).to.be.instanceOf(TrainingError);
    first.dispose();
    fair.dispose();
  });

  it('watches logits with the threshold 0, also if the threshold is undefined', async () => {
    const model = modelOf('linear');
    const fair = compileFair(model, { eta: 1, groupCount: 2, optimizer: tf.train.sgd(0) });
    const watch = fair.watch({ x: x(), labels, groups, threshold: undefined });
    await model.fit(x(), await fair.targets(labels, groups), { epochs: 1, callbacks: watch });
    const right = scoresOf().filter((score, row) => Number(score >= 0.5) === labels[row]).length;
    expect(watch.epochs[0]?.accuracy).to.be.closeTo(right / N, 1e-12);
    fair.dispose();
  });

  it('says what is wrong with shapes, types and codes', async () => {
    const model = modelOf();
    const fair = compileFair(model, { eta: 1, groupCount: 2 });
    const texts = ['a', 'b'] as unknown as number[];
    const cases: readonly (readonly [() => unknown, RegExp])[] = [
      [() => fair.targets(labels, [0, 1]), /groups has shape \[2\]; expected \[400\]/],
      [() => fair.targets([0, 1], texts), /groups.*'a'/],
      [() => fair.targets([0, 1], tf.tensor1d(['a', 'b'])), /groups.*string/],
      [() => fair.targets([0, 1], tf.tensor2d([0, 1], [1, 2], 'int32')), /groups.*\[1, 2\]/],
      [() => fair.targets([0, 1], [0, 2]), /groups.*2/],
      [() => fair.targets([0, 1], [0, 0.5]), /groups.*0\.5/],
      [() => fair.targets([0, 3], [0, 1]), /labels.*3/],
      [() => fair.targets([0, 1], [0, 1], [1, -1]), /sampleWeight.*-1/],
      [() => fair.targets(undefined as never, [0, 1]), /labels/],
    ];
    for (const [work, message] of cases) {
      const error = await errorOf(work);
      expect(error, String(message)).to.be.instanceOf(DataValidationError);
      expect((error as Error).message).to.match(message);
    }
    fair.dispose();
  });

  it('refuses models and options that do not fit', async () => {
    const two = tf.sequential({ layers: [tf.layers.dense({ units: 2, inputShape: [2] })] });
    const relu = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [2], activation: 'relu' })] });
    const given = { groupCount: 2 } as const;
    const cases: readonly (readonly [() => unknown, RegExp])[] = [
      [() => compileFair(two, given), /one output/],
      [() => compileFair(relu, given), /output/],
      [() => compileFair({} as never, given), /model/],
      [() => compileFair(modelOf(), { groupCount: 1 }), /groupCount/],
      [() => compileFair(modelOf(), { ...given, eta: -1 }), /eta/],
      [() => compileFair(modelOf(), { ...given, penalty: 'gap' as never }), /penalty/],
      [() => compileFair(modelOf(), { ...given, etas: 1 } as never), /etas/],
    ];
    for (const [work, message] of cases) {
      const error = await errorOf(work);
      expect(error, String(message)).to.be.instanceOf(ValueError);
      expect((error as Error).message).to.match(message);
    }
  });
});
