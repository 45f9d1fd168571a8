import { expect } from 'chai';

import { GridSearchReduction } from '../../../src/training/reductions/grid-search-reduction.ts';
import { ReductionsWrapper } from '../../../src/training/reductions/reductions-wrapper.ts';
import { groupedRows } from './random-rows.ts';
import { failure } from './wrapped-learner.ts';

const { x, y, sensitive } = groupedRows();

/** Learns without ever yielding to the event loop, and counts its fits. */
function busyLearner(counter: { fits: number }) {
  return () => ({
    cut: 0,
    fit(_x: number[][], labels: number[], { sampleWeight = [] }: { sampleWeight?: number[] }) {
      counter.fits++;
      const weight = (label: number): number =>
        labels.reduce((sum, own, row) => sum + (own === label ? (sampleWeight[row] ?? 1) : 0), 0);
      this.cut = (2 * (weight(0) - weight(1))) / (weight(0) + weight(1));
    },
    predict(rows: number[][]) {
      return rows.map(([first = 0]) => Number(first > this.cut));
    },
  });
}

describe('a signal from a timer', () => {
  for (const [name, Reduction] of [
    ['ReductionsWrapper', ReductionsWrapper],
    ['GridSearchReduction', GridSearchReduction],
  ] as const) {
    it(`stops ${name} between two fits of a learner that never yields`, async () => {
      const counter = { fits: 0 };
      const controller = new AbortController();
      const { signal } = controller;
      setTimeout(() => {
        controller.abort(new Error('late'));
      }, 0);
      const work = new Reduction({ estimator: busyLearner(counter) }).fit(x, y, {
        sensitive,
        signal,
        // Takes as long as a fit, so that the timer is due after the first fit.
        onProgress: () => {
          const until = performance.now() + 5;
          while (performance.now() < until);
        },
      });
      expect(((await failure(work)) as Error).message).to.equal('late');
      expect(counter.fits).to.be.below(10);
    });
  }
});
