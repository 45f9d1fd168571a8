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

function thrownBy(compute: () => unknown): Error {
  try {
    compute();
  } catch (error) {
    return error as Error;
  }
  return expect.fail('nothing was thrown');
}

describe('the code and the context of an error of a metric', () => {
  for (const [title, compute, code, context] of CASES) {
    it(`${title}: ${code}`, () => {
      const thrown = thrownBy(compute);
      if (!FairnessToolkitError.isInstance(thrown)) return expect.fail('no error of the library was thrown');
      expect(thrown.code).to.equal(code);
      expect(thrown.context).to.deep.include(context);
    });
  }
});

describe('errors of the arguments of a metric', () => {
  const groups = ['a', 'a', 'b', 'b'];
  const of =
    (rows: object): (() => unknown) =>
    () =>
      reduceClassification({ yPred: [1, 0, 1, 0], sensitive: groups, ...rows });
  const coded = (codes: readonly number[], labels = ['a', 'b']): object => ({
    kind: 'categorical',
    codes: Int32Array.from(codes),
    labels,
  });
  const cases: readonly (readonly [title: string, compute: () => unknown, expected: object])[] = [
    [
      'no rows',
      of({ yPred: [], sensitive: [] }),
      {
        message: 'There are no rows to measure.',
        ...{
          code: 'empty-data',
          context: { rows: 0 },
          suggestion: 'Check the query or the filter that produced the data.',
        },
      },
    ],
    [
      'no complete row',
      of({ yPred: [null, null, null, null] }),
      {
        message: 'All 4 rows lack a prediction, a true value, a group or a weight, so nothing can be measured.',
        ...{ code: 'empty-data', context: { rows: 4 }, suggestion: 'Check that the selected columns contain values.' },
      },
    ],
    [
      'groups of another length',
      of({ sensitive: ['a'], yTrue: [1, 1, 1, 1], sampleWeight: [1, 1, 1, 1] }),
      {
        message: 'yPred and sensitive differ in length: 4 and 1.',
        code: 'length-mismatch',
        context: { yPred: 4, sensitive: 1, yTrue: 4, sampleWeight: 4 },
        suggestion: 'Give one value per row in every argument, in the same order.',
      },
    ],
    [
      'weights of another length',
      of({ sampleWeight: [1] }),
      { message: 'yPred and sampleWeight differ in length: 4 and 1.' },
    ],
    ['true labels of another length', of({ yTrue: [1] }), { message: 'yPred and yTrue differ in length: 4 and 1.' }],
    [
      'a byte that is not a decision',
      of({ yPred: Uint8Array.of(1, 0, 2, 0) }),
      { message: 'yPred must be 0 or 1, but holds 2 at index 2.', code: 'invalid-value' },
    ],
    [
      'a byte that is not a true label',
      of({ yPred: Uint8Array.of(1, 0, 1, 0), yTrue: Uint8Array.of(0, 3, 1, 0) }),
      { message: 'yTrue must be 0 or 1, but holds 3 at index 1.', code: 'invalid-value' },
    ],
    [
      'a negative weight',
      of({ sampleWeight: [1, 0, -2, 1] }),
      {
        message: 'sampleWeight must be 0 or more, but holds -2 at index 2.',
        ...{ code: 'invalid-value', context: { argument: 'sampleWeight', index: 2, value: -2 } },
      },
    ],
    [
      'an infinite weight',
      of({ sampleWeight: [1, -Infinity, 1, 1] }),
      {
        message: 'sampleWeight must be finite, but holds -Infinity at index 1.',
        ...{ code: 'invalid-value', context: { argument: 'sampleWeight', index: 1, value: -Infinity } },
      },
    ],
    [
      'a text as a weight',
      of({ sampleWeight: ['1', '', 'many', '1'] }),
      {
        message: "sampleWeight must hold numbers, but holds 'many' at index 2.",
        ...{ code: 'invalid-value', context: { argument: 'sampleWeight', index: 2, value: 'many' } },
      },
    ],
    [
      'a code without a label',
      of({ sensitive: coded([0, 1, 2, 0]) }),
      {
        message: 'sensitive holds the code 2 at index 2, but has 2 labels.',
        ...{ code: 'invalid-value', context: { argument: 'sensitive', index: 2, value: 2 } },
        suggestion: 'Use codes from 0, and -1 for missing.',
      },
    ],
    [
      'a code below -1',
      of({ sensitive: coded([0, -2, 1, 0]) }),
      { context: { argument: 'sensitive', index: 1, value: -2 } },
    ],
    [
      'a cluster of another length',
      of({ cluster: ['p'] }),
      { message: 'rows and cluster differ in length: 4 and 1.', context: { rows: 4, cluster: 1 } },
    ],
    [
      'a row without a cluster',
      of({ cluster: ['p', 'p', null, 'q'] }),
      {
        message: 'cluster must hold a value in every row, but has none at index 2.',
        context: { argument: 'cluster', index: 2 },
      },
    ],
    ['a number that is no cluster', of({ cluster: [NaN, 1, 2, 3] }), { context: { argument: 'cluster', index: 0 } }],
    [
      'a row without a stratum',
      of({ strata: [1, 1, 2, null] }),
      {
        message: 'strata must hold a value in every row, but has none at index 3.',
        context: { argument: 'strata', index: 3 },
      },
    ],
    [
      'a positive label that occurs in neither column',
      of({ yPred: ['no', 'yes', 'no', 'NA'], yTrue: ['yes', 'no', 'no', 'no'], positiveLabel: 'ja' }),
      { message: /ja/, context: { argument: 'yTrue', labels: ['no', 'yes'], positiveLabel: 'ja' } },
    ],
    [
      'decisions with other labels than the true labels',
      of({ yPred: ['approve', 'deny', 'deny', 'deny'], yTrue: ['yes', 'no', 'no', 'no'], positiveLabel: 'yes' }),
      {
        message: /yTrue uses other labels/,
        context: { argument: 'yPred', labels: ['approve', 'deny'], positiveLabel: 'yes' },
      },
    ],
    [
      'a positive label of the truth that does not occur',
      of({
        yPred: ['yes', 'no', 'no', 'no'],
        yTrue: ['a', 'b', 'b', 'b'],
        positiveLabel: 'yes',
        yTruePositiveLabel: 'c',
      }),
      { context: { argument: 'yTrue', labels: ['a', 'b'], positiveLabel: 'c' } },
    ],
    [
      'decisions of which one label is not among the true labels',
      of({ yPred: ['no', 'maybe', 'no', 'no'], yTrue: ['yes', 'no', 'no', 'no'], positiveLabel: 'yes' }),
      {
        message: /yTrue uses other labels/,
        context: { argument: 'yPred', labels: ['maybe', 'no'], positiveLabel: 'yes' },
      },
    ],
    [
      'a positive label for decisions alone that does not occur',
      of({ yPred: ['no', 'NA', 'no', 'no'], yTrue: undefined, positiveLabel: 'yes' }),
      { context: { argument: 'yPred', labels: ['no'], positiveLabel: 'yes' } },
    ],
    ...Object.entries({
      'booleans of an array': [true, false, true, false],
      'booleans of a table': coded([1, 0, 1, 0], ['false', 'true']) as never,
    }).map(
      ([what, yPred]) =>
        [
          `a positive label for ${what}, which do not use it`,
          of({ yPred, yTrue: undefined, positiveLabel: 'yes' }),
          { context: { argument: 'yPred', labels: ['false', 'true'], positiveLabel: 'yes' } },
        ] as const,
    ),
    ...Object.entries({ 'an array': [1, 0, 0, 1], 'a typed array': Float64Array.of(1, 0, 0, 1) }).map(
      ([what, yPred]) =>
        [
          `a positive label that is no number of ${what}`,
          of({ yPred, yTrue: undefined, positiveLabel: '2' }),
          { context: { argument: 'yPred', labels: ['0', '1'], positiveLabel: '2' } },
        ] as const,
    ),
  ];
  for (const [title, compute, { message, ...expected }] of cases as readonly (readonly [
    string,
    () => unknown,
    { message?: string | RegExp },
  ])[]) {
    it(title, () => {
      const error = thrownBy(compute);
      expect(error, String(error)).to.deep.include({ name: 'DataValidationError', ...expected });
      if (typeof message === 'string') expect(error.message).to.equal(message);
      if (message instanceof RegExp) expect(error.message).to.match(message);
    });
  }

  it('are not raised for decisions that all have the other label, codes of missing groups, and weights of 0', () => {
    const none = reduceClassification({
      yPred: ['no', 'no'],
      yTrue: ['yes', 'no'],
      sensitive: ['a', 'b'],
      positiveLabel: 'yes',
    });
    expect(Array.from(none.counts).reduce((sum, count) => sum + count, 0)).to.equal(2);
    const absent = { yPred: ['no', '-'], yTrue: ['yes', 'no'], sensitive: ['a', 'b'], positiveLabel: 'yes' };
    expect(reduceClassification({ ...absent, naValues: ['-'] }).nDropped).to.equal(1);
    const bits = { yPred: [false, false], yTrue: [true, false], sensitive: ['a', 'b'] };
    expect(reduceClassification({ ...bits, positiveLabel: 'true' }).labels).to.deep.equal(['a', 'b']);
    const missing = reduceClassification({
      yPred: [1, 0, 1, 0],
      sensitive: coded([0, -1, 1, 1]) as never,
      sampleWeight: [0, 1, 1, 1],
    });
    expect([missing.labels, missing.nDropped]).to.deep.equal([['a', 'b'], 1]);
  });

  it('a missing weight matters only for a row with a group', () => {
    const lacksWeights = (sampleWeight: (number | null)[] | undefined): boolean =>
      reduceClassification({ yPred: [1, 0, 1, 1], sensitive: ['a', 'b', null, 'b'], sampleWeight }).lacksWeights;
    expect(lacksWeights(undefined)).to.equal(false);
    expect(lacksWeights([1, 1, 1, 1])).to.equal(false);
    expect(lacksWeights([1, 1, null, 1])).to.equal(false);
    expect(lacksWeights([null, 1, 1, 1])).to.equal(true);
  });

  it('a cluster in two strata is two clusters', () => {
    const rows = { yPred: [1, 0, 1, 0], sensitive: ['a', 'a', 'a', 'a'], cluster: [1, 1, 2, 2] };
    const clustersOf = (strata?: unknown[]): unknown => reduceClassification({ ...rows, strata }).clusters?.clusters[0];
    expect(clustersOf()).to.equal(2);
    expect(clustersOf(['x', 'x', 'x', 'x'])).to.equal(2);
    expect(clustersOf(['x', 'y', 'x', 'x'])).to.equal(3);
    expect(clustersOf(['x', 'y', 'x', 'y'])).to.equal(4);
    // Without clusters, each row is one.
    expect(
      reduceClassification({ ...rows, cluster: undefined, strata: ['x', 'y', 'x', 'y'] }).clusters?.clusters[0],
    ).to.equal(4);
  });
});
