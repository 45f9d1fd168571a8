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
import { reduceRows } from '../../src/metrics/compute-metric.ts';
import type { ScoreStats } from '../../src/metrics/statistics/group-stats.ts';
import { groupPicker, regroup } from '../../src/metrics/statistics/regroup-stats.ts';
import { withoutSmallCells } from '../../src/metrics/statistics/small-cells.ts';

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

/** Leaves out fields that are undefined, at any depth. */
function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, defined(field)]));
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

  const RESIDUES: readonly (readonly [sign: string, added: readonly number[], removed: readonly number[]])[] = [
    // In float64, 0.1 + 0.2 + 0.4 - 0.2 - 0.4 - 0.1 is -2.8e-17, and 0.1 + 0.2 + 0.3 - 0.1 - 0.2 - 0.3 is 1.1e-16.
    ['negative', [0.1, 0.2, 0.4], [0.2, 0.4, 0.1]],
    ['positive', [0.1, 0.2, 0.3], [0.1, 0.2, 0.3]],
  ];
  for (const [kind, reduce] of KINDS) {
    /** One row of one cell with a weight. */
    const row = (weight: number): GroupStats =>
      reduce({ yTrue: [1], yPred: [1], yScore: [0.5], sensitive: ['a'], sampleWeight: [weight] });

    for (const [sign, added, removed] of RESIDUES) {
      it(`${kind}: a ${sign} rounding residue of weights is removed`, () => {
        const residue = removed.reduce(
          (sum, weight) => sum - weight,
          added.reduce((sum, weight) => sum + weight, 0),
        );
        expect(Math.sign(residue)).to.equal(sign === 'negative' ? -1 : 1);
        const sum = added.map(row).reduce((all, one) => mergeStats(all, one));
        const none = removed.map(row).reduce((all, one) => removeStats(all, one), sum);
        expect(Math.max(0, ...none.weights)).to.equal(0);
        expect(Math.min(0, ...none.weights)).to.equal(0);
        expect([...none.weights, ...none.squaredWeights].every((weight) => weight === 0)).to.equal(true);
        // A row of weight 0 remains in the cell.
        const withZero = removed.map(row).reduce((all, one) => removeStats(all, one), mergeStats(row(0), sum));
        expect(Math.max(...withZero.counts)).to.equal(1);
        for (const weight of [...withZero.weights, ...withZero.squaredWeights]) expect(weight).to.be.within(0, 1.2e-16);
      });
    }
  }

  it('says what the statistics to remove hold in addition', () => {
    const complete = { yTrue: [1, 0], yPred: [1, 0], yScore: [0.75, 0.25], sensitive: ['a', 'b'] };
    const twice = { yTrue: [1, 1], yPred: [1, 1], yScore: [0.75, 0.75], sensitive: ['a', 'a'] };
    // Neither a group nor a value: the row is in no table.
    const lost = { yTrue: [1, null], yPred: [1, null], yScore: [0.75, null], sensitive: ['a', null] };
    for (const [kind, reduce] of KINDS as readonly [string, (rows: object) => GroupStats][]) {
      const text = (rows: object): { message?: string; suggestion?: string } => {
        try {
          return removeStats(reduce(complete), reduce(rows)) as object;
        } catch (error) {
          return error as Error & { suggestion: string };
        }
      };
      expect(text(twice).message, kind).to.match(kind === 'scores' ? /more rows of a score/ : /more rows of a group/);
      expect(text(lost).message, kind).to.match(/more rows that lack a value/);
      expect(text({ ...complete, sensitive: ['a', 'c'] }).message, kind).to.match(/the group 'c'/);
      expect(text(lost).suggestion, kind).to.be.a('string');
    }
  });

  it('rejects each pair of different kinds', () => {
    for (const [one, first_] of KINDS) {
      for (const [other, second_] of KINDS.filter(([kind]) => kind !== one)) {
        expect(() => mergeStats<GroupStats>(first_(first), second_(second)))
          .to.throw(DataValidationError, `Got '${one}' and '${other}'`)
          .with.property('suggestion')
          .that.is.a('string');
      }
    }
  });

  it('rejects statistics without small cells, on either side', () => {
    const stats = reduceClassification({ yPred: [1, 1], sensitive: ['a', 'a'] });
    const large = withoutSmallCells(stats, 2);
    for (const [a, b] of [
      [stats, large],
      [large, stats],
      [large, large],
    ] as const) {
      expect(() => mergeStats(a, b))
        .to.throw(DataValidationError, 'without small cells')
        .with.property('suggestion')
        .that.is.a('string');
    }
  });

  it('has true labels if one half has them, and true numbers only if both have them', () => {
    const truth = { yTrue: [1, 0] };
    const rows = { yPred: [1, 0], sensitive: ['a', 'b'] };
    for (const [one, other, labels, numbers] of [
      [{}, {}, false, false],
      [truth, {}, true, false],
      [{}, truth, true, false],
      [truth, truth, true, true],
    ] as const) {
      const [a, b] = [
        { ...rows, ...one },
        { ...rows, ...other },
      ];
      expect(mergeStats(reduceClassification(a), reduceClassification(b)).hasTruth).to.equal(labels);
      expect(mergeStats(reduceRegression(a), reduceRegression(b)).hasTruth).to.equal(numbers);
    }
  });

  it('lacks weights if one half lacks them, also after the other half is removed', () => {
    const of = (sampleWeight: (number | null)[]) =>
      reduceClassification({ yPred: [1, 0], sensitive: ['a', 'b'], sampleWeight });
    const [complete, lacking] = [of([1, 2]), of([1, null])];
    expect(mergeStats(complete, complete).lacksWeights).to.equal(false);
    expect(mergeStats(complete, lacking).lacksWeights).to.equal(true);
    expect(mergeStats(lacking, complete).lacksWeights).to.equal(true);
    expect(removeStats(mergeStats(lacking, complete), complete).lacksWeights).to.equal(true);
  });

  it('adds the records of how labels were read', () => {
    const of = (yPred: string[]) =>
      reduceRows('classification', { yPred, sensitive: yPred.map(() => 'a'), positiveLabel: 'yes' }, 'x');
    const [one, other] = [of(['yes', 'no', 'no']), of(['yes', 'yes', 'no', 'maybe'])];
    const [reading, ...more] = mergeStats(one, other).readings ?? [];
    expect(reading?.positive).to.deep.equal({ yes: 3 });
    expect(reading?.negative).to.deep.equal({ no: 3, maybe: 1 });
    expect(more).to.deep.equal([]);
    const without: GroupStats = { ...one, readings: undefined };
    expect(mergeStats(without, one).readings).to.deep.equal(one.readings);
    expect(mergeStats(one, without).readings).to.deep.equal(one.readings);
    expect(mergeStats(without, without).readings).to.equal(undefined);
  });

  describe('of rounded scores', () => {
    const distinct = 66_000;
    /** Scores that are spread over [0, largest], of group a, with alternating labels. */
    const rowsOf = (largest: number, from = 0) => {
      const row = Array.from({ length: distinct }, (_, index) => index);
      return {
        yTrue: row.map((index) => (index + from) % 2),
        yScore: row.map((index) => (largest * (index + 1)) / (distinct + 1)),
        sensitive: row.map(() => 'a'),
      };
    };
    /** The sum of the log losses of rows, and of their squares. */
    const lossesOf = ({ yTrue, yScore }: ReturnType<typeof rowsOf>): [number, number] => {
      const own = yScore.map((score, row) => -Math.log(yTrue[row] === 1 ? score : 1 - score));
      return [own.reduce((sum, loss) => sum + loss, 0), own.reduce((sum, loss) => sum + loss ** 2, 0)];
    };
    const fine = rowsOf(0.5);
    const coarse = rowsOf(1, 1);
    const few = { yTrue: [1, 0, 1], yScore: [0.3, 0.3, 0.9], sensitive: ['a', 'a', 'a'] };
    const [ofFine, ofCoarse, ofFew] = [fine, coarse, few].map((rows) => reduceScores(rows)) as [
      ScoreStats,
      ScoreStats,
      ScoreStats,
    ];

    function expectLosses(stats: ScoreStats, wanted: readonly [number, number][], signs: readonly number[]): void {
      const sum = (end: 0 | 1): number =>
        wanted.reduce((total, own, index) => total + own[end] * (signs[index] ?? 1), 0);
      expect(stats.losses?.sums[0]).to.be.closeTo(sum(0), 1e-6);
      expect(stats.losses?.squares[0]).to.be.closeTo(sum(1), 1e-6);
    }

    it('have the coarser grid, and the exact losses of all rows', () => {
      expect([ofFine.step, ofCoarse.step, ofFew.step]).to.deep.equal([2 ** -15, 2 ** -14, 0]);
      for (const [a, b] of [
        [ofFine, ofCoarse],
        [ofCoarse, ofFine],
      ] as const) {
        const merged = mergeStats(a, b);
        expect(merged.step).to.equal(2 ** -14);
        expect(merged.scores.every((score) => Number.isInteger(score * 2 ** 14))).to.equal(true);
        expect(merged.counts.reduce((sum, count) => sum + count, 0)).to.equal(2 * distinct);
        expectLosses(merged, [lossesOf(fine), lossesOf(coarse)], [1, 1]);
      }
      for (const [a, b] of [
        [ofFine, ofFew],
        [ofFew, ofFine],
      ] as const) {
        const merged = mergeStats(a, b);
        expect(merged.step).to.equal(2 ** -15);
        expectLosses(merged, [lossesOf(fine), lossesOf(few)], [1, 1]);
        expectLosses(removeStats(merged, ofFew), [lossesOf(fine)], [1]);
      }
      const rest = removeStats(mergeStats(ofFine, ofCoarse), ofFine);
      expectLosses(rest, [lossesOf(coarse)], [1]);
      const none = removeStats(rest, ofCoarse);
      expect([...none.scores]).to.deep.equal([]);
      expect(none.losses?.sums[0]).to.be.within(0, 1e-6);
      expect(none.losses?.squares[0]).to.be.within(0, 1e-6);
    });

    it('have unknown losses if those of a part are unknown', () => {
      const unknown = { ...ofFine, losses: null };
      expect(mergeStats(unknown, ofCoarse).losses).to.equal(null);
      expect(mergeStats(ofCoarse, unknown).losses).to.equal(null);
      expect(mergeStats(ofFew, ofFew).losses).to.equal(null);
    });

    it('keep the losses of groups that are pooled, selected or left out', () => {
      const both = { ...coarse, sensitive: coarse.yTrue.map((_, row) => 'abc'[row % 3] as string) };
      const stats = reduceScores(both);
      const [first_ = NaN, second_ = NaN, third = NaN] = stats.losses?.sums ?? [];
      const [x = NaN, y = NaN, z = NaN] = stats.losses?.squares ?? [];
      expect(first_ + second_ + third).to.be.closeTo(lossesOf(coarse)[0], 1e-6);
      const pooled = regroup(stats, [1, 0, 1], ['b', 'ac']);
      expect([...(pooled.losses?.sums ?? [])]).to.deep.equal([second_, first_ + third]);
      expect([...(pooled.losses?.squares ?? [])]).to.deep.equal([y, x + z]);
      expect([...(regroup(stats, [0, -1, -1], ['a']).losses?.sums ?? [])]).to.deep.equal([first_]);
      const picked = groupPicker(stats)([2, 0], ['c', 'a']);
      expect([...(picked.losses?.sums ?? [])]).to.deep.equal([third, first_]);
      expect([...(picked.losses?.squares ?? [])]).to.deep.equal([z, x]);
      const entriesOf = (of: ScoreStats, group: number): number[] =>
        [...of.scores].filter((_, entry) => of.groups[entry] === group);
      expect(entriesOf(picked, 0)).to.deep.equal(entriesOf(stats, 2));
      expect(entriesOf(picked, 1)).to.deep.equal(entriesOf(stats, 0));
      expect([picked.nDropped, ...picked.dropped]).to.deep.equal([0, 0, 0]);
    });
  });

  it('leave out rows and dropped rows of groups that are left out', () => {
    const rows = {
      yTrue: [1, 0, 1, null, 0],
      yPred: [1, 0, 1, 1, 0],
      yScore: [0.5, 0.25, 0.5, 0.5, 0.75],
      sensitive: Array.from('abcca'),
    };
    for (const [kind, reduce] of KINDS as readonly [string, (rows: object) => GroupStats][]) {
      const kept = { ...rows, sensitive: rows.sensitive.map((group) => (group === 'b' ? null : group)) };
      const [found, wanted] = [regroup(reduce(rows), [0, -1, 1], ['a', 'c']), reduce(kept)].map((stats) =>
        defined({ ...stats, nDropped: 0, ungrouped: 0 }),
      );
      expect(found, kind).to.deep.equal(wanted);
    }
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

type Json = Record<string, unknown>;

describe('statistics as JSON', () => {
  const clusters = { cluster: Array.from('ppqqrrst'), strata: Array.from('xxxxyyyy') };
  const rows = {
    yTrue: [1, 0, 1, 0, 1, 0, 1, 0],
    yPred: [1, 0, 0, 1, 1, 1, 0, 0],
    yScore: [0.9, 0.2, 0.4, 0.6, 0.8, 0.5, 0.7, 0.1],
    sensitive: Array.from('aabbaabb'),
  };
  const distinct = 70_000;
  const many = Array.from({ length: distinct }, (_, row) => (row + 1) / (distinct + 1));
  const EVERY: readonly [string, () => GroupStats][] = [
    ['decisions', () => reduceClassification(rows)],
    ['decisions without true labels', () => reduceClassification({ ...rows, yTrue: undefined })],
    [
      'decisions with a missing weight',
      () => reduceClassification({ ...rows, sampleWeight: [2, 1, 1, 1, null, 1, 1, 1] }),
    ],
    ['large cells', () => withoutSmallCells(reduceClassification(rows), 2)],
    ['decisions in clusters', () => reduceClassification({ ...rows, ...clusters })],
    ['numbers', () => reduceRegression(rows)],
    [
      'numbers without true values, and with a missing prediction',
      () => reduceRegression({ yPred: [1, null, 2], sensitive: ['a', 'a', 'b'] }),
    ],
    ['numbers in clusters', () => reduceRegression({ ...rows, ...clusters })],
    ['scores', () => reduceScores(rows)],
    ['scores in clusters', () => reduceScores({ ...rows, cluster: clusters.cluster })],
    ['scores in clusters and strata', () => reduceScores({ ...rows, ...clusters })],
    [
      'rounded scores',
      () =>
        reduceScores({
          yTrue: many.map((_, row) => row % 2),
          yScore: many,
          sensitive: many.map((_, row) => 'ab'[row % 3 === 0 ? 0 : 1] as string),
        }),
    ],
  ];

  const written = (stats: GroupStats): Json => JSON.parse(JSON.stringify(statsToJson(stats))) as Json;

  for (const [what, make] of EVERY) {
    it(`are read as they were: ${what}`, () => {
      const stats = make();
      expect(defined(statsFromJson(written(stats)))).to.deep.equal(defined(stats));
    });
  }

  it('have the names and numbers of the format, by hand', () => {
    // Each cell is 2 x truth + decision; weights 2 and 3 have the squares 4 and 9.
    const stats = reduceClassification({ yTrue: [1, 0], yPred: [1, 1], sensitive: ['a', 'a'], sampleWeight: [2, 3] });
    const none = (size: number): Json => {
      const zeros = Array<number>(size).fill(0);
      return { counts: zeros, weights: zeros, squared_weights: zeros };
    };
    expect(written(stats)).to.deep.equal({
      ...{ form: 1, kind: 'classification', labels: ['a'] },
      ...{ counts: [0, 1, 0, 1, 0, 0], weights: [0, 3, 0, 2, 0, 0], squared_weights: [0, 9, 0, 4, 0, 0] },
      ...{ ungrouped: none(6), undecided: none(3), lacks_weights: false, has_truth: true, n_dropped: 0 },
    });
  });

  /** Fields that may be absent, in the JSON of earlier versions or of statistics without them. */
  const OPTIONAL = ['min_cell', 'undecided', 'dropped', 'log_losses', 'clusters', 'shifts', 'strata', 'entries'];
  /** Fields that are true or false, where every other value counts as false. */
  const FLAGS = ['has_truth', 'lacks_weights'];

  /** Lists whose length does not follow from another field. */
  const UNSIZED = ['labels', 'shared', 'blocks', 'scores', 'weights'];

  /**
   * Lists the objects inside a JSON value.
   * @yields each object, with a function that puts another object in its place
   */
  function* objectsOf(json: Json, replace = (own: Json): Json => own): Generator<[Json, (own: Json) => Json]> {
    yield [json, replace];
    for (const [name, value] of Object.entries(json)) {
      if (Array.isArray(value)) {
        const [first, ...others] = value as unknown[];
        if (typeof first !== 'object') continue;
        yield* objectsOf(first as Json, (own) => replace({ ...json, [name]: [own, ...others] }));
      } else if (typeof value === 'object' && value !== null) {
        yield* objectsOf(value as Json, (own) => replace({ ...json, [name]: own }));
      }
    }
  }

  for (const [what, make] of EVERY.filter(([name]) => name !== 'rounded scores')) {
    it(`with a wrong field are one error that names it: ${what}`, () => {
      for (const [object, replace] of objectsOf(written(make()))) {
        for (const [name, value] of Object.entries(object)) {
          if (FLAGS.includes(name)) continue;
          // A text is no list, no number and no object, and a list with a text is no list of numbers or objects.
          const wrong: unknown[] = [7n, null];
          if (!OPTIONAL.includes(name) || (name === 'strata' && 'shared' in object)) wrong.push(undefined);
          const items = Array.isArray(value) ? (value as unknown[]) : undefined;
          if (items !== undefined) wrong.push([...items.slice(1), name === 'labels' ? 0 : 'x']);
          if (items !== undefined && !UNSIZED.includes(name)) wrong.push([...items, 0]);
          if (typeof value === 'number') wrong.push(NaN, Infinity, String(value));
          for (const one of wrong) {
            const where = `${name}: ${String(one)}`;
            expect(() => statsFromJson(replace({ ...object, [name]: one })), where)
              .to.throw(DataValidationError, name)
              .with.deep.property('context')
              .that.deep.equals({ field: name });
          }
        }
      }
    });
  }

  it('of earlier versions have no rows without a decision, and no dropped rows', () => {
    const { undecided: _, ...decisions } = written(reduceClassification(rows));
    expect(statsFromJson(decisions)).to.deep.equal(reduceClassification(rows));
    const { dropped: __, ...numbers } = written(reduceRegression(rows));
    expect(statsFromJson(numbers)).to.deep.equal(reduceRegression(rows));
  });

  const scores = written(reduceScores(rows));
  const shared = { first: 0, second: 1, clusters: 1 };
  const inClusters = written(reduceClassification({ ...rows, cluster: Array.from('pqpqrsrs') }));
  const withShared = (one: Json): Json => ({ ...inClusters, clusters: { ...(inClusters['clusters'] as Json), shared: [one] } }); // prettier-ignore
  for (const [what, json, field] of [
    ['no index of a group', { ...scores, groups: [0, 0, 0, 0, 1, 1, 1, 2] }, 'groups'],
    ['a group below 0', { ...scores, groups: [-1, 0, 0, 0, 1, 1, 1, 1] }, 'groups'],
    ['a score twice', { ...scores, scores: [0.2, 0.2, 0.8, 0.9, 0.1, 0.4, 0.6, 0.7] }, 'scores'],
    ['a step below 0', { ...scores, step: -1 }, 'step'],
    ['another kind', { ...scores, kind: 'ranks' }, 'kind'],
    ['weights below 0', { ...scores, weights: (scores['weights'] as number[]).map((one) => -one) }, 'weights'],
    ['another version', { ...scores, form: 2 }, 'form'],
    ['a shared group that is no integer', withShared({ ...shared, second: 0.5 }), 'second'],
    ['a shared group below 0', withShared({ ...shared, first: -1 }), 'first'],
    ['a shared group without a label', withShared({ ...shared, second: 2 }), 'second'],
  ] as const) {
    it(`with an impossible value are one error that names the field: ${what}`, () => {
      expect(() => statsFromJson(json))
        .to.throw(DataValidationError)
        .with.deep.property('context', { field });
    });
  }

  it('with log losses that are not as many as the groups, or below 0, are one error', () => {
    const json = { ...scores, step: 0.5, log_losses: [1, 2], squared_log_losses: [1, 2] };
    expect(statsFromJson(json)).to.have.deep.property('losses', { sums: Float64Array.of(1, 2), squares: Float64Array.of(1, 2) }); // prettier-ignore
    for (const wrong of [
      { log_losses: [1] },
      { squared_log_losses: [1] },
      { log_losses: [1, -2] },
      { squared_log_losses: [-1, 0] },
    ]) {
      expect(() => statsFromJson({ ...json, ...wrong })).to.throw(DataValidationError, 'log_losses');
    }
    // Without a step, scores are exact, and no sums of losses are read.
    expect(statsFromJson({ ...json, step: 0 })).to.have.property('losses', null);
  });

  it('with losses of 0 are valid', () => {
    const json = { ...scores, step: 0.5, log_losses: [0, 0], squared_log_losses: [0, 0] };
    expect(statsFromJson(json)).to.have.nested.property('losses.sums').that.deep.equals(new Float64Array(2));
  });
});
