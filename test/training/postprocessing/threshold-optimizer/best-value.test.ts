import { expect } from 'chai';
import fc from 'fast-check';

import { ValueError } from '../../../../src/exceptions/index.ts';
import type { ThresholdConstraintName } from '../../../../src/training/postprocessing/threshold-optimizer/constraints.ts';
import { ThresholdOptimizer } from '../../../../src/training/postprocessing/threshold-optimizer/threshold-optimizer.ts';
import { relaxedOdds } from '../../../../src/training/postprocessing/threshold-optimizer/relaxed-odds.ts';
import type { TradeoffHull } from '../../../../src/training/postprocessing/threshold-optimizer/tradeoff-hull.ts';
import { anyRows, type Rows } from './scored-cases.ts';

// The optimum is found here by brute force: all mixtures of two thresholds, all corners, all crossings.

const CLOSE = 1e-9;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Group {
  readonly weight: number;
  readonly positives: number;
  readonly negatives: number;
  /** False and true positive rates for the thresholds "score >= s" at each score s, and for selecting no row. */
  readonly roc: readonly Point[];
}

function groupsOf({ scores, y, sensitive, weights }: Rows): Group[] {
  return [...new Set(sensitive)].map((name) => {
    const sum = (isMeant: (row: number) => boolean): number =>
      weights.reduce((total, weight, row) => total + (sensitive[row] === name && isMeant(row) ? weight : 0), 0);
    const [positives, negatives] = [sum((row) => y[row] === 1), sum((row) => y[row] === 0)];
    const own = new Set(scores.filter((_, row) => sensitive[row] === name));
    const roc = [Infinity, ...own].map((min) => ({
      x: sum((row) => y[row] === 0 && (scores[row] ?? NaN) >= min) / negatives,
      y: sum((row) => y[row] === 1 && (scores[row] ?? NaN) >= min) / positives,
    }));
    return { weight: positives + negatives, positives, negatives, roc };
  });
}

/** Returns the highest value at x that mixtures of two points reach. */
function highestAt(points: readonly Point[], x: number): number {
  let highest = -Infinity;
  for (const left of points) {
    for (const right of points) {
      if (left.x > x || right.x < x) continue;
      const share = left.x === right.x ? 0 : (x - left.x) / (right.x - left.x);
      highest = Math.max(highest, left.x === right.x ? Math.max(left.y, right.y) : left.y + share * (right.y - left.y));
    }
  }
  return highest;
}

function gridOf(gridSize: number): number[] {
  return Array.from({ length: gridSize + 1 }, (_, index) => index / gridSize);
}

/** The point (constrained rate, accuracy) of one group for each threshold. */
const TRADEOFFS: Partial<Record<ThresholdConstraintName, (group: Group, point: Point) => Point>> = {
  demographic_parity: (group, { x, y }) => ({
    x: (group.negatives * x + group.positives * y) / group.weight,
    y: accuracy(group, { x, y }),
  }),
  true_positive_rate_parity: (group, point) => ({ x: point.y, y: accuracy(group, point) }),
  true_negative_rate_parity: (group, point) => ({ x: 1 - point.x, y: accuracy(group, point) }),
};

function accuracy({ positives, negatives, weight }: Group, { x, y }: Point): number {
  return (positives * y + negatives * (1 - x)) / weight;
}

async function objectiveOf(rows: Rows, options: ConstructorParameters<typeof ThresholdOptimizer>[0]): Promise<number> {
  const { scores, y, sensitive, weights } = rows;
  const optimizer = await new ThresholdOptimizer(options).fit(scores, y, { sensitive, sampleWeight: weights });
  return optimizer.describe().objectiveValue;
}

/** Returns the corners of the lower envelope: those of each hull, and the points where two hulls may cross. */
function envelopeCorners(groups: readonly Group[]): number[] {
  const segments = groups.flatMap(({ roc }) => roc.flatMap((left) => roc.map((right) => ({ left, right }))));
  const crossings = segments.flatMap((first) => segments.flatMap((second) => crossingOf(first, second)));
  return [...new Set([...groups.flatMap(({ roc }) => roc.map(({ x }) => x)), ...crossings])];
}

