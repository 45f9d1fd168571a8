import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { Table } from '../../../src/table/index.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import {
  FAIRNESS_PENALTIES,
  LagrangianFairnessTrainer,
  loadModel,
  type NetworkFactory,
  RegularizedFairnessTrainer,
  saveModel,
  sweepPareto,
  trainLagrangian,
} from '../../../src/training/index.ts';
import { encodeFeatures } from '../../../src/training/data/feature-encoder.ts';
import { createStackedNetwork } from '../../../src/training/networks/stacked-network.ts';
import { onDevice } from '../../helpers/on-device.ts';
import { describeOn } from '../../helpers/software-gpu.ts';

const random = createRandom(5);
const N = 600;
const S = Array.from({ length: N }, () => (random.next() < 0.4 ? 'a' : 'b'));
const SKILL = Float64Array.from(S, (group) => random.normal() + (group === 'a' ? 1 : 0));
const PLACE = Array.from({ length: N }, () => ['x', 'y', 'z'][random.integer(3)] ?? 'x');
const Y = Float64Array.from(SKILL, (skill) => Number(skill + random.normal() > 0.5));
const VALUE = Float64Array.from(SKILL, (skill) => 100 + 5 * skill + random.normal());
const X = Table.from({ skill: SKILL, place: PLACE });
const TABLE = Table.from({ skill: SKILL, place: PLACE, y: Y, s: S });
const SEED = 7;
const QUICK = { epochs: 4, patience: 100, batchSize: 64, lr: 0.02, seed: SEED } as const;

/** The stream of the initial weights of plain networks. */
const WEIGHT_STREAM = 1;
const UNITS = 5;

/**
 * Creates a model with the layers and the initial weights of a plain network with {@link UNITS} units.
 * @param last the activation of the last layer
 */
function sameAsPlain(last: 'linear' | 'sigmoid'): NetworkFactory {
  return async (inputs, seed) => {
    const plain = createStackedNetwork(tf, { models: 1, inputs, hidden: [UNITS] }, createRandom(seed, WEIGHT_STREAM));
    const [layers = []] = plain.weightsOf(await plain.parameters.data<'float32'>());
    plain.dispose();
    const model = tf.sequential({
      layers: [
        tf.layers.dense({ units: UNITS, activation: 'relu', inputShape: [inputs] }),
        tf.layers.dense({ units: 1, activation: last }),
      ],
    });
    tf.tidy(() => {
      model.setWeights(
        layers.flatMap((layer) => [tf.tensor2d(layer.kernel, [layer.inputs, layer.outputs]), tf.tensor1d(layer.bias)]),
      );
    });
    return model;
  };
}

/** A network that is no chain of dense layers: embeddings by convolution, dropout, a sum of two branches. */
const branched: NetworkFactory = (inputs, seed) => {
  const input = tf.input({ shape: [inputs] });
  const initial = (add: number) => tf.initializers.glorotNormal({ seed: seed + add });
  const columns = tf.layers.reshape({ targetShape: [inputs, 1] }).apply(input);
  const seen = tf.layers
    .conv1d({ filters: 4, kernelSize: 2, activation: 'tanh', kernelInitializer: initial(1) })
    .apply(columns);
  const flat = tf.layers.flatten().apply(seen);
  const dropped = tf.layers.dropout({ rate: 0.1, seed }).apply(flat);
  const normal = tf.layers.layerNormalization().apply(dropped);
  const deep = tf.layers.dense({ units: 1, kernelInitializer: initial(2) }).apply(normal);
  const wide = tf.layers.dense({ units: 1, kernelInitializer: initial(3) }).apply(input);
  const sum = tf.layers.add().apply([deep, wide] as tf.SymbolicTensor[]);
  const output = tf.layers.activation({ activation: 'sigmoid' }).apply(sum);
  return tf.model({ inputs: input, outputs: output as tf.SymbolicTensor });
};

interface SavedJson {
  modelTopology: { config: { layers: { config: { units: number } }[] } };
  weightData: string;
}

function setUnits({ modelTopology }: SavedJson, units: number): void {
  const [first] = modelTopology.config.layers.filter(({ config }) => 'units' in config);
  if (first !== undefined) first.config.units = units;
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).to.equal(b.length);
  return Array.from(a).reduce((most, value, index) => Math.max(most, Math.abs(value - (b[index] ?? NaN))), 0);
}

