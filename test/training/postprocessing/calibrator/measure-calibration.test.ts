import { expect } from 'chai';

import { metricFrame } from '../../../../src/metrics/index.ts';
import { measureCalibration } from '../../../../src/training/postprocessing/calibrator/measure-calibration.ts';
import { reliabilityCurve } from '../../../../src/training/postprocessing/calibrator/reliability-curve.ts';
import { DataValidationError, ValueError } from '../../../../src/exceptions/index.ts';
import { golden } from './calibration-golden.ts';
import { drawScores, oneGroup } from './draw-scores.ts';

describe('the quality of calibration', () => {
  it('equals the weighted Brier score and log loss of scikit-learn', async () => {
    const { scores, labels, weights, brier_score: brierScore, log_loss: logLoss } = golden.losses;
    const { overall } = await measureCalibration(scores, labels, oneGroup(60), { sampleWeight: weights });
    expect(overall.brierScore).to.be.closeTo(brierScore, 1e-14);
    expect(overall.logLoss).to.be.closeTo(logLoss, 1e-14);
  });

  it('equals the values of a metric frame, per group and overall', async () => {
    const { scores, y } = drawScores(500, (score) => score ** 2);
    const groups = Array.from(scores, (_, row) => 'abc'[row % 3] ?? '');
    const quality = await measureCalibration(scores, y, groups);
    const measures = ['expected_calibration_error', 'brier_score', 'log_loss'] as const;
    const frame = metricFrame({ yTrue: y, yScore: scores, sensitive: groups, metrics: measures });
    const own = ['ece', 'brierScore', 'logLoss'] as const;
    measures.forEach((measure, position) => {
      const name = own[position] ?? 'ece';
      expect(quality.overall[name]).to.be.closeTo(frame.overall[measure] ?? NaN, 1e-14);
      for (const group of quality.groups) {
        expect(group[name]).to.be.closeTo(frame.byGroup[group.group]?.[measure] ?? NaN, 1e-14);
      }
    });
  });

  it('computes rate, mean score, error and losses of four rows as computed by hand', async () => {
    const { overall } = await measureCalibration([0.25, 0.25, 0.5, 1], [0, 1, 1, 1], oneGroup(4));
    expect(overall.n).to.equal(4);
    expect(overall.positiveRate).to.equal(0.75);
    expect(overall.meanScore).to.equal(0.5);
    expect(overall.ece).to.be.closeTo((2 * 0.25 + 0.5 + 0) / 4, 1e-15);
    expect(overall.brierScore).to.be.closeTo((0.0625 + 0.5625 + 0.25) / 4, 1e-15);
    expect(overall.logLoss).to.be.closeTo((Math.log(4 / 3) + Math.log(4) + Math.log(2)) / 4, 1e-14);
  });

  it('excludes and counts rows without a value', async () => {
    const quality = await measureCalibration([0.2, NaN, 0.4, 0.6], [0, 1, null, 1], ['a', 'a', 'b', 'a']);
    expect([quality.nDropped, quality.overall.n, quality.groups.map(({ group }) => group)]).to.deep.equal([
      2,
      2,
      ['a'],
    ]);
  });

  it('excludes rows of weight 0, and groups with only such rows', async () => {
    const rows = [
      [0.2, 0.9, 0.7],
      [0, 1, 1],
      ['a', 'a', 'b'],
    ] as const;
    const quality = await measureCalibration(...rows, { sampleWeight: [1, 1, 0] });
    expect([quality.overall.n, quality.nDropped, quality.groups.map(({ group }) => group)]).to.deep.equal([
      2,
      1,
      ['a'],
    ]);
    const curves = await reliabilityCurve(...rows, { sampleWeight: [1, 1, 0] });
    expect(curves.groups.map(({ group }) => group)).to.deep.equal(['a']);
  });

  it('rejects scores outside [0, 1]', async () => {
    const error = await measureCalibration([0.2, 1.5], [0, 1], oneGroup(2)).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(DataValidationError);
    expect((error as Error).message).to.match(/scores must lie in \[0, 1\], but holds 1\.5 at index 1/);
  });
});

