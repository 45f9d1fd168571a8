import { expect } from 'chai';
import fc from 'fast-check';

import { computeMetric, maeParityDifference, MEASURE_NAMES, metricFrame } from '../../src/metrics/index.ts';
import type { MetricOptions, MetricResult, MetricRows } from '../../src/metrics/index.ts';
import { check, itHolds } from './check.ts';
import {
  ALL_METRICS,
  anyMetric,
  columnsOf,
  gappyRows,
  kindOf,
  pick,
  type Row,
  weightedColumnsOf,
  completeRows,
} from './random-rows.ts';

const bare = { minGroupSize: 1, withCi: false } as const;

/** Methods of comparison that do not depend on the order of labels. */
const anyComparison: fc.Arbitrary<MetricOptions> = fc
  .record({
    method: fc.constantFrom('between_groups', 'to_overall', 'to_reference'),
    agg: fc.constantFrom('worst_case', 'mean'),
    compat: fc.constantFrom(undefined, 'fairlearn', 'aequitas', 'aif360'),
  })
  .map(({ method: given, ...rest }) => {
    const method = rest.compat === 'aif360' ? 'to_reference' : given;
    const referenceGroup = method === 'to_reference' ? 'a' : undefined;
    return { ...rest, method, referenceGroup, minGroupSize: 1, withCi: false };
  });

/** Rows with at least one row of the reference group. */
const rowsWithA = completeRows.map(([first, ...rest]) => [{ ...(first as Row), groups: ['a'] }, ...rest]);

/** Asserts equal values up to rounding, or undefined values with the same reason. */
function expectSame(actual: MetricResult, expected: MetricResult): void {
  expect(actual.undefinedReason).to.equal(expected.undefinedReason);
  expectClose(actual.value, expected.value);
}

function expectClose(actual: number, expected: number): void {
  if (Number.isFinite(expected)) expect(actual).to.be.closeTo(expected, 1e-9 * Math.max(1, Math.abs(expected)));
  else expect(actual).to.deep.equal(expected);
}

/** A property over a metric, a comparison method and rows. */
function checkMetrics(
  law: (metric: string, rows: readonly Row[], options: MetricOptions) => void,
  rows: fc.Arbitrary<Row[]> = rowsWithA,
): void {
  check(
    fc.record({ metric: anyMetric, rows, options: anyComparison }),
    (one) => {
      law(one.metric, one.rows, one.options);
    },
    600,
  );
}

const withGroups = (rows: readonly Row[], rename: (group: string) => string): Row[] =>
  rows.map((row) => ({ ...row, groups: row.groups.map((group) => (group === null ? null : rename(group))) }));

