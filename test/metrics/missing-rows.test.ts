import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { describeMissing, isUnevenlyMissing, testMissingness } from '../../src/metrics/compare/missing-rows.ts';
import {
  computeMetric,
  mergeStats,
  type MetricOptions,
  type MetricResult,
  reduceClassification,
  removeStats,
  statsFromJson,
  statsToJson,
} from '../../src/metrics/index.ts';

type Bit = 0 | 1 | null;

/** One row: group, true label, decision; and a weight where rows have some. */
type Row = readonly [group: string, truth: Bit, decision: Bit, weight?: number];

const OPTIONS: MetricOptions = { minGroupSize: 1, withCi: false };

function measure(metric: string, rows: readonly Row[], options: MetricOptions = {}): MetricResult {
  const isWeighted = rows.some(([, , , weight]) => weight !== undefined);
  return computeMetric(
    metric,
    {
      sensitive: rows.map(([group]) => group),
      yTrue: rows.map(([, truth]) => truth),
      yPred: rows.map(([, , decision]) => decision),
      sampleWeight: isWeighted ? rows.map(([, , , weight]) => weight ?? NaN) : undefined,
    },
    { ...OPTIONS, ...options },
  );
}

/**
 * Yields all completions of incomplete rows.
 * @yields the complete rows
 */
function* completions(rows: readonly Row[]): Generator<Row[]> {
  const index = rows.findIndex(([, truth, decision]) => truth === null || decision === null);
  if (index < 0) {
    yield [...rows];
    return;
  }
  const [group, truth, decision, ...weight] = rows[index] as Row;
  for (const bit of [0, 1] as const) {
    const filled: Row = truth === null ? [group, bit, decision, ...weight] : [group, truth, bit, ...weight];
    yield* completions([...rows.slice(0, index), filled, ...rows.slice(index + 1)]);
  }
}

