import * as tf from '@tensorflow/tfjs';
import { expect } from 'chai';
import fc from 'fast-check';

import { DataValidationError, ValueError } from '../../../src/exceptions/index.ts';
import { createRandom } from '../../../src/internal/random.ts';
import { consistencyScore } from '../../../src/metrics/inequality/index.ts';
import { Table } from '../../../src/table/index.ts';

/** The score by its definition: all distances, sorted, ties by row. */
function byDefinition(points: readonly (readonly number[])[], y: readonly number[], nNeighbors: number): number {
  const distance = (a: readonly number[], b: readonly number[]): number =>
    a.reduce((sum, value, axis) => sum + (value - (b[axis] ?? NaN)) ** 2, 0);
  const gaps = points.map((point, row) => {
    const order = points
      .map((other, index) => ({ index, distance: distance(point, other) }))
      .sort((a, b) => a.distance - b.distance || a.index - b.index)
      .slice(0, nNeighbors);
    const mean = order.reduce((sum, { index }) => sum + (y[index] ?? NaN), 0) / nNeighbors;
    return Math.abs((y[row] ?? NaN) - mean);
  });
  return 1 - gaps.reduce((sum, gap) => sum + gap, 0) / points.length;
}

describe('consistencyScore', () => {
  it('equals its closed form: a lone positive between two negatives', () => {
    // Neighbours of 0 are 0 and 1, of 1 are 1 and 0 (the earlier of two at equal distance), of 2 are 2 and 1: gaps 1/2
    // each.
    expect(consistencyScore([0, 1, 2], [0, 1, 0], { nNeighbors: 2 })).to.equal(0.5);
  });

  it('is 1 if all outcomes are equal, and for one neighbour of distinct rows, which is the row itself', () => {
    expect(consistencyScore([3, 1, 4, 1, 5], [1, 1, 1, 1, 1])).to.equal(1);
    expect(consistencyScore([3, 1, 4, 2, 5], [1, 0, 1, 0, 1], { nNeighbors: 1 })).to.equal(1);
  });

  it('compares with all rows if every row is a neighbour', () => {
    // Mean 2/5; gaps 3/5 twice and 2/5 three times.
    expect(consistencyScore([3, 1, 4, 2, 5], [1, 0, 1, 0, 0], { nNeighbors: 5 })).to.be.closeTo(1 - 2.4 / 5, 1e-15);
  });

  it('equals its definition for one to four features, even with many ties', () => {
    const cases = fc.integer({ min: 1, max: 4 }).chain((width) =>
      fc.record({
        rows: fc.array(
          fc.record({
            point: fc.array(fc.integer({ min: -3, max: 3 }), { minLength: width, maxLength: width }),
            y: fc.constantFrom(0, 1),
          }),
          { minLength: 1, maxLength: 80 },
        ),
        nNeighbors: fc.integer({ min: 1, max: 12 }),
      }),
    );
    fc.assert(
      fc.property(cases, ({ rows, nNeighbors }) => {
        const k = Math.min(nNeighbors, rows.length);
        const points = rows.map(({ point }) => point);
        const y = rows.map((one) => one.y);
        expect(consistencyScore(points, y, { nNeighbors: k })).to.be.closeTo(byDefinition(points, y, k), 1e-12);
      }),
    );
  });

  it('equals its definition for continuous features that need a tree', () => {
    const random = createRandom(7);
    for (const width of [1, 2, 5]) {
      const points = Array.from({ length: 700 }, () => Array.from({ length: width }, () => random.next() ** 3));
      const y = points.map(() => Math.round(random.next()));
      expect(consistencyScore(points, y)).to.be.closeTo(byDefinition(points, y, 5), 1e-12);
    }
  });

  it('splits points that differ by one unit in the last place, and points of every magnitude', () => {
    const close = Array.from({ length: 64 }, (_, step) => [1 + step * Number.EPSILON]);
    // The midpoint between these two numbers rounds to the larger one.
    const corners = Array.from({ length: 64 }, (_, corner) =>
      Array.from({ length: 6 }, (_value, axis) => 1 + (1 + ((corner >> axis) & 1)) * Number.EPSILON),
    );
    const geometric = Array.from({ length: 900 }, (_, step) => [2 ** (step - 450)]);
    const endless = Array.from({ length: 40 }, (_, step) => [(step - 20) * 8e306, step]);
    for (const points of [close, corners, geometric, endless]) {
      const y = points.map((_, index) => index % 2);
      expect(consistencyScore(points, y)).to.be.closeTo(byDefinition(points, y, 5), 1e-12);
    }
  });

  it('reads rows, columns, records, tables, typed arrays and tensors alike', () => {
    const sex = [0, 0, 1, 1, 0, 1];
    // Numbers that a tensor of 32 bits holds exactly.
    const x = [0.5, 0.125, 0.875, 0.25, 0.375, 0.1875];
    const y = [1, 0, 1, 0, 1, 0];
    const rows = sex.map((value, row) => [value, x[row] ?? NaN]);
    const sources = [
      { sex, x: Float64Array.from(x) },
      { sex: sex.map(String), x: tf.tensor1d(x) },
      { sex: sex.map((value) => value === 1), x },
      rows,
      rows.map((row) => Float64Array.from(row)),
      rows.map(([first, second]) => ({ sex: first, x: second })),
      Table.from({ sex, x }),
      tf.tensor2d(rows),
    ];
    const expected = byDefinition(rows, y, 2);
    for (const source of sources) expect(consistencyScore(source, y, { nNeighbors: 2 })).to.equal(expected);
    for (const source of [x, Float64Array.from(x), { x }, x.map((value) => [value]), tf.tensor1d(x)]) {
      expect(consistencyScore(source, y, { nNeighbors: 2 })).to.equal(
        byDefinition(
          x.map((value) => [value]),
          y,
          2,
        ),
      );
    }
  });

  it('reads texts and booleans as numbers', () => {
    const y = [0, 1, 0, 1, 0];
    const expected = byDefinition([[0], [1], [2], [10], [2.5]], y, 2);
    expect(consistencyScore({ x: ['0', '1', '2', '10', '2.5'] }, y, { nNeighbors: 2 })).to.equal(expected);
    // The neighbours of a row are the first two rows of its value: gaps 1/2, 0, 1/2, 0, 1/2, 0.
    const flags = [true, false, true, false, true, false];
    expect(consistencyScore({ x: flags }, [0, 1, 1, 1, 1, 1], { nNeighbors: 2 })).to.equal(1 - 1.5 / 6);
  });

  it('reads scores and labels as outcomes', () => {
    expect(consistencyScore([0, 1], [0.25, 0.75], { nNeighbors: 2 })).to.equal(0.75);
    expect(consistencyScore([0, 1], ['yes', 'no'], { nNeighbors: 2, positiveLabel: 'yes' })).to.equal(0.5);
    expect(consistencyScore([0, 1], [true, false], { nNeighbors: 2 })).to.equal(0.5);
    expect(consistencyScore([0, 1], [1, 2], { nNeighbors: 2, positiveLabel: '2' })).to.equal(0.5);
  });

  it('excludes rows without a feature or an outcome', () => {
    const features = { x: [0, 1, null, 2, 3], z: [0, 0, 0, 0, NaN] };
    expect(consistencyScore(features, [0, 1, 1, 0, 1], { nNeighbors: 2 })).to.equal(0.5);
    expect(consistencyScore([0, 1, 1.1, 2], [0, 1, null, 0], { nNeighbors: 2 })).to.equal(0.5);
    const labels = ['no', 'yes', null, 'no'];
    expect(consistencyScore([0, 1, 1.1, 2], labels, { nNeighbors: 2, positiveLabel: 'yes' })).to.equal(0.5);
    expect(consistencyScore({ x: ['0', '1', null, '2'] }, [0, 1, 1, 0], { nNeighbors: 2 })).to.equal(0.5);
  });

  it('takes at most seconds for large data', function () {
    this.timeout(20_000);
    const random = createRandom(3);
    const x = Float64Array.from({ length: 100_000 }, () => random.next());
    const z = Float64Array.from({ length: 100_000 }, () => random.next());
    const y = Uint8Array.from(x, (value) => Number(value > 0.5));
    expect(consistencyScore({ x, z }, y)).to.be.within(0.98, 1);
    // This many equal rows cost as much as one.
    expect(consistencyScore(new Float64Array(100_000), y)).to.be.within(0, 1);
  });

  const refusals: [string, () => number, new (message: string) => Error, string][] = [
    [
      'a fractional number of neighbours',
      () => consistencyScore([1, 2], [0, 1], { nNeighbors: 1.5 }),
      ValueError,
      '1.5',
    ],
    ['no neighbour', () => consistencyScore([1, 2], [0, 1], { nNeighbors: 0 }), ValueError, 'nNeighbors'],
    [
      'more neighbours than rows',
      () => consistencyScore([1, 2], [0, 1]),
      ValueError,
      'must be at most the number of rows, 2. Got 5 instead.',
    ],
    [
      'columns of a different length than the outcomes',
      () => consistencyScore([1, 2], [0]),
      DataValidationError,
      'differ in length',
    ],
    ['rows of different widths', () => consistencyScore([[1, 2], [3]], [0, 1]), DataValidationError, 'index 1'],
    [
      'texts as features',
      () => consistencyScore({ job: ['a', 'b'] }, [0, 1]),
      DataValidationError,
      "features.job must hold numbers, but holds 'a' at index 0",
    ],
    [
      'a blank text as a feature',
      () => consistencyScore({ x: ['1', ' '] }, [0, 1]),
      DataValidationError,
      "features.x must hold numbers, but holds ' ' at index 1",
    ],
    ['infinite features', () => consistencyScore([1, Infinity], [0, 1]), DataValidationError, 'finite'],
    ['infinite outcomes', () => consistencyScore([1, 2], [0, Infinity]), DataValidationError, 'y must be finite'],
    ['texts as outcomes', () => consistencyScore([1, 2], ['a', 'b']), DataValidationError, 'y must be 0 or 1'],
    [
      'a positive label that never occurs',
      () => consistencyScore([1, 2], ['a', 'b'], { positiveLabel: 'c' }),
      DataValidationError,
      "No row of y holds the positive label 'c'.",
    ],
    ['no features', () => consistencyScore({}, [0, 1]), DataValidationError, 'features'],
    ['no rows', () => consistencyScore([], []), DataValidationError, 'no rows'],
    ['only incomplete rows', () => consistencyScore([null, 1], [1, null]), DataValidationError, 'All 2 rows'],
  ];
  for (const [title, compute, error, message] of refusals) {
    it(`rejects ${title}`, () => {
      expect(compute).to.throw(error, message);
    });
  }
});