describe('properties of every metric', () => {
  itHolds('the order of rows does not change the result', () => {
    check(
      fc.record({ metric: anyMetric, rows: gappyRows, options: anyComparison }).chain((one) =>
        fc.record({
          one: fc.constant(one),
          shuffled: fc.shuffledSubarray(one.rows, { minLength: one.rows.length }),
        }),
      ),
      ({ one: { metric, rows, options }, shuffled }) => {
        const [given, other] = [rows, shuffled].map((data) =>
          computeMetric(metric, weightedColumnsOf(metric, data), options),
        );
        expectSame(other as MetricResult, given as MetricResult);
        expect(other?.nPerGroup).to.deep.equal(given?.nPerGroup);
        expect(other?.excluded).to.deep.equal(given?.excluded);
      },
      600,
    );
  });

  itHolds('the order of rows does not change intervals and p-values of counts', () => {
    check(completeRows, (rows) => {
      const options = { minGroupSize: 1, ciSamples: 30, withPValue: true };
      const of = (data: readonly Row[]) =>
        computeMetric('equalized_odds_difference', columnsOf('equalized_odds_difference', data), options).toJSON();
      expect(of([...rows].reverse())).to.deep.equal(of(rows));
    });
  });

  itHolds('the names of groups do not change the result', () => {
    const renamed: Record<string, string> = { a: 'z', b: '__proto__', c: '7' };
    checkMetrics((metric, rows, options) => {
      const other = computeMetric(
        metric,
        columnsOf(
          metric,
          withGroups(rows, (group) => renamed[group] ?? ''),
        ),
        { ...options, referenceGroup: options.referenceGroup === undefined ? undefined : 'z' },
      );
      const given = computeMetric(metric, columnsOf(metric, rows), options);
      expectSame(other, given);
      if (options.compat === 'aif360') return;
      const numbers = (result: MetricResult) => new Map(Object.entries(result.perGroup));
      for (const [group, rates] of numbers(given)) {
        expect(numbers(other).get(renamed[group] ?? '')).to.deep.equal(rates);
      }
    });
  });

  itHolds('swapping groups keeps a gap, negates a signed gap and inverts a ratio', () => {
    const swap = (group: string): string => ({ a: 'b', b: 'a' })[group] ?? group;
    checkMetrics((metric, rows) => {
      const pair = withGroups(rows, (group) => (group === 'c' ? 'b' : group));
      const of = (data: readonly Row[], options: MetricOptions) =>
        computeMetric(metric, columnsOf(metric, data), { ...bare, ...options });
      expectSame(of(withGroups(pair, swap), {}), of(pair, {}));
      // The larger of two gaps has no sign, and a mean of two ratios is not inverted.
      if (/^(equalized_odds|average_abs)/.test(metric) || !pair.some(({ groups }) => groups[0] === 'b')) return;
      const signed = { compat: 'aif360', referenceGroup: 'a' } as const;
      const [there, back] = [of(pair, signed), of(withGroups(pair, swap), signed)];
      if (there.undefinedReason !== null || back.undefinedReason !== null) return;
      expectClose(back.value, metric.endsWith('_ratio') ? 1 / there.value : -there.value);
    });
  });

  itHolds('weights of one equal no weights', () => {
    checkMetrics((metric, rows, options) => {
      const ones = rows.map((row) => ({ ...row, weight: 1 }));
      expect(computeMetric(metric, weightedColumnsOf(metric, ones), options).toJSON()).to.deep.equal(
        computeMetric(metric, columnsOf(metric, rows), options).toJSON(),
      );
    });
  });

  itHolds('an integer weight equals this number of copies of the row', () => {
    checkMetrics((metric, rows, options) => {
      if (/^count_/.test(metric)) return;
      const copies = rows.flatMap((row) => Array<Row>(row.weight ?? 0).fill(row));
      expectSame(
        computeMetric(metric, weightedColumnsOf(metric, rows), options),
        computeMetric(metric, columnsOf(metric, copies), options),
      );
    });
  });

  itHolds('the unit of weights does not change the result, from 2^-500 to 2^500', () => {
    checkMetrics((metric, rows, options) => {
      const given = computeMetric(metric, weightedColumnsOf(metric, rows), options);
      // A signed mean of 0 may be 1e-17 for weights in tenths, which has a ratio and possibly the opposite sign.
      const units = /^mean_(error|prediction)_ratio/.test(metric)
        ? [2 ** -500, 2 ** 500]
        : [2 ** -500, 0.1, 3, 2 ** 500];
      for (const unit of units) {
        const scaled = rows.map((row) => ({ ...row, weight: unit * (row.weight ?? 0) }));
        expectSame(computeMetric(metric, weightedColumnsOf(metric, scaled), options), given);
      }
    });
  });

  itHolds('weights whose squares overflow float64 give the same numbers or a reason, never other numbers', () => {
    const count = 24;
    const rows = Array.from({ length: count }, (_, row) => row);
    const columns = {
      yTrue: rows.map((row) => Number(row % 3 !== 0)),
      yPred: rows.map((row) => Number(row % 5 < 3)),
      yScore: rows.map((row) => ((7 * row) % count) / count),
      sensitive: rows.map((row) => (row % 4 < 2 ? 'a' : 'b')),
    };
    const reason = 'the weights are too large or too small to be squared';
    const undefinedOnes: string[] = [];
    for (const metric of [
      'demographic_parity_difference',
      'accuracy_difference',
      'mae_parity_difference',
      'log_loss_difference',
    ]) {
      const of = (unit: number) =>
        computeMetric(
          metric,
          { ...columns, sampleWeight: rows.map((row) => unit * (1 + (row % 2))) },
          { minGroupSize: 2 },
        );
      const { value, ci } = of(1);
      // Powers of two scale weights without rounding, down to the smallest number.
      for (const power of [
        -1074, -1023, -700, -540, -538, -535, -530, -520, -512, -509, -505, 505, 509, 511, 700, 1018,
      ]) {
        const scaled = of(2 ** power);
        const isSquared = power >= -505 && power <= 505;
        const title = `${metric}, 2^${power}`;
        if (Number.isNaN(scaled.value)) {
          expect(scaled.undefinedReason, title).to.equal(reason);
          undefinedOnes.push(title);
        } else expect(scaled.value, title).to.be.closeTo(value, 1e-12);
        if (scaled.ci === null) expect([scaled.undefinedReason, ...scaled.warnings].join(), title).to.include(reason);
        else for (const end of [0, 1] as const) expect(scaled.ci[end], title).to.be.closeTo(ci?.[end] ?? NaN, 1e-9);
        if (isSquared) expect(scaled.ci, title).to.not.equal(null);
      }
    }
    // Rates need no squares, so only their intervals are missing.
    expect(undefinedOnes.join())
      .to.match(/mae_parity/)
      .and.to.match(/log_loss/)
      .and.to.not.match(/demographic|accuracy/);
  });

  itHolds('rows of weight 0 do not change the value', () => {
    checkMetrics((metric, rows, options) => {
      if (/^count_/.test(metric)) return;
      const [first] = rows as [Row];
      const more = [...rows, ...rows.map((row, index) => ({ ...row, guess: index, decision: 1 as const, weight: 0 }))];
      const heavy = { ...first, weight: 1 };
      expectClose(
        computeMetric(metric, weightedColumnsOf(metric, [heavy, ...more]), options).value,
        computeMetric(metric, weightedColumnsOf(metric, [heavy, ...rows]), options).value,
      );
    });
  });

  itHolds('incomplete rows do not change the value', () => {
    checkMetrics((metric, rows, options) => {
      const isInteger = (row: Row): boolean =>
        row.groups[0] !== null && Object.values(row).every((value) => value !== null);
      const complete = rows.filter(isInteger);
      const lacking = rows.filter((row) => !isInteger(row)).map((row) => ({ ...row, groups: [null] }));
      if (options.compat === 'fairlearn') return;
      const given = computeMetric(metric, weightedColumnsOf(metric, [...complete, ...lacking]), options);
      expectSame(given, computeMetric(metric, weightedColumnsOf(metric, complete), options));
      expect(given.nDropped).to.equal(lacking.length);
    }, gappyRows);
  });

  itHolds('crossing an attribute with a constant, on either side, changes only labels', () => {
    checkMetrics((metric, rows, options) => {
      const given = computeMetric(metric, columnsOf(metric, rows), options);
      const sides: [string, (group: string) => string[]][] = [
        ['a||earth', (group) => [group, 'earth']],
        ['earth||a', (group) => ['earth', group]],
      ];
      for (const [crossedA, cross] of sides) {
        const referenceGroup = options.referenceGroup === undefined ? undefined : crossedA;
        const crossed = rows.map((row) => ({ ...row, groups: cross(row.groups[0] ?? '') }));
        expectSame(computeMetric(metric, columnsOf(metric, crossed), { ...options, referenceGroup }), given);
      }
    });
  });

  itHolds('a gap to all rows, or to one group, is no larger than the gap between groups', () => {
    const inside = ALL_METRICS.filter(
      (name) =>
        name.endsWith('_difference') && !/^(count|r2|f1|roc_auc|balanced|root|rmse|expected|calibration)/.test(name),
    );
    check(fc.record({ metric: fc.constantFrom(...inside), rows: rowsWithA }), ({ metric, rows }) => {
      const of = (options: MetricOptions) =>
        computeMetric(metric, columnsOf(metric, rows), { ...bare, ...options }).value;
      const between = of({});
      if (Number.isNaN(between)) return;
      expect(of({ method: 'to_overall' })).to.be.at.most(between + 1e-12);
      const toA = of({ method: 'to_reference', referenceGroup: 'a' });
      if (!Number.isNaN(toA)) expect(toA).to.be.at.most(between + 1e-12);
    });
  });

  itHolds('the worst of two gaps is at least their mean', () => {
    check(completeRows, (rows) => {
      for (const [metric, sign] of [
        ['equalized_odds_difference', 1],
        ['equalized_odds_ratio', -1],
      ] as const) {
        const of = (agg: 'worst_case' | 'mean') =>
          computeMetric(metric, columnsOf(metric, rows), { ...bare, agg }).value;
        if (!Number.isNaN(of('mean'))) expect(sign * of('worst_case')).to.be.at.least(sign * of('mean') - 1e-12);
      }
    });
  });

  itHolds('a rate and its complement have the same gap', () => {
    const pairs = [
      ['true_positive_rate', 'false_negative_rate'],
      ['true_negative_rate', 'false_positive_rate'],
      ['precision', 'false_discovery_rate'],
      ['negative_predictive_value', 'false_omission_rate'],
      ['accuracy', 'error_rate'],
      ['generalized_true_positive_rate', 'generalized_false_negative_rate'],
      ['generalized_true_negative_rate', 'generalized_false_positive_rate'],
    ] as const;
    check(fc.record({ pair: fc.constantFrom(...pairs), rows: completeRows }), ({ pair, rows }) => {
      const [one, other] = pair.map(
        (name) => computeMetric(`${name}_difference`, columnsOf(`${name}_difference`, rows), bare).value,
      );
      expectClose(one as number, other as number);
    });
  });

  itHolds('the average of two classes equals the binary outcome', () => {
    check(completeRows, (rows) => {
      if (new Set(pick(rows, 'decision')).size < 2) return;
      const given = columnsOf('demographic_parity_difference', rows);
      const text = (values: readonly unknown[]) => values.map((value) => (value === 1 ? 'yes' : 'no'));
      const classes: MetricRows = {
        yPred: text(pick(rows, 'decision')),
        yTrue: text(pick(rows, 'label')),
        sensitive: given.sensitive,
        average: 'macro',
      };
      for (const metric of ['demographic_parity_difference', 'accuracy_difference']) {
        expectClose(computeMetric(metric, classes, bare).value, computeMetric(metric, given, bare).value);
      }
    });
  });

  itHolds('scaling errors scales the gap of their means', () => {
    check(
      fc.record({ rows: completeRows, factor: fc.constantFrom(2 ** -300, 0.1, 4, 2 ** 300) }),
      ({ rows, factor }) => {
        const scaled = (unit: number) =>
          maeParityDifference(
            pick(rows, 'target').map((value) => unit * (value ?? 0)),
            pick(rows, 'guess').map((value) => unit * (value ?? 0)),
            pick(rows, 'groups').map(([group]) => group),
            bare,
          ).value;
        if (Number.isNaN(scaled(1))) expect(scaled(factor)).to.be.NaN;
        else expect(scaled(factor) / factor).to.be.closeTo(scaled(1), 1e-9);
      },
    );
  });
});

