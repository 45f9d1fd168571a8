import { expect } from 'chai';
import fc from 'fast-check';

import { hypervolume, markDominated, type ParetoPoint } from '../../../src/training/pareto/pareto-points.ts';

describe('Pareto points', () => {
  const point = (accuracy: number, dpDiff: number): ParetoPoint => ({
    eta: 0,
    accuracy,
    dpDiff,
    eoDiff: 0,
    loss: 0,
    dominated: false,
    accuracyCi: [0, 1],
    dpDiffCi: null,
  });

  it('are dominated by a point as good in both and better in one', () => {
    const marked = markDominated([point(0.9, 0.2), point(0.8, 0.1), point(0.8, 0.15), point(0.9, 0.2)]);
    expect(marked.map(({ dominated }) => dominated)).to.deep.equal([false, false, true, false]);
  });

  it('have the area of the staircase above the reference as hypervolume', () => {
    // Accuracy over 0.5: 0.4 wide up to 1 - gap = 0.8, then 0.3 wide up to 0.9.
    const points = [point(0.9, 0.2), point(0.8, 0.1)];
    expect(hypervolume(points, 0.5)).to.be.closeTo(0.4 * 0.8 + 0.3 * 0.1, 1e-12);
  });

  it('add nothing to the hypervolume below the reference or without a gap', () => {
    expect(hypervolume([point(0.4, 0), point(0.9, NaN)], 0.5)).to.equal(0);
  });

  it('never reduce the area if they are not dominated', () => {
    const any = fc.record({
      a: fc.double({ min: 0, max: 1, noNaN: true }),
      d: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(any), any, (list, extra) => {
        const area = (all: { a: number; d: number }[]): number =>
          hypervolume(markDominated(all.map(({ a, d }) => point(a, d))), 0.5);
        expect(area([...list, extra])).to.be.at.least(area(list) - 1e-12);
      }),
    );
  });
});
