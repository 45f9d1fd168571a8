import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { createAdam, loadTensorflow, type TensorBackend } from '../../../src/tensor/index.ts';
import { createAdversary } from '../../../src/training/networks/adversary.ts';
import type { LayerWeights } from '../../../src/training/networks/network-weights.ts';
import { createStackedNetwork } from '../../../src/training/networks/stacked-network.ts';
import { createPatience, rowParts, scheduleFactor } from '../../../src/training/networks/train-networks.ts';
import { describeOn } from '../../helpers/software-gpu.ts';

const BACKENDS: TensorBackend[] = ['cpu', 'wasm', 'node'];

/** Returns one network's output on one row in float64: dense layers with rectifiers between them. */
function outputOf(layers: readonly LayerWeights[], row: readonly number[]): number {
  let z = [...row];
  layers.forEach(({ kernel, bias, inputs, outputs }, index) => {
    const out = Array.from({ length: outputs }, (_, unit) => {
      let sum = bias[unit] ?? NaN;
      for (let input = 0; input < inputs; input++) {
        sum += (z[input] ?? NaN) * (kernel[input * outputs + unit] ?? NaN);
      }
      return sum;
    });
    z = index === layers.length - 1 ? out : out.map((value) => Math.max(0, value));
  });
  return z[0] ?? NaN;
}

for (const backend of BACKENDS) {
  describeOn(backend, `stacked networks on ${backend}`, () => {
    before(async () => {
      await loadTensorflow({ backend });
    });

    for (const hidden of [[], [4], [5, 3]]) {
      const shape = hidden.length === 0 ? 'no hidden layer' : `hidden layers of ${hidden.join(' and ')}`;

      it(`have the outputs of each network alone, with ${shape}`, async () => {
        const [k, n, d] = [3, 6, 2];
        const random = createRandom(4);
        const network = createStackedNetwork(tf, { models: k, inputs: d, hidden }, random);
        // Different for each model, so that mixed-up blocks are detected.
        const { parameters } = network;
        parameters.assign(tf.randomUniform(parameters.shape, -1, 1, 'float32', parameters.size));
        const x = Array.from({ length: n }, () => [random.normal(), random.normal()]);
        const outputs = tf.tidy(() => network.forward(tf.tensor2d(x)).outputs);
        const values = await outputs.data();
        const weights = network.weightsOf(await parameters.data<'float32'>());
        tf.dispose(outputs);
        network.dispose();
        weights.forEach((layers, model) => {
          x.forEach((row, index) => {
            expect(values[model * n + index]).to.be.closeTo(outputOf(layers, row), 1e-5);
          });
        });
      });

      it(`have the gradients of finite differences, with ${shape}`, async () => {
        const [k, n, d] = [2, 5, 3];
        const random = createRandom(8);
        const network = createStackedNetwork(tf, { models: k, inputs: d, hidden }, random);
        const { parameters } = network;
        parameters.assign(tf.randomUniform(parameters.shape, -1, 1, 'float32', parameters.size + 1));
        const x = Array.from({ length: n }, () => Array.from({ length: d }, () => random.normal()));
        const upstream = Array.from({ length: k }, () => Array.from({ length: n }, () => random.normal()));
        const gradient = tf.tidy(() => network.forward(tf.tensor2d(x)).gradient(tf.tensor2d(upstream)));
        // A gradient has the layout of the weights, so it can be read in the same way.
        const found = network.weightsOf(await gradient.data<'float32'>());
        const weights = network.weightsOf(await parameters.data<'float32'>());
        gradient.dispose();
        network.dispose();
        weights.forEach((layers, model) => {
          const total = (): number =>
            x.reduce((sum, row, index) => sum + (upstream[model]?.[index] ?? NaN) * outputOf(layers, row), 0);
          layers.forEach(({ kernel, bias }, layer) => {
            const difference = (values: Float32Array, position: number): number => {
              // In float64 steps around a float32 weight.
              const kept = values[position] ?? NaN;
              const step = 2 ** -8;
              values[position] = kept + step;
              const above = total();
              values[position] = kept - step;
              const below = total();
              values[position] = kept;
              return (above - below) / (2 * step);
            };
            kernel.forEach((_, position) => {
              const given = found[model]?.[layer]?.kernel[position];
              expect(given).to.be.closeTo(difference(kernel, position), 2e-2);
            });
            bias.forEach((_, unit) => {
              expect(found[model]?.[layer]?.bias[unit]).to.be.closeTo(difference(bias, unit), 2e-2);
            });
          });
        });
      });
    }

    it('the adversary learns nothing from a constant score, and much from one that depends on the group', async () => {
      const before_ = tf.memory().numTensors;
      const adversary = createAdversary(tf, { models: 1, groupCount: 2, seed: 1 });
      const known = async (scores: number[]): Promise<number> => {
        const batch = (): Parameters<typeof adversary.value>[0] => ({
          scores: tf.tensor2d(scores, [1, 4]),
          labels: tf.zeros([1, 4]),
          membership: tf.tensor2d([0.25, 0, 0.25, 0, 0, 0.25, 0, 0.25], [4, 2]),
          shares: tf.fill([4, 1], 0.25),
        });
        for (let step = 0; step < 300; step++) tf.tidy(() => void adversary.slope(batch()));
        const value = tf.tidy(() => adversary.value(batch()));
        const [nats = NaN] = await value.data();
        value.dispose();
        return nats;
      };
      // At most the entropy of two equal groups, log 2.
      expect(await known([0.9, 0.9, 0.1, 0.1])).to.be.within(0.6, Math.log(2) + 1e-6);
      expect(await known([0.5, 0.5, 0.5, 0.5])).to.be.within(-0.05, 0.001);
      adversary.dispose?.();
      expect(tf.memory().numTensors).to.equal(before_);
    });
  });
}

