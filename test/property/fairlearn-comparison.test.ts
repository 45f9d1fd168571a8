import { expect } from 'chai';

import { compareFrame } from '../../scripts/fairlearn/compare.ts';
import { drawFrame, type Frame } from '../../scripts/fairlearn/frames.ts';
import { ownValues } from '../../scripts/fairlearn/own-values.ts';
import { shrinkFrame } from '../../scripts/fairlearn/shrink.ts';
import { type FrameValues, GAPS, type LevelValues, type PeerValues } from '../../scripts/fairlearn/values.ts';
import type { Comparison } from '../../scripts/fairlearn/verdicts.ts';

/*
 * `npm run test:fairlearn` compares the package with fairlearn. These tests show without Python that it can fail.
 */

/** Selection rates: a 1/2, b 1/4; all rows 1/3. */
const FRAME: Frame = {
  index: 0,
  kind: 'decisions',
  yTrue: [1, 0, 1, 0, 1, 0],
  yPred: [1, 0, 1, 0, 0, 0],
  sensitive: { 'feature 1': ['a', 'a', 'b', 'b', 'b', 'b'] },
  control: {},
  weights: null,
  positive: null,
  negative: 0,
  measures: ['selection_rate'],
  metrics: [{ metric: 'demographic_parity_difference', method: 'between_groups', agg: null, classes: null }],
};

const LEVEL: LevelValues = {
  overall: 1 / 3,
  groups: new Map([
    ['a', 1 / 2],
    ['b', 1 / 4],
  ]),
  gaps: {
    'difference between_groups': 1 / 4,
    'difference to_overall': 1 / 6,
    'ratio between_groups': 1 / 2,
    'ratio to_overall': 2 / 3,
    group_min: 1 / 4,
    group_max: 1 / 2,
  },
};

function valuesOf(level: LevelValues, metric: FrameValues['metrics'][number] = 1 / 4): FrameValues {
  return { measures: new Map([['selection_rate', new Map([['', level]])]]), metrics: [metric] };
}

function compare(theirs: Partial<PeerValues>, frame = FRAME, own = ownValues(frame)): Comparison {
  return compareFrame(frame, own, { raw: valuesOf(LEVEL), kept: null, old: null, ...theirs });
}

function whatDiffers(comparison: Comparison): string[] {
  return comparison.differences.map(({ what }) => what);
}

describe('the comparison with fairlearn', () => {
  it('finds no difference between equal values, and counts them', () => {
    const comparison = compare({});
    expect(comparison.differences).to.deep.equal([]);
    // Overall, two groups, six comparisons, and a named metric.
    expect(comparison.compared).to.equal(10);
    expect(comparison.conventions.size).to.equal(0);
  });

  it('finds each value that is wrong by 1e-9, missing or undefined', () => {
    for (const wrong of [(value: number) => value + 1e-9, () => NaN]) {
      const changed: [string, Partial<PeerValues>][] = [
        ['selection_rate: overall', { raw: valuesOf({ ...LEVEL, overall: wrong(LEVEL.overall) }) }],
        [
          'selection_rate: group "b"',
          { raw: valuesOf({ ...LEVEL, groups: new Map([...LEVEL.groups, ['b', wrong(0.25)]]) }) },
        ],
        ['demographic_parity_difference between_groups', { raw: valuesOf(LEVEL, wrong(0.25)) }],
        ...GAPS.map((gap): [string, Partial<PeerValues>] => [
          `selection_rate: ${gap}`,
          { raw: valuesOf({ ...LEVEL, gaps: { ...LEVEL.gaps, [gap]: wrong(LEVEL.gaps[gap]) } }) },
        ]),
      ];
      for (const [what, theirs] of changed) expect(whatDiffers(compare(theirs))).to.include(what);
    }
  });

  it('finds wrong values of the package', () => {
    const mutated = valuesOf({ ...LEVEL, overall: 0.5, groups: new Map([['a', 1 / 2]]) }, { error: 'It failed.' });
    expect(whatDiffers(compare({}, FRAME, mutated))).to.deep.equal([
      'selection_rate: group "b"',
      'selection_rate: overall',
      'demographic_parity_difference between_groups',
    ]);
  });

  it('does not accept an error of fairlearn that does not follow from the rows', () => {
    const raw = {
      measures: new Map([['selection_rate', { error: 'ValueError' }]]),
      metrics: [{ error: 'ValueError' }],
    };
    expect(compare({ raw }).differences).to.have.length(2);
  });

  it('counts a known difference of conventions, and finds a value in its place', () => {
    const frame: Frame = { ...FRAME, sensitive: { 'feature 1': FRAME.yPred.map(() => 'a') } };
    const gaps = { ...LEVEL.gaps, 'difference between_groups': 0, 'difference to_overall': 0 };
    const only: LevelValues = {
      overall: 1 / 3,
      groups: new Map([['a', 1 / 3]]),
      gaps: { ...gaps, 'ratio between_groups': 1, 'ratio to_overall': 1, group_min: 1 / 3, group_max: 1 / 3 },
    };
    const comparison = compare({ raw: valuesOf(only, 0) }, frame);
    expect(comparison.differences).to.deep.equal([]);
    expect([...comparison.conventions]).to.deep.equal([['one group', 5]]);
    // The package returns no difference for a single group. If it did, this would have to be noticed.
    expect(compare({ raw: valuesOf(only, 0) }, frame, valuesOf(only, 0)).differences).to.have.length(5);
  });

  it('draws the same frame for the same seed and number', () => {
    expect(drawFrame(7, 12)).to.deep.equal(drawFrame(7, 12));
    expect(drawFrame(7, 12)).to.not.deep.equal(drawFrame(8, 12));
  });

  it('shrinks a frame to the rows and columns that a difference needs', async () => {
    const frame = drawFrame(20_260, 7);
    const last = frame.yPred.length - 1;
    const marked = { ...frame, yPred: frame.yPred.map((value, row) => (row === last ? 99 : value)) };
    const small = await shrinkFrame(marked, (frames) =>
      Promise.resolve(frames.map(({ yPred, measures }) => yPred.includes(99) && measures.length > 0)),
    );
    expect(small.yPred).to.deep.equal([frame.yPred[0], 99]);
    expect(small.measures).to.have.length(1);
    expect([small.metrics.length, Object.keys(small.control).length, small.weights]).to.deep.equal([0, 0, null]);
  });
});
