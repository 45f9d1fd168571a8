import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import { createRandom } from '../../src/internal/random.ts';
import {
  computeMetric,
  FairnessAnalyzer,
  mergeStats,
  metricFrame,
  metricOf,
  reduceScores,
  statsFromJson,
  statsToJson,
} from '../../src/metrics/index.ts';
import { countScores, type ScoreCell } from '../../src/io/count-scores.ts';
import { errorsOf } from '../../src/metrics/compare/cluster-evidence.ts';
import { measureDefinition, type MeanSampling, type MeasureName } from '../../src/metrics/measures/index.ts';
import { collectScores, gridStep, logLoss, type ScoreEntry, toGrid } from '../../src/metrics/statistics/score-grid.ts';
import type { ClusterErrors } from '../../src/stats/cluster-gap.ts';
import { useTemporaryFolder } from '../helpers/run-cli.ts';

describe('measures of scores', () => {
  const folder = useTemporaryFolder();

  it("AUC with DeLong's standard error, by hand", () => {
    // Positives 0.9, 0.6, 0.4; negatives 0.5, 0.4, 0.1. Placements of positives: 1, 1, 1/3 + 1/6 = 1/2; AUC 5/6.
    // Of negatives: 2/3, 1/2 + 1/3 = 5/6, 1. Variances with n - 1: 1/12 and 1/36; se^2 = 1/36 + 1/108 = 1/27.
    const yTrue = [1, 1, 1, 0, 0, 0];
    const yScore = [0.9, 0.6, 0.4, 0.5, 0.4, 0.1];
    const both = { yTrue: [...yTrue, ...yTrue], yScore: [...yScore, ...yScore], sensitive: Array.from('aaaaaabbbbbb') };
    const result = computeMetric('roc_auc_difference', both, { minGroupSize: 1, ciLevel: 0.5 });
    expect(result.perGroup['a']?.['roc_auc']).to.be.closeTo(5 / 6, 1e-12);
    const [low = NaN] = result.perGroupCi?.['a']?.['roc_auc'] ?? [];
    // The quartile of the standard normal distribution is 0.6744897501960817.
    expect(low).to.be.closeTo(5 / 6 - 0.6744897501960817 / Math.sqrt(27), 1e-12);
  });

  describe('errors from clusters, by hand', () => {
    // Placements of the positives 0.9, 0.8 and 0.3: 1, 1 and 5/8, so AUC 7/8. Of the negatives 0.7, 0.3, 0.2 and 0.1: 2/3,
    // 5/6, 1 and 1. The last cluster has one row.
    const rows = {
      yScore: [0.9, 0.7, 0.8, 0.3, 0.3, 0.2, 0.1],
      yTrue: [1, 0, 1, 0, 1, 0, 0],
      sensitive: Array.from('aaaaaaa'),
      cluster: [1, 1, 2, 2, 3, 3, 4],
    };
    const errorsOfMeasure = (name: string, given: object = rows): ClusterErrors | undefined =>
      errorsOf(measureDefinition(name as MeasureName).measure(reduceScores(given as typeof rows)));
    /** The variance of a sum over four clusters, from the influence of each row. */
    const varianceOf = (influence: readonly number[]): number => {
      const sums = [1, 2, 3, 4].map((cluster) => influence.reduce((sum, value, row) => sum + (rows.cluster[row] === cluster ? value : 0), 0)); // prettier-ignore
      return (4 / 3) * sums.reduce((sum, value) => sum + value ** 2, 0);
    };

    it('of the AUC: the placements of both labels', () => {
      const placements = [1, 2 / 3, 1, 5 / 6, 5 / 8, 1, 1];
      const influence = placements.map((placement, row) => (placement - 7 / 8) / (rows.yTrue[row] === 1 ? 3 : 4));
      const errors = errorsOfMeasure('roc_auc');
      expect(errors?.variances[0]).to.be.closeTo(varianceOf(influence), 1e-12);
      // Three clusters have a positive row, all four a negative one, and each has one: the smaller number counts.
      expect(errors?.clusters[0]).to.be.closeTo(3, 1e-12);
    });

    it('of the Brier score and of generalized rates', () => {
      const losses = rows.yScore.map((score, row) => (score - (rows.yTrue[row] ?? NaN)) ** 2);
      const mean = losses.reduce((sum, loss) => sum + loss, 0) / 7;
      const brier = errorsOfMeasure('brier_score');
      expect(brier?.variances[0]).to.be.closeTo(varianceOf(losses.map((loss) => (loss - mean) / 7)), 1e-12);
      expect(brier?.clusters[0]).to.be.closeTo(49 / 13, 1e-12);
      for (const [name, truth, clusters] of [
        ['generalized_true_positive_rate', 1, 3],
        ['generalized_false_positive_rate', 0, 4],
      ] as const) {
        // prettier-ignore
        const own = rows.yScore.filter((_, row) => rows.yTrue[row] === truth);
        const level = own.reduce((sum, score) => sum + score, 0) / own.length;
        const influence = rows.yScore.map((score, row) =>
          rows.yTrue[row] === truth ? (score - level) / own.length : 0,
        );
        const found = errorsOfMeasure(name);
        expect(found?.variances[0], name).to.be.closeTo(varianceOf(influence), 1e-12);
        expect(found?.clusters[0], name).to.be.closeTo(clusters, 1e-12);
      }
    });

    it('are absent without clusters, and unknown for the log loss of rounded scores', () => {
      const { cluster: _, ...plain } = rows;
      expect(errorsOfMeasure('roc_auc', plain)).to.equal(undefined);
      const stats = {
        ...reduceScores(rows),
        step: 0.5,
        losses: { sums: Float64Array.of(7), squares: Float64Array.of(9) },
      };
      const { sampling } = measureDefinition('log_loss').measure(stats);
      expect((sampling as MeanSampling).whyNoErrors).to.equal('the effect of clusters on rounded scores is not known');
      expect((measureDefinition('brier_score').measure(reduceScores(rows)).sampling as MeanSampling).whyNoErrors).to.equal(undefined); // prettier-ignore
    });
  });

  it('the standard error of the log loss of rounded scores is that of the exact sums', () => {
    const stats = reduceScores({ yScore: [0.5, 0.5, 0.5, 0.5], yTrue: [0, 1, 0, 1], sensitive: Array.from('aaaa') });
    const rounded = { ...stats, step: 0.5, losses: { sums: Float64Array.of(6), squares: Float64Array.of(12) } };
    const { values, sampling, notes } = measureDefinition('log_loss').measure(rounded);
    // Mean 6/4, variance 12/4 - (6/4)^2 = 0.75, divided by n - 1.
    expect([values[0], (sampling as MeanSampling).standardErrors[0]]).to.deep.equal([1.5, 0.5]);
    expect(notes).to.deep.equal([]);
    const noteOf = (name: MeasureName, own: object = rounded): unknown =>
      measureDefinition(name).measure(own as typeof stats).notes;
    expect(noteOf('brier_score')).to.deep.equal(['scores were rounded to multiples of 0.5']);
    expect(noteOf('log_loss', { ...rounded, losses: null })).to.deep.equal(['scores were rounded to multiples of 0.5, which changes the log loss considerably for scores near 0 or 1']); // prettier-ignore
    // All four scores are tied: 2 * 2 of 4 pairs, halved.
    expect(noteOf('roc_auc')).to.deep.equal(["scores were rounded to multiples of 0.5, which changes no group's AUC by more than 5.0e-1"]); // prettier-ignore
    expect(noteOf('roc_auc', stats)).to.deep.equal([]);
  });

  it('a perfect AUC has a standard error of 0', () => {
    const stats = reduceScores({
      yScore: [0.9, 0.8, 0.7, 0.2, 0.1],
      yTrue: [1, 1, 1, 0, 0],
      sensitive: Array.from('aaaaa'),
    });
    const { values, sampling } = measureDefinition('roc_auc').measure(stats);
    expect([values[0], (sampling as MeanSampling).standardErrors[0], (sampling as MeanSampling).sizes[0]]).to.deep.equal([1, 0, 2]); // prettier-ignore
  });

  it('a score that is no probability is an error with its value', () => {
    for (const outside of [1.5, -0.5]) {
      const stats = reduceScores({ yScore: [0.5, outside], yTrue: [0, 1], sensitive: ['a', 'a'] });
      expect(() => measureDefinition('brier_score').measure(stats))
        .to.throw(
          DataValidationError,
          `brier_score needs scores from 0 to 1, but there is a score of ${String(outside)}.`,
        )
        .that.deep.includes({ code: 'invalid-value', context: { metric: 'brier_score', value: outside } });
      expect(measureDefinition('roc_auc').measure(stats).values[0]).to.equal(outside > 1 ? 1 : 0);
    }
  });

  it('expected calibration error over ten bins of equal weight, by hand', () => {
    // 20 rows of scores 0.05, 0.10, ..., 1: bins of two rows. All positive: |1 - mean score| each, so 1 - 0.525.
    const yScore = Array.from({ length: 20 }, (_, row) => (row + 1) / 20);
    const rows = { yTrue: yScore.map(() => 1), yScore, sensitive: yScore.map(() => 'a') };
    const frame = metricFrame({ ...rows, metrics: ['expected_calibration_error'] });
    expect(frame.overall['expected_calibration_error']).to.be.closeTo(0.475, 1e-12);
  });

  it('many distinct scores are rounded to a grid, and a warning bounds the effect', () => {
    const random = createRandom(3);
    const n = 200_000;
    const yTrue = Array.from({ length: n }, () => Number(random.next() < 0.5));
    const yScore = yTrue.map((truth) => Math.min(1, 0.7 * random.next() + 0.3 * truth * random.next()));
    const sensitive = yTrue.map((_, row) => (row % 2 === 0 ? 'a' : 'b'));
    const rows = { yTrue, yScore, sensitive };
    const stats = reduceScores(rows);
    expect(stats.step).to.equal(2 ** -14);
    expect(stats.scores.length).to.be.lessThan(2 * 16_385);
    const rounded = metricOf('roc_auc_difference', stats, { withCi: false });
    const bound = Number(/by more than ([\d.e+-]+)/.exec(rounded.warnings.join())?.[1]);
    expect(bound).to.be.within(0, 1e-3);
    for (const label of ['a', 'b']) {
      const own = rows.sensitive.map((group) => group === label);
      const exact = aucByRanks(
        yTrue.filter((_, row) => own[row]),
        yScore.filter((_, row) => own[row]),
      );
      expect(rounded.perGroup[label]?.['roc_auc']).to.be.closeTo(exact, bound);
    }
  });

  it('log loss is exact for any number of distinct scores in a file', async () => {
    // Losses of -log(1e-12) in group a, and of -log(1e-6) in group b, each for some of the rows.
    const n = 300_000;
    const file = path.join(folder(), 'scores.csv');
    const row = (index: number): string => {
      const isTiny = index % 3 === 0;
      const score = isTiny ? (index % 2 === 0 ? 1e-12 : 1e-6) : 1 - (index + 1) / 1e13;
      return `${score},1,${index % 2 === 0 ? 'a' : 'b'}`;
    };
    // The scores of other rows lie below 1 by at most 3e-8, which is their log loss.
    const wide = Array.from({ length: n }, (_, index) => `${(index + 1) / (n + 1)},0,c`);
    const rows = Array.from({ length: 600 }, (_, index) => row(index));
    writeFileSync(file, ['score,label,group', ...rows, ...wide].join('\n'));
    const columns = { yTrueCol: 'label', yScoreCol: 'score', sensitiveCol: 'group' };
    const { perGroup } = await FairnessAnalyzer.fromFile(file, columns).metric('log_loss_difference');
    expect(perGroup['a']?.['log_loss']).to.be.closeTo((12 * Math.LN10) / 3, 1e-7);
    expect(perGroup['b']?.['log_loss']).to.be.closeTo((6 * Math.LN10) / 3, 1e-7);
    // The mean of -log(1 - k / (n + 1)) over k = 1 ... n is -log(n! / (n + 1)^n) / n, by Stirling's series.
    const logFactorial = n * Math.log(n) - n + Math.log(2 * Math.PI * n) / 2 + 1 / (12 * n);
    expect(perGroup['c']?.['log_loss']).to.be.closeTo((n * Math.log(n + 1) - logFactorial) / n, 1e-9);
  });

  it('log loss of rounded statistics without losses is computed from the grid, with a warning', () => {
    const n = 70_000;
    const yScore = Array.from({ length: n }, (_, row) => (row + 1) / (n + 1));
    const sensitive = yScore.map((_, row) => (row % 2 === 0 ? 'a' : 'b'));
    const json = { ...statsToJson(reduceScores({ yTrue: yScore.map(() => 1), yScore, sensitive })) };
    expect(json).to.include.keys('log_losses', 'squared_log_losses');
    const { log_losses: _, squared_log_losses: __, ...earlier } = json;
    const { warnings } = metricOf('log_loss_difference', statsFromJson(earlier));
    expect(warnings.join()).to.match(/rounded to multiples of .* changes the log loss/);
    expect(() => statsFromJson({ ...json, log_losses: [-1, 0] })).to.throw(DataValidationError, /log_losses/);
  });

  it('accepts more groups than the maximum of distinct scores, with one score or many @slow', () => {
    const n = 70_000;
    const groups = (prefix: string): string[] => Array.from({ length: n }, (_, row) => `${prefix}${row}`);
    const zeros = Array<number>(n).fill(0);
    const of = (prefix: string) => reduceScores({ yTrue: zeros, yScore: zeros, sensitive: groups(prefix) });
    expect([of('a').scores.length, of('a').step]).to.deep.equal([n, 0]);
    expect(mergeStats(of('a'), of('b')).labels).to.have.length(2 * n);
    // In every group the positive has the larger score.
    const rows = {
      yTrue: [...zeros, ...zeros.map(() => 1)],
      yScore: Array.from({ length: 2 * n }, (_, row) => row),
      sensitive: [...groups('a'), ...groups('a')],
    };
    expect(computeMetric('roc_auc_difference', rows, { minGroupSize: 1, withCi: false }).value).to.equal(0);
  });

  it('scores near the largest float64 number have a grid', () => {
    const yScore = Array.from({ length: 140_000 }, (_, row) => (row + 1) * 1.2e303);
    const rows = {
      yTrue: yScore.map((_, row) => row % 2),
      yScore,
      sensitive: yScore.map((_, row) => (row % 4 < 2 ? 'a' : 'b')),
    };
    const stats = reduceScores(rows);
    expect(stats.step).to.equal(2 ** 1010);
    expect(metricOf('roc_auc_difference', stats, { withCi: false }).value).to.be.below(1e-3);
  });

  it('a group without weight has no calibration error', () => {
    const rows = { yTrue: [1, 0, 1, 0, 1, 0], yScore: [1, 0, 1, 0, 1, 0], sensitive: Array.from('aabbcc') };
    const weighted = { ...rows, sampleWeight: [1, 1, 1, 1, 0, 0] };
    const result = computeMetric('calibration_difference', weighted, { minGroupSize: 1, withCi: false });
    expect(result.value).to.equal(0);
    expect(result.excluded['c']?.reason).to.match(/their weights are all 0/);
  });

  it('the order of summation of weights does not move a score to another bin', () => {
    // Fifteen scores of one weight: the middle of every third is an edge, or differs from it by 1e-16.
    const scores = Array.from({ length: 15 }, (_, row) => (row + 1) / 16);
    const of = (unit: number) =>
      computeMetric(
        'calibration_difference',
        {
          yTrue: [...scores.map((_, row) => row % 2), 1, 1],
          yScore: [...scores, 1, 1],
          sensitive: [...scores.map(() => 'a'), 'b', 'b'],
          sampleWeight: [...scores, 1, 1].map(() => unit),
        },
        { minGroupSize: 1, withCi: false },
      ).value;
    for (const unit of [0.1, 0.3, 0.7, 1 / 3]) expect(of(unit)).to.be.closeTo(of(1), 1e-12);
  });

  it('a group with one label has no AUC, with a reason', () => {
    const rows = { yTrue: [1, 0, 1, 1, 1, 0], yScore: [0.9, 0.1, 0.5, 0.6, 0.7, 0.2], sensitive: Array.from('aabbcc') };
    const result = computeMetric('roc_auc_difference', rows, { minGroupSize: 1, withCi: false });
    expect(result.value).to.equal(0);
    expect(result.excluded['b']?.reason).to.equal(
      'no roc auc: 0 rows of the less frequent true label, at least 1 needed',
    );
  });

  it('a score outside [0, 1] can be ranked but is not a probability', () => {
    const rows = { yTrue: [1, 0, 1, 0], yScore: [3, -1, 2, 5], sensitive: Array.from('aabb') };
    expect(computeMetric('roc_auc_difference', rows, { minGroupSize: 1 }).value).to.equal(1);
    expect(() => computeMetric('calibration_difference', rows)).to.throw(DataValidationError, /from 0 to 1.*-1/);
  });
});

