import { expect } from 'chai';

import { FairnessToolkitError } from '../../src/exceptions/index.ts';
import {
  consistencyScore,
  differentialFairnessBiasAmplificationOf,
  discountedCumulativeGain,
  empiricalDifferentialFairness,
  generalizedEntropyIndex,
  generalizedEntropyIndexOf,
  infeasibleIndex,
  normalizedDiscountedCumulativeGain,
} from '../../src/metrics/inequality/index.ts';
import { reduceClassification } from '../../src/metrics/reduce/reduce-classification.ts';
import type { ClassificationStats } from '../../src/metrics/statistics/group-stats.ts';

/** The code, as docs/errors.md defines it, and what the context must name: the argument and the value or the index. */
type Case = readonly [title: string, compute: () => unknown, code: string, context: Readonly<Record<string, unknown>>];

const withoutTruth = (): ClassificationStats =>
  reduceClassification({ yPred: [1, 0, 1, 0], sensitive: ['a', 'a', 'b', 'b'] });

const CASES: readonly Case[] = [
  ['features without columns', () => consistencyScore({}, [0, 1]), 'unknown-column', { argument: 'features' }],
  [
    'rows of features that differ in length',
    () => consistencyScore([[1, 2], [3]], [0, 1]),
    'invalid-value',
    { argument: 'features', index: 1 },
  ],
  [
    'a text as a feature',
    () => consistencyScore({ job: ['1', 'b'] }, [0, 1]),
    'invalid-value',
    { argument: 'features', column: 'features.job', index: 1, value: 'b' },
  ],
  ['no complete row', () => consistencyScore([null, 1], [1, null]), 'empty-data', { rows: 2 }],
  [
    'more neighbours than rows',
    () => consistencyScore([1, 2], [0, 1]),
    'invalid-argument',
    { function: 'consistencyScore', parameter: 'nNeighbors', value: 5 },
  ],
  [
    'a fractional number of neighbours',
    () => consistencyScore([1, 2], [0, 1], { nNeighbors: 1.5 }),
    'invalid-argument',
    { function: 'consistencyScore', parameter: 'nNeighbors', value: 1.5 },
  ],
  [
    'a positive label that is absent',
    () => consistencyScore([1, 2], ['a', 'b'], { positiveLabel: 'c' }),
    'unknown-label',
    { argument: 'y' },
  ],
  ['a ranking without scores', () => discountedCumulativeGain([null]), 'empty-data', { argument: 'scores' }],
  [
    'a fractional number of positions',
    () => discountedCumulativeGain([1], { top: 0.5 }),
    'invalid-argument',
    { function: 'discountedCumulativeGain', parameter: 'top', value: 0.5 },
  ],
  [
    'a negative gain of a candidate',
    () => normalizedDiscountedCumulativeGain([1], { candidates: [2, -3] }),
    'invalid-value',
    { argument: 'candidates', index: 1, value: -3 },
  ],
  [
    'a ranking without groups',
    () => infeasibleIndex([null, null], { a: 1 }),
    'empty-data',
    { argument: 'sensitive', rows: 2 },
  ],
  [
    'a target above 1',
    () => infeasibleIndex(['a'], { a: 2 }),
    'invalid-argument',
    { parameter: 'targetProportions', group: 'a', value: 2 },
  ],
  [
    'targets above 1 in total',
    () => infeasibleIndex(['a', 'b'], { a: 0.75, b: 0.5 }),
    'invalid-argument',
    { parameter: 'targetProportions', value: 1.25 },
  ],
  [
    'a group without a target',
    () => infeasibleIndex(['a', 'b'], { a: 1 }),
    'unknown-label',
    { argument: 'targetProportions', group: 'b' },
  ],
  [
    'a negative concentration',
    () => empiricalDifferentialFairness([1, 0], ['a', 'b'], { concentration: -1 }),
    'invalid-argument',
    { parameter: 'concentration', value: -1 },
  ],
  [
    'an alpha that is not a number',
    () => generalizedEntropyIndex([1, 0], [1, 1], { alpha: NaN }),
    'invalid-argument',
    { parameter: 'alpha', value: NaN },
  ],
  [
    'statistics without true labels, for an index of benefits',
    () => generalizedEntropyIndexOf(withoutTruth()),
    'missing-argument',
    { metric: 'generalized_entropy_index', missing: 'yTrue' },
  ],
  [
    'statistics without true labels, for the amplification of a bias',
    () => differentialFairnessBiasAmplificationOf(withoutTruth()),
    'missing-argument',
    { metric: 'differential_fairness_bias_amplification', missing: 'yTrue' },
  ],
];

describe('the code and the context of an error of a metric', () => {
  for (const [title, compute, code, context] of CASES) {
    it(`${title}: ${code}`, () => {
      let thrown: unknown;
      try {
        compute();
      } catch (error) {
        thrown = error;
      }
      if (!FairnessToolkitError.isInstance(thrown)) return expect.fail('no error of the library was thrown');
      expect(thrown.code).to.equal(code);
      expect(thrown.context).to.deep.include(context);
    });
  }
});
