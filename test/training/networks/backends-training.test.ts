import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, TrainingError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { Table } from '../../../src/table/index.ts';
import { countReads, loadTensorflow, type Tf } from '../../../src/tensor/index.ts';
import {
  FAIRNESS_PENALTIES,
  LagrangianFairnessTrainer,
  loadModel,
  RegularizedFairnessTrainer,
  saveModel,
  sweepPareto,
} from '../../../src/training/index.ts';
import { onDevice } from '../../helpers/on-device.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { describeOn, TESTED_BACKENDS } from '../../helpers/software-gpu.ts';

/** Rows of two groups with features that depend on the group, a decision and a number to predict. */
function makeRows(n: number): { x: Table; y: number[]; value: number[]; s: string[] } {
  const random = createRandom(3);
  const s = Array.from({ length: n }, () => (random.next() < 0.4 ? 'a' : 'b'));
  const skill = s.map((group) => random.normal() + (group === 'a' ? 0.8 : 0));
  const town = s.map((group) => (random.next() < (group === 'a' ? 0.8 : 0.3) ? 'north' : 'south'));
  const value = skill.map((one) => 3 * one + random.normal());
  return { x: Table.from({ skill, town }), y: value.map((one) => Number(one > 0)), value, s };
}

/** Small enough for a software GPU. */
const SMALL = makeRows(160);

const QUICK = { epochs: 2, patience: 100, batchSize: 64, hidden: [8] } as const;

/** Reads of one fit, besides those of its epochs: the final weights, and the outputs for held-out rows. */
const READS_OF_A_FIT = 6;

/** Returns the number of reads of a fit with this many epochs. */
type FitReads = (epochs: number) => Promise<number>;

/** Fits, and checks that the number of reads grows by at most one per epoch, above a constant. */
async function assertOneReadAnEpoch(readsOf: FitReads): Promise<void> {
  const [one, three] = [await readsOf(1), await readsOf(3)];
  expect(three - one, 'reads of two epochs more').to.be.at.most(2);
  expect(one, 'reads of one epoch and the fit').to.be.at.most(1 + READS_OF_A_FIT);
  // There must be some reads; otherwise the counting failed.
  expect(one).to.be.above(0);
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

for (const backend of TESTED_BACKENDS) {
  describeOn(backend, `training on ${backend} leaves no tensor behind`, () => {
    onDevice(backend);
    const folder = useTemporaryFolder();
    const quick = { ...QUICK, backend };
    const { x, y, value, s: sensitive } = SMALL;

    let tf: Tf;
    const held = (): number[] => [tf.memory().numTensors, tf.memory().numDataBuffers];
    let before_: number[] = [];
    beforeEach(async () => {
      ({ tf } = await loadTensorflow({ backend }));
      before_ = held();
    });
    afterEach('no tensor is left', () => {
      expect(held()).to.deep.equal(before_);
    });

    for (const penalty of FAIRNESS_PENALTIES) {
      it(`in a fit with the penalty ${penalty}`, async () => {
        const trainer = new RegularizedFairnessTrainer({ ...quick, penalty });
        await trainer.fit(x, y, { sensitive, sampleWeight: y.map((label) => 1 + label) });
        expect(trainer.history).to.have.length(2);
        expect(trainer.state?.network.backend).to.equal(backend);
      });
    }

    it('in a regression, and predictions of it', async () => {
      const trainer = new RegularizedFairnessTrainer({ ...quick, task: 'regression', penalty: 'mean_gap', lr: 0.05 });
      await trainer.fit(x, value, { sensitive });
      const predicted = await trainer.predict(x);
      expect(new Set(predicted).size).to.be.above(100);
    });

    it('in a constrained fit, its predictions, and the saved network in use', async () => {
      const trainer = new LagrangianFairnessTrainer({ ...quick, fairness: 'equalized_odds', minGroupSize: 5 });
      await trainer.fit(x, y, { sensitive });
      const scores = await trainer.predictProba(x);
      const location = path.join(folder(), 'lagrangian');
      await saveModel(trainer, location);
      const loaded = await (await loadModel(location, { backend })).predictProba(x);
      scores.forEach((score, row) => {
        expect(loaded[row]).to.be.closeTo(score, 1e-6);
      });
    });

    it('in a sweep, and the saved networks of it in use', async () => {
      const location = path.join(folder(), 'sweep');
      const points = await sweepPareto(
        {
          table: Table.from({ skill: x.column('skill'), town: x.column('town'), y, s: sensitive }),
          target: 'y',
          sensitive: 's',
        },
        { ...quick, etas: [0, 3], minGroupSize: 5, modelPath: location },
      );
      expect(points.backend).to.equal(backend);
      const scores = await (await loadModel(path.join(location, 'eta-3'), { backend })).predictProba(x);
      expect(Math.max(...scores)).to.be.above(Math.min(...scores));
    });

    for (const [title, make] of [
      ['a regularized fit', (epochs) => new RegularizedFairnessTrainer({ ...quick, epochs, penalty: 'adversarial' })],
      ['a constrained fit', (epochs) => new LagrangianFairnessTrainer({ ...quick, epochs, minGroupSize: 5 })],
    ] as [string, (epochs: number) => RegularizedFairnessTrainer | LagrangianFairnessTrainer][]) {
      it(`in ${title} that is stopped in the middle`, async () => {
        const controller = new AbortController();
        const reason = new Error('enough');
        const onProgress = ({ done }: { readonly done: number }): void => {
          if (done === 1) controller.abort(reason);
        };
        const error = await errorOf(make(50).fit(x, y, { sensitive, onProgress, signal: controller.signal }));
        expect(error).to.equal(reason);
      });
    }

    it('in a sweep that is stopped in the middle', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const onProgress = ({ done }: { readonly done: number }): void => {
        if (done === 1) controller.abort(reason);
      };
      const table = Table.from({ skill: x.column('skill'), y, s: sensitive });
      const sweep = sweepPareto(
        { table, target: 'y', sensitive: 's' },
        { ...quick, epochs: 50, minGroupSize: 5, onProgress, signal: controller.signal },
      );
      expect(await errorOf(sweep)).to.equal(reason);
    });

    it('in a fit that diverges', async () => {
      // Through four layers of weights in the millions a squared error exceeds float32.
      const options = { ...quick, task: 'regression', penalty: 'covariance', lr: 1e6, hidden: [8, 8, 8] } as const;
      const error = await errorOf(new RegularizedFairnessTrainer(options).fit(x, value, { sensitive }));
      expect(error).to.be.instanceOf(TrainingError);
      expect((error as Error).message).to.contain('is not a number after epoch');
    });

    it('in a fit of invalid data', async () => {
      const few = new LagrangianFairnessTrainer({ ...quick, minGroupSize: 10_000 });
      expect(await errorOf(few.fit(x, y, { sensitive }))).to.be.instanceOf(DataValidationError);
      const gaps = y.map((label, row) => (row === 7 ? NaN : label));
      const trainer = new RegularizedFairnessTrainer(quick);
      expect(await errorOf(trainer.fit(x, gaps, { sensitive }))).to.be.instanceOf(DataValidationError);
    });
  });

  // On cpu the host's own work is counted as reads.
  if (backend === 'cpu') continue;
  describeOn(backend, `training on ${backend} reads at most once an epoch`, () => {
    onDevice(backend);
    const quick = { ...QUICK, backend };
    const { x, y, s: sensitive } = SMALL;

    it('in a regularized fit', async () => {
      const { tf } = await loadTensorflow({ backend });
      await assertOneReadAnEpoch(async (epochs) => {
        const trainer = new RegularizedFairnessTrainer({ ...quick, epochs });
        return (await countReads(tf, () => trainer.fit(x, y, { sensitive }))).reads;
      });
    });

    for (const fairness of ['demographic_parity', 'equalized_odds'] as const) {
      it(`in a fit constrained by ${fairness}`, async () => {
        const { tf } = await loadTensorflow({ backend });
        await assertOneReadAnEpoch(async (epochs) => {
          const trainer = new LagrangianFairnessTrainer({ ...quick, epochs, fairness, minGroupSize: 5 });
          return (await countReads(tf, () => trainer.fit(x, y, { sensitive }))).reads;
        });
      });
    }
  });
}