/** The Mann-Whitney statistic from mid-ranks. */
function aucByRanks(yTrue: readonly number[], yScore: readonly number[]): number {
  const order = Array.from(yScore.keys()).sort((a, b) => (yScore[a] ?? 0) - (yScore[b] ?? 0));
  let rankSum = 0;
  for (let first = 0; first < order.length;) {
    let last = first;
    while (last + 1 < order.length && yScore[order[last + 1] ?? 0] === yScore[order[first] ?? 0]) last++;
    for (let index = first; index <= last; index++)
      rankSum += (yTrue[order[index] ?? 0] ?? 0) * ((first + last) / 2 + 1);
    first = last + 1;
  }
  const positives = yTrue.reduce((sum, truth) => sum + truth, 0);
  const negatives = yTrue.length - positives;
  return (rankSum - (positives * (positives + 1)) / 2) / (positives * negatives);
}

describe('uncertainty of measures of scores', () => {
  it('has no interval if a label has one row', () => {
    const yTrue = [1, ...Array<number>(39).fill(0), 1, 1, ...Array<number>(38).fill(0)];
    const yScore = yTrue.map((truth, row) => (truth === 1 ? 0.9 : (row % 10) / 10));
    const sensitive = yTrue.map((_, row) => (row < 40 ? 'a' : 'b'));
    for (const metric of ['roc_auc_difference', 'generalized_true_positive_rate_difference']) {
      const result = computeMetric(metric, { yTrue, yScore, sensitive });
      expect(result.ci, metric).to.equal(null);
      expect(result.warnings.join(), metric).to.match(/no interval: a group has one row/);
    }
  });

  it('calibration errors have no interval, since chance alone makes them positive', () => {
    const random = createRandom(5);
    const yScore = Array.from({ length: 400 }, () => random.next());
    const yTrue = yScore.map((score) => Number(random.next() < score));
    const sensitive = yScore.map((_, row) => (row < 60 ? 'small' : 'large'));
    const result = computeMetric('calibration_difference', { yTrue, yScore, sensitive }, { withPValue: true });
    expect([result.ci, result.pValue]).to.deep.equal([null, null]);
    expect(result.warnings.join()).to.match(/few rows is inflated by chance/);
  });
});

