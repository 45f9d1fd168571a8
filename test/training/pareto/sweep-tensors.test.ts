import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { Table } from '../../../src/table/index.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';
import { sweepPareto, type SweepOptions, type TensorTrainingSource } from '../../../src/training/index.ts';
import { onDevice } from '../../helpers/on-device.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';

const LABELS = ['b', 'a', 'unused', 'c'];

/** Rows of three groups in float32, of which some lack a feature and some a target. */
function makeRows(n: number) {
  const random = createRandom(4);
  const codes = Int32Array.from({ length: n }, () => [0, 1, 3][random.integer(3)] ?? 0);
  const skill = Float32Array.from(codes, (code) => random.normal() + code / 2);
  const age = Float32Array.from(codes, () => (random.next() < 0.1 ? NaN : 40 + Math.round(10 * random.normal())));
  const y = Float32Array.from(skill, (one) => Number(one + 0.5 * random.normal() > 0.5));
  for (let row = 0; row < n; row += 50) y[row] = NaN;
  return { n, codes, skill, age, y };
}

function upload({ codes, skill, age, y }: ReturnType<typeof makeRows>): TensorTrainingSource {
  return {
    features: tf.tidy(() => tf.stack([tf.tensor1d(skill), tf.tensor1d(age)], 1) as tf.Tensor2D),
    target: tf.tensor1d(y),
    sensitive: tf.tensor1d(codes, 'int32'),
    sensitiveLabels: LABELS,
    featureNames: ['skill', 'age'],
  };
}

const ROWS = makeRows(600);
const TABLE = Table.from({
  skill: ROWS.skill,
  age: ROWS.age,
  target: ROWS.y,
  sensitive: [...ROWS.codes].map((code) => LABELS[code] ?? ''),
});
const QUICK = { epochs: 3, patience: 100, batchSize: 64, hidden: [4], lr: 0.05, minGroupSize: 5 } as const;

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `a sweep of tensors on ${backend}`, () => {
    onDevice(backend);
    let source: TensorTrainingSource;
    let before_ = 0;
    beforeEach(async () => {
      await loadTensorflow({ backend });
      before_ = tf.memory().numTensors;
      source = upload(ROWS);
    });
    afterEach('leaves only the tensors of the caller', () => {
      const own = [source.features, source.target, source.sensitive];
      expect(own.every(({ isDisposed }) => !isDisposed)).to.equal(true);
      tf.dispose(own);
      expect(tf.memory().numTensors).to.equal(before_);
    });

    const cases: Record<string, SweepOptions> = {
      'one split': { etas: [0, 2], penalty: 'mean_gap' },
      'three folds': { etas: [1], penalty: 'equalized_odds', folds: 3 },
    };
    // A software GPU takes a minute for each sweep.
    const isSlow = backend === 'webgpu';
    for (const [name, options] of Object.entries(cases).slice(0, isSlow ? 1 : 2)) {
      it(`holds out the same rows as a table and reports the same points (${name})`, async () => {
        const given = { ...QUICK, ...options, backend };
        const host = await sweepPareto({ table: TABLE, target: 'target', sensitive: 'sensitive' }, given);
        const device = await sweepPareto(source, given);
        for (const field of ['nTrain', 'nTest', 'nDropped', 'target', 'sensitive', 'batchSize'] as const) {
          expect(device[field], field).to.deep.equal(host[field]);
        }
        expect(device.backend).to.equal(backend);
        device.forEach((point, index) => {
          const expected = host[index];
          expect(point.eta).to.equal(expected?.eta);
          expect(point.loss).to.be.closeTo(expected?.loss ?? NaN, 1e-3);
          expect(point.accuracy).to.be.closeTo(expected?.accuracy ?? NaN, 0.005);
          expect(point.dpDiff).to.be.closeTo(expected?.dpDiff ?? NaN, 0.015);
        });
      });
    }

    it('rejects wrong tensors, and leaves no tensor', async () => {
      const wrong: [Partial<Record<keyof TensorTrainingSource, unknown>>, RegExp][] = [
        [{ features: source.target }, /2-D tensor.*\[600\]/],
        [{ target: source.features }, /\[600, 2\]/],
        [{ sensitiveLabels: ['b', 'a'] }, /code 3, but sensitiveLabels has 2/],
        [{ featureNames: ['one'] }, /featureNames must hold 2/],
      ];
      for (const [change, message] of wrong) {
        const error: unknown = await sweepPareto({ ...source, ...change } as TensorTrainingSource, QUICK).catch(
          (one: unknown) => one,
        );
        expect(error).to.be.instanceOf(DataValidationError);
        expect((error as Error).message).to.match(message);
      }
    });

    if (isSlow) return;
    it('stops at a signal', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const onProgress = (): void => {
        controller.abort(reason);
      };
      const sweep = sweepPareto(source, { ...QUICK, etas: [0, 1], onProgress, signal: controller.signal });
      expect(await sweep.catch((error: unknown) => error)).to.equal(reason);
    });
  });
}

describe('a sweep of tensors on wasm', () => {
  onDevice('wasm');

  it('finds the same etas as a table', async () => {
    const source = upload(ROWS);
    const options = { ...QUICK, etas: 'auto', penalty: 'mean_gap', epochs: 4, backend: 'wasm' } as const;
    const host = await sweepPareto({ table: TABLE, target: 'target', sensitive: 'sensitive' }, options);
    const device = await sweepPareto(source, options);
    expect(device.etaRange).to.deep.equal(host.etaRange);
    tf.dispose([source.features, source.target, source.sensitive]);
  });
});
