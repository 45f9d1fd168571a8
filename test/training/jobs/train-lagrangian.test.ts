import { existsSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { Table } from '../../../src/table/index.ts';
import { type ParetoPoint, sweepPareto } from '../../../src/training/index.ts';
import {
  lagrangianJobToJson,
  trainLagrangian,
  type TrainLagrangianOptions,
} from '../../../src/training/jobs/train-lagrangian.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';
import { encodeByHand, type PlainValue, predictWithPlainTfjs, readCard } from '../models/plain-tfjs.ts';
import { errorOf, makeSource } from './made-source.ts';

const folder = useTemporaryFolder();
const quick = { backend: 'cpu', epochs: 25, modelLr: 0.02, lambdaLr: 0.1, batchSize: 100, hidden: [6] } as const;

describe('trainLagrangian', () => {
  it('keeps the gap on the training rows within the tolerance, and reports the cost', async () => {
    const result = await trainLagrangian(makeSource(), { ...quick, dpTol: 0.05, epochs: 40 });
    expect([result.nTrain, result.nTest]).to.deep.equal([960, 240]);
    expect(result.train.baseline.dpDiff).to.be.greaterThan(0.4);
    expect(result.history[result.bestEpoch - 1]?.violationHard).to.be.at.most(0.05);
    // A tenth of the training rows was held out to choose the epoch.
    expect(result.train.final.dpDiff).to.be.at.most(0.1);
    expect(result.final.dpDiff).to.be.below(result.baseline.dpDiff / 2);
    expect(result.train.final.accuracy).to.be.below(result.train.baseline.accuracy);
  });

  it('equals the network without the constraint if the tolerance always holds', async () => {
    const result = await trainLagrangian(makeSource(600), { ...quick, dpTol: 1, epochs: 6 });
    expect(result.final).to.deep.equal(result.baseline);
    expect(result.train.final).to.deep.equal(result.train.baseline);
    expect(result.history.every(({ lambdas }) => lambdas[0] === 0)).to.equal(true);
  });

  it('gives the same JSON for the same seed, with the names that users rely on', async () => {
    const run = async (seed: number): Promise<Record<string, unknown>> =>
      lagrangianJobToJson(await trainLagrangian(makeSource(600), { ...quick, epochs: 3, seed }));
    const first = await run(1);
    expect(await run(1)).to.deep.equal(first);
    expect((await run(2))['history']).to.not.deep.equal(first['history']);
    expect(first).to.include.all.keys('baseline', 'final', 'history', 'train', 'n_train', 'n_test', 'backend', 'seed', 'warnings', 'constraint', 'target', 'positive_label', 'sensitive'); // prettier-ignore
    const history = first['history'] as Record<string, unknown>[];
    expect(history.map(({ epoch }) => epoch)).to.deep.equal([1, 2, 3]);
    expect(Object.keys(history[0] ?? {})).to.deep.equal(['epoch', 'loss', 'violation_soft', 'violation_hard', 'lambdas']); // prettier-ignore
    expect(first['constraint']).to.deep.equal({ fairness: 'demographic_parity', dp_tol: 0.02, eo_tol: 0.02 });
  });

  for (const folds of [undefined, 3]) {
    const how = folds === undefined ? 'on held-out rows' : 'with folds';
    it(`has the same network without the constraint as a sweep at eta 0, to the digit, ${how}`, async () => {
      const shared = { epochs: 9, batchSize: 64, hidden: [6], patience: 2, seed: 11, backend: 'cpu', folds } as const;
      const { baseline } = await trainLagrangian(makeSource(900), { ...shared, modelLr: 0.02 });
      const [free] = await sweepPareto(makeSource(900), { ...shared, lr: 0.02, etas: [0] });
      const { accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff } = baseline;
      const { eta: _, dominated: __, loss: ___, ...expected } = free ?? ({} as ParetoPoint);
      expect({ accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff }).to.deep.equal(expected);
    });
  }

  it('holds out every row once with folds, and keeps a network trained on all rows', async () => {
    const modelPath = path.join(folder(), 'folds');
    const options = { ...quick, epochs: 4, dpTol: 0.05, modelPath, folds: 3 } as const;
    const seen: number[] = [];
    const result = await trainLagrangian(makeSource(600), {
      ...options,
      onProgress: ({ done, total }) => seen.push(done / total),
    });
    expect([result.folds, result.nTrain, result.nTest, result.final.n, result.train.final.n]).to.deep.equal([3, 400, 600, 600, 600]); // prettier-ignore
    expect(result.groups).to.deep.equal({ few: 200, many: 400 });
    expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).to.equal(1);
    expect(lagrangianJobToJson(result)).to.include({ folds: 3, n_train: 400, n_test: 600 });
    // The network that is kept is the one trained on all rows.
    const records = Table.from(makeSource(600).table).toRecords() as Record<string, PlainValue>[];
    const card = readCard(modelPath);
    const p = await predictWithPlainTfjs(modelPath, records.map((row) => encodeByHand(card, row))); // prettier-ignore
    const right = p.filter((one, row) => Number(one >= 0.5) === records[row]?.['y']).length;
    expect(right / 600).to.equal(result.train.final.accuracy);
    expect((card['metrics'] as Record<string, unknown>[])[0]).to.include({ rows: 'test', n: 600, accuracy: result.final.accuracy }); // prettier-ignore
  });

  it('has a multiplier for each rate that equalized odds compares', async () => {
    const result = await trainLagrangian(makeSource(600), { ...quick, epochs: 2, fairness: 'equalized_odds' });
    expect(result.history[0]?.lambdas).to.have.length(2);
  });

  it('saves a network that plain TensorFlow.js loads, which is the one that final was measured on', async () => {
    const modelPath = path.join(folder(), 'model');
    const testTable = Table.from(makeSource(300, 8).table);
    const result = await trainLagrangian({ ...makeSource(600), testTable }, { ...quick, epochs: 4, modelPath });
    const card = readCard(modelPath);
    const records = testTable.toRecords() as Record<string, PlainValue>[];
    const p = await predictWithPlainTfjs(modelPath, records.map((row) => encodeByHand(card, row))); // prettier-ignore
    const right = p.filter((one, row) => Number(one >= 0.5) === records[row]?.['y']).length;
    expect(right / 300).to.equal(result.final.accuracy);
    expect(card).to.deep.include({ method: 'lagrangian', groups: { few: 200, many: 400 }, backend: 'cpu' });
    expect((card['metrics'] as Record<string, unknown>[])[0]).to.include({ rows: 'test', accuracy: right / 300 });
  });

  it('reports the progress of both networks up to the end', async () => {
    const seen: { stage: string; share: number }[] = [];
    await trainLagrangian(makeSource(600), {
      ...quick,
      epochs: 3,
      onProgress: ({ stage, done, total }) => seen.push({ stage, share: done / total }),
    });
    const shares = seen.map(({ share }) => share);
    expect(shares).to.deep.equal([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).to.equal(1);
    expect(new Set(seen.map(({ stage }) => stage))).to.deep.equal(new Set(['training without the constraint', 'training with the constraint'])); // prettier-ignore
  });

  it('stops at a signal and writes nothing, and also writes nothing if the loss diverges', async () => {
    const modelPath = path.join(folder(), 'none');
    const signal = AbortSignal.abort(new Error('enough'));
    expect(await errorOf(trainLagrangian(makeSource(600), { ...quick, signal, modelPath }))).to.include({ message: 'enough' }); // prettier-ignore
    const error = await errorOf(trainLagrangian(makeSource(600), { ...quick, modelLr: 1e38, modelPath }));
    expect(error).to.be.instanceOf(TrainingError);
    expect(existsSync(modelPath)).to.equal(false);
  });

  const refusals: [string, TrainLagrangianOptions, RegExp][] = [
    [
      'an unknown constraint',
      { fairness: 'parity' as never },
      /fairness parameter must be one of demographic_parity, /,
    ],
    ['a tolerance below 0', { dpTol: -1 }, /dpTol parameter/],
    ['no epochs', { epochs: 0 }, /epochs parameter/],
    ['a learning rate of 0', { modelLr: 0 }, /modelLr parameter/],
    ['one fold', { folds: 1 }, /folds parameter/],
    ['a train size of 0', { trainSize: 0 }, /trainSize parameter/],
  ];
  for (const [title, options, message] of refusals) {
    it(`rejects ${title}`, async () => {
      const error = await errorOf(trainLagrangian(makeSource(600), options));
      expect(error).to.be.instanceOf(ValueError);
      expect((error as Error).message).to.match(message);
    });
  }

  it('rejects a folder with other content, before training', async () => {
    const error = await errorOf(trainLagrangian(makeSource(600), { ...quick, modelPath: path.dirname(folder()) }));
    expect(error).to.be.instanceOf(DataValidationError);
    expect((error as Error).message).to.match(/contains other data/);
  });
});
