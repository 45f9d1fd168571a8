import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { FairnessDriftAndAlertEngine } from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import type { TensorBatch } from '../../../src/monitoring/tracker/tensor-batch.ts';
import type { TrackerOptions } from '../../../src/monitoring/tracker/tracker-options.ts';
import { loadTensorflow } from '../../../src/tensor/index.ts';

for (const backend of ['cpu', 'wasm'] as const) {
  describe(`a batch of tensors on ${backend}`, () => {
    const random = createRandom(4);
    const count = 5000;
    const rows = {
      p: Float32Array.from({ length: count }, () => (random.next() < 0.01 ? NaN : random.next())),
      y: Float32Array.from({ length: count }, () => (random.next() < 0.2 ? NaN : random.integer(2))),
      g: Float32Array.from({ length: count }, () => (random.next() < 0.02 ? NaN : random.integer(4))),
    };
    const make = (options: Partial<TrackerOptions> = {}): RealTimeFairnessTracker =>
      new RealTimeFairnessTracker({
        columns: { yPred: 'p', yTrue: 'y', protected: ['g'] },
        groups: { g: ['0', '1', '2'] },
        windowSize: 1200,
        clock: () => 9,
        ...options,
      });

    for (const watched of [false, true]) {
      it(`has the sums of its rows${watched ? ', also with detectors' : ''}, and leaks no tensor`, async () => {
        const { tf } = await loadTensorflow({ backend });
        const host = make();
        const device = make();
        if (watched) new FairnessDriftAndAlertEngine().watch(device);
        for (const [from, size] of [
          [0, 40],
          [40, 700],
          [740, 4260],
        ] as const) {
          const part = Object.entries(rows).map(([name, values]) => [name, values.slice(from, from + size)] as const);
          host.recordBatch(Object.fromEntries(part));
          const tensors = part.map(([name, values]) => [name, tf.tensor1d(values)] as const);
          const before = tf.memory().numTensors;
          await device.recordBatch(Object.fromEntries(tensors) as unknown as TensorBatch);
          expect(tf.memory().numTensors).to.equal(before);
          for (const [, tensor] of tensors) tensor.dispose();
        }
        expect(device.nEvents).to.equal(host.nEvents);
        expect(device.faults).to.deep.equal(host.faults);
        expect(device.metrics()).to.deep.equal(host.metrics());
        expect(device.metrics({ window: 'cumulative' })).to.deep.equal(host.metrics({ window: 'cumulative' }));
        expect(device.labelCoverage()).to.deep.equal(host.labelCoverage());
      });
    }

    for (const watched of [false, true]) {
      it(`with labels and missing numbers has the sums of its rows${watched ? ', also with detectors' : ''}`, async () => {
        const { tf } = await loadTensorflow({ backend });
        const coded = (values: Float32Array, no: number, yes: number): Float32Array =>
          values.map((value) => (Number.isNaN(value) ? -9 : value >= 0.5 ? yes : no));
        const batch = {
          p: coded(rows.p, -1, 1),
          y: coded(rows.y, 1, 2),
          g: rows.g.map((g) => (Number.isNaN(g) ? -9 : g)),
        };
        const options = { positiveLabel: '1', yTruePositiveLabel: '2', naValues: ['-9', 'NA'] };
        const [plain, host, device] = [make(), make(options), make(options)];
        if (watched) new FairnessDriftAndAlertEngine().watch(device);
        plain.recordBatch(rows);
        host.recordBatch(batch);
        const tensors = Object.fromEntries(Object.entries(batch).map(([name, values]) => [name, tf.tensor1d(values)]));
        const before = tf.memory().numTensors;
        await device.recordBatch(tensors as unknown as TensorBatch);
        expect(tf.memory().numTensors).to.equal(before);
        tf.dispose(tensors);
        for (const tracker of [host, device]) {
          expect(tracker.nEvents).to.equal(plain.nEvents);
          expect(tracker.faults).to.deep.equal(plain.faults);
          expect(tracker.metrics()).to.deep.equal(plain.metrics());
          expect(tracker.metrics({ window: 'cumulative' })).to.deep.equal(plain.metrics({ window: 'cumulative' }));
        }
      });
    }

    it('with a missing number that is also a decision keeps the decisions of its scores', async () => {
      const { tf } = await loadTensorflow({ backend });
      const tracker = make({ naValues: ['0'], groups: undefined });
      new FairnessDriftAndAlertEngine().watch(tracker);
      const batch = { p: tf.tensor1d([0, 0.25, 0.75]), y: tf.tensor1d([1, 1, 1]), g: tf.tensor1d([1, 1, 1]) };
      await tracker.recordBatch(batch as unknown as TensorBatch);
      tf.dispose(batch);
      expect(tracker.faults).to.deep.equal({ missing_prediction: 1 });
      // The score of 0 is missing. The others are a negative and a positive decision, both with the label 1.
      expect(Array.from(tracker.stream.tables[0]?.data.slice(0, 6) ?? [])).to.deep.equal([0, 0, 1, 1, 0, 0]);
    });

    it('with a positive label that is a text is an error, since tensors hold numbers', async () => {
      const { tf } = await loadTensorflow({ backend });
      const tracker = make({ yTruePositiveLabel: 'good' });
      const batch = { p: tf.tensor1d([0, 1]), y: tf.tensor1d([0, 1]), g: tf.tensor1d([0, 1]) };
      const error: unknown = await tracker
        .recordBatch(batch as unknown as TensorBatch)
        .catch((cause: unknown) => cause);
      tf.dispose(batch);
      expect(error)
        .to.have.property('message')
        .that.includes("yTrue is a tensor, which holds numbers, but its positive label 'good' is text");
      expect(tracker.nEvents).to.equal(0);
    });

    it('with a value that is not a score is an error, and nothing is counted', async () => {
      const { tf } = await loadTensorflow({ backend });
      const tracker = make();
      const batch = { p: tf.tensor1d([0, 3]), y: tf.tensor1d([0, 1]), g: tf.tensor1d([0, 1]) };
      const error: unknown = await tracker
        .recordBatch(batch as unknown as TensorBatch)
        .catch((cause: unknown) => cause);
      expect(error).to.have.property('name', 'DataValidationError');
      expect(tracker.nEvents).to.equal(0);
    });
  });
}
