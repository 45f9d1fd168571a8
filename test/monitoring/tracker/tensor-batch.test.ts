import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { FairnessDriftAndAlertEngine } from '../../../src/monitoring/alarms/fairness-drift-and-alert-engine.ts';
import { RealTimeFairnessTracker } from '../../../src/monitoring/tracker/real-time-fairness-tracker.ts';
import type { TensorBatch } from '../../../src/monitoring/tracker/tensor-batch.ts';
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
    const make = (): RealTimeFairnessTracker =>
      new RealTimeFairnessTracker({
        columns: { yPred: 'p', yTrue: 'y', protected: ['g'] },
        groups: { g: ['0', '1', '2'] },
        windowSize: 1200,
        clock: () => 9,
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