describe('training on many rows reads at most once an epoch', () => {
  // More rows than one forward pass takes, and more validation rows than are compared with each other at once.
  const { x, y, s: sensitive } = makeRows(20_000);
  const quick = { ...QUICK, batchSize: 512, hidden: [4], backend: 'wasm' } as const;
  onDevice('wasm');

  for (const penalty of ['covariance', 'mmd'] as const) {
    it(`in a fit with the penalty ${penalty}`, async () => {
      const { tf } = await loadTensorflow({ backend: 'wasm' });
      await assertOneReadAnEpoch(async (epochs) => {
        const trainer = new RegularizedFairnessTrainer({ ...quick, epochs, penalty });
        return (await countReads(tf, () => trainer.fit(x, y, { sensitive }))).reads;
      });
    });
  }

  it('in a constrained fit', async () => {
    const { tf } = await loadTensorflow({ backend: 'wasm' });
    await assertOneReadAnEpoch(async (epochs) => {
      const trainer = new LagrangianFairnessTrainer({ ...quick, epochs, fairness: 'equalized_odds' });
      return (await countReads(tf, () => trainer.fit(x, y, { sensitive }))).reads;
    });
  });

  it('in a sweep of as many networks as are trained together', async () => {
    const { tf } = await loadTensorflow({ backend: 'wasm' });
    const table = Table.from({ skill: x.column('skill'), y, s: sensitive });
    const etas = [0, 1, 2, 3, 4, 5, 6, 7];
    await assertOneReadAnEpoch(async (epochs) => {
      const sweep = (): Promise<unknown> =>
        sweepPareto({ table, target: 'y', sensitive: 's' }, { ...quick, epochs, etas, threads: 1 });
      return (await countReads(tf, sweep)).reads;
    });
  });
});
