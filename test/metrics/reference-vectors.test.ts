import { expect } from 'chai';

import { demographicParityDifference, equalizedOddsDifference } from '../../src/metrics/index.ts';
import { describeWithReference, readVectors } from '../helpers/reference.ts';

interface SharedArrays {
  readonly inputs: Record<string, (number | string)[]>;
  readonly fairness_metrics: {
    readonly metric: string;
    readonly groups: string;
    readonly method: 'between_groups' | 'to_overall';
    readonly agg: 'worst_case' | 'mean' | null;
    readonly weighted: boolean;
    readonly expected: number;
  }[];
}

interface DocsExample {
  readonly where: string;
  readonly y_true: number[];
  readonly y_pred: number[];
  readonly sensitive?: string[];
  readonly control?: string[];
  readonly by_group: Record<string, Record<string, number>>;
  readonly difference_between?: Record<string, number>;
  readonly difference_to_overall?: Record<string, number>;
  readonly difference?: Record<string, number>;
}

/** Half a unit in the last of six digits printed. */
const PRINTED = 5e-7;

describeWithReference('fairlearn, shared arrays of its test suite', () => {
  const { inputs, fairness_metrics: cases } = readVectors('fairlearn_metrics_shared_arrays.json') as SharedArrays;
  const column = (name: string): (number | string)[] => inputs[name] ?? [];
  const ours = cases.filter(({ metric }) =>
    ['demographic_parity_difference', 'equalized_odds_difference'].includes(metric),
  );

  it('has cases of both metrics', () => {
    expect(ours.length).to.be.greaterThan(50);
  });

  for (const { metric, groups, method, agg, weighted, expected } of ours) {
    it(`${metric} by ${groups}, ${method}, ${agg ?? 'no aggregate'}${weighted ? ', weighted' : ''}`, function () {
      const names = groups.split('x').map((name) => name.trim());
      const sensitive = Object.fromEntries(names.map((name) => [name, column(name)]));
      const options = {
        minGroupSize: 1,
        method,
        ...(agg === null ? {} : { agg }),
        ...(weighted ? { sampleWeight: column('sample_weight') } : {}),
        withCi: false,
      };
      const result =
        metric === 'demographic_parity_difference'
          ? demographicParityDifference(column('y_pred'), sensitive, options)
          : equalizedOddsDifference(column('y_true'), column('y_pred'), sensitive, options);
      // None of these cases has a group without a denominator, where fairlearn and we differ on purpose.
      expect(result.excluded).to.deep.equal({});
      expect(result.value).to.be.closeTo(expected, 1e-12);
    });
  }
});

describeWithReference('fairlearn, examples of its documentation', () => {
  const { examples } = readVectors('fairlearn_docs_metricframe.json') as { examples: DocsExample[] };
  const options = { minGroupSize: 1, withCi: false };

  it('assessment guide: selection and error rates, differences between groups and to overall', () => {
    const example = examples.find(({ where }) => where.endsWith('perform_fairness_assessment.rst'));
    if (example?.sensitive === undefined) throw new Error('example not found');
    const { y_true: yTrue, y_pred: yPred, sensitive, by_group: byGroup } = example;
    const dp = demographicParityDifference(yPred, sensitive, options);
    const eo = equalizedOddsDifference(yTrue, yPred, sensitive, options);
    for (const [label, rates] of Object.entries(byGroup)) {
      expect(dp.perGroup[label]?.selection_rate).to.be.closeTo(rates['sel'] ?? NaN, PRINTED);
      expect(eo.perGroup[label]?.true_positive_rate).to.be.closeTo(rates['tpr'] ?? NaN, PRINTED);
      expect(eo.perGroup[label]?.false_positive_rate).to.be.closeTo(rates['fpr'] ?? NaN, PRINTED);
      expect(dp.nPerGroup[label]).to.equal(rates['count']);
    }
    const between = example.difference_between ?? {};
    const toOverall = example.difference_to_overall ?? {};
    expect(dp.value).to.be.closeTo(between['sel'] ?? NaN, PRINTED);
    expect(eo.value).to.be.closeTo(Math.max(between['tpr'] ?? NaN, between['fpr'] ?? NaN), PRINTED);
    const overall = { ...options, method: 'to_overall' as const };
    expect(demographicParityDifference(yPred, sensitive, overall).value).to.be.closeTo(
      toOverall['sel'] ?? NaN,
      PRINTED,
    );
    expect(equalizedOddsDifference(yTrue, yPred, sensitive, overall).value).to.be.closeTo(
      Math.max(toOverall['tpr'] ?? NaN, toOverall['fpr'] ?? NaN),
      PRINTED,
    );
  });

  it('docstring of MetricFrame: selection rates and their difference', () => {
    const example = examples.find(({ where }) => where.endsWith('docstring'));
    if (example?.sensitive === undefined) throw new Error('example not found');
    const dp = demographicParityDifference(example.y_pred, example.sensitive, options);
    expect(dp.value).to.be.closeTo(example.difference?.['selection_rate'] ?? NaN, PRINTED);
    expect(dp.perGroup['Male']?.selection_rate).to.be.closeTo(0.4, PRINTED);
  });

  it('control features: the difference of accuracy inside each level', () => {
    const example = examples.find(({ where }) => where.includes('control features'));
    if (example?.sensitive === undefined || example.control === undefined) throw new Error('example not found');
    const { y_true: yTrue, y_pred: yPred, sensitive, control, difference } = example;
    const byGroup = example.by_group as unknown as Record<string, number>;
    // Accuracy is the selection rate of right decisions.
    const isRight = yTrue.map((value, row) => Number(value === yPred[row]));
    for (const level of ['H', 'L']) {
      const rows = control.flatMap((value, row) => (value === level ? [row] : []));
      const pick = <T>(values: readonly T[]): T[] => rows.map((row) => values[row] as T);
      const result = demographicParityDifference(pick(isRight), pick(sensitive), options);
      expect(result.value).to.be.closeTo(difference?.[level] ?? NaN, PRINTED);
      for (const label of ['A', 'B', 'C']) {
        expect(result.perGroup[label]?.selection_rate).to.be.closeTo(byGroup[`${level}|${label}`] ?? NaN, PRINTED);
      }
    }
  });
});