describe('reliability curves', () => {
  it('have the means and rates of scikit-learn in ten bins of equal mass', async () => {
    const { scores, labels, mean_scores: means, positive_rates: rates } = golden.curve;
    const { groups } = await reliabilityCurve(scores, labels, oneGroup(scores.length));
    const bins = groups[0]?.bins ?? [];
    expect(bins.map(({ n }) => n)).to.deep.equal(Array(10).fill(30));
    bins.forEach(({ meanScore, positiveRate }, index) => {
      expect(meanScore).to.be.closeTo(means[index] ?? NaN, 1e-14);
      expect(positiveRate).to.be.closeTo(rates[index] ?? NaN, 1e-14);
    });
  });

  it('have the intervals of Wilson', async () => {
    // Published for 8 of 10: 0.4902 to 0.9433 (Wilson 1927's formula, 95%).
    const { groups } = await reliabilityCurve(Array(10).fill(0.7), [1, 1, 1, 1, 1, 1, 1, 1, 0, 0], oneGroup(10));
    const [bin] = groups[0]?.bins ?? [];
    expect([bin?.low.toFixed(4), bin?.high.toFixed(4), bin?.positiveRate, bin?.n]).to.deep.equal(['0.4902', '0.9433', 0.8, 10]); // prettier-ignore
  });

  it('sum to the expected calibration error: shares times distances from the diagonal', async () => {
    const { scores, y } = drawScores(777, (score) => score ** 2);
    const rounded = scores.map((score) => Math.round(20 * score) / 20);
    const groups = Array.from(scores, (_, row) => 'ab'[row % 2] ?? '');
    for (const own of [scores, rounded]) {
      const curves = await reliabilityCurve(own, y, groups);
      const quality = await measureCalibration(own, y, groups);
      curves.groups.forEach(({ n, bins }, index) => {
        const sum = bins.reduce((total, bin) => total + (bin.n / n) * Math.abs(bin.positiveRate - bin.meanScore), 0);
        expect(sum).to.be.closeTo(quality.groups[index]?.ece ?? NaN, 1e-12);
      });
    }
  });

  it('are not affected by equal weights of any size, neither means nor rates nor intervals', async () => {
    const { scores, y } = drawScores(100, (score) => score);
    const plain = await reliabilityCurve(scores, y, oneGroup(100), { bins: 4 });
    const weighted = await reliabilityCurve(scores, y, oneGroup(100), { bins: 4, sampleWeight: Array(100).fill(8) });
    expect(weighted.groups).to.deep.equal(plain.groups);
  });

  it('have one bin for one score, and one bin per score for fewer scores than bins', async () => {
    const one = await reliabilityCurve([0.5, 0.5, 0.5], [0, 1, 1], oneGroup(3));
    expect(one.groups[0]?.bins.map(({ n }) => n)).to.deep.equal([3]);
    const two = await reliabilityCurve([0.1, 0.9], [0, 1], oneGroup(2));
    expect(two.groups[0]?.bins.map(({ meanScore, positiveRate }) => [meanScore, positiveRate])).to.deep.equal([
      [0.1, 0],
      [0.9, 1],
    ]);
  });

  it('have fewer bins for groups with few rows if minBinSize is given', async () => {
    const { scores, y } = drawScores(70, (score) => score);
    const groups = Array.from(scores, (_, row) => (row < 10 ? 'few' : 'more'));
    const curves = await reliabilityCurve(scores, y, groups, { minBinSize: 20 });
    expect(curves.groups.map(({ bins }) => bins.map(({ n }) => n))).to.deep.equal([[10], [20, 20, 20]]);
  });

  it('contain the number of bins, the level and the number of excluded rows', async () => {
    const curves = await reliabilityCurve([0.1, null, 0.9], [0, 1, 1], oneGroup(3), { bins: 2, level: 0.9 });
    expect([curves.bins, curves.minBinSize, curves.level, curves.nDropped]).to.deep.equal([2, 1, 0.9, 1]);
  });

  it('reject zero bins, and a level of 1', async () => {
    for (const options of [{ bins: 0 }, { bins: 2.5 }, { minBinSize: 0 }, { level: 1 }]) {
      const error = await reliabilityCurve([0.1], [0], ['a'], options).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ValueError);
    }
  });
});

describe('measuring calibration without groups', () => {
  for (const groups of [undefined, 5] as unknown as string[][]) {
    it(`names the groups in the error: ${String(groups)}`, async () => {
      for (const measure of [measureCalibration, reliabilityCurve]) {
        const error = await measure([0.1, 0.9], [0, 1], groups).catch((thrown: unknown) => thrown);
        expect(error).to.be.instanceOf(DataValidationError);
        expect((error as Error).message).to.equal(`groups must hold one value per row; got ${String(groups)}.`);
      }
    });
  }
});
