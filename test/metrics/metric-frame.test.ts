import { expect } from 'chai';

import { MetricComputationError, ValueError } from '../../src/exceptions/index.ts';
import { sampleData } from '../../src/io/index.ts';
import { FairnessAnalyzer, metricFrame } from '../../src/metrics/index.ts';
import { cpuMillis } from '../helpers/cpu-millis.ts';

/** Returns the selection rates of rows by group, within each level. */
function frameOf(rows: readonly { readonly group: string; readonly level: string; readonly decision: number }[]) {
  return metricFrame({
    yPred: rows.map(({ decision }) => decision),
    sensitive: rows.map(({ group }) => group),
    control: rows.map(({ level }) => level),
    metrics: ['selection_rate'],
  });
}

describe('a metric frame', () => {
  const berkeley = sampleData('berkeley').toColumns();
  const rows = { yPred: berkeley['admitted'] ?? [], sensitive: berkeley['gender'] ?? [] };
  const metrics = ['selection_rate', 'count'];

  it("Berkeley's admissions: men have the higher rate overall and the lower rate in four of six departments (Bickel and others 1975)", () => {
    const frame = metricFrame({ ...rows, control: berkeley['department'] ?? [], metrics });
    // 1,198 of 2,691 men and 557 of 1,835 women were admitted.
    expect(frame.byGroup['male']?.['selection_rate']).to.be.closeTo(1198 / 2691, 1e-12);
    expect(frame.byGroup['female']?.['selection_rate']).to.be.closeTo(557 / 1835, 1e-12);
    expect(frame.overall['count']).to.equal(4526);
    expect(Object.keys(frame.byLevel)).to.deep.equal(['A', 'B', 'C', 'D', 'E', 'F']);
    // Department A: 512 of 825 men, 89 of 108 women.
    expect(frame.byLevel['A']?.byGroup['male']?.['selection_rate']).to.be.closeTo(512 / 825, 1e-12);
    expect(frame.byLevel['A']?.byGroup['female']?.['selection_rate']).to.be.closeTo(89 / 108, 1e-12);
    const [finding] = frame.simpson;
    // B has only 25 women, and is excluded at the default minimum of 30.
    expect(finding?.reversed).to.deep.equal(['A', 'D', 'F']);
    const everyone = metricFrame({ ...rows, control: berkeley['department'] ?? [], metrics }, { minGroupSize: 1 });
    expect(everyone.simpson[0]?.reversed).to.deep.equal(['A', 'B', 'D', 'F']);
    // Mantel-Haenszel, in exact fractions, of the published table: all departments, and all but B.
    expect(everyone.simpson[0]?.adjustedGap).to.be.closeTo(-0.018425196190852512, 1e-15);
    expect(finding?.adjustedGap).to.be.closeTo(-0.017502357445903713, 1e-15);
    expect(everyone.simpson[0]?.gapPerLevel['B']).to.be.closeTo(353 / 560 - 17 / 25, 1e-12);
    // The 25 women of B are enough if 25 rows are enough, in a group or in a denominator.
    for (const [options, reversed] of [
      [{ minGroupSize: 25 }, 4],
      [{ minGroupSize: 26 }, 3],
      [{ minGroupSize: 1, minDenominator: 25 }, 4],
      [{ minGroupSize: 1, minDenominator: 26 }, 3],
    ] as const) {
      const limited = metricFrame({ ...rows, control: berkeley['department'] ?? [], metrics }, options);
      expect(limited.simpson[0]?.reversed).to.have.length(reversed);
    }
    expect(everyone.warnings[0]).to.match(/male is above that of female by 0.142.*4 of 6 levels.*Simpson/);
  });

  it('does not warn if no level reverses the gap', () => {
    const frame = metricFrame(
      {
        yPred: [1, 0, 1, 1, 1, 0, 1, 1],
        sensitive: ['a', 'a', 'b', 'b', 'a', 'a', 'b', 'b'],
        control: ['x', 'x', 'x', 'x', 'y', 'y', 'y', 'y'],
        metrics,
      },
      { minGroupSize: 1 },
    );
    expect(frame.simpson).to.deep.equal([]);
    expect(frame.warnings).to.deep.equal([]);
  });

  it('an analyzer bound to a table gives the same result, with the control as a column', async () => {
    const bound = FairnessAnalyzer.fromDataFrame(sampleData('berkeley'), {
      yPredCol: 'admitted',
      sensitiveCol: 'gender',
    });
    const frame = await bound.metricFrame({ metrics, controlCol: 'department' });
    const direct = metricFrame({ ...rows, control: berkeley['department'] ?? [], metrics });
    expect(frame.toJSON()).to.deep.equal(direct.toJSON());
  });

  it('takes the smallest and the largest value from the groups of the difference, by their rows with a true label', () => {
    // Accuracies: a 1, b 1/2, c 0, but c has a single row with a true label.
    const labelled = { yTrue: [1, 1, 1, 1, 1, null], yPred: [1, 1, 1, 0, 0, 1], sensitive: Array.from('aabbcc') };
    const frame = metricFrame({ ...labelled, metrics: ['accuracy'] }, { minGroupSize: 2 });
    expect([frame.groupMin(), frame.groupMax(), frame.difference()]).to.deep.equal([
      { accuracy: 0.5 },
      { accuracy: 1 },
      { accuracy: 0.5 },
    ]);
    // fairlearn, which rejects rows without a true label, returns 1 for the other rows.
    const none = { yTrue: [1, null], yPred: [1, 1], sensitive: ['a', 'b'], metrics: ['true_positive_rate'] };
    expect(metricFrame(none, { compat: 'fairlearn' }).groupMin()).to.deep.equal({ true_positive_rate: 1 });
  });

  it('combines measures of decisions, scores and numbers in one frame', () => {
    const frame = metricFrame(
      {
        yTrue: [1, 0, 1, 0],
        yPred: [1, 0, 0, 0],
        yScore: [0.9, 0.2, 0.4, 0.6],
        sensitive: ['a', 'a', 'b', 'b'],
        metrics: ['accuracy_score', 'roc_auc', 'mean_absolute_error'],
      },
      { minGroupSize: 1 },
    );
    expect(frame.measures).to.deep.equal(['accuracy', 'roc_auc', 'mean_absolute_error']);
    expect(frame.byGroup).to.deep.equal({
      a: { accuracy: 1, roc_auc: 1, mean_absolute_error: 0 },
      b: { accuracy: 0.5, roc_auc: 0, mean_absolute_error: 0.5 },
    });
    expect(frame.metric('accuracy', 'ratio', { withCi: false }).value).to.equal(0.5);
  });

  it('is deeply frozen', () => {
    const frame = metricFrame({ ...rows, metrics });
    for (const part of [frame, frame.overall, frame.byGroup, frame.byGroup['male'], frame.simpson]) {
      expect(part).to.be.frozen;
    }
  });

  it('prints groups, all rows, differences and ratios', () => {
    const text = metricFrame({ ...rows, metrics }).toMarkdown();
    expect(text).to.match(/\| female\s+\| 1835 \| 0\.3035/);
    expect(text).to.match(/\(all rows\)\s+\| 4526 \| 0\.3878/);
    expect(text).to.match(/\(difference\)\s+\|\s+\| 0\.1416/);
  });

  it('rejects an unknown measure by name, and an empty list', () => {
    expect(() => metricFrame({ ...rows, metrics: ['selection_rat'] })).to.throw(
      MetricComputationError,
      /selection_rat/,
    );
    expect(() => metricFrame({ ...rows, metrics: [] })).to.throw(ValueError, /at least one measure/);
    expect(() => metricFrame({ ...rows, metrics: ['true_positive_rate'] })).to.throw(/true labels/);
  });

  it('does not change if the caller changes the options later', () => {
    const referenceGroup = ['a'];
    const options = { minGroupSize: 1, compat: 'aif360' as const, referenceGroup };
    const frame = metricFrame(
      { yPred: [1, 0, 1, 1], sensitive: ['a', 'a', 'b', 'b'], metrics: ['selection_rate'] },
      options,
    );
    const before = frame.toJSON();
    options.minGroupSize = 99;
    referenceGroup[0] = 'b';
    expect(frame.toJSON()).to.deep.equal(before);
  });

  it('numbers that overflow are not reported as a reversed gap', () => {
    const guess = [1e308, 1e308, 1, 1, 2, 2, 1, 1];
    const rows = { yTrue: guess.map(() => 0), yPred: guess, sensitive: Array.from('aabbaabb') };
    const frame = metricFrame(
      { ...rows, control: Array.from('xxxxyyyy'), metrics: ['mean_absolute_error'] },
      { minGroupSize: 1 },
    );
    expect(frame.simpson).to.deep.equal([]);
    expect(frame.toMarkdown()).to.not.include('NaN');
  });

  it('splits many levels in time proportional to the rows', () => {
    const n = 60_000;
    const yPred = Array.from({ length: n }, (_, row) => row % 2);
    const control = yPred.map((_, row) => row % 3000);
    const sensitive = yPred.map((_, row) => (row % 7 < 3 ? 'a' : 'b'));
    const start = cpuMillis();
    const frame = metricFrame({ yPred, sensitive, control, metrics: ['selection_rate'] });
    // A loose bound: code that is proportional to levels times cells takes half a minute.
    expect(cpuMillis() - start).to.be.lessThan(10_000);
    expect(Object.keys(frame.byLevel)).to.have.length(3000);
    expect(frame.byLevel['0']?.overall['selection_rate']).to.equal(0);
  });

  it('does not average over classes', () => {
    expect(() => metricFrame({ ...rows, metrics, average: 'macro' })).to.throw(ValueError, /does not average/);
  });

  it('does not report a level that is reversed by chance', () => {
    // The gap is 0.2 over all rows and in three of four levels; in the last it is -0.05.
    const cell = (group: string, level: string, positives: number) =>
      Array.from({ length: 100 }, (_, row) => ({ group, level, decision: Number(row < positives) }));
    const all = [
      ...['w', 'x', 'y'].flatMap((level) => [...cell('a', level, 60), ...cell('b', level, 40)]),
      ...cell('a', 'z', 45),
      ...cell('b', 'z', 50),
    ];
    const frame = frameOf(all);
    expect(frame.simpson).to.deep.equal([]);
  });

  it('finds the reversal of two groups if a third group is lower', () => {
    const cell = (group: string, level: string, n: number, positives: number) =>
      Array.from({ length: n }, (_, row) => ({ group, level, decision: Number(row < positives) }));
    const all = [
      ...cell('a', 'easy', 400, 320),
      ...cell('b', 'easy', 100, 90),
      ...cell('a', 'hard', 100, 10),
      ...cell('b', 'hard', 400, 80),
      ...cell('c', 'hard', 400, 4),
    ];
    const frame = frameOf(all);
    // a 330 of 500, b 170 of 500; within both levels b is ahead by a tenth.
    expect(frame.simpson.map(({ high, low }) => [high, low])).to.deep.equal([['a', 'b']]);
    expect(frame.simpson[0]?.adjustedGap).to.be.closeTo(-0.1, 1e-12);
  });

  it('reports the three pairs with the largest gaps, in this order', () => {
    // Within both levels, each group is ahead of the one before it by 0.02; over all rows, it is behind.
    const table = [
      ['a', 450, 360, 50, 5],
      ['b', 300, 246, 200, 24],
      ['c', 150, 126, 350, 49],
      ['d', 50, 43, 450, 72],
    ] as const;
    const all = table.flatMap(([group, easy, passedEasy, hard, passedHard]) => [
      ...Array.from({ length: easy }, (_, row) => ({ group, level: 'easy', decision: Number(row < passedEasy) })),
      ...Array.from({ length: hard }, (_, row) => ({ group, level: 'hard', decision: Number(row < passedHard) })),
    ]);
    for (const data of [all, [...all].reverse()]) {
      const { simpson } = frameOf(data);
      const found = simpson.map(({ high, low, gap, adjustedGap }) => [
        high,
        low,
        ...[gap, adjustedGap].map((value) => value.toFixed(10)),
      ]);
      expect(found).to.deep.equal([
        ['a', 'd', '0.5000000000', '-0.0600000000'],
        ['a', 'c', '0.3800000000', '-0.0400000000'],
        ['b', 'd', '0.3100000000', '-0.0400000000'],
      ]);
    }
  });

  it('does not report groups that are equal within every level', () => {
    // Half of the easy level and a quarter of the hard level pass in both groups, but a has more rows in the easy level.
    const cell = (group: string, level: string, n: number, share: number) =>
      Array.from({ length: n }, (_, row) => ({ group, level, decision: Number(row < n * share) }));
    const all = [
      ...cell('a', 'easy', 80, 0.5),
      ...cell('a', 'hard', 40, 0.25),
      ...cell('b', 'easy', 40, 0.5),
      ...cell('b', 'hard', 80, 0.25),
    ];
    const frame = frameOf(all);
    expect(frame.simpson).to.deep.equal([]);
  });

  describe('of three groups, one of which is small', () => {
    // Selected: 1 of 4, 2 of 4 and 1 of 2; labelled positive: 2, 0 and 1.
    const frame = () =>
      metricFrame(
        {
          yTrue: [1, 1, 0, 0, 0, 0, 0, 0, 1, 0],
          yPred: [1, 0, 0, 0, 1, 1, 0, 0, 1, 0],
          sensitive: Array.from('aaaabbbbcc'),
          metrics: ['selection_rate', 'true_positive_rate'],
        },
        { minGroupSize: 3 },
      );

    it('has the smallest and the largest value of the groups that are large enough and have one', () => {
      expect(frame().groupMin()).to.deep.equal({ selection_rate: 0.25, true_positive_rate: 0.5 });
      expect(frame().groupMax()).to.deep.equal({ selection_rate: 0.5, true_positive_rate: 0.5 });
      const none = metricFrame({ yPred: [1, 0], sensitive: ['a', 'b'], metrics: ['selection_rate'] });
      expect(none.groupMin()).to.deep.equal({ selection_rate: NaN });
    });

    it('has differences and ratios between groups, and to the value of all rows', () => {
      expect(frame().difference()['selection_rate']).to.equal(0.25);
      expect(frame().ratio()['selection_rate']).to.equal(0.5);
      // 4 of 10 are selected: 0.15 above a, 0.1 below b; 0.25 / 0.4 is below 0.4 / 0.5.
      expect(frame().difference('to_overall')['selection_rate']).to.be.closeTo(0.15, 1e-12);
      expect(frame().ratio('to_overall')['selection_rate']).to.be.closeTo(0.625, 1e-12);
      expect(frame().metric('selection_rate', 'difference', { withCi: false })).to.include({
        metric: 'selection_rate_difference',
        value: 0.25,
      });
      expect(frame().metric('selection_rate').metric).to.equal('selection_rate_difference');
      expect(frame().metric('true_positive_rate', 'ratio', { withCi: false }).metric).to.equal(
        'true_positive_rate_ratio',
      );
      expect(() => frame().metric('accuracy')).to.throw(ValueError, 'name');
    });

    it('is written as JSON with null for a value that is not defined', () => {
      const json = frame().toJSON();
      expect(json['overall']).to.deep.equal({ selection_rate: 0.4, true_positive_rate: 2 / 3 });
      expect(json['by_group']).to.deep.equal({
        a: { selection_rate: 0.25, true_positive_rate: 0.5 },
        b: { selection_rate: 0.5, true_positive_rate: null },
        c: { selection_rate: 0.5, true_positive_rate: 1 },
      });
      expect(json).to.not.have.property('by_level');
    });
  });

  it('compares within a level with a reference group that only other levels have', () => {
    const frame = metricFrame(
      {
        yPred: [1, 0, 1, 1, 1, 0, 0, 0],
        sensitive: Array.from('aabbbbcc'),
        control: Array.from('xxxxyyyy'),
        metrics: ['selection_rate'],
      },
      { minGroupSize: 1, referenceGroup: 'a' },
    );
    // In x, b selects all and the reference a half; in y there is no row of a.
    expect(frame.byLevel['x']?.difference()).to.deep.equal({ selection_rate: 0.5 });
    expect(frame.byLevel['y']?.difference()).to.deep.equal({ selection_rate: NaN });
    const json = frame.toJSON()['by_level'] as Record<string, Record<string, unknown>>;
    expect(Object.keys(json)).to.deep.equal(['x', 'y']);
    expect(json['y']?.['by_group']).to.deep.include({ b: { selection_rate: 0.5 }, c: { selection_rate: 0 } });
  });

  it('rows without a level count for the groups, but not for any level', () => {
    const frame = metricFrame(
      {
        yPred: [1, 1, 0, 0, 1, 0],
        sensitive: Array.from('aabbab'),
        control: ['x', 'x', 'x', 'x', null, null],
        metrics: ['count', 'selection_rate'],
      },
      { minGroupSize: 1 },
    );
    expect(frame.overall).to.deep.equal({ count: 6, selection_rate: 0.5 });
    expect(frame.byLevel['x']?.overall).to.deep.equal({ count: 4, selection_rate: 0.5 });
  });

  it("fairlearn's overall of a level has the rows of that level", () => {
    const frame = metricFrame(
      {
        yPred: [1, 0, 1, 1, 1, 1],
        sensitive: ['a', 'b', 'a', 'b', null, null],
        control: ['x', 'x', 'y', 'y', 'y', 'y'],
        metrics: ['count'],
      },
      { compat: 'fairlearn' },
    );
    expect(frame.byLevel['x']?.overall['count']).to.equal(2);
  });
});
