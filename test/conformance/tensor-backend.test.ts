import { expect } from 'chai';
import type { Tensor, Tensor1D } from '@tensorflow/tfjs';

import { TOY_BIAS, TOY_FOLDER, TOY_WEIGHTS } from '../../scripts/toy-toxicity-model.ts';
import { createRandom } from '../../src/internal/random.ts';
import { tfjsToxicityScorer } from '../../src/llm-evals/toxicity/tfjs-toxicity-scorer.ts';
import { FairnessAnalyzer } from '../../src/metrics/index.ts';
import { countReads, loadTensorflow, type Tf } from '../../src/tensor/index.ts';
import { FairnessRegularizerLoss, LogisticRegression, MinDiffLoss } from '../../src/training/index.ts';
import { onDevice } from '../helpers/on-device.ts';
import { describeOn, TESTED_BACKENDS } from '../helpers/software-gpu.ts';

/** Rows in numbers that float32 holds exactly; scores lie on a grid of 64ths. */
function makeRows(n: number) {
  const random = createRandom(17);
  const group = Float32Array.from({ length: n }, () => random.integer(3));
  const score = group.map((code) => (random.integer(48) + 8 * code) / 64);
  const label = score.map((one) => Number(random.next() < one));
  return { group, score, label };
}

const ROWS = makeRows(600);
const ANALYZER = { minGroupSize: 5 };
const PLAIN = { withCi: false } as const;

function upload(tf: Tf, rows: typeof ROWS): Readonly<Record<keyof typeof ROWS, Tensor1D>> {
  return Object.fromEntries(
    Object.entries(rows).map(([name, values]) => [name, onlyOnDevice(tf, values)]),
  ) as unknown as Record<keyof typeof ROWS, Tensor1D>;
}

