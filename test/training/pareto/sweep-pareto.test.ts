import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';

import { DataValidationError, TrainingError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { sampleData } from '../../../src/io/index.ts';
import { Table } from '../../../src/table/index.ts';
import { encodeFeatures } from '../../../src/training/data/feature-encoder.ts';
import { judgeAtThreshold } from '../../../src/training/pareto/held-out-scores.ts';
import { sweepWithScores } from '../../../src/training/pareto/sweep-pareto.ts';
import { paretoToJson, sweepPareto, type TrainingSource } from '../../../src/training/index.ts';
import { useTemporaryFolder } from '../../helpers/run-cli.ts';

/**
 * Two groups that differ in a feature that determines the target, so that a penalty can trade accuracy for a smaller
 * gap.
 */
function makeSource(rows = 1200): TrainingSource {
  const random = createRandom(3);
  const s = Array.from({ length: rows }, (_, row) => (row % 3 === 0 ? 'few' : 'many'));
  const x = s.map((group) => random.normal() + (group === 'many' ? 0.8 : -0.8));
  const y = x.map((value) => Number(value + 0.7 * random.normal() > 0));
  return { table: { x, noise: x.map(() => random.normal()), s, y } };
}

const quick = { epochs: 12, lr: 0.02, batchSize: 100, penalty: 'mean_gap', backend: 'wasm' } as const;

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('sweepPareto', () => {
  const folder = useTemporaryFolder();

  it('trades accuracy for a smaller gap as eta grows', async () => {
    const points = await sweepPareto(makeSource(), { ...quick, etas: [0, 1, 10] });
    const [free, , tight] = points;
    expect(free?.accuracy).to.be.greaterThan(0.75);
    expect(free?.dpDiff).to.be.greaterThan(0.4);
    expect(tight?.dpDiff).to.be.lessThan((free?.dpDiff ?? 0) / 2);
    expect(tight?.accuracy).to.be.lessThan(free?.accuracy ?? 0);
    expect([points.nTrain, points.nTest]).to.deep.equal([960, 240]);
  });

  it('returns the same numbers for the same seed, and others for another', async () => {
    const run = async (seed: number) => paretoToJson(await sweepPareto(makeSource(), { ...quick, etas: [0, 1], seed }));
    const first = await run(1);
    expect(await run(1)).to.deep.equal(first);
    expect((await run(2))['points']).to.not.deep.equal(first['points']);
  });

  it('returns the same numbers in one thread and in two', async () => {
    const etas = Array.from({ length: 10 }, (_, index) => index / 2);
    const run = async (threads: number) =>
      paretoToJson(await sweepPareto(makeSource(), { ...quick, epochs: 3, backend: 'wasm', etas, threads, folds: 2 }));
    expect(await run(2)).to.deep.equal(await run(1));
  });

  for (const threads of [1, 2]) {
    it(`stops at a signal, with the reason, and writes nothing, in ${String(threads)} threads`, async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const [savePath, modelPath] = [
        path.join(folder(), `stopped${String(threads)}.svg`),
        path.join(folder(), 'stopped'),
      ];
      const error = await errorOf(
        sweepPareto(makeSource(), {
          ...quick,
          epochs: 500,
          patience: 500,
          backend: 'wasm',
          etas: Array.from({ length: 10 }, (_, index) => index),
          threads,
          savePath,
          modelPath,
          signal: controller.signal,
          onProgress: () => {
            controller.abort(reason);
          },
        }),
      );
      expect(error).to.equal(reason);
      expect([savePath, modelPath].some((position) => existsSync(position))).to.equal(false);
    });
  }

  it('stops at a signal at the last moment, before anything is written', async () => {
    const controller = new AbortController();
    const savePath = path.join(folder(), 'late.svg');
    const error = await errorOf(
      sweepPareto(makeSource(), {
        ...quick,
        epochs: 2,
        etas: [0],
        savePath,
        signal: controller.signal,
        onProgress: ({ done, total }) => {
          if (done === total) controller.abort();
        },
      }),
    );
    expect(error).to.have.property('name', 'AbortError');
    expect(existsSync(savePath)).to.equal(false);
  });

  it('reports progress once from 0 to the end, even if networks of all rows are saved after folds', async () => {
    const shares: number[] = [];
    await sweepPareto(makeSource(), {
      ...quick,
      epochs: 3,
      etas: [0],
      folds: 2,
      modelPath: path.join(folder(), 'whole'),
      onProgress: ({ done, total }) => shares.push(done / total),
    });
    expect(shares).to.deep.equal([...shares].sort((a, b) => a - b));
    expect(shares.filter((share) => share === 1).length).to.be.at.most(2);
  });

  it('throws the same error from a thread as without', async () => {
    const run = async (threads: number): Promise<unknown> =>
      errorOf(
        sweepPareto(makeSource(), { ...quick, lr: 1e30, backend: 'wasm', etas: [0, 1, 2, 3, 4, 5, 6, 7, 8], threads }),
      );
    for (const error of [await run(1), await run(2)]) {
      expect(error).to.be.instanceOf(TrainingError);
      expect((error as TrainingError).message).to.match(
        /eta \d is not a number after epoch 1: a learning rate of 1e\+30/,
      );
      expect((error as TrainingError).suggestion).to.contain('(lr)');
    }
  });

  it('trains each model as if it were alone, so that a stack equals single runs', async () => {
    const together = await sweepPareto(makeSource(), { ...quick, etas: [0, 2, 5], epochs: 6 });
    for (const [index, eta] of [0, 2, 5].entries()) {
      const [alone] = await sweepPareto(makeSource(), { ...quick, etas: [eta], epochs: 6 });
      expect(together[index]?.loss).to.be.closeTo(alone?.loss ?? NaN, 1e-4);
      expect(together[index]?.accuracy).to.be.closeTo(alone?.accuracy ?? NaN, 0.005);
    }
  });

  it('agrees between backends', async () => {
    const run = (backend: 'cpu' | 'wasm') => sweepPareto(makeSource(), { ...quick, etas: [0, 2], backend });
    const [cpu, wasm] = [await run('cpu'), await run('wasm')];
    cpu.forEach((point, index) => {
      expect(wasm[index]?.loss).to.be.closeTo(point.loss, 1e-3);
      expect(wasm[index]?.accuracy).to.be.closeTo(point.accuracy, 0.01);
    });
  });

  for (const penalty of ['covariance', 'mean_gap', 'equalized_odds'] as const) {
    it(`reduces the measure of ${penalty}, with several hidden layers and three groups`, async () => {
      const source = makeSource(1500);
      const { x, y } = source.table as { x: number[]; y: number[] };
      const s = x.map((_, row) => ['a', 'b', 'c'][row % 3] ?? '');
      const points = await sweepPareto(
        { table: { x, y, s } },
        { ...quick, penalty, etas: [0, 20], hidden: [8, 4], epochs: 20 },
      );
      const gap = penalty === 'equalized_odds' ? 'eoDiff' : 'dpDiff';
      expect(points[1]?.[gap]).to.be.at.most((points[0]?.[gap] ?? 0) + 0.02);
      expect(points[1]?.[gap]).to.be.lessThan(0.25);
    });
  }

  it('cross-fits: every row is held out once', async () => {
    const points = await sweepPareto(
      {
        table: sampleData('cps-wages'),
        target: 'wage_above_median',
        sensitive: 'gender',
        features: ['education', 'experience'],
      },
      { ...quick, etas: [0, 4], folds: 5 },
    );
    expect([points.nTest, points.folds]).to.deep.equal([534, 5]);
    const [low = NaN, high = NaN] = points[0]?.dpDiffCi ?? [];
    expect(low).to.be.at.most(points[0]?.dpDiff ?? NaN);
    expect(high).to.be.at.least(points[0]?.dpDiff ?? NaN);
  });

  it('evaluates on a separate table if it is given', async () => {
    const source = makeSource();
    const test = Table.from(source.table).take(Int32Array.from({ length: 200 }, (_, row) => row));
    const points = await sweepPareto({ ...source, testTable: test }, { ...quick, etas: [0], epochs: 2 });
    expect([points.nTrain, points.nTest]).to.deep.equal([1200, 200]);
  });

  it('reports progress up to the end', async () => {
    const seen: number[] = [];
    await sweepPareto(makeSource(), {
      ...quick,
      etas: [0],
      folds: 2,
      epochs: 3,
      onProgress: ({ done, total }) => seen.push(done / total),
    });
    expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).to.equal(1);
  });

  it('leaves no tensor behind', async () => {
    await sweepPareto(makeSource(), { ...quick, etas: [0, 1], epochs: 2, hidden: [4, 3] });
    const before = tf.memory().numTensors;
    await sweepPareto(makeSource(), { ...quick, etas: [0, 1], epochs: 2, hidden: [4, 3] });
    expect(tf.memory().numTensors).to.equal(before);
  });

  it('keeps the scores of held-out rows, whose decisions at 0.5 are those of the points', async () => {
    const options = { ...quick, etas: [0, 1, 10], seed: 5 };
    const { sweep, scores } = await sweepWithScores(makeSource(), options);
    expect(paretoToJson(sweep)).to.deep.equal(paretoToJson(await sweepPareto(makeSource(), options)));
    expect(scores.y.length).to.equal(240);
    for (const [network, point] of sweep.entries()) {
      const { accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff } = judgeAtThreshold(scores, network, 0.5);
      expect(point).to.deep.include({ accuracy, accuracyCi, dpDiff, dpDiffCi, eoDiff });
    }
    const [low, high] = [-0.5, 1.5].map((threshold) => judgeAtThreshold(scores, 0, threshold).all);
    expect(low).to.include({ n: 240, selectionRate: 1, trueNegatives: 0, falseNegatives: 0 });
    expect(high).to.include({ n: 240, selectionRate: 0, truePositives: 0, falsePositives: 0 });
    expect(() => judgeAtThreshold(scores, 0, NaN)).to.throw(ValueError, 'threshold');
  });

  it('saves networks that plain TensorFlow.js loads, and whose decisions match the points', async () => {
    const modelPath = path.join(folder(), 'model');
    const source = makeSource();
    const testTable = Table.from(source.table).take(Int32Array.from({ length: 300 }, (_, row) => row));
    const points = await sweepPareto({ ...source, testTable }, { ...quick, etas: [0, 5], modelPath });
    for (const point of points) {
      const position = path.join(modelPath, `eta-${String(point.eta)}`);
      const card = JSON.parse(readFileSync(path.join(position, 'card.json'), 'utf8')) as {
        features: { kind: 'numeric'; name: string; mean: number; scale: number; marks_missing: boolean }[];
        metrics: { accuracy: number }[];
      };
      const topology = JSON.parse(readFileSync(path.join(position, 'model.json'), 'utf8')) as {
        modelTopology: object;
        weightsManifest: { weights: tf.io.WeightsManifestEntry[] }[];
      };
      const bytes = readFileSync(path.join(position, 'weights.bin'));
      const model = await tf.loadLayersModel(
        tf.io.fromMemory({
          modelTopology: topology.modelTopology,
          weightSpecs: topology.weightsManifest[0]?.weights ?? [],
          weightData: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
        }),
      );
      const x = encodeFeatures(
        testTable,
        card.features.map(({ marks_missing: marksMissing, ...spec }) => ({ ...spec, marksMissing })),
      );
      const scores = tf.tidy(() =>
        (model.predict(tf.tensor2d(x, [300, card.features.length])) as tf.Tensor).dataSync(),
      );
      const { values } = testTable.numeric('y');
      const right = [...scores].filter((score, row) => Number(score >= 0.5) === values[row]).length;
      expect(right / 300).to.equal(point.accuracy);
      expect(card.metrics[0]?.accuracy).to.equal(point.accuracy);
      model.dispose();
    }
  });

  it('replaces a folder of its own networks, but never one with other content', async () => {
    const modelPath = path.join(folder(), 'again');
    const run = () => sweepPareto(makeSource(), { ...quick, etas: [0], epochs: 1, modelPath });
    await run();
    await run();
    writeFileSync(path.join(modelPath, 'notes.txt'), 'mine');
    expect(await errorOf(run())).to.be.instanceOf(DataValidationError);
    expect(readFileSync(path.join(modelPath, 'notes.txt'), 'utf8')).to.equal('mine');
    const foreign = path.join(folder(), 'foreign');
    mkdirSync(foreign);
    writeFileSync(path.join(foreign, 'card.json'), '{"kind": "a card of someone else"}');
    const error = await errorOf(sweepPareto(makeSource(), { ...quick, etas: [0], epochs: 1, modelPath: foreign }));
    expect(error).to.be.instanceOf(DataValidationError);
  });

  it('accepts a numeric sensitive attribute', async () => {
    const { x, y, s } = makeSource().table as { x: number[]; y: number[]; s: string[] };
    const table = { x, y, s: s.map((one) => Number(one === 'few')) };
    const points = await sweepPareto({ table }, { ...quick, etas: [0] });
    expect(points[0]?.dpDiff).to.be.greaterThan(0.4);
  });

  it('names groups that occur only in the test rows', async () => {
    const { x, y, s } = makeSource().table as { x: number[]; y: number[]; s: string[] };
    const testTable = { x, y, s: s.map((one) => (one === 'few' ? 'new' : one)) };
    const points = await sweepPareto({ table: { x, y, s }, testTable }, { ...quick, etas: [0], epochs: 1 });
    expect(points.warnings).to.include("group 'new' occurs only in the test rows, so the penalty does not cover it");
  });

  it('saves the plot, and the points next to it', async () => {
    const savePath = path.join(folder(), 'deep/pareto.svg');
    const points = await sweepPareto(makeSource(), { ...quick, etas: [0, 2], epochs: 3, savePath });
    expect(readFileSync(savePath, 'utf8')).to.match(/^<svg .*eta 2/s);
    const saved = JSON.parse(readFileSync(path.join(folder(), 'deep/pareto.json'), 'utf8')) as { points: unknown[] };
    expect(saved).to.deep.equal(JSON.parse(JSON.stringify(paretoToJson(points))));
  });

  describe('with etas auto', () => {
    it('sweeps from no effect on the gap to the last eta before a constant model', async () => {
      const auto = { ...quick, etas: 'auto', hidden: [8] } as const;
      const points = await sweepPareto(makeSource(), auto);
      const { etaRange } = points;
      const etas = points.map(({ eta }) => eta);
      expect(etas).to.have.length(9);
      expect([etas[0], etas[1], etas.at(-1)]).to.deep.equal([0, etaRange?.from, etaRange?.to]);
      expect(etaRange?.hasEffect).to.equal(true);
      expect(points[1]?.accuracy).to.be.closeTo(points[0]?.accuracy ?? NaN, 0.05);
      expect(points.at(-1)?.dpDiff).to.be.below((points[0]?.dpDiff ?? NaN) / 2);
      // Beyond the range, the sweep gives a constant model, whose selection rates are all 0 or all 1.
      const [beyond] = await sweepPareto(makeSource(), { ...auto, etas: [(etaRange?.to ?? NaN) * 1.5] });
      if (etaRange?.endsAt === 'constant') expect(beyond?.accuracy).to.be.at.most(0.7);
      expect(paretoToJson(points)).to.deep.include({
        eta_range: {
          from: etaRange?.from,
          to: etaRange?.to,
          ends_at: etaRange?.endsAt,
          has_effect: true,
          tried: etaRange?.tried,
        },
      });
    });

    it('finds the same etas for the same seed @slow', async () => {
      const run = async () => paretoToJson(await sweepPareto(makeSource(540), { ...quick, etas: 'auto', epochs: 4 }));
      expect(await run()).to.deep.equal(await run());
    });

    for (const penalty of ['covariance', 'equalized_odds', 'mmd', 'correlation', 'adversarial'] as const) {
      it(`works for the ${penalty} penalty @slow`, async () => {
        const points = await sweepPareto(makeSource(540), { ...quick, penalty, etas: 'auto', epochs: 6 });
        expect(points).to.have.length(9);
        expect(points.etaRange?.from).to.be.above(0);
        expect(points.etaRange?.to).to.be.above(points.etaRange?.from ?? NaN);
      });
    }

    it('reports progress for the rounds of the search, then for the training', async () => {
      const stages = new Set<string>();
      await sweepPareto(makeSource(540), {
        ...quick,
        etas: 'auto',
        epochs: 2,
        onProgress: ({ stage }) => stages.add(stage),
      });
      expect([...stages][0]).to.equal('searching for etas, round 1');
      expect([...stages].at(-1)).to.equal('training');
    });

    it('is null in the JSON of a sweep over given etas', async () => {
      const points = await sweepPareto(makeSource(540), { ...quick, etas: [0, 1], epochs: 1 });
      expect(paretoToJson(points)).to.include({ eta_range: null });
    });

    it('rejects features that do not predict the target', async () => {
      const { y, s } = makeSource(540).table as { y: number[]; s: string[] };
      const source = { table: { flat: y.map((_, row) => row % 2), s, y: y.map((_, row) => Number(row % 7 === 0)) } };
      const error = await errorOf(sweepPareto(source, { ...quick, etas: 'auto', epochs: 2 }));
      expect(error).to.be.instanceOf(TrainingError);
      expect((error as TrainingError).message).to.match(/eta 0, without a penalty, is no better than a constant/);
    });
  });

  it('writes nothing if training fails', async () => {
    const modelPath = path.join(folder(), 'none');
    const error = await errorOf(sweepPareto(makeSource(), { ...quick, etas: [0], lr: 1e38, modelPath }));
    expect(error).to.be.instanceOf(TrainingError);
    expect((error as TrainingError).suggestion).to.match(/Lower the learning rate/);
    expect(existsSync(modelPath)).to.equal(false);
  });

  const refusals: [string, Parameters<typeof sweepPareto>[1], RegExp][] = [
    ['no etas', { etas: [] }, /etas parameter must be 'auto' or a list of at least one number/],
    ['a negative eta', { etas: [-1] }, /etas parameter/],
    ['a word that is not auto', { etas: 'automatic' as 'auto' }, /etas parameter/],
    ['no epochs', { epochs: 0 }, /epochs parameter/],
    ['one fold', { folds: 1 }, /folds parameter/],
    ['more folds than rows', { folds: 61 }, /at most the number of rows, 60/],
    ['an eta twice', { etas: [1, 1] }, /etas parameter must be different numbers/],
    ['a train size of 1', { trainSize: 1 }, /trainSize parameter/],
    ['an unknown penalty', { penalty: 'gap' as never }, /penalty parameter/],
  ];
  for (const [title, options, message] of refusals) {
    it(`rejects ${title}`, async () => {
      const error = await errorOf(sweepPareto(makeSource(60), options));
      expect(error).to.be.instanceOf(ValueError);
      expect((error as Error).message).to.match(message);
    });
  }

  it('reports before training that held-out groups are too small to compare', async () => {
    const error = await errorOf(sweepPareto(makeSource(60), quick));
    expect(error).to.be.instanceOf(DataValidationError);
    expect((error as DataValidationError).suggestion).to.match(/5 folds/);
  });
});
