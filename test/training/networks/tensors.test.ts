import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { Table } from '../../../src/table/index.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import {
  FAIRNESS_PENALTIES,
  LagrangianFairnessTrainer,
  RegularizedFairnessTrainer,
} from '../../../src/training/index.ts';
import { onDevice } from '../../helpers/on-device.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';

/** Rows of three groups in float32. One column never varies, and one has missing values. */
function makeRows(n: number) {
  const random = createRandom(11);
  const s = Int32Array.from({ length: n }, () => [2, 5, 10][random.integer(3)] ?? 2);
  const columns = {
    x0: Float32Array.from(s, (group) => random.normal() + (group === 5 ? 1 : 0)),
    x1: Float32Array.from(s, () => 2000 + Math.round(3 * random.normal())),
    x2: new Float32Array(n).fill(7),
    x3: Float32Array.from(s, () => (random.next() < 0.1 ? NaN : 1e-3 * random.normal())),
  };
  const score = Array.from(s, (_, row) => (columns.x0[row] ?? 0) + ((columns.x1[row] ?? 0) - 2000) / 6);
  const y = Float32Array.from(score, (one) => Number(one + 0.5 * random.normal() > 0.5));
  const value = Float32Array.from(score, (one) => 100 + 5 * one);
  const weights = Float32Array.from(s, (_, row) => row % 5);
  return { n, s, columns, y, value, weights, table: Table.from(columns) };
}

const ROWS = makeRows(400);
const QUICK = { epochs: 3, patience: 100, batchSize: 64, hidden: [6], lr: 0.02 } as const;