describe('Adam', () => {
  before(async () => {
    await loadTensorflow({ backend: 'cpu' });
  });

  it('takes the steps of the paper, in float64, with decoupled weight decay', async () => {
    const [rate, decay, gradients] = [0.1, 0.05, [0.5, -2, 0.1, 3]];
    const weight = tf.variable(tf.tensor1d([1]));
    const adam = createAdam(tf, weight, { weightDecay: decay });
    let [w, m, v] = [1, 0, 0];
    gradients.forEach((gradient, index) => {
      const step = index + 1;
      tf.tidy(() => {
        adam.step(tf.tensor1d([gradient]), rate);
      });
      m = 0.9 * m + 0.1 * gradient;
      v = 0.999 * v + 0.001 * gradient ** 2;
      w -= rate * (m / (1 - 0.9 ** step) / (Math.sqrt(v / (1 - 0.999 ** step)) + 1e-8) + decay * w);
    });
    expect((await weight.data())[0]).to.be.closeTo(w, 1e-6);
    adam.dispose();
    weight.dispose();
  });
});

describe('rows in parts', () => {
  it('contain each row once, in parts of nearly equal size that are spread over the rows', () => {
    for (const [n, most] of [
      [1030, 512],
      [10, 3],
      [5, 5],
      [1, 9],
    ] as const) {
      const parts = rowParts(n, most);
      expect(parts.flatMap((part) => [...part]).sort((a, b) => a - b)).to.deep.equal([...Array(n).keys()]);
      const sizes = parts.map((part) => part.length);
      expect(Math.max(...sizes)).to.be.at.most(most);
      expect(Math.max(...sizes) - Math.min(...sizes)).to.be.at.most(1);
    }
    // Rows sorted by group are spread over all parts: about a third of each lies in the first third.
    const shares = rowParts(3000, 500).map((part) => part.filter((row) => row < 1000).length / part.length);
    expect(Math.min(...shares)).to.be.above(0.25);
    expect(Math.max(...shares)).to.be.below(0.42);
  });
});

describe('patience', () => {
  it('stops each model separately, and keeps its best epoch', () => {
    const patience = createPatience(2, 2);
    expect([...patience.update({ scores: [3, 3] })]).to.deep.equal([1, 1]);
    expect([...patience.update({ scores: [4, 2] })]).to.deep.equal([0, 1]);
    expect([...patience.update({ scores: [4, 1] })]).to.deep.equal([0, 1]);
    expect([patience.isResting(0), patience.isResting(1), patience.isOver()]).to.deep.equal([true, false, false]);
    // A model that stopped does not continue.
    expect([...patience.update({ scores: [0, 5] })]).to.deep.equal([0, 0]);
    expect([...patience.bestEpochs]).to.deep.equal([1, 3]);
  });

  it('does not run out while a model may not stop', () => {
    const patience = createPatience(1, 1);
    patience.update({ scores: [1], mayRest: [false] });
    patience.update({ scores: [2], mayRest: [false] });
    expect(patience.isOver()).to.equal(false);
    patience.update({ scores: [2], mayRest: [true] });
    expect(patience.isOver()).to.equal(true);
  });
});

describe('learning rate schedules', () => {
  it('start at the full rate; linear and cosine end at 0, with half the rate halfway', () => {
    expect(['constant', 'linear', 'cosine'].map((name) => scheduleFactor(name as 'linear', 0))).to.deep.equal([
      1, 1, 1,
    ]);
    expect([scheduleFactor('linear', 0.5), scheduleFactor('linear', 1)]).to.deep.equal([0.5, 0]);
    expect(scheduleFactor('cosine', 0.5)).to.be.closeTo(0.5, 1e-12);
    expect(scheduleFactor('cosine', 1)).to.be.closeTo(0, 1e-12);
    expect(scheduleFactor('constant', 1)).to.equal(1);
  });
});