for (const backend of ['cpu', 'wasm', 'node'] as const) {
  describeOn(backend, `a user's own network on ${backend}`, () => {
    onDevice(backend);
    let before_ = 0;
    let folder = '';
    beforeEach(async () => {
      await loadTensorflow({ backend });
      before_ = tf.memory().numTensors;
      folder = await mkdtemp(path.join(tmpdir(), 'own-network-'));
    });
    afterEach('leaves no tensors', async () => {
      await rm(folder, { recursive: true });
      expect(tf.memory().numTensors).to.equal(before_);
    });

    for (const last of ['linear', 'sigmoid'] as const) {
      it(`is trained like a plain network of the same layers, with a ${last} output`, async () => {
        const options = { ...QUICK, backend, eta: 1, penalty: 'mean_gap' } as const;
        const plain = await new RegularizedFairnessTrainer({ ...options, hidden: [UNITS] }).fit(X, Y, { sensitive: S });
        const own = await new RegularizedFairnessTrainer({ ...options, network: sameAsPlain(last) }).fit(X, Y, {
          sensitive: S,
        });
        expect(largestDifference(await own.predictProba(X), await plain.predictProba(X))).to.be.below(1e-4);
        expect(
          largestDifference(
            own.history.map(({ loss }) => loss),
            plain.history.map(({ loss }) => loss),
          ),
        ).to.be.below(1e-4);
      });
    }

    for (const penalty of FAIRNESS_PENALTIES.filter((name) => name !== 'mean_gap')) {
      it(`has the gradient of the penalty ${penalty}`, async () => {
        const options = { ...QUICK, epochs: 2, backend, eta: 1, penalty } as const;
        const plain = await new RegularizedFairnessTrainer({ ...options, hidden: [UNITS] }).fit(X, Y, { sensitive: S });
        const own = await new RegularizedFairnessTrainer({ ...options, network: sameAsPlain('linear') }).fit(X, Y, {
          sensitive: S,
        });
        expect(largestDifference(await own.predictProba(X), await plain.predictProba(X))).to.be.below(1e-3);
      });
    }

    it('fails if training diverges', async () => {
      // The products of weights of this size are infinite, and their sums NaN.
      const trainer = new RegularizedFairnessTrainer({
        ...QUICK,
        lr: 1e38,
        backend,
        network: sameAsPlain('sigmoid'),
      });
      expect(await errorOf(trainer.fit(X, Y, { sensitive: S }))).to.be.instanceOf(TrainingError);
    });

    it('predicts values in the units of the target', async () => {
      const options = { ...QUICK, backend, task: 'regression', eta: 1, penalty: 'mean_gap' } as const;
      const plain = await new RegularizedFairnessTrainer({ ...options, hidden: [UNITS] }).fit(X, VALUE, {
        sensitive: S,
      });
      const own = await new RegularizedFairnessTrainer({ ...options, network: sameAsPlain('linear') }).fit(X, VALUE, {
        sensitive: S,
      });
      expect(largestDifference(await own.predict(X), await plain.predict(X))).to.be.below(2e-3);
      await saveModel(own, path.join(folder, 'model'));
      const loaded = await loadModel(path.join(folder, 'model'), { backend });
      expect(loaded.card).to.include({ task: 'regression', method: 'layers_model', output: 'value' });
      expect(largestDifference(await loaded.predict(X), await own.predict(X))).to.be.below(2e-3);
    });

    it('takes a constraint, and tensors', async () => {
      const { lr: modelLr, ...others } = QUICK;
      const options = { ...others, modelLr, backend, dpTol: 0.05 };
      const x = tf.tensor2d(Float32Array.from(SKILL), [N, 1]);
      const plain = await new LagrangianFairnessTrainer({ ...options, hidden: [UNITS] }).fit(x, Y, { sensitive: S });
      const own = await new LagrangianFairnessTrainer({ ...options, network: sameAsPlain('linear') }).fit(x, Y, {
        sensitive: S,
      });
      const found = await Promise.all([own.predictProba(x), plain.predictProba(x)]);
      expect(largestDifference(await found[0].data(), await found[1].data())).to.be.below(1e-3);
      tf.dispose([x, ...found]);
    });

    it('is swept model by model, saved and loaded', async () => {
      const calls: number[][] = [];
      const create: NetworkFactory = (inputs, seed) => {
        calls.push([inputs, seed]);
        return sameAsPlain('sigmoid')(inputs, seed);
      };
      const options = { ...QUICK, backend, etas: [0, 2], minGroupSize: 5, threads: 2 } as const;
      const plain = await sweepPareto({ table: TABLE }, { ...options, hidden: [UNITS] });
      const modelPath = path.join(folder, 'sweep');
      const own = await sweepPareto({ table: TABLE }, { ...options, network: create, modelPath });
      // Skill, and one column per place.
      expect(calls).to.deep.equal([
        [4, SEED],
        [4, SEED],
      ]);
      for (const [index, point] of own.entries()) {
        expect(point.loss).to.be.closeTo(plain[index]?.loss ?? NaN, 1e-4);
        expect(point.accuracy).to.be.closeTo(plain[index]?.accuracy ?? NaN, 0.01);
      }
      const loaded = await loadModel(modelPath, { eta: 2, backend });
      expect(loaded.card).to.include({ method: 'layers_model', output: 'probability of the positive label' });
      const scores = await loaded.predictProba(X);
      expect(Math.min(...scores)).to.be.at.least(0);
      expect(Math.max(...scores)).to.be.at.most(1);
    });
  });
}

