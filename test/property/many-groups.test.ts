import { expect } from 'chai';

import { createRandom } from '../../src/internal/random.ts';
import { equalizedOddsDifference } from '../../src/metrics/index.ts';

const ROWS = 1_000_000;
const GROUPS = 5000;
/** Seconds. This is a smoke test that allows for a busy machine; benchmarks are separate. */
const BOUND = 20;

describe('many groups', () => {
  it(`equalized odds over ${GROUPS} groups of ${ROWS} rows equals a direct count, within ${BOUND} seconds @slow`, () => {
    const random = createRandom(11);
    const yTrue = new Uint8Array(ROWS);
    const yPred = new Uint8Array(ROWS);
    const sensitive = Array.from({ length: ROWS }, (_, row) => {
      yTrue[row] = random.integer(2);
      yPred[row] = Number(random.next() < 0.5);
      return `group ${random.integer(GROUPS)}`;
    });
    const start = process.hrtime.bigint();
    const result = equalizedOddsDifference(yTrue, yPred, sensitive);
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    expect(Object.keys(result.nPerGroup)).to.have.length(GROUPS);
    expect(result.value).to.be.closeTo(gapByHand(yTrue, yPred, sensitive), 1e-12);
    expect(result.ci?.[0]).to.be.at.most(result.value);
    expect(result.ci?.[1]).to.be.at.least(result.value);
    expect(seconds).to.be.below(BOUND);
  }).timeout(120_000);
});

/** The larger of the two ranges of rates, from the selected and all rows of each group and true label. */
function gapByHand(yTrue: Uint8Array, yPred: Uint8Array, sensitive: readonly string[]): number {
  const gaps = [0, 1].map((truth) => {
    const counts = new Map<string, { rows: number; selected: number }>();
    sensitive.forEach((group, row) => {
      if (yTrue[row] !== truth) return;
      const { rows, selected } = counts.get(group) ?? { rows: 0, selected: 0 };
      counts.set(group, { rows: rows + 1, selected: selected + (yPred[row] as number) });
    });
    const rates = Array.from(counts.values(), ({ rows, selected }) => selected / rows);
    return Math.max(...rates) - Math.min(...rates);
  });
  return Math.max(...gaps);
}
