import { expect } from 'chai';
import fc from 'fast-check';

import { createRandom } from '../../../../src/internal/random.ts';
import {
  THRESHOLD_CONSTRAINTS,
  THRESHOLD_OBJECTIVES,
} from '../../../../src/training/postprocessing/threshold-optimizer/constraints.ts';
import type { ThresholdOptimizerOptions } from '../../../../src/training/postprocessing/threshold-optimizer/optimizer-options.ts';
import { ThresholdOptimizer } from '../../../../src/training/postprocessing/threshold-optimizer/threshold-optimizer.ts';
import { upperHull } from '../../../../src/training/postprocessing/threshold-optimizer/tradeoff-hull.ts';
import { anyRows, largestGap, meanOf, type Rows } from './scored-cases.ts';

const CLOSE = 1e-9;

async function fit(rows: Rows, options: ThresholdOptimizerOptions, isWeighted = true) {
  const { scores, y, sensitive, weights } = rows;
  const optimizer = new ThresholdOptimizer(options);
  await optimizer.fit(scores, y, { sensitive, sampleWeight: isWeighted ? weights : undefined });
  return { optimizer, probabilities: await optimizer.predictProba(scores, { sensitive }) };
}

function expectClose(own: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(own.length).to.equal(expected.length);
  for (let row = 0; row < own.length; row++) expect(own[row]).to.be.closeTo(expected[row] ?? NaN, CLOSE);
}

/** Changes rows; the callback returns the new values of a row. */
function mapRows(rows: Rows, change: (row: number) => { score?: number; group?: string; weight?: number }): Rows {
  const changes = rows.scores.map((_, row) => change(row));
  return {
    scores: rows.scores.map((score, row) => changes[row]?.score ?? score),
    y: rows.y,
    sensitive: rows.sensitive.map((group, row) => changes[row]?.group ?? group),
    weights: rows.weights.map((weight, row) => changes[row]?.weight ?? weight),
  };
}

function takeRows(rows: Rows, order: readonly number[]): Rows {
  const pick = <T>(values: readonly T[]): T[] => order.map((row) => values[row] as T);
  return { scores: pick(rows.scores), y: pick(rows.y), sensitive: pick(rows.sensitive), weights: pick(rows.weights) };
}

const anyPair = fc
  .tuple(fc.constantFrom(...THRESHOLD_CONSTRAINTS), fc.constantFrom(...THRESHOLD_OBJECTIVES))
  .filter(([constraint, objective]) => constraint !== 'equalized_odds' || objective.endsWith('accuracy_score'));

const anyOptions = fc
  .record({ pair: anyPair, flip: fc.boolean(), gridSize: fc.integer({ min: 1, max: 60 }) })
  .map(({ pair: [constraint, objective], ...options }) => ({ constraint, objective, ...options }));