describe('properties of randomness', () => {
  const yPred = Array.from({ length: 200 }, (_, index) => Number(index % 5 < 2));
  const rows = { yPred, sensitive: yPred.map((_, index) => ['a', 'b', 'c'][(index * 7) % 3]) };

  for (const ciMethod of ['simultaneous', 'percentile', 'bca'] as const) {
    itHolds(`the same seed gives the same interval and p-value, and another seed different ones: ${ciMethod}`, () => {
      const of = (seed: number) => {
        const options = { seed, ciMethod, withPValue: true };
        const { ci, pValue } = computeMetric('demographic_parity_difference', rows, options);
        return [...(ci ?? []), pValue];
      };
      expect(of(1)).to.deep.equal(of(1));
      expect(of(1)).to.not.deep.equal(of(2));
    });
  }

  itHolds('other requested results do not change an interval', () => {
    const of = (withPValue: boolean) => computeMetric('demographic_parity_difference', rows, { withPValue }).ci;
    expect(of(true)).to.deep.equal(of(false));
  });
});

describe('properties of frames', () => {
  itHolds('a frame has the numbers of the metrics', () => {
    const names = fc.uniqueArray(fc.constantFrom(...MEASURE_NAMES), { minLength: 1, maxLength: 6 });
    check(
      fc.record({ names, rows: rowsWithA, options: anyComparison }),
      ({ names: metrics, rows, options }) => {
        for (const kind of ['decisions', 'numbers', 'scores']) {
          const own = metrics.filter((name) => kindOf(`${name}_ratio`) === kind);
          if (own.length === 0) continue;
          const columns = weightedColumnsOf(`${own[0]}_ratio`, rows);
          const frame = metricFrame({ ...columns, metrics: own }, options);
          for (const name of own) {
            const difference = computeMetric(`${name}_difference`, columns, options);
            expectSame(frame.metric(name, 'difference'), difference);
            expectClose(frame.difference()[name] ?? NaN, difference.value);
            expectClose(frame.ratio()[name] ?? NaN, computeMetric(`${name}_ratio`, columns, options).value);
            if (options.compat !== undefined) continue;
            for (const [group, rates] of Object.entries(difference.perGroup)) {
              expect(frame.byGroup[group]?.[name] ?? NaN).to.deep.equal(rates[name] ?? NaN);
            }
          }
        }
      },
      300,
    );
  });

  itHolds(
    'overall is the value of all rows as one group, and the largest difference that of groupMax and groupMin',
    () => {
      check(completeRows, (rows) => {
        const metrics = ['selection_rate', 'accuracy'];
        const columns = { ...columnsOf('accuracy_difference', rows), metrics };
        const frame = metricFrame(columns, bare);
        const one = metricFrame({ ...columns, sensitive: rows.map(() => 'all') }, bare);
        for (const name of metrics) {
          expectClose(frame.overall[name] ?? NaN, one.byGroup['all']?.[name] ?? NaN);
          const range = (frame.groupMax()[name] ?? NaN) - (frame.groupMin()[name] ?? NaN);
          if (Object.keys(frame.byGroup).length > 1) expectClose(frame.difference()[name] ?? NaN, range);
        }
      });
    },
  );

  itHolds('a level of a control feature equals the frame of its rows, with or without a reference group', () => {
    check(rowsWithA, (rows) => {
      const options = { ...bare, method: 'to_reference', referenceGroup: 'a' } as const;
      const level = (row: Row): string => ((row.score ?? 0) < 0.5 ? 'low' : 'high');
      const columns = (data: readonly Row[]) => ({
        ...columnsOf('accuracy_difference', data),
        metrics: ['selection_rate', 'true_positive_rate'],
      });
      const frame = metricFrame({ ...columns(rows), control: rows.map(level) }, options);
      for (const [name, inside] of Object.entries(frame.byLevel)) {
        const own = rows.filter((row) => level(row) === name);
        const alone = metricFrame(columns(own), bare);
        expect(inside.byGroup).to.deep.equal(alone.byGroup);
        expect(inside.overall).to.deep.equal(alone.overall);
        const hasReference = own.some(({ groups }) => groups[0] === 'a');
        if (!hasReference) expect(inside.difference()['selection_rate']).to.be.NaN;
        else expect(inside.difference()).to.deep.equal(metricFrame(columns(own), options).difference());
      }
    });
  });
});