/** Returns the smallest and the largest value over all completions. */
function enumerate(metric: string, rows: readonly Row[], options: MetricOptions = {}): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const complete of completions(rows)) {
    const { value } = measure(metric, complete, options);
    if (Number.isNaN(value)) continue;
    [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  return [low, high];
}

/** Rows of three groups, some without a decision or a true label. Every group has complete rows of both labels. */
function drawRows(seed: number, lacks: 'decisions' | 'both'): Row[] {
  const random = createRandom(seed);
  const bit = (): 0 | 1 => (random.next() < 0.5 ? 0 : 1);
  const known = ['a', 'b', 'c'].flatMap((group): Row[] => [
    [group, 0, bit()],
    [group, 1, bit()],
    [group, bit(), bit()],
  ]);
  const lacking = Array.from({ length: 4 }, (_, index): Row => {
    const group = index < 2 ? 'a' : index === 2 ? 'b' : 'c';
    const kind = Math.floor(random.next() * 3);
    if (lacks === 'decisions' || kind === 0) return [group, bit(), null];
    return kind === 1 ? [group, null, bit()] : [group, null, null];
  });
  return [...known, ...lacking];
}

const EPSILON = 1e-12;

describe('rows with missing values', () => {
  // Half of group b's decisions, all positives, are missing: 30 of 60 positive in a, 0 of 30 in b would remain.
  const hidden: Row[] = [
    ...Array.from({ length: 60 }, (_, row): Row => ['a', row % 2 === 0 ? 1 : 0, row < 3 ? 1 : 0]),
    ...Array.from({ length: 60 }, (_, row): Row => ['b', row % 2 === 0 ? 1 : 0, row < 30 ? null : 0]),
  ];

  it('are counted by group, tested, and bounded', () => {
    const { missing, value, warnings, nDropped } = measure('demographic_parity_difference', hidden);
    expect(value).to.be.closeTo(3 / 60, EPSILON);
    expect(nDropped).to.equal(30);
    expect(missing).to.deep.include({ n: 30, byGroup: { a: 0, b: 30 } });
    // R: fisher.test(matrix(c(0, 30, 60, 30), 2))$p.value, which is 2 * choose(60, 30) / choose(120, 30).
    const chance = Array.from({ length: 30 }, (_, k) => (60 - k) / (120 - k)).reduce(
      (product, part) => product * part,
      1,
    );
    expect((missing?.pValue ?? NaN) / (2 * chance)).to.be.closeTo(1, 1e-9);
    // Group b selects 0 to 30 of 60, group a 3 of 60.
    expect(missing?.worstCase?.[0]).to.equal(0);
    expect(missing?.worstCase?.[1]).to.be.closeTo(27 / 60, EPSILON);
    expect(warnings.join()).to.include('50.0% of b, 0.0% of a').and.to.include('from 0.0000 to 0.4500');
  });

  it('do not warn if they are equally common in every group', () => {
    const rows = ['a', 'b'].flatMap((group) =>
      Array.from({ length: 40 }, (_, row): Row => [group, 1, row < 10 ? null : row % 2 === 0 ? 1 : 0]),
    );
    const { missing, warnings } = measure('demographic_parity_difference', rows);
    expect(missing).to.deep.include({ n: 20, pValue: 1 });
    expect(warnings.filter((warning) => warning.includes('missing'))).to.deep.equal([]);
  });

  it('give the value as bounds and no p-value if there are none', () => {
    const rows: Row[] = [
      ['a', 1, 1],
      ['b', 1, 0],
    ];
    for (const metric of ['demographic_parity_difference', 'equal_opportunity_ratio', 'mean_prediction_difference']) {
      const { missing, value } = measure(metric, rows);
      expect(missing).to.deep.equal({ n: 0, byGroup: { a: 0, b: 0 }, pValue: null, worstCase: [value, value] });
    }
  });

  it('include rows without a true label only if the metric needs it', () => {
    const rows: Row[] = [
      ['a', 1, 1],
      ['a', null, 1],
      ['b', 1, 0],
      ['b', 1, null],
    ];
    expect(measure('demographic_parity_difference', rows).missing?.byGroup).to.deep.equal({ a: 0, b: 1 });
    expect(measure('accuracy_difference', rows).missing?.byGroup).to.deep.equal({ a: 1, b: 1 });
  });

  it('have no bounds if these are not available', () => {
    const rows: Row[] = [...drawRows(1, 'decisions')];
    expect(measure('mean_prediction_difference', rows).missing).to.deep.include({ n: 4, worstCase: null });
    expect(measure('balanced_accuracy_difference', rows).missing?.worstCase).to.equal(null);
    expect(measure('demographic_parity_difference', rows, { method: 'to_overall' }).missing?.worstCase).to.equal(null);
    const weightless = rows.map(([group, truth, decision], row): Row => [group, truth, decision, row === 0 ? NaN : 1]);
    expect(measure('demographic_parity_difference', weightless).missing).to.deep.include({ n: 5, worstCase: null });
    expect(measure('demographic_parity_difference', [['a', 1, 1], ['b', 1, null]]).missing).to.deep.include({ n: 1, worstCase: null }); // prettier-ignore
  });

  const METRICS = [
    'demographic_parity_difference',
    'demographic_parity_ratio',
    'equal_opportunity_difference',
    'false_positive_rate_difference',
    'equalized_odds_difference',
    'accuracy_difference',
    'accuracy_ratio',
    'precision_difference',
    'f1_difference',
    'base_rate_difference',
  ];

  /**
   * Metrics whose far bound is attained. A base rate excludes known labels of rows without a decision, so its value can
   * be outside.
   */
  const isSharp = (metric: string, lacks: string): boolean =>
    metric !== 'base_rate_difference' && (metric !== 'equalized_odds_difference' || lacks === 'decisions');

  for (const lacks of ['decisions', 'both'] as const) {
    for (const metric of METRICS) {
      it(`bounds of ${metric} contain the value of every completion of missing ${lacks === 'both' ? 'decisions and labels' : lacks}`, () => {
        for (let seed = 0; seed < 6; seed++) {
          const rows = drawRows(seed, lacks);
          const { missing, value } = measure(metric, rows);
          if (Number.isNaN(value)) continue;
          const [low, high] = missing?.worstCase ?? [NaN, NaN];
          const [min, most] = enumerate(metric, rows);
          expect(low).to.be.at.most(min + EPSILON);
          expect(high).to.be.at.least(most - EPSILON);
          if (!isSharp(metric, lacks)) continue;
          if (metric.endsWith('_ratio')) expect(low).to.be.closeTo(min, EPSILON);
          else expect(high).to.be.closeTo(most, EPSILON);
        }
      });
    }
  }

  it('bounds include groups that are only compared without missing values', () => {
    // Group c has 200 rows without a decision, about which the gap of a and b says nothing.
    const rows: Row[] = [
      ...Array.from({ length: 100 }, (_, row): Row => ['a', 1, row < 55 ? 1 : 0]),
      ...Array.from({ length: 100 }, (_, row): Row => ['b', 1, row < 52 ? 1 : 0]),
      ...Array.from({ length: 200 }, (): Row => ['c', 1, null]),
    ];
    const { missing, value } = measure('demographic_parity_difference', rows, { minGroupSize: 30 });
    expect(value).to.be.closeTo(0.03, EPSILON);
    expect(missing?.worstCase?.[0]).to.be.closeTo(0.03, EPSILON);
    // All of c can be negative.
    expect(missing?.worstCase?.[1]).to.be.closeTo(0.55, EPSILON);
    // If c could not reach the minimum even when complete, it stays excluded.
    expect(measure('demographic_parity_difference', rows, { minGroupSize: 201 }).missing?.worstCase).to.equal(null);
    const few = [...rows.slice(0, 200), ...rows.slice(0, 3).map((): Row => ['c', 1, null])];
    expect(measure('demographic_parity_difference', few, { minGroupSize: 30 }).missing?.worstCase).to.deep.equal([value, value]); // prettier-ignore
    for (const metric of METRICS) {
      for (let seed = 0; seed < 4; seed++) {
        // Group c is below the minimum of 3 rows until its missing values are known, and has one label.
        const small = drawRows(seed, 'decisions').filter(([group, truth]) => group !== 'c' || truth === 1);
        const all: Row[] = [...small.slice(0, 9), ['c', 1, null], ['c', 0, null], ...small.slice(9)];
        const result = measure(metric, all, { minGroupSize: 3 });
        if (Number.isNaN(result.value) || (result.missing?.worstCase ?? null) === null) continue;
        const [low, high] = result.missing?.worstCase ?? [NaN, NaN];
        const [min, most] = enumerate(metric, all, { minGroupSize: 3 });
        expect(low, metric).to.be.at.most(min + EPSILON);
        expect(high, metric).to.be.at.least(most - EPSILON);
      }
    }
  });

  it('bounds are valid with weights and with a reference group', () => {
    const weights = [1, 2, 0.5, 3];
    for (let seed = 10; seed < 16; seed++) {
      const rows = drawRows(seed, 'decisions').map(([group, truth, decision], row): Row => [
        group,
        truth,
        decision,
        weights[row % 4] as number,
      ]);
      for (const options of [{}, { method: 'to_reference', referenceGroup: 'b' }] as const) {
        for (const metric of ['demographic_parity_difference', 'demographic_parity_ratio', 'accuracy_difference']) {
          const { missing } = measure(metric, rows, options);
          const [low, high] = missing?.worstCase ?? [NaN, NaN];
          const [min, most] = enumerate(metric, rows, options);
          if (min === Infinity) continue;
          expect(low).to.be.at.most(min + EPSILON);
          expect(high).to.be.at.least(most - EPSILON);
        }
      }
    }
  });

  it('of more than two groups are tested by chi-square, or by permutation if expected counts are small', () => {
    const table = (dropped: number[], kept: number[]) => ({
      dropped: Float64Array.from(dropped),
      kept: Float64Array.from(kept),
    });
    // Chi-square of [[10, 90], [20, 80], [30, 70]]: 12.5 on 2 degrees of freedom, so that p = exp(-12.5 / 2).
    const large = testMissingness(table([10, 20, 30], [90, 80, 70]), 1);
    expect(large.pValue).to.be.closeTo(Math.exp(-6.25), 1e-12);
    expect(large.isRandom).to.equal(false);
    // Two rows missing, both of the smallest group: 1 of choose(12, 2) = 66 tables is as extreme in its own way, for
    // each of three groups 6 / 66.
    const small = testMissingness(table([2, 0, 0], [2, 4, 4]), 1);
    expect(small.isRandom).to.equal(true);
    expect(small.pValue).to.be.closeTo(18 / 66, 0.05);
    expect(testMissingness(table([2, 0, 0], [2, 4, 4]), 1).pValue).to.equal(small.pValue);
  });

  it('of small groups are tested with the exact distribution of tables with the same margins', () => {
    const trials = [4, 4, 6];
    const observed = [3, 0, 2];
    const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);
    const rate = 5 / 14;
    const statistic = (missing: readonly number[]): number =>
      trials.reduce((sum, n, group) => sum + ((missing[group] ?? NaN) - n * rate) ** 2 / (n * rate * (1 - rate)), 0);
    let exact = 0;
    for (let a = 0; a <= 4; a++) {
      for (let b = 0; b <= 4; b++) {
        const c = 5 - a - b;
        if (c < 0 || c > 6) continue;
        const probability = (choose(4, a) * choose(4, b) * choose(6, c)) / choose(14, 5);
        if (statistic([a, b, c]) >= statistic(observed) - 1e-12) exact += probability;
      }
    }
    // Groups without rows are left out. 999 replicates have a standard error of 0.012.
    const found = testMissingness({ dropped: Float64Array.of(3, 0, 0, 2), kept: Float64Array.of(1, 0, 4, 4) }, 1);
    expect(exact).to.be.within(0.1, 0.2);
    expect([found.isRandom, Math.abs((found.pValue ?? NaN) - exact) < 0.04]).to.deep.equal([true, true]);
    expect((found.pValue ?? NaN) * 1000, 'of 999 replicates').to.be.closeTo(Math.round((found.pValue ?? NaN) * 1000), 1e-9); // prettier-ignore
  });

  it('are tested by chi-square from an expected count of 5', () => {
    // 15 of 30 rows are missing, so 5 are expected in each cell; chi-square is 2 (0 + 4 + 4) / 5 on 2 degrees of freedom.
    const found = testMissingness({ dropped: Float64Array.of(5, 3, 7), kept: Float64Array.of(5, 7, 3) }, 1);
    expect(found.pValue).to.be.closeTo(Math.exp(-1.6), 1e-12);
    expect(found.isRandom).to.equal(false);
  });

  it('of two groups are tested by Fisher, also if a third group has no rows', () => {
    // 4 of 8 rows are missing, all of one group: 2 of choose(8, 4) = 70 tables.
    const found = testMissingness({ dropped: Float64Array.of(4, 0, 0), kept: Float64Array.of(0, 0, 4) }, 1);
    expect(found.pValue).to.be.closeTo(2 / 70, 1e-12);
    expect(found.isRandom).to.equal(false);
    expect(testMissingness({ dropped: Float64Array.of(0, 0), kept: Float64Array.of(3, 4) }, 1)).to.deep.equal({ pValue: null, isRandom: false }); // prettier-ignore
    expect(testMissingness({ dropped: Float64Array.of(4, 0), kept: Float64Array.of(0, 0) }, 1)).to.deep.equal({ pValue: null, isRandom: false }); // prettier-ignore
  });

  it('a warning names the groups with the largest and smallest share, and bounds if there are any', () => {
    const counts = { dropped: Float64Array.of(4, 0, 1, 0), kept: Float64Array.of(4, 8, 3, 0) };
    const missing = { n: 5, byGroup: {}, pValue: 0.049, worstCase: null };
    const labels = ['a', 'b', 'c', 'empty'];
    const start = 'rows with missing values are not equally common in all groups (p = 0.049): 50.0% of a, 0.0% of b. ';
    expect(describeMissing(missing, counts, labels)).to.equal(`${start}No bounds are known for the value with the missing rows`); // prettier-ignore
    expect(describeMissing({ ...missing, worstCase: [0.1, 0.25] }, counts, labels)).to.equal(`${start}With the missing rows, the value could be anywhere from 0.1000 to 0.2500`); // prettier-ignore
    expect(describeMissing(missing, counts, labels, 'roc_auc_difference')).to.match(/No bounds are known for roc_auc_difference with/); // prettier-ignore
    expect(describeMissing({ ...missing, pValue: 0.05 }, counts, labels)).to.equal(undefined);
    expect(describeMissing({ ...missing, pValue: null }, counts, labels)).to.equal(undefined);
    expect(isUnevenlyMissing(undefined)).to.equal(false);
    expect(isUnevenlyMissing(null)).to.equal(false);
  });

  it('groups without any complete row do not differ', () => {
    expect(testMissingness({ dropped: Float64Array.of(3, 4, 5), kept: new Float64Array(3) }, 1).pValue).to.equal(1);
    expect(testMissingness({ dropped: Float64Array.of(3), kept: Float64Array.of(1) }, 1).pValue).to.equal(null);
  });

  it('are kept by merging, removing and JSON', () => {
    const reduce = (rows: readonly Row[]) =>
      reduceClassification({
        sensitive: rows.map(([group]) => group),
        yTrue: rows.map(([, truth]) => truth),
        yPred: rows.map(([, , decision]) => decision),
      });
    const [first, second] = [drawRows(3, 'both'), drawRows(4, 'both')];
    const full = reduce([...first, ...second]);
    expect(mergeStats(reduce(first), reduce(second))).to.deep.equal(full);
    expect(removeStats(full, reduce(second))).to.deep.equal(reduce(first));
    expect(statsFromJson(JSON.parse(JSON.stringify(statsToJson(full))))).to.deep.equal(full);
    const { undecided: _, lacks_weights: __, ...earlier } = statsToJson(full);
    expect(statsFromJson(earlier)).to.deep.include({ lacksWeights: false });
  });
});
