import { expect } from 'chai';

import {
  type GroupMeasure,
  measureDefinition,
  type MeanSampling,
  type MeasureName,
  parseMeasure,
} from '../../src/metrics/measures/index.ts';
import { effectiveCount } from '../../src/metrics/measures/group-measure.ts';
import { reduceRows } from '../../src/metrics/compute-metric.ts';

interface Expected {
  readonly value: number;
  readonly standardError?: number;
  readonly size?: number;
  readonly skewness?: number;
}

const ROWS = {
  yTrue: [1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0],
  yScore: [0.9, 0.3, 0.6, 0.4, 0.5, 0.1, 0.8, 0.6, 0.7, 0.2, 0.4, 0.1, 0.9, 0.7, 0.3],
  yPred: [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 0],
  sensitive: Array.from('aaaaaaaabbbbbbb'),
};
const NUMBERS = {
  yTrue: [3, 1.5, 2, 4, 1, -1.5, 2, 9, 0, 2.5, 5, 0.5, 4, -1, 2],
  yPred: [3.5, 1, 2, 4.25, 0, -1, 2.5, 7, 1, 2, 8, 0.5, 3, -2, 6],
  sensitive: ROWS.sensitive,
};

/**
 * The values of scikit-learn 1.9.1, and errors from NumPy 2.4.6 and SciPy 1.17.1, for the groups a and b: the placements
 * of DeLong with ddof=1 and Welch's degrees of freedom plus 1 as the size; std(ddof=1) / sqrt(n) of a mean, and skew; the
 * delta method for the root of a mean and for F1; and for rates, one success and one failure more (Agresti and Caffo).
 */
const EXPECTED: Readonly<Partial<Record<MeasureName, readonly [Expected, Expected]>>> = {
  roc_auc: [
    { value: 0.84375, standardError: 0.15095184110614, size: 6.7020946470131895 },
    { value: 0.7083333333333333, standardError: 0.2545875386086578, size: 3.8221530616071093 },
  ],
  log_loss: [
    { value: 0.4783867243303551, standardError: 0.11869484546012972, size: 8 },
    { value: 0.6069010371027349, standardError: 0.21816973249135865, size: 7 },
  ],
  brier_score: [
    { value: 0.15999999999999998, standardError: 0.05216731324717203, size: 8 },
    { value: 0.21285714285714288, standardError: 0.09443350610260075, size: 7 },
  ],
  generalized_true_positive_rate: [
    { value: 0.675, standardError: 0.11086778913041725, size: 4 },
    { value: 0.6, standardError: 0.2081665999466133, size: 3 },
  ],
  generalized_false_negative_rate: [
    { value: 0.325, standardError: 0.11086778913041725, size: 4 },
    { value: 0.4000000000000001, standardError: 0.2081665999466133, size: 3 },
  ],
  generalized_false_positive_rate: [
    { value: 0.375, standardError: 0.11086778913041725, size: 4 },
    { value: 0.375, standardError: 0.12499999999999999, size: 4 },
  ],
  generalized_true_negative_rate: [
    { value: 0.625, standardError: 0.11086778913041725, size: 4 },
    { value: 0.625, standardError: 0.12499999999999999, size: 4 },
  ],
  mean_absolute_error: [
    { value: 0.65625, standardError: 0.21618392880005805, size: 8, skewness: 1.4042225433245366 },
    { value: 1.5, standardError: 0.545544725589981, size: 7, skewness: 0.8530978841844585 },
  ],
  mean_prediction: [
    { value: 2.40625, standardError: 0.8988304653031866, size: 8, skewness: 0.4481410861476824 },
    { value: 2.642857142857143, standardError: 1.2850527398584413, size: 7, skewness: 0.35272133482724916 },
  ],
  mean_squared_error: [
    { value: 0.7578125, standardError: 0.4754634575253541, size: 8, skewness: 2.059624892461356 },
    { value: 4.035714285714286, standardError: 2.3199629072803, size: 7, skewness: 1.2696908173110093 },
  ],
  root_mean_squared_error: [
    { value: 0.8705242673240075, standardError: 0.2730902947639411, size: 8 },
    { value: 2.0089087300607478, standardError: 0.5774186931852664, size: 7 },
  ],
  balanced_accuracy: [
    { value: 0.75, standardError: 0.13608276348795434, size: 8 },
    { value: 0.7083333333333333, standardError: 0.14580555290954889, size: 7 },
  ],
  f1: [
    { value: 0.75, standardError: 0.1461280514973163, size: 5 },
    { value: 0.6666666666666666, standardError: 0.18144368465060579, size: 4 },
  ],
  r2: [{ value: 0.9058252427184466 }, { value: 0.0037783375314861534 }],
};

describe('the value, the standard error and the size of a measure agree with NumPy, SciPy and scikit-learn', () => {
  for (const [name, groups] of Object.entries(EXPECTED)) {
    it(name, () => {
      const { kind, measure } = measureDefinition(name as MeasureName);
      const { values, sampling } = measure(reduceRows(kind, kind === 'regression' ? NUMBERS : ROWS, name));
      for (const [group, { value, standardError, size, skewness }] of groups.entries()) {
        expect(values[group]).to.be.closeTo(value, 1e-12);
        if (standardError === undefined) continue;
        if (sampling.kind !== 'means') return expect.fail('no standard errors');
        expect(sampling.standardErrors[group]).to.be.closeTo(standardError, 1e-12);
        expect(sampling.sizes[group]).to.be.closeTo(size ?? NaN, 1e-12);
        if (skewness !== undefined) expect(sampling.skewness?.[group]).to.be.closeTo(skewness, 1e-12);
      }
    });
  }
});