/** Uploads rows with the caller's own import of TensorFlow.js. */
function upload({ columns, y, s, value, weights }: ReturnType<typeof makeRows>) {
  return {
    x: tf.tidy(
      () =>
        tf.stack(
          Object.values(columns).map((column) => tf.tensor1d(column)),
          1,
        ) as tf.Tensor2D,
    ),
    y: tf.tensor1d(y),
    value: tf.tensor1d(value),
    s: tf.tensor1d(s, 'int32'),
    weights: tf.tensor1d(weights),
  };
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `trainers on tensors on ${backend}`, () => {
    onDevice(backend);
    let tensors: ReturnType<typeof upload>;
    let before_ = 0;
    beforeEach(async () => {
      await loadTensorflow({ backend });
      before_ = tf.memory().numTensors;
      tensors = upload(ROWS);
    });
    afterEach('leaves only the tensors of the caller', () => {
      expect(Object.values(tensors).every(({ isDisposed }) => !isDisposed)).to.equal(true);
      tf.dispose(Object.values(tensors));
      expect(tf.memory().numTensors).to.equal(before_);
    });

    const options = { ...QUICK, backend };
    // A software GPU takes a minute for each trainer, so it runs the constrained one only.
    const isSlow = backend === 'webgpu';
    const penalties = FAIRNESS_PENALTIES.filter(
      (penalty) => backend === 'wasm' || (!isSlow && penalty === 'equalized_odds'),
    );
    const trainers = {
      ...Object.fromEntries(
        penalties.map((penalty) => [penalty, () => new RegularizedFairnessTrainer({ ...options, penalty })]),
      ),
      constrained: () => {
        const { lr: modelLr, ...others } = options;
        return new LagrangianFairnessTrainer({ ...others, modelLr, fairness: 'equalized_odds', minGroupSize: 5 });
      },
    } as Record<string, () => RegularizedFairnessTrainer | LagrangianFairnessTrainer>;

    for (const [name, make] of Object.entries(trainers)) {
      it(`learn the same as from arrays (${name})`, async () => {
        const host = await make().fit(ROWS.table, ROWS.y, { sensitive: ROWS.s });
        const device = make();
        await device.fit(tensors.x, tensors.y, { sensitive: tensors.s });
        expect(device.warnings).to.deep.equal(host.warnings);
        expect(device.state?.groups).to.deep.equal(['2', '5', '10']);
        expect(device.state?.network.backend).to.equal(backend);
        expect(device.bestEpoch).to.equal(host.bestEpoch);
        device.history.forEach(({ loss }, epoch) => {
          expect(loss).to.be.closeTo(host.history[epoch]?.loss ?? NaN, 1e-3);
        });
        const specs = device.state?.network.specs ?? [];
        host.state?.network.specs.forEach((spec, index) => {
          const own = specs[index];
          if (spec.kind !== 'numeric' || own?.kind !== 'numeric') throw new Error('features are numbers');
          expect({ ...own, mean: 0, scale: 0 }).to.deep.equal({ ...spec, mean: 0, scale: 0 });
          expect((own.mean - spec.mean) / spec.scale).to.be.closeTo(0, 1e-5);
          expect(own.scale / spec.scale).to.be.closeTo(1, 1e-5);
        });

        const expected = await host.predictProba(ROWS.table);
        const scores = await device.predictProba(tensors.x);
        const decisions = await device.predict(tensors.x);
        expect([scores.dtype, decisions.dtype, scores.shape]).to.deep.equal(['float32', 'float32', [ROWS.n]]);
        const [read, decided] = [await scores.data(), await decisions.data()];
        let different = 0;
        expected.forEach((score, row) => {
          expect(read[row]).to.be.closeTo(score, 5e-3);
          different += Number(Number(score >= 0.5) !== decided[row]);
        });
        expect(different).to.be.at.most(ROWS.n / 200);
        tf.dispose([scores, decisions]);
      });
    }

    it('reject what arrays reject, and leave no tensor', async () => {
      const trainer = new RegularizedFairnessTrainer(options);
      const { x, y, s } = tensors;
      const wrong: Record<string, [() => tf.Tensor, (made: tf.Tensor) => Promise<unknown>, RegExp]> = {
        'x of one dimension': [() => y.clone(), (made) => trainer.fit(made, y, { sensitive: s }), /\[400\]/],
        'y of two dimensions': [() => y.reshape([400, 1]), (made) => trainer.fit(x, made, { sensitive: s }), /\[400, 1\]/],
        'a missing label': [() => tf.tidy(() => tf.where(tf.range(0, 400).equal(7), tf.fill([400], NaN), y)), (made) => trainer.fit(x, made, { sensitive: s }), /y is missing at index 7/],
        'a label of 2': [() => y.mul(2), (made) => trainer.fit(x, made, { sensitive: s }), /y must hold 0 and 1, but holds 2/],
        'one class': [() => tf.zerosLike(y), (made) => trainer.fit(x, made, { sensitive: s }), /y is 0 in every row/],
        'one group': [() => tf.zerosLike(s), (made) => trainer.fit(x, y, { sensitive: made }), /one group only \('0'\)/],
        'fewer groups than rows': [() => s.slice(0, 399), (made) => trainer.fit(x, y, { sensitive: made }), /400 and 399/],
        'a negative weight': [() => tf.tidy(() => y.sub(0.5)), (made) => trainer.fit(x, y, { sensitive: s, sampleWeight: made }), /sampleWeight must be 0 or more, but holds -0.5/],
        'an infinite feature': [() => tf.tidy(() => tf.where(tf.range(0, 1600).reshape([400, 4]).equal(401), tf.fill([400, 4], Infinity), x)), (made) => trainer.fit(made, y, { sensitive: s }), /'x1' must be finite, but row 101 holds Infinity/],
        'no feature that varies': [() => tf.ones([400, 2]), (made) => trainer.fit(made, y, { sensitive: s }), /no feature to train on/],
      }; // prettier-ignore
      for (const [title, [make, fit, message]] of Object.entries(wrong)) {
        const made = make();
        const held = tf.memory().numTensors;
        const error = await errorOf(fit(made));
        expect(error, title).to.be.instanceOf(DataValidationError);
        expect((error as Error).message, title).to.match(message);
        expect(tf.memory().numTensors, title).to.equal(held);
        made.dispose();
      }
    });

    if (isSlow) return;
    it('stop at a signal', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const onProgress = (): void => {
        controller.abort(reason);
      };
      const fit = trainers['constrained']?.().fit(tensors.x, tensors.y, {
        sensitive: tensors.s,
        onProgress,
        signal: controller.signal,
      });
      expect(await errorOf(Promise.resolve(fit))).to.equal(reason);
    });

    it('use weights, and exclude rows of weight 0', async () => {
      const [host, device] = [new RegularizedFairnessTrainer(options), new RegularizedFairnessTrainer(options)];
      await host.fit(ROWS.table, ROWS.y, { sensitive: ROWS.s, sampleWeight: ROWS.weights });
      await device.fit(tensors.x, tensors.y, { sensitive: tensors.s, sampleWeight: tensors.weights });
      device.history.forEach(({ loss }, epoch) => {
        expect(loss).to.be.closeTo(host.history[epoch]?.loss ?? NaN, 1e-3);
      });
    });

    it('predict numbers in the units of the target', async () => {
      const make = (): RegularizedFairnessTrainer =>
        new RegularizedFairnessTrainer({ ...options, task: 'regression', penalty: 'mean_gap' });
      const host = await make().fit(ROWS.table, ROWS.value, { sensitive: ROWS.s });
      const device = await make().fit(tensors.x, tensors.value, { sensitive: tensors.s });
      const predicted = await device.predict(tensors.x);
      const values = await predicted.data();
      (await host.predict(ROWS.table)).forEach((value, row) => {
        expect(values[row]).to.be.closeTo(value, 0.05);
      });
      predicted.dispose();
    });
  });
}
