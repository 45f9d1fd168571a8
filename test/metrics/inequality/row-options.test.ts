import { expect } from 'chai';

import { ValueError } from '../../../src/exceptions/index.ts';
import * as inequality from '../../../src/metrics/inequality/index.ts';

/** Decisions of 0 and 1 with the labels that the texts below are read as. The last row is missing. */
const CLEAN = {
  yTrue: [1, 1, 0, 0, 1, 0, 1],
  yPred: [1, 0, 0, 1, 1, 0, 0],
  groups: ['a', 'a', 'a', 'b', 'b', 'b', 'b'],
};
const TEXTS = {
  yTrue: [...CLEAN.yTrue.map((value) => (value === 1 ? 'repaid' : 'lost')), 'lost'],
  yPred: [...CLEAN.yPred.map((value) => (value === 1 ? 'yes' : 'no')), 'unknown'],
  groups: [...CLEAN.groups, 'a'],
};
const READ = { positiveLabel: 'yes', yTruePositiveLabel: 'repaid', naValues: ['unknown'] };

type Rows = typeof CLEAN | typeof TEXTS;
type Metric = (rows: Rows, options: object) => number;

const WITH_TRUTH: Readonly<Record<string, Metric>> = {
  betweenGroupGeneralizedEntropyIndex: ({ yTrue, yPred, groups }, options) => inequality.betweenGroupGeneralizedEntropyIndex(yTrue, yPred, groups, options),
  betweenGroupTheilIndex: ({ yTrue, yPred, groups }, options) => inequality.betweenGroupTheilIndex(yTrue, yPred, groups, options),
  betweenGroupCoefficientOfVariation: ({ yTrue, yPred, groups }, options) => inequality.betweenGroupCoefficientOfVariation(yTrue, yPred, groups, options),
  differentialFairnessBiasAmplification: ({ yTrue, yPred, groups }, options) => inequality.differentialFairnessBiasAmplification(yTrue, yPred, groups, options),
  generalizedEntropyIndex: ({ yTrue, yPred }, options) => inequality.generalizedEntropyIndex(yTrue, yPred, options),
  theilIndex: ({ yTrue, yPred }, options) => inequality.theilIndex(yTrue, yPred, options),
  coefficientOfVariation: ({ yTrue, yPred }, options) => inequality.coefficientOfVariation(yTrue, yPred, options),
}; // prettier-ignore

const WITHOUT_TRUTH: Readonly<Record<string, Metric>> = {
  empiricalDifferentialFairness: ({ yPred, groups }, options) => inequality.empiricalDifferentialFairness(yPred, groups, options),
  conditionalDemographicDisparity: ({ yPred, groups }, options) => inequality.conditionalDemographicDisparity(yPred, groups, options),
}; // prettier-ignore

describe('row options of inequality metrics', () => {
  for (const [name, metric] of Object.entries(WITH_TRUTH)) {
    it(`${name} reads labels and missing values as its options say`, () => {
      expect(metric(TEXTS, READ)).to.equal(metric(CLEAN, {}));
    });
  }

  for (const [name, metric] of Object.entries(WITHOUT_TRUTH)) {
    it(`${name} reads missing values as its options say, and rejects a label of truth that it does not read`, () => {
      const { yTruePositiveLabel: _, ...options } = READ;
      expect(metric(TEXTS, options)).to.equal(metric(CLEAN, {}));
      expect(() => metric(TEXTS, READ)).to.throw(ValueError, `${name} has no option 'yTruePositiveLabel'`);
    });
  }

  for (const [name, metric] of Object.entries({ ...WITH_TRUTH, ...WITHOUT_TRUTH })) {
    it(`${name} rejects average, because its benefits are those of a binary decision`, () => {
      expect(() => metric(CLEAN, { average: 'macro' })).to.throw(ValueError, `${name} has no option 'average'`);
    });
  }
});
