import { expect } from 'chai';

import { DataValidationError, ValueError } from '../../../../src/exceptions/index.ts';
import { calibrateHeldOut } from '../../../../src/training/postprocessing/calibrator/calibrate-held-out.ts';
import { GroupFairnessCalibrator } from '../../../../src/training/postprocessing/calibrator/group-fairness-calibrator.ts';
import { measureCalibration } from '../../../../src/training/postprocessing/calibrator/measure-calibration.ts';
import { drawScores, logit, oneGroup, sigmoid } from './draw-scores.ts';

describe('calibration of held-out rows', () => {
  const { scores, y } = drawScores(300, (score) => sigmoid(2 * logit(score) + 1));
  const groups = Array.from(scores, (_, row) => (row % 3 === 0 ? 'a' : 'b'));

  it('with folds, calibrates each row once, with a calibrator fitted on the other folds', async () => {
    const held = await calibrateHeldOut(scores, y, { groups, folds: 4 });
    expect([...held.rows]).to.deep.equal([...scores.keys()]);
    expect(held.folds).to.equal(4);
    const foldOf = held.foldOf ?? [];
    const at = <Value>(values: ArrayLike<Value>, rows: readonly number[]): Value[] =>
      rows.map((row) => values[row] as Value);
    for (const fold of [0, 1, 2, 3]) {
      const [own, others] = [true, false].map((isOwn) => [...scores.keys()].filter((row) => (foldOf[row] === fold) === isOwn)) as [number[], number[]]; // prettier-ignore
      expect(own.length).to.equal(75);
      const calibrator = await new GroupFairnessCalibrator().fit(at(scores, others), at(y, others), {
        groups: at(groups, others),
      });
      const expected = await calibrator.transform(at(scores, own), { groups: at(groups, own) });
      expect(at(held.calibrated, own)).to.deep.equal([...expected]);
    }
  });

  it('with folds, stratifies by group and label, and returns a calibrator of all rows', async () => {
    const { foldOf, calibrator } = await calibrateHeldOut(scores, y, { groups, folds: 3 });
    for (const label of ['a', 'b']) {
      const counts = [0, 1, 2].map(
        (fold) =>
          [...scores.keys()].filter((row) => foldOf?.[row] === fold && groups[row] === label && y[row] === 1).length,
      );
      expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1);
    }
    const all = await new GroupFairnessCalibrator().fit(scores, y, { groups });
    expect(calibrator.toJSON()).to.deep.equal(all.toJSON());
  });

  it('stratifies the labels of each of many groups equally', async () => {
    const many = Array.from({ length: 1500 }, (_, row) => `g${String(row % 150)}`);
    const labels = Uint8Array.from(many, (_, row) => Math.floor(row / 150) % 2);
    const probabilities = Float64Array.from(many, (_, row) => ((row * 617) % 997) / 1000);
    const { foldOf } = await calibrateHeldOut(probabilities, labels, { groups: many, folds: 5 });
    const cells = many.map((group, row) => `${group} ${String(labels[row])} ${String(foldOf?.[row])}`);
    // Each group has five rows of each label: one for every fold.
    expect(new Set(cells).size).to.equal(1500);
  });

  it('takes seconds for ten thousand groups @slow', async function () {
    this.timeout(20_000);
    const many = Int32Array.from({ length: 40_000 }, (_, row) => row % 10_000);
    const labels = Uint8Array.from(many, (_, row) => Math.floor(row / 10_000) % 2);
    const probabilities = Float64Array.from(many, (_, row) => ((row * 617) % 997) / 1000);
    const held = await calibrateHeldOut(probabilities, labels, { groups: many, method: 'temperature' });
    expect(Object.keys(held.calibrator.fallbacks)).to.have.length(10_000);
  });

  it('counts the folds in which a group was too small', async () => {
    // 24 rows in 5 folds leave 19 or 20 rows in the other folds; 20 are enough.
    const middling = groups.map((label, row) => (row < 24 ? 'middling' : label));
    const held = await calibrateHeldOut(scores, y, { groups: middling });
    const sizes = [0, 1, 2, 3, 4].map(
      (fold) => middling.filter((label, row) => label === 'middling' && held.foldOf?.[row] === fold).length,
    );
    const short = sizes.filter((size) => 24 - size < 20).length;
    expect(short).to.be.within(1, 5);
    expect(held.warnings.join()).to.include(`in ${String(short)} of 5 folds`);
  });

  it('with trainSize, calibrates the other rows with the calibrator that it returns', async () => {
    const held = await calibrateHeldOut(scores, y, { groups, trainSize: 0.6 });
    expect([held.rows.length, held.trainSize, held.folds]).to.deep.equal([120, 0.6, null]);
    const again = await held.calibrator.transform(
      Array.from(held.rows, (row) => scores[row] ?? NaN),
      { groups: Array.from(held.rows, (row) => groups[row] ?? '') },
    );
    expect(held.calibrated).to.deep.equal(again);
    expect(held.calibrator.describe().numeric('n').values.at(-1)).to.equal(180);
  });

  it('with one fold, calibrates the fitted rows and warns', async () => {
    const held = await calibrateHeldOut(scores, y, { groups, folds: 1 });
    expect(held.calibrated).to.deep.equal(await new GroupFairnessCalibrator().fitTransform(scores, y, { groups }));
    expect(held.warnings.join()).to.match(/measured on the rows that it was fitted on/);
  });

  it('returns the same values for the same seed, and other values for another seed', async () => {
    const run = async (seed: number): Promise<Float64Array> =>
      (await calibrateHeldOut(scores, y, { groups, seed })).calibrated;
    expect(await run(1)).to.deep.equal(await run(1));
    expect(await run(1)).to.not.deep.equal(await run(2));
  });

  it('reports progress until it is done', async () => {
    const seen: number[] = [];
    await calibrateHeldOut(scores, y, { groups, folds: 3, onProgress: ({ done, total }) => seen.push(done / total) });
    expect([seen.length > 2, seen.at(-1)]).to.deep.equal([true, 1]);
  });

  it('lowers the calibration error of underconfident and too low scores in every group', async () => {
    const many = drawScores(4000, (score) => sigmoid(2 * logit(score) + 1));
    const own = Array.from(many.scores, (_, row) => (row % 3 === 0 ? 'a' : 'b'));
    for (const method of ['platt', 'isotonic', 'temperature'] as const) {
      const { calibrated } = await calibrateHeldOut(many.scores, many.y, { groups: own, method });
      const before = await measureCalibration(many.scores, many.y, own);
      const after = await measureCalibration(calibrated, many.y, own);
      after.groups.forEach(({ ece, brierScore, logLoss }, index) => {
        const old = before.groups[index];
        expect(ece).to.be.below((old?.ece ?? NaN) * (method === 'temperature' ? 0.9 : 0.3));
        expect(brierScore).to.be.below(old?.brierScore ?? NaN);
        expect(logLoss).to.be.below(old?.logLoss ?? NaN);
      });
    }
  });

  it('names groups that have their own calibrator only when fitted on all rows', async () => {
    const small = groups.map((label, row) => (row < 22 ? 'small' : label));
    const held = await calibrateHeldOut(scores, y, { groups: small });
    expect(held.calibrator.fallbacks).to.deep.equal({});
    expect(held.warnings.join()).to.match(/group 'small' .* in 5 of 5 folds/);
  });

  it('calibrates rows of weight 0, but does not learn from them', async () => {
    const weights = Array.from(scores, (_, row) => Number(row !== 0));
    const held = await calibrateHeldOut(scores, y, { groups, sampleWeight: weights });
    expect([held.rows.length, Number.isFinite(held.calibrated[0])]).to.deep.equal([300, true]);
    expect(held.calibrator.describe().numeric('n').values.at(-1)).to.equal(299);
  });

  for (const [trainSize, enough] of [
    [0.99, 51],
    [0.9, 6],
    [0.1, 6],
    [0.03, 17],
  ] as const) {
    it(`splits as few rows as it reports to be enough for a train size of ${String(trainSize)}`, async () => {
      const some = [...scores.subarray(0, enough)];
      const labels = some.map((_, row) => Number(row < enough / 2));
      const held = await calibrateHeldOut(some, labels, { groups: oneGroup(enough), trainSize }).catch(
        (thrown: unknown) => (thrown as Error).message,
      );
      // A single training row has only one label, which is a different error than no row.
      if (typeof held === 'string') expect(held).to.match(/in every row/);
      else expect(held.rows.length).to.equal(1);
    });
  }

  for (const [title, run, kind, message] of [
    [
      'folds that are not a whole number',
      () => calibrateHeldOut(scores, y, { groups, folds: 1.5 }),
      ValueError,
      /folds parameter must be a whole number of at least 1/,
    ],
    [
      'a train size of 1',
      () => calibrateHeldOut(scores, y, { groups, trainSize: 1 }),
      ValueError,
      /trainSize parameter must be a number between 0 and 1/,
    ],
    [
      'folds and a train size',
      () => calibrateHeldOut(scores, y, { groups, folds: 5, trainSize: 0.5 }),
      ValueError,
      /folds parameter must be left out if trainSize is given/,
    ],
    [
      'more folds than rows',
      () => calibrateHeldOut([0.1, 0.2, 0.3], [0, 1, 1], { groups: oneGroup(3), folds: 4 }),
      DataValidationError,
      /4 folds need at least 4 rows; there are 3/,
    ],
    [
      'a train size that leaves no row to calibrate',
      () =>
        calibrateHeldOut([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0, 1, 1, 0, 1, 0], { groups: oneGroup(6), trainSize: 0.99 }),
      DataValidationError,
      /A train size of 0\.99 leaves no rows to calibrate: there are 6 rows, but 51 are needed/,
    ],
    [
      'a train size that leaves no row to fit on',
      () => calibrateHeldOut([0.1, 0.2, 0.3], [0, 1, 1], { groups: oneGroup(3), trainSize: 0.1 }),
      DataValidationError,
      /A train size of 0\.1 leaves no rows to fit on: there are 3 rows, but 6 are needed/,
    ],
    [
      'a seed of NaN',
      () => calibrateHeldOut(scores, y, { groups, seed: NaN }),
      ValueError,
      /seed parameter must be a whole number\. Got NaN/,
    ],
    [
      'a single positive row',
      () => calibrateHeldOut([0.1, 0.2, 0.3, 0.4], [0, 0, 0, 1], { groups: oneGroup(4), folds: 2 }),
      DataValidationError,
      /only one label/,
    ],
  ] as const) {
    it(`rejects ${title}`, async () => {
      const error = await run().then(() => undefined, (thrown: unknown) => thrown); // prettier-ignore
      expect(error).to.be.instanceOf(kind);
      expect((error as Error).message).to.match(message);
    });
  }
});