describe('laws of ThresholdOptimizer', () => {
  it('the constraint holds in expectation on the rows of fit, for every pair and any weights', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, anyOptions, async (rows, options) => {
        const { optimizer, probabilities } = await fit(rows, options);
        expect(largestGap(rows, probabilities, options.constraint)).to.be.at.most(CLOSE);
        expect(optimizer.describe().gap).to.be.at.most(CLOSE);
      }),
      { numRuns: 200 },
    );
  });

  it('the constraint holds up to the tolerance, if one is given', async () => {
    const anyTolerance = fc.double({ min: 0.001, max: 1, noNaN: true });
    await fc.assert(
      fc.asyncProperty(anyRows, anyOptions, anyTolerance, async (rows, options, tolerance) => {
        const { probabilities } = await fit(rows, { ...options, tolerance });
        expect(largestGap(rows, probabilities, options.constraint)).to.be.at.most(tolerance + CLOSE);
      }),
      { numRuns: 100 },
    );
  });

  it('describe reports for a group what its rows get', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, anyOptions, async (rows, options) => {
        const { optimizer, probabilities } = await fit(rows, options);
        for (const { group, selectionRate, truePositiveRate, falsePositiveRate, weight } of optimizer.describe()
          .groups) {
          const rate = (label?: number): number =>
            meanOf(
              rows,
              probabilities,
              (row) => rows.sensitive[row] === group && rows.y[row] === (label ?? rows.y[row]),
            );
          expectClose([selectionRate, truePositiveRate ?? NaN, falsePositiveRate ?? NaN], [rate(), rate(1), rate(0)]);
          const own = rows.weights.filter((_, row) => rows.sensitive[row] === group);
          expect(weight).to.be.closeTo(
            own.reduce((sum, one) => sum + one, 0),
            CLOSE,
          );
        }
      }),
      { numRuns: 50 },
    );
  });

  it('renaming groups does not change probabilities', async () => {
    const renamed: Record<string, string> = { a: 'z', b: 'y', c: '10' };
    await fc.assert(
      fc.asyncProperty(anyRows, anyOptions, async (rows, options) => {
        const other = mapRows(rows, (row) => ({ group: renamed[rows.sensitive[row] ?? ''] ?? '' }));
        expectClose((await fit(other, options)).probabilities, (await fit(rows, options)).probabilities);
      }),
      { numRuns: 60 },
    );
  });

  it('permuting rows permutes the probabilities', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, anyOptions, async (rows, options) => {
        const order = rows.scores.map((_, row) => row).reverse();
        const { probabilities } = await fit(rows, options);
        const permuted = await fit(takeRows(rows, order), options);
        expectClose(
          permuted.probabilities,
          order.map((row) => probabilities[row] ?? NaN),
        );
      }),
      { numRuns: 60 },
    );
  });

  for (const [title, change] of [
    ['exp', Math.exp],
    ['a cube', (score: number) => score ** 3],
    ['a shift and a factor', (score: number) => 1e6 + 1000 * score],
  ] as const) {
    it(`an increasing transform of the scores (${title}) does not change probabilities`, async () => {
      await fc.assert(
        fc.asyncProperty(anyRows, anyOptions, async (rows, options) => {
          const other = mapRows(rows, (row) => ({ score: change(rows.scores[row] ?? NaN) }));
          expectClose((await fit(other, options)).probabilities, (await fit(rows, options)).probabilities);
        }),
        { numRuns: 40 },
      );
    });
  }

  it('weights of one give exactly the same result as no weights', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, anyOptions, async (rows, options) => {
        const ones = mapRows(rows, () => ({ weight: 1 }));
        const weighted = await fit(ones, options);
        const plain = await fit(ones, options, false);
        expect(weighted.optimizer.describe()).to.deep.equal(plain.optimizer.describe());
      }),
      { numRuns: 40 },
    );
  });

  it('a row of weight 3 counts as three rows, and a row of weight 0 as none', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, anyOptions, fc.infiniteStream(fc.boolean()), async (rows, options, stream) => {
        // The first six rows provide every group with both labels.
        const weights = rows.weights.map((_, row) => (row < 6 || stream.next().value === true ? 3 : 0));
        const weighted = mapRows(rows, (row) => ({ weight: weights[row] ?? NaN }));
        const order = weights.flatMap((weight, row) => Array.from({ length: weight }, () => row));
        const repeated = await fit(takeRows(rows, order), options, false);
        const { optimizer } = await fit(weighted, options);
        const kept = [...new Set(order)];
        const { scores, sensitive } = takeRows(rows, kept);
        expectClose(
          await optimizer.predictProba(scores, { sensitive }),
          await repeated.optimizer.predictProba(scores, { sensitive }),
        );
        expect(optimizer.describe().nZeroWeight).to.equal(rows.scores.length - kept.length);
      }),
      { numRuns: 40 },
    );
  });

  it('flipping and a tolerance never lower the objective', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows, anyPair, async (rows, [constraint, objective]) => {
        const value = async (options: ThresholdOptimizerOptions): Promise<number> =>
          (await fit(rows, { constraint, objective, gridSize: 40, ...options })).optimizer.describe().objectiveValue;
        const exact = await value({});
        expect(await value({ flip: true })).to.be.at.least(exact - CLOSE);
        const [little, much] = [await value({ tolerance: 0.1 }), await value({ tolerance: 0.5 })];
        expect(little).to.be.at.least(exact - CLOSE);
        expect(much).to.be.at.least(little - CLOSE);
      }),
      { numRuns: 40 },
    );
  });

  it('thousands of groups on a hundred thousand rows take seconds @slow', async function () {
    this.timeout(20_000);
    const random = createRandom(3);
    const [rowCount, groupCount] = [100_000, 5000];
    const y = Uint8Array.from({ length: rowCount }, (_, row) =>
      row < 2 * groupCount ? Number(row < groupCount) : Number(random.next() < 0.4),
    );
    const scores = Float64Array.from(y, (label) => random.normal() + label);
    const sensitive = Int32Array.from(y.keys()).map((row) => row % groupCount);
    for (const constraint of ['demographic_parity', 'equalized_odds'] as const) {
      const optimizer = await new ThresholdOptimizer({ constraint }).fit(scores, y, { sensitive });
      const { groups, gap } = optimizer.describe();
      expect(groups).to.have.length(groupCount);
      expect(gap).to.be.at.most(CLOSE);
    }
  });
});

describe('upper hull', () => {
  const anyPoints = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 19 }), fc.integer({ min: 0, max: 20 })), { maxLength: 30 })
    .map((inner) =>
      [[0, 3], [0, 5], ...inner, [20, 4]].sort(([x0 = 0, y0 = 0], [x1 = 0, y1 = 0]) => x0 - x1 || y0 - y1),
    )
    .map((points) => ({ x: points.map(([x = 0]) => x), y: points.map(([, y = 0]) => y) }));

  /** Returns the highest point at x on a line between two points, which is the definition of a hull. */
  function highestAt(points: { x: number[]; y: number[] }, x: number): number {
    let highest = -Infinity;
    for (const [left, x0] of points.x.entries()) {
      for (const [right, x1] of points.x.entries()) {
        if (x0 > x || x1 < x) continue;
        const [y0, y1] = [points.y[left] ?? NaN, points.y[right] ?? NaN];
        highest = Math.max(highest, x0 === x1 ? Math.max(y0, y1) : y0 + ((y1 - y0) * (x - x0)) / (x1 - x0));
      }
    }
    return highest;
  }

  it('no point lies above it, and its corners are the highest points', () => {
    fc.assert(
      fc.property(anyPoints, (points) => {
        const kept = upperHull(points.x, points.y);
        const corners = {
          x: kept.map((index) => points.x[index] ?? NaN),
          y: kept.map((index) => points.y[index] ?? NaN),
        };
        for (const [index, x] of points.x.entries()) {
          const height = highestAt(corners, x);
          expect(points.y[index]).to.be.at.most(height + CLOSE);
          expect(height).to.be.closeTo(highestAt(points, x), CLOSE);
        }
      }),
    );
  });

  it('the slopes of its edges decrease', () => {
    fc.assert(
      fc.property(anyPoints, (points) => {
        const kept = upperHull(points.x, points.y);
        const slopes = kept.slice(1).map((index, before) => {
          const left = kept[before] ?? 0;
          return (
            ((points.y[index] ?? NaN) - (points.y[left] ?? NaN)) / ((points.x[index] ?? NaN) - (points.x[left] ?? NaN))
          );
        });
        for (const [index, slope] of slopes.slice(1).entries()) expect(slope).to.be.below(slopes[index] ?? NaN);
      }),
    );
  });
});
