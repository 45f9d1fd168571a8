import { expect } from 'chai';
import fc from 'fast-check';

import {
  computeMetric,
  type GroupStats,
  mergeStats,
  metricOf,
  reduceClassification,
  reduceRegression,
  reduceScores,
  removeStats,
  statsFromJson,
  statsToJson,
} from '../../src/metrics/index.ts';
import { check, itHolds } from './check.ts';
import { anyMetric, gappyRows, kindOf, type Row, weightedColumnsOf } from './random-rows.ts';

const bare = { minGroupSize: 1, withCi: false, method: 'to_overall' } as const;

/** The statistics that a metric is computed from. */
function reduce(metric: string, rows: readonly Row[]): GroupStats {
  const { yTrue, yPred, yScore, sensitive, sampleWeight } = weightedColumnsOf(metric, rows);
  switch (kindOf(metric)) {
    case 'decisions':
      return reduceClassification({ yTrue, yPred: yPred ?? [], sensitive, sampleWeight });
    case 'numbers':
      return reduceRegression({ yTrue, yPred: yPred ?? [], sensitive, sampleWeight });
    case 'scores':
      return reduceScores({ yTrue: yTrue ?? [], yScore: yScore ?? [], sensitive, sampleWeight });
  }
}

/** Rounds numbers of statistics to ten digits, so that moments that were added in a different order are equal. */
function rounded(stats: GroupStats): unknown {
  return JSON.parse(JSON.stringify(statsToJson(stats)), (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(10)) + 0 : value,
  );
}

/**
 * Rounds in the same way, without sums that are not integers, which lose their last digits. Moments are compared
 * through the metrics.
 */
function counts(stats: GroupStats): unknown {
  const { labels, weights, squaredWeights, nDropped, counts: own } = stats;
  return { labels, own, weights, squaredWeights, nDropped };
}

const numbers = fc.record({ metric: anyMetric, first: gappyRows, second: gappyRows, third: gappyRows });

/** After other sums, a mean of 0 may be 1e-17, which has a ratio, and a root of 3e-9. */
function isBrittle(metric: string): boolean {
  return kindOf(metric) === 'numbers' && /_ratio$|^root_|^rmse_/.test(metric);
}

function expectClose(actual: number, expected: number): void {
  if (Number.isNaN(expected)) expect(actual).to.be.NaN;
  else expect(actual).to.be.closeTo(expected, 1e-9 * Math.max(1, Math.abs(expected)));
}

describe('properties of statistics', () => {
  itHolds('merging two halves gives the statistics and metrics of all rows', () => {
    check(
      numbers,
      ({ metric, first, second }) => {
        const merged = mergeStats(reduce(metric, first), reduce(metric, second));
        const complete = reduce(metric, [...first, ...second]);
        expect(counts(merged)).to.deep.equal(counts(complete));
        expectClose(metricOf(metric, merged, bare).value, metricOf(metric, complete, bare).value);
      },
      500,
    );
  });

  itHolds('statistics of rows give the metrics of the rows', () => {
    check(numbers, ({ metric, first }) => {
      // Without true values a mean prediction includes more rows: computeMetric does not read columns that it does not
      // need.
      if (metric.startsWith('mean_prediction')) return;
      expectClose(
        metricOf(metric, reduce(metric, first), bare).value,
        computeMetric(metric, weightedColumnsOf(metric, first), bare).value,
      );
    });
  });

  itHolds('merging is commutative and associative', () => {
    check(numbers, ({ metric, first, second, third }) => {
      const [a, b, c] = [first, second, third].map((rows) => reduce(metric, rows)) as [
        GroupStats,
        GroupStats,
        GroupStats,
      ];
      expect(counts(mergeStats(a, b))).to.deep.equal(counts(mergeStats(b, a)));
      const [left, right] = [mergeStats(mergeStats(a, b), c), mergeStats(a, mergeStats(b, c))];
      expect(counts(left)).to.deep.equal(counts(right));
      expectClose(metricOf(metric, left, bare).value, metricOf(metric, right, bare).value);
    });
  });

  itHolds('removing merged statistics restores the first', () => {
    check(
      numbers,
      ({ metric, first, second }) => {
        const given = reduce(metric, first);
        const left = removeStats(mergeStats(given, reduce(metric, second)), reduce(metric, second));
        // Groups that only the second has remain, without rows.
        const same = removeStats(left, given);
        expect(same.weights.every((weight) => weight === 0)).to.equal(true);
        expect(same.nDropped).to.equal(0);
        if (isBrittle(metric)) return;
        expectClose(metricOf(metric, left, bare).value, metricOf(metric, given, bare).value);
      },
      500,
    );
  });

  itHolds('fractional weights leave no residue if all rows of a cell are removed', () => {
    const fraction = fc.double({ min: 0.01, max: 3, noNaN: true });
    check(
      fc.record({
        metric: anyMetric,
        first: gappyRows,
        second: gappyRows,
        weights: fc.array(fraction, { minLength: 1 }),
      }),
      ({ metric, first, second, weights }) => {
        const weigh = (rows: readonly Row[]): Row[] =>
          rows.map((row, index) => ({
            ...row,
            weight: row.weight === null ? null : (weights[index % weights.length] ?? 1),
          }));
        const [one, other] = [reduce(metric, weigh(first)), reduce(metric, weigh(second))];
        const left = removeStats(mergeStats(one, other), other);
        left.counts.forEach((count, index) => {
          if (count === 0) expect([left.weights[index], left.squaredWeights[index]]).to.deep.equal([0, 0]);
          expect(left.weights[index]).to.be.at.least(0);
        });
        if (isBrittle(metric)) return;
        expectClose(metricOf(metric, left, bare).value, metricOf(metric, one, bare).value);
      },
      500,
    );
  });

  itHolds('writing to JSON and reading back gives the same numbers', () => {
    check(numbers, ({ metric, first }) => {
      const stats = reduce(metric, first);
      const again = statsFromJson(JSON.parse(JSON.stringify(statsToJson(stats))));
      expect(rounded(again)).to.deep.equal(rounded(stats));
      expect(metricOf(metric, again, bare).toJSON()).to.deep.equal(metricOf(metric, stats, bare).toJSON());
    });
  });
});
