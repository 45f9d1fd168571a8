import { expect } from 'chai';
import fc from 'fast-check';

import { computeMetric, type MetricOptions, type MetricResult } from '../../src/metrics/index.ts';
import { check } from './check.ts';
import { anyMetric, columnsOf, gappyRows, kindOf, weightedColumnsOf } from './random-rows.ts';

/** The tolerance of a bound for rounding. */
const ROUNDING = 1e-12;

/** Metrics whose values are not shares. */
const UNBOUNDED = /^(mean_|root_|mae_|rmse_|r2_|log_loss|count_)/;

const anyOptions: fc.Arbitrary<MetricOptions> = fc.record({
  method: fc.constantFrom('between_groups', 'to_overall', 'to_reference'),
  agg: fc.constantFrom('worst_case', 'mean'),
  ciMethod: fc.constantFrom('simultaneous', 'percentile', 'bca'),
  ciLevel: fc.constantFrom(0.5, 0.95, 0.9999),
  ciSamples: fc.constant(20),
  withPValue: fc.boolean(),
  minGroupSize: fc.constant(1),
  minDenominator: fc.constantFrom(1, 2),
});

const cases = fc.record({ metric: anyMetric, rows: gappyRows, options: anyOptions, isWeighted: fc.boolean() });

/** The results by input. The inputs of all tests are the same, because they have the same seed. */
const resultOf = new Map<string, MetricResult>();

/** Asserts a property of results over random metrics, rows and options. */
function checkResults(law: (result: MetricResult, metric: string) => void): void {
  check(
    cases,
    (input) => {
      const { metric, rows, options, isWeighted } = input;
      const key = fc.stringify(input);
      const columns = (isWeighted ? weightedColumnsOf : columnsOf)(metric, rows);
      const result = resultOf.get(key) ?? computeMetric(metric, columns, options);
      resultOf.set(key, result);
      law(result, metric);
    },
    500,
  );
}

describe('bounds', () => {
  it('a value is in its range, or undefined with a reason', () => {
    checkResults(({ value, undefinedReason }, metric) => {
      if (undefinedReason !== null) return;
      expect(value).to.be.at.least(0);
      if (metric.endsWith('_ratio') || !UNBOUNDED.test(metric)) expect(value).to.be.at.most(1 + ROUNDING);
    });
  });

  it('NaN has a reason, and a reason has no interval, no effect size and no p-value', () => {
    checkResults(({ value, ci, effectSize, pValue, undefinedReason }) => {
      if (Number.isFinite(value)) expect(undefinedReason).to.equal(null);
      else expect([ci, effectSize, pValue, typeof undefinedReason]).to.deep.equal([null, null, null, 'string']);
    });
  });

  it('a requested interval exists or has a reason, contains the estimate and lies in the range', () => {
    checkResults(({ value, ci, undefinedReason, warnings }, metric) => {
      if (undefinedReason !== null) return;
      if (ci === null) {
        expect(warnings.join()).to.include('no interval');
        return;
      }
      expect(ci[0]).to.be.within(0, value);
      expect(ci[1]).to.be.at.least(value);
      if (metric.endsWith('_ratio') || !UNBOUNDED.test(metric)) expect(ci[1]).to.be.at.most(1 + ROUNDING);
    });
  });

  it('a p-value lies in (0, 1], or is missing with a reason', () => {
    checkResults(({ pValue, pValueMethod, undefinedReason, warnings }) => {
      expect(pValueMethod === null).to.equal(pValue === null);
      if (pValue === null) return;
      expect(undefinedReason).to.equal(null);
      expect(pValue).to.be.above(0).and.at.most(1);
      expect(warnings.join()).to.not.include('no p-value');
    });
  });

  it("a group's interval contains its value and lies in the range of the measure", () => {
    checkResults(({ perGroup, perGroupCi }, metric) => {
      for (const [group, intervals] of Object.entries(perGroupCi ?? {})) {
        for (const [name, interval] of Object.entries(intervals)) {
          if (interval === null || interval === undefined) continue;
          const value = perGroup[group]?.[name] as number;
          expect(interval[0]).to.be.at.most(value + ROUNDING);
          expect(interval[1]).to.be.at.least(value - ROUNDING);
          if (UNBOUNDED.test(metric)) continue;
          expect(interval[0]).to.be.at.least(0);
          expect(interval[1]).to.be.at.most(1);
        }
      }
    });
  });

  it('a risk ratio is at least 1, and the minimum detectable difference at least 0', () => {
    checkResults(({ effectSize, minimumDetectableGap }, metric) => {
      if (effectSize !== null) expect(effectSize).to.be.at.least(kindOf(metric) === 'decisions' ? 1 : 0);
      if (minimumDetectableGap !== null) expect(minimumDetectableGap).to.be.at.least(0);
    });
  });

  it('a wider level gives a wider interval', () => {
    check(cases, ({ metric, rows, options }) => {
      const of = (ciLevel: number) => computeMetric(metric, columnsOf(metric, rows), { ...options, ciLevel }).ci;
      const [narrow, wide] = [of(0.5), of(0.99)];
      if (narrow === null || wide === null) return;
      expect(wide[0]).to.be.at.most(narrow[0] + ROUNDING);
      expect(wide[1]).to.be.at.least(narrow[1] - ROUNDING);
    });
  });
});
