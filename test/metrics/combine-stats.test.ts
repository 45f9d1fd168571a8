import { expect } from 'chai';

import { DataValidationError } from '../../src/exceptions/index.ts';
import {
  addRows,
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

const first = {
  yTrue: [1, 0, 1, 0, 1, null],
  yPred: [1, 0, 0, 1, 1, 1],
  yScore: [0.9, 0.2, 0.4, 0.6, 0.8, 0.5],
  sensitive: ['a', 'a', 'b', 'b', null, 'a'],
  sampleWeight: [1, 2, 3, 1, 1, 2],
};
const second = {
  yTrue: [0, 1, 1, 0],
  yPred: [0, 1, 0, 1],
  yScore: [0.2, 0.9, 0.4, 0.7],
  sensitive: ['c', 'a', 'c', 'a'],
  sampleWeight: [2, 1, 1, 4],
};
const together = {
  yTrue: [...first.yTrue, ...second.yTrue],
  yPred: [...first.yPred, ...second.yPred],
  yScore: [...first.yScore, ...second.yScore],
  sensitive: [...first.sensitive, ...second.sensitive],
  sampleWeight: [...first.sampleWeight, ...second.sampleWeight],
};

const KINDS: readonly [string, (rows: typeof together) => GroupStats][] = [
  ['classification', reduceClassification],
  ['regression', reduceRegression],
  ['scores', reduceScores],
];

/** Rounds numbers to 12 digits, so that moments that were added in a different order are equal. */
function rounded(stats: GroupStats): unknown {
  return JSON.parse(JSON.stringify(statsToJson(stats)), (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(12)) + 0 : value,
  );
}

function ofTwo<Stats>(
  reduce: (rows: { yTrue: number[]; yPred: number[]; yScore: number[]; sensitive: string[] }) => Stats,
): Stats {
  return reduce({ yTrue: [1, 0], yPred: [1, 1], yScore: [0.5, 0.25], sensitive: ['a', 'b'] });
}

describe('combined statistics', () => {
  for (const [kind, reduce] of KINDS) {
    it(`${kind}: merging two halves gives the statistics of all rows, with groups matched by label`, () => {
      const merged = mergeStats(reduce(first), reduce(second));
      expect(merged.labels).to.deep.equal(['a', 'b', 'c']);
      expect(rounded(merged)).to.deep.equal(rounded(reduce(together)));
    });

    it(`${kind}: adding rows to the first half gives the statistics of all rows`, () => {
      expect(rounded(addRows(reduce(first), second))).to.deep.equal(rounded(reduce(together)));
    });

    it(`${kind}: removing the second half leaves the first half and an empty group`, () => {
      const left = removeStats(reduce(together), reduce(second));
      const expected = mergeStats(reduce(first), { ...removeStats(reduce(second), reduce(second)), nDropped: 0 });
      const [a, b] = [left, expected].map(rounded) as [Record<string, unknown>, Record<string, unknown>];
      for (const name of ['labels', 'counts', 'weights', 'n_dropped']) expect(a[name]).to.deep.equal(b[name]);
    });

    it(`${kind}: are unchanged after writing to JSON and reading back`, () => {
      const stats = reduce(together);
      const again = statsFromJson(JSON.parse(JSON.stringify(statsToJson(stats))));
      expect(again).to.deep.equal(stats);
    });

    it(`${kind}: rejects removing rows that were never added`, () => {
      expect(() => removeStats(reduce(first), reduce(second)))
        .to.throw(DataValidationError)
        .with.property('message')
        .that.matches(/the group 'c'/);
      expect(() => removeStats(reduce(first), reduce(together))).to.throw(DataValidationError);
    });
  }

  it('merges moments of two distant sets of values: mean 2 000 000 001, each variance around its own mean', () => {
    // Values 1e9 + {0, 1, 2} and 3e9 + {0, 1, 2}: by hand the sum of squares around 2e9 + 1 is 6e18 + 4.
    const reduce = (at: number) =>
      reduceRegression({ yPred: [at, at + 1, at + 2], sensitive: ['a', 'a', 'a'] }).moments.prediction;
    expect(reduce(1e9).m2[0]).to.equal(2);
    const rows = (at: number) => reduceRegression({ yPred: [at, at + 1, at + 2], sensitive: ['a', 'a', 'a'] });
    const { mean, m2 } = mergeStats(rows(1e9), rows(3e9)).moments.prediction;
    expect(mean[0]).to.equal(2e9 + 1);
    expect(m2[0]).to.equal(6e18 + 4);
  });

  it('rejects statistics of different kinds', () => {
    const counts: GroupStats = reduceClassification(first);
    const scores: GroupStats = reduceScores(first);
    expect(() => mergeStats<GroupStats>(counts, scores)).to.throw(
      DataValidationError,
      /different kinds .*classification.*scores/,
    );
  });

  it('rejects removing more incomplete rows than there are', () => {
    const complete = { yPred: [1, 0], sensitive: ['a', 'b'] };
    const gappy = { yPred: [1, null], sensitive: ['a', 'b'] };
    expect(() => removeStats(reduceClassification(complete), reduceClassification(gappy))).to.throw(
      DataValidationError,
    );
  });

  it('removes rounding residues of removed weights and errors', () => {
    // 0.1 + 0.2 + 0.3 - 0.3 - 0.2 - 0.1 is 2.8e-17 in float64, and negative in other orders.
    const of = (weights: number[], error: number) =>
      reduceRegression({
        yTrue: weights.map(() => 0),
        yPred: weights.map(() => error),
        sensitive: weights.map(() => 'a'),
        sampleWeight: weights,
      });
    const [low, high, exact] = [of([0.1], 0.1), of([0.2, 0.3], 0.7), of([0.4], 0)];
    const left = removeStats(removeStats(mergeStats(mergeStats(high, low), exact), low), high);
    expect(left.moments.squaredError.mean[0]).to.be.within(0, 1e-15);
    const none = removeStats(left, exact);
    expect([none.counts[0], none.weights[0], none.squaredWeights[0]]).to.deep.equal([0, 0, 0]);
  });

  it('rejects a metric of statistics of another kind by name', () => {
    expect(() => metricOf('roc_auc_difference', reduceClassification(first)))
      .to.throw(Error)
      .with.property('message')
      .that.matches(/roc_auc_difference.*scores/);
  });

  for (const [title, json, field] of [
    ['text', 'x', 'the JSON value'],
    ['another form', { form: 2 }, 'form'],
    ['no labels', { form: 1, kind: 'classification' }, 'labels'],
    ['too few counts', { form: 1, kind: 'classification', labels: ['a'], n_dropped: 0, counts: [1] }, 'counts'],
    ['a label twice', { form: 1, kind: 'classification', labels: ['a', 'a'] }, 'all different'],
    ['counts below 0', { ...statsToJson(ofTwo(reduceRegression)), counts: [3, -1] }, "'counts' must be 0 or more"],
    ['unsorted scores', { ...statsToJson(ofTwo(reduceScores)), groups: [1, 0] }, 'ascending'],
  ] as const) {
    it(`rejects JSON that is not statistics: ${title}`, () => {
      expect(() => statsFromJson(json)).to.throw(DataValidationError, field);
    });
  }
});