describe('the grid of scores', () => {
  it('has 2^14 steps up to the next power of two, and none for scores that are all 0', () => {
    const found = [0, 1, 0.6, 1.5, 3, 1e-300, 5e-324].map(gridStep);
    // 1e-300 lies between 2^-997 and 2^-996; a step of 2^-1088 is below the smallest float64 number.
    expect(found).to.deep.equal([0, 2 ** -14, 2 ** -14, 2 ** -13, 2 ** -12, 2 ** -1010, 0]);
  });

  it('takes the nearest multiple of the step, and the larger one of two', () => {
    const at = (score: number): number => toGrid(score, 0.25);
    expect([0.3, 0.375, 0.374, -0.375, -0.3].map(at)).to.deep.equal([0.25, 0.5, 0.25, -0.25, -0.25]);
    expect([0.3, -7].map((score) => toGrid(score, 0))).to.deep.equal([0.3, -7]);
    for (const step of [0, 0.25]) expect(Object.is(toGrid(-0, step), 0)).to.equal(true);
    expect(Object.is(toGrid(-0.1, 0.25), 0)).to.equal(true);
  });

  it('log loss is that of scikit-learn, which clips probabilities at the epsilon of float64', () => {
    // sklearn.metrics.log_loss([1], [0.25], labels=[0, 1]) and so on; the epsilon is 2^-52.
    expect(logLoss(0.25, 1)).to.be.closeTo(Math.log(4), 1e-15);
    expect(logLoss(0.25, 0)).to.be.closeTo(Math.log(4 / 3), 1e-15);
    for (const [score, truth] of [
      [0, 1],
      [1, 0],
    ] as const)
      expect(logLoss(score, truth)).to.be.closeTo(52 * Math.LN2, 1e-12);
    for (const [score, truth] of [
      [1, 1],
      [0, 0],
    ] as const)
      expect(logLoss(score, truth)).to.be.within(1e-16, 1e-15);
  });

  const entry = (group: number, score: number, no = 1, yes = 0): ScoreEntry => ({
    ...{ group, score, counts: [no, yes], weights: [no, yes], squaredWeights: [no, yes] },
  });
  const lost = { nDropped: 3, dropped: Float64Array.of(1, 2) };

  it('sorts scores within groups, adds equal ones, and leaves out those without rows', () => {
    const entries = [entry(1, 0.5), entry(0, 0.75), entry(0, 0.25, 0, 2), entry(1, 0.5, 2, 3), entry(0, 0.5, 0, 0)];
    const { groups, scores, counts, step, losses, nDropped, dropped } = collectScores(['a', 'b'], entries, lost);
    expect([...groups]).to.deep.equal([0, 0, 1]);
    expect([...scores]).to.deep.equal([0.25, 0.75, 0.5]);
    expect([...counts]).to.deep.equal([0, 2, 1, 0, 3, 3]);
    expect([step, losses, nDropped, ...dropped]).to.deep.equal([0, null, 3, 1, 2]);
  });

  it('is used for more than 65,536 distinct scores, with the exact losses of each group', () => {
    const many = (count: number): ScoreEntry[] =>
      Array.from({ length: count }, (_, row) => entry(row % 2, (row + 1) / (count + 1), row % 3, 2));
    expect(collectScores(['a', 'b'], many(65_536), lost).step).to.equal(0);
    const entries = many(65_537);
    const { step, losses } = collectScores(['a', 'b'], entries, lost);
    expect(step).to.equal(2 ** -14);
    for (const group of [0, 1]) {
      const own = entries.filter((one) => one.group === group);
      const sum = (power: number): number =>
        own.reduce((total, { score, counts: [no, yes] }) => total + no * (-Math.log(1 - score)) ** power + yes * (-Math.log(score)) ** power, 0); // prettier-ignore
      expect(losses?.sums[group]).to.be.closeTo(sum(1), 1e-6);
      expect(losses?.squares[group]).to.be.closeTo(sum(2), 1e-6);
    }
  });

  it('is not used for scores of 0, however many groups there are, and follows the largest size of a negative score', () => {
    const labels = Array.from({ length: 65_537 }, (_, group) => String(group));
    const zeros = collectScores(labels, labels.map((_, group) => entry(group, 0)), lost); // prettier-ignore
    expect([zeros.step, zeros.scores.length]).to.deep.equal([0, 65_537]);
    const negative = collectScores(labels, labels.map((_, group) => entry(group, group === 0 ? -4 : 1)), lost); // prettier-ignore
    expect(negative.step).to.equal(2 ** -12);
  });
});