function crossingOf(a: { left: Point; right: Point }, b: { left: Point; right: Point }): number[] {
  const slope = ({ left, right }: typeof a): number => (right.y - left.y) / (right.x - left.x);
  const [first, second] = [slope(a), slope(b)];
  const x = (b.left.y - a.left.y + first * a.left.x - second * b.left.x) / (first - second);
  return Number.isFinite(x) && x >= 0 && x <= 1 ? [x] : [];
}

/** Few rows, so that all crossings can be tested. */
const fewRows = anyRows.map((rows) => ({
  scores: rows.scores.slice(0, 14),
  y: rows.y.slice(0, 14),
  sensitive: rows.sensitive.slice(0, 14),
  weights: rows.weights.slice(0, 14),
}));

describe('the best that the constraint allows', () => {
  for (const [constraint, tradeoff] of Object.entries(TRADEOFFS)) {
    it(`${constraint}: no common rate on the grid, and no mixture of two thresholds, gives more accuracy`, async () => {
      await fc.assert(
        fc.asyncProperty(fewRows, fc.integer({ min: 1, max: 40 }), async (rows, gridSize) => {
          const groups = groupsOf(rows);
          const total = groups.reduce((sum, { weight }) => sum + weight, 0);
          const values = gridOf(gridSize).map((x) =>
            groups.reduce(
              (sum, group) =>
                sum +
                (group.weight / total) *
                  highestAt(
                    group.roc.map((point) => tradeoff(group, point)),
                    x,
                  ),
              0,
            ),
          );
          const own = await objectiveOf(rows, { constraint: constraint as ThresholdConstraintName, gridSize });
          expect(own).to.be.closeTo(Math.max(...values), CLOSE);
        }),
        { numRuns: 40 },
      );
    });
  }

  it('with a tolerance: no rates of the groups on the grid within the tolerance give more accuracy', async () => {
    const [gridSize, grid] = [8, gridOf(8)];
    await fc.assert(
      fc.asyncProperty(fewRows, fc.integer({ min: 1, max: 8 }), async (rows, steps) => {
        const groups = groupsOf(rows);
        const total = groups.reduce((sum, { weight }) => sum + weight, 0);
        const tradeoff = TRADEOFFS.demographic_parity ?? ((_, point) => point);
        // Builds, group by group, the possible combinations of indexes with their sums.
        let combinations = [{ least: gridSize, most: 0, sum: 0 }];
        for (const group of groups) {
          const points = group.roc.map((point) => tradeoff(group, point));
          const heights = grid.map((x) => (group.weight / total) * highestAt(points, x));
          combinations = combinations.flatMap(({ least, most, sum }) =>
            heights.map((height, index) => ({
              least: Math.min(least, index),
              most: Math.max(most, index),
              sum: sum + height,
            })),
          );
        }
        const allowed = combinations.filter(({ least, most }) => most - least <= steps);
        const own = await objectiveOf(rows, { gridSize, tolerance: steps / gridSize });
        expect(own).to.be.closeTo(Math.max(...allowed.map(({ sum }) => sum)), CLOSE);
      }),
      { numRuns: 40 },
    );
  });

  it('equalized odds: no point on the grid that all groups reach is better', async () => {
    await fc.assert(
      fc.asyncProperty(fewRows, fc.integer({ min: 1, max: 40 }), async (rows, gridSize) => {
        const groups = groupsOf(rows);
        const own = await objectiveOf(rows, { constraint: 'equalized_odds', gridSize });
        expect(own).to.be.closeTo(bestCommonPoint(groups, gridOf(gridSize)), CLOSE);
      }),
      { numRuns: 40 },
    );
  });

  it('a tolerance of 1 lets each group have its own best threshold', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, async (rows) => {
        const groups = groupsOf(rows);
        const total = groups.reduce((sum, { weight }) => sum + weight, 0);
        const best = groups.reduce(
          (sum, group) => sum + (group.weight / total) * Math.max(...group.roc.map((point) => accuracy(group, point))),
          0,
        );
        const own = await objectiveOf(rows, { constraint: 'equalized_odds', tolerance: 1 });
        expect(own).to.be.closeTo(best, CLOSE);
      }),
      { numRuns: 40 },
    );
  });
});

