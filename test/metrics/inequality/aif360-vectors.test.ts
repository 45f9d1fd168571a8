import { expect } from 'chai';

import {
  betweenGroupCoefficientOfVariation,
  betweenGroupGeneralizedEntropyIndex,
  betweenGroupTheilIndex,
  coefficientOfVariation,
  conditionalDemographicDisparity,
  consistencyScore,
  differentialFairnessBiasAmplification,
  discountedCumulativeGain,
  empiricalDifferentialFairness,
  generalizedEntropyIndex,
  infeasibleIndex,
  normalizedDiscountedCumulativeGain,
  theilIndex,
} from '../../../src/metrics/inequality/index.ts';
import { describeWithReference, readVectors } from '../../helpers/reference.ts';

/** One expectation of AIF360's own test suite; the fields depend on the test. */
interface SuiteCase {
  readonly test: string;
  readonly feat: number[];
  readonly label: number[];
  readonly pred: number[];
  readonly alpha?: number;
  readonly expected: number;
  readonly group: number[];
  readonly y: number[];
  readonly sample_weight: number[];
  readonly s: string[];
  readonly score: number[];
  readonly privileged: string;
  readonly target_prop: Record<string, number>;
  readonly r: number;
  readonly infeasible_index: [number, number[]];
  readonly dcg: number;
  readonly ndcg: number;
}

type Column = 'sex' | 'x' | 'label' | 'score' | 'weight';
type Sheet = Record<string, number>;

interface Vectors {
  readonly tests: SuiteCase[];
  readonly dataset: Record<Column, number[]>;
  readonly sheet_unweighted: Sheet;
  readonly sheet_weighted: Sheet;
}

const TOLERANCE = 1e-12;

describeWithReference('AIF360, expectations of its test suite', () => {
  const { tests } = readVectors('aif360_metrics_and_algorithms.json') as Vectors;
  const caseNamed = (name: string): SuiteCase => {
    const found = tests.find(({ test }) => test === name);
    if (found === undefined) throw new Error(`no case '${name}'`);
    return found;
  };

  for (const name of ['test_generalized_entropy_index', 'test_generalized_entropy_index (2)']) {
    it(name, () => {
      const { label, pred, alpha, expected } = caseNamed(name);
      expect(generalizedEntropyIndex(label, pred, { alpha })).to.be.closeTo(expected, TOLERANCE);
    });
  }

  it('test_theil_index', () => {
    const { label, pred, expected } = caseNamed('test_theil_index');
    expect(theilIndex(label, pred)).to.be.closeTo(expected, TOLERANCE);
  });

  for (const name of ['test_between_all_groups', 'test_between_group']) {
    it(name, () => {
      const { label, pred, feat, expected } = caseNamed(name);
      expect(betweenGroupGeneralizedEntropyIndex(label, pred, feat)).to.be.closeTo(expected, TOLERANCE);
    });
  }

  it('test_conditional_demographic_disparity', () => {
    const { y, group, sample_weight: sampleWeight, expected } = caseNamed('test_conditional_demographic_disparity');
    expect(conditionalDemographicDisparity(y, group, { sampleWeight })).to.be.closeTo(expected, TOLERANCE);
  });

  it('regression dcg: the gains of scores scaled to [0, 1] as by its dataset class', () => {
    const { score, r, dcg, ndcg } = caseNamed('regression dcg');
    const [min, largest] = [Math.min(...score), Math.max(...score)];
    const gains = score.map((value) => (value - min) / (largest - min));
    expect(discountedCumulativeGain(gains, { top: r })).to.be.closeTo(dcg, TOLERANCE);
    expect(normalizedDiscountedCumulativeGain(gains, { top: r })).to.be.closeTo(ndcg, TOLERANCE);
  });

  it('regression dcg: the infeasible index and positions', () => {
    const { s, privileged, target_prop: target, r, infeasible_index: expected } = caseNamed('regression dcg');
    const groups = s.map((label) => (label === privileged ? '1' : '0'));
    const result = infeasibleIndex(groups, target, { top: r });
    expect([result.infeasibleIndex, result.positions]).to.deep.equal(expected);
    expect(result.infeasibleCount).to.equal(expected[0]);
  });
});

describeWithReference('AIF360, its numbers on 40 rows', () => {
  const vectors = readVectors('aif360_metrics_and_algorithms.json') as Vectors;
  const { sex, x, label, score, weight } = vectors.dataset;
  const decisions = score.map((value) => Number(value >= 0.5));
  const entropies: Record<string, () => number> = {
    generalized_entropy_index: () => generalizedEntropyIndex(label, decisions),
    theil_index: () => theilIndex(label, decisions),
    coefficient_of_variation: () => coefficientOfVariation(label, decisions),
    between_group_generalized_entropy_index: () => betweenGroupGeneralizedEntropyIndex(label, decisions, sex),
    between_group_theil_index: () => betweenGroupTheilIndex(label, decisions, sex),
    between_group_coefficient_of_variation: () => betweenGroupCoefficientOfVariation(label, decisions, sex),
    'data.consistency(n_neighbors=5)': () => consistencyScore({ sex, x }, label, { nNeighbors: 5 }),
  };

  // AIF360 ignores weights in these, so both of its sheets have the same values.
  for (const [name, compute] of Object.entries(entropies)) {
    it(`${name}, on both sheets`, () => {
      expect(compute()).to.be.closeTo(vectors.sheet_unweighted[name] ?? NaN, TOLERANCE);
      expect(compute()).to.be.closeTo(vectors.sheet_weighted[name] ?? NaN, TOLERANCE);
    });
  }

  for (const [title, sheet, sampleWeight] of [
    ['unweighted', vectors.sheet_unweighted, undefined],
    ['weighted', vectors.sheet_weighted, weight],
  ] as const) {
    it(`smoothed empirical differential fairness, ${title}`, () => {
      expect(empiricalDifferentialFairness(label, sex, { sampleWeight })).to.be.closeTo(
        sheet['data.smoothed_empirical_differential_fairness'] ?? NaN,
        TOLERANCE,
      );
    });

    it(`differential fairness bias amplification, ${title}`, () => {
      expect(differentialFairnessBiasAmplification(label, decisions, sex, { sampleWeight })).to.be.closeTo(
        sheet['differential_fairness_bias_amplification'] ?? NaN,
        TOLERANCE,
      );
    });
  }
});