describe('a measure of one group, by hand', () => {
  // Three true negatives, one false positive, two false negatives and five true positives.
  const yTrue = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1];
  const yPred = [0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1];
  const one = { yTrue, yPred, yScore: yPred, sensitive: yTrue.map(() => 'a') };
  const measureOf = (name: string, rows: object = one): GroupMeasure => {
    const { kind, measure } = measureDefinition(name as MeasureName);
    return measure(reduceRows(kind, { ...one, ...rows }, name));
  };

  it('counts the rows of its denominator, and names them', () => {
    const expected: Readonly<Record<string, readonly [number, string]>> = {
      balanced_accuracy: [4, 'rows of the less frequent true label'],
      f1: [8, 'labelled rows with a positive label or decision'],
      count: [11, 'rows'],
      mean_absolute_error: [11, 'rows'],
      r2: [11, 'rows'],
      roc_auc: [4, 'rows of the less frequent true label'],
      brier_score: [11, 'rows'],
      generalized_true_positive_rate: [7, 'rows with a positive true label'],
      generalized_false_positive_rate: [4, 'rows with a negative true label'],
    };
    for (const [name, [count, denominator]] of Object.entries(expected)) {
      const { denominatorCounts, denominatorName, ...measure } = measureOf(name);
      expect([measure.name, denominatorCounts[0], denominatorName]).to.deep.equal([name, count, denominator]);
    }
  });

  it('has a reason if there is no value and no standard error', () => {
    expect(measureOf('r2').sampling).to.deep.equal({ kind: 'none', whyMissing: 'all with the same true value' });
    expect(measureOf('count').sampling).to.deep.equal({ kind: 'none', whyMissing: 'none counted' });
    // A constant true value has no variation, also if it is not a whole number.
    expect(measureOf('r2', { yTrue: yTrue.map(() => 0.1) }).values[0]).to.be.NaN;
  });

  it('has no standard error with one row, and one of 0 without errors', () => {
    const row = { yTrue: [1], yPred: [3], sensitive: ['a'] };
    for (const name of ['mean_squared_error', 'root_mean_squared_error']) {
      const { values, sampling } = measureOf(name, row);
      expect(values[0]).to.equal(name === 'mean_squared_error' ? 4 : 2);
      expect((sampling as MeanSampling).standardErrors[0]).to.be.NaN;
    }
    const { values, sampling } = measureOf('root_mean_squared_error', { yTrue: [1, 2, 3], yPred: [1, 2, 3], sensitive: Array.from('aaa') }); // prettier-ignore
    expect([values[0], (sampling as MeanSampling).standardErrors[0]]).to.deep.equal([0, 0]);
    const constant = measureOf('mean_error', { yTrue: [1, 2, 3], yPred: [2, 3, 4], sensitive: Array.from('aaa') });
    expect([constant.values[0], (constant.sampling as MeanSampling).skewness?.[0]]).to.deep.equal([1, 0]);
  });

  it('has the standard error of a root from clusters: that of the mean squared error, divided by 2 RMSE', () => {
    // Squared errors 0, 1, 4, 9 with mean 3.5, in two clusters of two rows: deviations -3 - 2.5 + ... per cluster.
    const rows = { yTrue: [0, 0, 0, 0], yPred: [0, 1, 2, 3], sensitive: Array.from('aaaa'), cluster: [1, 1, 2, 2] };
    const [first, second] = [(0 - 3.5 + 1 - 3.5) / 4, (4 - 3.5 + 9 - 3.5) / 4];
    const variance = 2 * (first ** 2 + second ** 2);
    const squared = measureOf('mean_squared_error', rows).sampling as MeanSampling;
    const root = measureOf('root_mean_squared_error', rows).sampling as MeanSampling;
    expect(squared.clusters?.variances[0]).to.be.closeTo(variance, 1e-12);
    expect(root.clusters?.variances[0]).to.be.closeTo(variance / (4 * 3.5), 1e-12);
    const exact = measureOf('root_mean_squared_error', { ...rows, yPred: rows.yTrue }).sampling as MeanSampling;
    expect(exact.clusters?.variances[0]).to.equal(0);
  });

  it('has no name without a definition', () => {
    expect(parseMeasure('precision_score')).to.equal('precision');
    expect(() => parseMeasure('acuracy'))
      .to.throw("There is no measure named 'acuracy'.")
      .that.includes({ suggestion: "Did you mean 'accuracy'?" })
      .with.deep.property('context', { measure: 'acuracy' });
  });
});

describe("Kish's effective number of rows", () => {
  it('is the squared sum of weights divided by the sum of squares, or NaN outside float64', () => {
    expect(effectiveCount(10, 50)).to.equal(2);
    expect(effectiveCount(0, 0)).to.equal(0);
    expect(effectiveCount(1e200, Infinity)).to.be.NaN;
    expect(effectiveCount(1e-160, 2 ** -1023)).to.be.NaN;
    expect(effectiveCount(2 ** -511, 2 ** -1022)).to.equal(1);
  });
});