/** Returns a tensor that was computed on the device, so that the host has no copy. */
function onlyOnDevice(tf: Tf, values: Float32Array): Tensor1D {
  return tf.tidy(() => tf.tensor1d(values).mul(1));
}

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `tensors on ${backend}`, () => {
    onDevice(backend);
    let tf: Tf;
    let tensors: ReturnType<typeof upload>;
    let before_ = 0;
    beforeEach(async () => {
      ({ tf } = await loadTensorflow({ backend }));
      before_ = tf.memory().numTensors;
      tensors = upload(tf, ROWS);
    });
    afterEach('leaves only the tensors of the caller, and does not dispose of them', () => {
      const own = Object.values(tensors);
      expect(own.every(({ isDisposed }) => !isDisposed)).to.equal(true);
      tf.dispose(own);
      expect(tf.memory().numTensors).to.equal(before_);
    });

    it('distinguishes groups named by integers beyond the range of float32', async () => {
      const ids = Int32Array.from({ length: 30 }, (_, row) => 20_000_001 + 2 * (row % 3));
      const sensitive = tf.tensor1d(ids, 'int32');
      const decisions = tf.tensor1d(Float32Array.from(ids, (_, row) => row % 2));
      const { nPerGroup } = await new FairnessAnalyzer(ANALYZER).demographicParityDifference(
        decisions,
        sensitive,
        PLAIN,
      );
      tf.dispose([sensitive, decisions]);
      expect(nPerGroup).to.deep.equal({ 20000001: 10, 20000003: 10, 20000005: 10 });
    });

    it('a logistic regression in float32 finds the coefficients of float64, with one or two reads per step', async () => {
      const plain = Array.from(ROWS.score, (one, row) => [one, ROWS.group[row] ?? NaN]);
      const exact = await new LogisticRegression({ precision: 'float64' }).fit(plain, ROWS.label);
      const x = tf.tidy(() => tf.stack([tensors.score, tensors.group], 1));
      const fit = (): Promise<LogisticRegression> =>
        new LogisticRegression({ precision: 'float32', backend }).fit(x, tensors.label);
      const { result, reads } = await countReads(tf, fit);
      x.dispose();
      expect(result.iterations).to.be.above(1);
      exact.coefficients.forEach((value, column) => {
        expect(result.coefficients[column]).to.be.closeTo(value, 1e-3);
      });
      if (backend === 'webgpu') expect(reads).to.be.at.most(2 * (result.iterations + 1) + 3);
    });

    it('losses and their gradients equal those of the host', async () => {
      const logits = [-1.5, 0.25, 0.75, 2, -0.5, 1];
      const labels = [0, 1, 1, 1, 0, 0];
      const member = [1, 0, 1, 0, 1, 0];
      // Binary cross-entropy plus the squared gap of two groups' mean scores, by finite differences in float64.
      const loss = (given: readonly number[]): number => {
        const scores = given.map((one) => 1 / (1 + Math.exp(-one)));
        const mean = (group: number): number =>
          scores.reduce((sum, score, row) => sum + (member[row] === group ? score / 3 : 0), 0);
        const error = scores.reduce((sum, score, row) => sum - Math.log(labels[row] === 1 ? score : 1 - score) / 6, 0);
        return error + 2 * (mean(0) - mean(1)) ** 2;
      };
      const expected = logits.map((_, row) => {
        const at = (step: number): number => loss(logits.map((one, position) => (position === row ? one + step : one)));
        return (at(1e-5) - at(-1e-5)) / 2e-5;
      });
      const regularizer = new FairnessRegularizerLoss({ eta: 2, penalty: 'mean_gap' });
      const slope = tf.tidy(() => {
        const groups = tf.oneHot(tf.tensor1d(member, 'int32'), 2);
        return tf.grad((given: Tensor) => regularizer.compute(given, tf.tensor1d(labels), groups))(tf.tensor1d(logits));
      });
      (await slope.data()).forEach((value, row) => {
        expect(value).to.be.closeTo(expected[row] ?? NaN, 1e-5);
      });
      const minDiff = tf.tidy(() => {
        const value = new MinDiffLoss().compute(tf.tensor1d(member), tf.tensor1d(logits));
        return value.reshape([1]);
      });
      const scores = logits.map((one) => 1 / (1 + Math.exp(-one)));
      const alike = (a: number, b: number): number => {
        const pairs = scores.flatMap((one, i) => scores.flatMap((other, j) => (member[i] === a && member[j] === b ? [Math.exp(-(((one - other) / 0.1) ** 2))] : []))); // prettier-ignore
        return pairs.reduce((sum, pair) => sum + pair, 0) / pairs.length;
      };
      expect((await minDiff.data())[0]).to.be.closeTo(alike(1, 1) - 2 * alike(1, 0) + alike(0, 0), 1e-5);
      tf.dispose([slope, minDiff]);
    });

    it('a toxicity classifier equals its closed form', async () => {
      const scorer = await tfjsToxicityScorer(TOY_FOLDER, { backend });
      const texts = ['A KIND and nice person', 'idiot, idiot!'];
      const closed = [TOY_WEIGHTS.kind + TOY_WEIGHTS.nice, 2 * TOY_WEIGHTS.idiot].map(
        (sum) => 1 / (1 + Math.exp(-(TOY_BIAS + sum))),
      );
      const scores = await scorer(texts);
      scorer.dispose();
      closed.forEach((score, index) => {
        expect(scores[index]).to.be.closeTo(score, 1e-6);
      });
    });

    if (backend !== 'webgpu') return;
    it('auto does not select the software GPU, even if it is available', async () => {
      const { backend: chosen } = await loadTensorflow({ backend: 'auto' });
      await loadTensorflow({ backend: 'webgpu' });
      expect(chosen).not.to.equal('webgpu');
    });
  });
}

describe('metrics of millions of rows @slow', () => {
  onDevice('wasm');

  it('read a constant number of values per 4 million rows', async function () {
    this.timeout(60_000);
    const { tf } = await loadTensorflow({ backend: 'wasm' });
    const readsOf = async (n: number): Promise<number> => {
      const rows = [0, 1].map((shift) => tf.tidy(() => tf.range(0, n).add(shift).mod(3).greater(0).cast('float32')));
      const [decision, group] = rows as [Tensor1D, Tensor1D];
      const analyzer = new FairnessAnalyzer();
      const { reads } = await countReads(tf, () => analyzer.demographicParityDifference(decision, group, PLAIN));
      tf.dispose(rows);
      return reads;
    };
    const few = await readsOf(1000);
    expect(few).to.be.above(0);
    expect(await readsOf(2 ** 22)).to.equal(few);
    expect(await readsOf(2 ** 22 + 1)).to.be.at.most(2 * few);
  });
});
