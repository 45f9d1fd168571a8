import { expect } from 'chai';

import { createRandom } from '../../../src/internal/random.ts';
import { FairnessABTestAnalyzer } from '../../../src/monitoring/ab-test/index.ts';

/** Returns the rows of an experiment without differences between arms, as columns. */
function fairRows(seed: number, n: number) {
  const random = createRandom(seed);
  return Array.from({ length: n }, () => {
    const group = random.next() < 0.4 ? 'f' : 'm';
    return { arm: random.next() < 0.5 ? 0 : 1, group, y: Number(random.next() < (group === 'f' ? 0.4 : 0.5)) };
  });
}

const analyzer = new FairnessABTestAnalyzer({ protected: ['group'], outcome: 'y' });

function compare(rows: ReturnType<typeof fairRows>, sequential: boolean) {
  const arm = (which: number) => rows.filter((row) => row.arm === which);
  return analyzer.analyze(arm(0), arm(1), { sequential }).rows[0];
}

describe('error rates without a change @study', () => {
  it('of a single analysis: near 5% of 1,000 experiments', () => {
    let claims = 0;
    for (let run = 0; run < 1000; run++) {
      claims += Number((compare(fairRows(run, 400), false)?.pValue ?? 1) <= 0.05);
    }
    // Three standard errors of 5% of 1,000 are 2.1 points.
    expect(claims / 1000).to.be.within(0.029, 0.071);
  });

  it('of an interim analysis after every 50 events up to 2,000: below 5% of 200 sequential experiments, far above 5% of ordinary ones', function () {
    this.timeout(120_000);
    let [sequential, ordinary] = [0, 0];
    for (let run = 0; run < 200; run++) {
      const rows = fairRows(5000 + run, 2000);
      const checks = Array.from({ length: 40 }, (_, check) => compare(rows.slice(0, 50 * (check + 1)), true));
      sequential += Number(checks.some((row) => (row?.pValue ?? 1) <= 0.05));
      ordinary += Number(
        checks.some((row) => Math.abs(row?.fairnessChange ?? 0) > 1.959964 * (row?.standardError ?? Infinity)),
      );
    }
    expect(sequential / 200).to.be.below(0.05);
    expect(ordinary / 200).to.be.above(0.15);
  });

  it('of the largest gap of three equal groups: its interval contains 0 in at least 95% of 120 experiments, up to chance', () => {
    let held = 0;
    for (let run = 0; run < 120; run++) {
      const random = createRandom(run, 17);
      const arm = () =>
        Array.from({ length: 240 }, (_, row) => ({ group: 'xyz'.charAt(row % 3), y: Number(random.next() < 0.3) }));
      const [low, high] = analyzer.analyze(arm(), arm()).comparisons[0]?.gap?.interval ?? [NaN, NaN];
      held += Number(low <= 0 && high >= 0);
    }
    // Three standard errors of 95% of 120 are 6 points.
    expect(held / 120).to.be.at.least(0.89);
  });

  it('of 20 attributes together: at least one reported change in near 5% of 200 experiments, by Benjamini and Hochberg', () => {
    const names = Array.from({ length: 20 }, (_, index) => `g${index}`);
    const many = new FairnessABTestAnalyzer({ protected: names, outcome: 'y' });
    let claims = 0;
    for (let run = 0; run < 200; run++) {
      const random = createRandom(run, 9);
      const arm = () =>
        Object.fromEntries([
          ...names.map((name) => [name, Array.from({ length: 200 }, () => (random.next() < 0.5 ? 'x' : 'y'))]),
          ['y', Array.from({ length: 200 }, () => Number(random.next() < 0.4))],
        ]) as Record<string, (string | number)[]>;
      claims += Number(many.analyze(arm(), arm()).rows.some(({ adjustedPValue }) => (adjustedPValue ?? 1) <= 0.05));
    }
    // Three standard errors of 5% of 200 are 4.6 points.
    expect(claims / 200).to.be.at.most(0.096);
  });
});