describe('scores that DuckDB counts', () => {
  const folder = useTemporaryFolder();
  const ROWS = [
    ...['a,0.1,1,2', 'a,0.2,0,1', 'a,0.3,1,1', 'a,0.6,0,3', 'a,0.7,1,1', 'a,0.8,0,1'],
    ...['b,0.5,1,1', 'b,0.9,0,2', 'b,0.95,1,1', 'b,0.15,0,1'],
    // Without a score, a true label, a weight and a group.
    ...['a,,1,1', 'a,0.45,,1', 'b,0.4,1,', ',0.99,1,1'],
  ];
  const REQUEST = { attributes: [['sex']], yScore: 's', yTrue: 'y', sampleWeight: 'w', nanPolicy: 'exclude' } as const;
  const write = (lines: readonly string[]): string => {
    const file = path.join(folder(), 'scores.csv');
    writeFileSync(file, `sex,s,y,w\n${lines.join('\n')}\n`);
    return file;
  };
  const largest: number[] = [];
  const grid = (maxDistinct: number) => ({
    maxDistinct,
    stepFor: (size: number): number => {
      largest.push(size);
      return 0.25;
    },
  });
  const sorted = (parts: readonly ScoreCell[]): ScoreCell[] => parts.toSorted((one, other) => one.group - other.group || one.score - other.score); // prettier-ignore

  it('are rounded to a grid if there are certainly too many, with the exact losses of each cell', async () => {
    // Ten distinct scores of complete rows with a group, by group and true label: more than four times two.
    const [found] = await countScores(write(ROWS), REQUEST, grid(2));
    expect(largest).to.deep.equal([0.95]);
    expect([found?.step, found?.rowCount, found?.groups.map(({ label }) => label)]).to.deep.equal([
      0.25,
      14,
      ['a', 'b'],
    ]);
    expect(Array.from(found?.dropped ?? [])).to.deep.equal([2, 1]);
    const cell = (group: number, score: number, counts: number[], weights: number[], squaredWeights: number[]): object => ({ group, score, counts, weights, squaredWeights }); // prettier-ignore
    const parts = sorted(found?.parts ?? []);
    expect(parts.map(({ loss: _, squaredLoss: __, ...rest }) => rest)).to.deep.equal([
      cell(0, 0, [0, 1], [0, 2], [0, 4]),
      cell(0, 0.25, [1, 1], [1, 1], [1, 1]),
      cell(0, 0.5, [1, 0], [3, 0], [9, 0]),
      cell(0, 0.75, [1, 1], [1, 1], [1, 1]),
      cell(1, 0.25, [1, 0], [1, 0], [1, 0]),
      cell(1, 0.5, [0, 1], [0, 1], [0, 1]),
      cell(1, 1, [1, 1], [2, 1], [4, 1]),
    ]);
    const losses = [
      [[2, 0.1]],
      [[1, 0.8], [1, 0.3]],
      [[3, 0.4]],
      [[1, 0.2], [1, 0.7]],
      [[1, 0.85]],
      [[1, 0.5]],
      [[2, 0.1], [1, 0.95]],
    ] as const; // prettier-ignore
    losses.forEach((own, index) => {
      const sum = (power: number): number =>
        own.reduce((total, [weight, share]) => total + weight * (-Math.log(share)) ** power, 0);
      expect(parts[index]?.loss, String(index)).to.be.closeTo(sum(1), 1e-12);
      expect(parts[index]?.squaredLoss, String(index)).to.be.closeTo(sum(2), 1e-12);
    });
  });

  it('are exact otherwise, without weights too', async () => {
    const [found] = await countScores(write(ROWS), { ...REQUEST, sampleWeight: undefined }, grid(3));
    expect([found?.step, largest.length]).to.deep.equal([0, 1]);
    expect(Array.from(found?.dropped ?? [])).to.deep.equal([2, 0]);
    const parts = sorted(found?.parts ?? []);
    expect(parts.map(({ score }) => score)).to.deep.equal([0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.15, 0.4, 0.5, 0.9, 0.95]);
    expect(parts[0]).to.deep.include({
      counts: [0, 1],
      weights: [0, 1],
      squaredWeights: [0, 1],
      loss: 0,
      squaredLoss: 0,
    });
  });

  it('reject labels that are not 0 and 1, a positive label that does not occur, and infinite scores', async () => {
    const messageOf = async (lines: readonly string[], more: object = {}): Promise<string> =>
      countScores(write(lines), { ...REQUEST, ...more }, grid(3)).then(
        String,
        (error: unknown) => (error as Error).message,
      );
    expect(await messageOf(['a,0.5,2,1', 'b,0.5,1,1'])).to.match(/^Column 'y' must be 0 or 1, but holds 2 in row 1/);
    expect(await messageOf(['a,0.5,no,1', 'b,0.5,no,1'], { positiveLabel: 'yes' })).to.match(
      /positive label 'yes' in column 'y'/,
    );
    expect(await messageOf(['a,0.5,no,1', 'b,0.5,yes,1'], { positiveLabel: 'yes' })).to.equal('[object Object]');
    expect(await messageOf(['a,inf,1,1', 'b,0.5,0,1'])).to.match(
      /^Column 's' should hold finite numbers, but row 1 holds 'inf'/,
    );
    expect(await messageOf(['a,0.5,1,-1', 'b,0.5,0,1'])).to.match(
      /^Column 'w' must hold weights of 0 or more, but row 1 holds -1/,
    );
  });
});