describe('relaxed equalized odds by linear program', () => {
  /** Converts a group to the hull that the program expects; its thresholds do not matter here. */
  function hullOf({ roc }: Group): TradeoffHull {
    const xs = [...new Set(roc.map(({ x }) => x))].sort((a, b) => a - b);
    const start = { x: 0, y: 0 };
    const tops = xs.map((x) => ({ x, y: highestAt(roc, x) }));
    const points = (tops[0]?.y ?? 0) > 0 ? [start, ...tops] : tops;
    return {
      x: Float64Array.from(points, ({ x }) => x),
      y: Float64Array.from(points, ({ y }) => y),
      operations: points.map(() => ({ operator: '>', threshold: 0 })),
    };
  }

  function gainsOf(groups: readonly Group[]) {
    const total = groups.reduce((sum, { weight }) => sum + weight, 0);
    return groups.map(({ positives, negatives }) => ({
      truePositiveRate: positives / total,
      falsePositiveRate: negatives / total,
    }));
  }

  it('finds the best common point without a tolerance, at the corners and crossings of the envelope', async () => {
    await fc.assert(
      fc.asyncProperty(fewRows, async (rows) => {
        const groups = groupsOf(rows);
        const points = await relaxedOdds(groups.map(hullOf), gainsOf(groups), 0);
        for (const { x, y } of points) {
          expect(x).to.be.closeTo(points[0]?.x ?? NaN, CLOSE);
          expect(y).to.be.closeTo(points[0]?.y ?? NaN, CLOSE);
        }
        const total = groups.reduce((sum, { weight }) => sum + weight, 0);
        const value = groups.reduce(
          (sum, group, index) => sum + (group.weight / total) * accuracy(group, points[index] as Point),
          0,
        );
        expect(value).to.be.closeTo(bestCommonPoint(groups, envelopeCorners(groups)), CLOSE);
      }),
      { numRuns: 20 },
    );
  });

  it('matches the closed form for two groups: each moves by half of the excess over the tolerance', async () => {
    // Group a separates its labels; group b is the diagonal, where accuracy is always 1/2. The groups have equal
    // size.
    const separates = { x: [0, 0, 1], y: [0, 1, 1] };
    const guesses = { x: [0, 1], y: [0, 1] };
    const hulls = [separates, guesses].map(({ x, y }) => ({
      x: Float64Array.from(x),
      y: Float64Array.from(y),
      operations: x.map(() => ({ operator: '>', threshold: 0 }) as const),
    }));
    const quarter = { truePositiveRate: 0.25, falsePositiveRate: 0.25 };
    for (const tolerance of [0, 0.2, 0.5, 1]) {
      const points = await relaxedOdds(hulls, [quarter, quarter], tolerance);
      const value = points.reduce((sum, { x, y }) => sum + 0.25 * y + 0.25 * (1 - x), 0);
      // The difference of y - x between a and b is at most 2 tolerances; it is 0 for b, and at most 1 for a.
      expect(value).to.be.closeTo(0.5 + 0.25 * Math.min(1, 2 * tolerance), CLOSE);
    }
  });

  it('rejects more groups than its matrix can hold, and suggests a fix', async () => {
    const hull = { x: Float64Array.of(0, 1), y: Float64Array.of(0, 1), operations: [] };
    const many = Array.from({ length: 2000 }, () => hull);
    const error: unknown = await relaxedOdds(many, [], 0.1).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ValueError);
    expect(error)
      .to.have.property('suggestion')
      .that.matches(/tolerance 0, a simple constraint, or fewer groups/);
  });
});

/** Returns the best accuracy at some false positive rates within what every group reaches. */
function bestCommonPoint(groups: readonly Group[], rates: readonly number[]): number {
  const total = groups.reduce((sum, { weight }) => sum + weight, 0);
  return Math.max(
    ...rates.map((x) => {
      const y = Math.min(...groups.map(({ roc }) => highestAt(roc, x)));
      return groups.reduce((sum, group) => sum + (group.weight / total) * accuracy(group, { x, y }), 0);
    }),
  );
}