describe('a network factory', () => {
  let folder = '';
  before(async () => {
    await loadTensorflow({ backend: 'cpu' });
    folder = await mkdtemp(path.join(tmpdir(), 'own-network-'));
  });
  after(() => rm(folder, { recursive: true }));
  const options = { ...QUICK, backend: 'cpu' } as const;
  const fitWith = (network: NetworkFactory): Promise<unknown> =>
    new RegularizedFairnessTrainer({ ...options, network }).fit(X, Y, { sensitive: S });

  it('may return any layers; the trained model is saved, restored from JSON, and loaded by plain TensorFlow.js', async () => {
    const trainer = await new RegularizedFairnessTrainer({ ...options, epochs: 8, network: branched }).fit(X, Y, {
      sensitive: S,
    });
    const losses = trainer.history.map(({ loss }) => loss);
    expect(losses.at(-1)).to.be.below(losses[0] ?? NaN);
    const scores = await trainer.predictProba(X);
    // Without dropout, so predictions repeat.
    expect([...(await trainer.predictProba(X))]).to.deep.equal([...scores]);
    const right = [...scores].filter((score, row) => Number(score >= 0.5) === Y[row]).length / N;
    expect(right).to.be.above(0.7);

    const own = path.join(folder, 'branched');
    await saveModel(trainer, own);
    const loaded = await loadModel(own, { backend: 'cpu' });
    expect(loaded.card.constraint).to.deep.equal({ penalty: 'covariance', eta: 0.5 });
    expect(largestDifference(await loaded.predictProba(X), scores)).to.be.below(1e-6);

    const plain = await tf.loadLayersModel({
      load: async () => {
        const { modelTopology, weightsManifest } = JSON.parse(
          await readFile(path.join(own, 'model.json'), 'utf8'),
        ) as Required<tf.io.ModelJSON>;
        const bytes = Uint8Array.from(await readFile(path.join(own, 'weights.bin')));
        return { modelTopology, weightSpecs: weightsManifest[0]?.weights ?? [], weightData: bytes.buffer };
      },
    });
    const { state } = trainer;
    const rows = encodeFeatures(X, state?.network.specs ?? []);
    const outputs = tf.tidy(() => plain.predict(tf.tensor2d(rows, [N, 4])) as tf.Tensor);
    expect(largestDifference(await outputs.data(), scores)).to.be.below(1e-6);
    tf.dispose(outputs);
    plain.dispose();

    const json: unknown = JSON.parse(JSON.stringify(trainer));
    const restored = RegularizedFairnessTrainer.fromJSON(json);
    expect([...(await restored.predictProba(X))]).to.deep.equal([...scores]);
    const error = await errorOf(restored.fit(X, Y, { sensitive: S }));
    expect(error).to.be.instanceOf(TrainingError);
    expect(String(error)).to.match(/JSON cannot hold the function for network/);
  });

  it('also creates the network without a constraint of a job, so that both are alike', async () => {
    const { lr: modelLr, ...others } = QUICK;
    let calls = 0;
    const network: NetworkFactory = (inputs, seed) => {
      calls++;
      return sameAsPlain('linear')(inputs, seed);
    };
    const { baseline } = await trainLagrangian({ table: TABLE }, { ...others, modelLr, backend: 'cpu', network });
    const plain = await trainLagrangian({ table: TABLE }, { ...others, modelLr, backend: 'cpu', hidden: [UNITS] });
    expect(calls).to.equal(2);
    expect(baseline.accuracy).to.be.closeTo(plain.baseline.accuracy, 0.01);
  });

  const dense = (inputs: number, units: number, activation: 'sigmoid' | 'softmax' | 'linear') =>
    tf.sequential({ layers: [tf.layers.dense({ units, activation, inputShape: [inputs] })] });
  const one = dense(4, 1, 'sigmoid');
  const wrong: readonly [string, NetworkFactory, RegExp][] = [
    ['has two outputs', (inputs) => dense(inputs, 2, 'sigmoid'), /\[rows, 4\] and \[rows, 1\].*Got .*\[rows, 2\]/s],
    ['takes other inputs', (inputs) => dense(inputs + 1, 1, 'sigmoid'), /\[rows, 5\] and \[rows, 1\]/],
    ['ends in softmax', (inputs) => dense(inputs, 1, 'softmax'), /sigmoid or a linear activation. Got softmax/],
    ['is nothing', () => undefined as unknown as tf.LayersModel, /return a LayersModel.*Got undefined/],
    ['has no layers', () => tf.sequential(), /return a LayersModel/],
    [
      'has running averages',
      (inputs) =>
        tf.sequential({
          layers: [
            tf.layers.batchNormalization({ inputShape: [inputs] }),
            tf.layers.dense({ units: 1, activation: 'sigmoid' }),
          ],
        }),
      /layer normalisation works/,
    ],
    [
      'has running averages that are not trained',
      (inputs) =>
        tf.sequential({
          layers: [
            tf.layers.batchNormalization({ inputShape: [inputs], trainable: false }),
            tf.layers.dense({ units: 1, activation: 'sigmoid' }),
          ],
        }),
      /layer normalisation works/,
    ],
    [
      'has a regularizer, which only model.fit applies',
      (inputs) => {
        const kernelRegularizer = tf.regularizers.l2({ l2: 100 });
        const inner = tf.sequential({
          layers: [tf.layers.dense({ units: 2, inputShape: [inputs], kernelRegularizer })],
        });
        return tf.sequential({ layers: [inner, tf.layers.dense({ units: 1, activation: 'sigmoid' })] });
      },
      /without regularizers and constraints; use weightDecay. Got kernelRegularizer in 'dense/,
    ],
    [
      'has a constraint, which only model.fit applies',
      (inputs) =>
        tf.sequential({
          layers: [
            tf.layers.dense({
              units: 1,
              activation: 'sigmoid',
              inputShape: [inputs],
              kernelConstraint: tf.constraints.nonNeg(),
            }),
          ],
        }),
      /Got kernelConstraint in 'dense/,
    ],
    [
      'has no weights to train',
      (inputs) =>
        tf.sequential({
          layers: [tf.layers.dense({ units: 1, activation: 'sigmoid', inputShape: [inputs], trainable: false })],
        }),
      /weights to train/,
    ],
  ];
  for (const [what, create, message] of wrong) {
    it(`is rejected if the model ${what}`, async () => {
      const tensors = tf.memory().numTensors;
      const error = await errorOf(fitWith(create));
      expect(error).to.be.instanceOf(ValueError);
      expect(String(error)).to.match(message);
      expect(tf.memory().numTensors).to.equal(tensors);
    });
  }

  it('is rejected before training if its layers cannot be loaded again', async () => {
    class Twice extends tf.layers.Layer {
      static className = 'TwiceOfThisTest';
      override call(inputs: tf.Tensor | tf.Tensor[]): tf.Tensor {
        return tf.mul([inputs].flat()[0] as tf.Tensor, 2);
      }
    }
    const tensors = tf.memory().numTensors;
    const error = await errorOf(
      fitWith((inputs) => {
        const model = tf.sequential({ layers: [tf.layers.dense({ units: 1, inputShape: [inputs] })] });
        model.add(new Twice({}));
        model.add(tf.layers.dense({ units: 1, activation: 'sigmoid' }));
        return model;
      }),
    );
    expect(error).to.be.instanceOf(DataValidationError);
    expect(String(error)).to.match(/TwiceOfThisTest/);
    expect((error as DataValidationError).suggestion).to.match(/registerClass/);
    expect(tf.memory().numTensors).to.equal(tensors);
  });

  it('keeps small differences of large targets, and any names of layers', async () => {
    const target = VALUE.map((value) => 1.7e9 + value);
    const named: NetworkFactory = (inputs, seed) =>
      tf.sequential({
        layers: [
          tf.layers.dense({
            name: 'output',
            units: 1,
            inputShape: [inputs],
            kernelInitializer: tf.initializers.glorotNormal({ seed }),
          }),
        ],
      });
    const trainer = await new RegularizedFairnessTrainer({
      ...options,
      epochs: 30,
      eta: 0,
      task: 'regression',
      network: named,
    }).fit(X, target, { sensitive: S });
    const found = await trainer.predict(X);
    const mean = [...found].reduce((sum, value, row) => sum + Math.abs(value - (target[row] ?? NaN)), 0) / N;
    // The noise of the target has a standard deviation of 1; float32 has steps of 128 at this size.
    expect(mean).to.be.below(2);
    await saveModel(trainer, path.join(folder, 'named'));
    expect((await loadModel(path.join(folder, 'named'))).card.output).to.equal('value');
  });

  it('may be used again with the options of a trainer', () => {
    const trainer = new RegularizedFairnessTrainer({ ...options, network: branched });
    expect(new RegularizedFairnessTrainer(trainer.options).options.network).to.equal(branched);
  });

  const damages: readonly (readonly [string, (network: SavedJson) => void, RegExp])[] = [
    [
      'a layer too large for its weights',
      (network) => {
        setUnits(network, 4e8);
      },
      /size 400000000 .* only \d+ weights/,
    ],
    ['weights that are cut', (network) => (network.weightData = network.weightData.slice(0, 8)), /bytes of weights/],
    [
      'a weight that is not a number',
      (network) => {
        const bytes = Buffer.from(network.weightData, 'base64');
        bytes.writeFloatLE(NaN, 0);
        network.weightData = bytes.toString('base64');
      },
      /a weight is not a finite number/,
    ],
    [
      'layers of other sizes',
      (network) => {
        setUnits(network, 3);
      },
      /cannot be loaded/,
    ],
  ];
  for (const [what, damage, message] of damages) {
    it(`is not applied from JSON with ${what}`, async () => {
      const trainer = await new RegularizedFairnessTrainer({ ...options, network: sameAsPlain('sigmoid') }).fit(X, Y, {
        sensitive: S,
      });
      const json = JSON.parse(JSON.stringify(trainer)) as { state: { network: { layers: SavedJson } } };
      damage(json.state.network.layers);
      const tensors = tf.memory().numTensors;
      const error = await errorOf(RegularizedFairnessTrainer.fromJSON(json).predict(X));
      expect(error).to.be.instanceOf(DataValidationError);
      expect(String(error)).to.match(message);
      expect(tf.memory().numTensors).to.equal(tensors);
    });
  }

  it('is rejected if it returns the same model twice, because training changes the model', async () => {
    await fitWith(() => one);
    expect(String(await errorOf(fitWith(() => one)))).to.match(/a new model each time/);
  });

  it('is named in the error if it fails', async () => {
    const error = await errorOf(
      fitWith(() => {
        throw new RangeError('no such layer');
      }),
    );
    expect(error).to.be.instanceOf(TrainingError);
    expect(String(error)).to.match(/network failed with 4 inputs: no such layer/);
  });

  it('must be a function, and excludes hidden units', () => {
    const create = (more: object) => () => new RegularizedFairnessTrainer({ ...options, ...more });
    expect(create({ network: one })).to.throw(ValueError, /network parameter must be a function/);
    expect(create({ network: branched, hidden: [3] })).to.throw(ValueError, /hidden parameter must be left out/);
  });
});
