import { expect } from 'chai';

import { demographicParityDifference, equalizedOddsDifference } from '../../src/metrics/index.ts';
import type { CategoricalColumn } from '../../src/table/index.ts';
import { type DecisionQuality, judgeDecisions, constantModelWarnings } from '../../src/training/decision-quality.ts';

const options = { minGroupSize: 1, seed: 42 };

/** Creates groups 'a' and 'b' with the given numbers of rows. */
function groups(a: number, b: number, labels = ['a', 'b']): CategoricalColumn {
  return { kind: 'categorical', codes: Int32Array.from({ length: a + b }, (_, row) => Number(row >= a)), labels };
}

describe('the quality of decisions', () => {
  it('is the exact expectation for randomised decisions', () => {
    // Group a: labels 1, 1, 0, 0 with p 1, 0.5, 0.25, 0. Group b: labels 1, 0, 0 with p 0.5, 0.5, 0.75.
    const quality = judgeDecisions([1, 0.5, 0.25, 0, 0.5, 0.5, 0.75], Uint8Array.of(1, 1, 0, 0, 1, 0, 0), groups(4, 3), options); // prettier-ignore
    expect(quality.n).to.equal(7);
    // Correct: 1 + 0.5 + 0.75 + 1 in a, 0.5 + 0.5 + 0.25 in b.
    expect(quality.accuracy).to.be.closeTo(4.5 / 7, 1e-15);
    // Selected: 1.75 of 4 and 1.75 of 3.
    expect(quality.dpDiff).to.be.closeTo(1.75 / 3 - 1.75 / 4, 1e-15);
    // True positive rates are 0.75 and 0.5, false positive rates 0.125 and 0.625.
    expect(quality.eoDiff).to.be.closeTo(0.5, 1e-15);
    expect(quality.groups).to.deep.equal([
      { group: 'a', n: 4, selectionRate: 0.4375, truePositiveRate: 0.75, falsePositiveRate: 0.125 },
      { group: 'b', n: 3, selectionRate: 1.75 / 3, truePositiveRate: 0.5, falsePositiveRate: 0.625 },
    ]);
  });

  it('equals the metrics for deterministic decisions', () => {
    const decisions = Array.from({ length: 200 }, (_, row) => Number((row * 7) % 10 < (row < 120 ? 6 : 3)));
    const y = Uint8Array.from(decisions, (_, row) => Number((row * 3) % 7 < 3));
    const sensitive = groups(120, 80);
    const quality = judgeDecisions(decisions, y, sensitive, { ...options, minGroupSize: 30 });
    const dp = demographicParityDifference(decisions, sensitive, { withCi: true });
    const eo = equalizedOddsDifference([...y], decisions, sensitive, { withCi: true });
    expect([quality.dpDiff, quality.dpDiffCi]).to.deep.equal([dp.value, dp.ci]);
    expect([quality.eoDiff, quality.eoDiffCi]).to.deep.equal([eo.value, eo.ci]);
    expect(quality.accuracy).to.equal(decisions.filter((one, row) => one === y[row]).length / 200);
  });

  it('has the intervals of the same number of deterministic rows', () => {
    const y = Uint8Array.from({ length: 200 }, (_, row) => row % 2);
    const drawn = Array.from(y, (_, row) => Number(row % 4 < 2));
    const halves = Array.from(y, () => 0.5);
    const [plain, expected] = [drawn, halves].map((p) => judgeDecisions(p, y, groups(100, 100), options));
    expect(expected).to.deep.equal(plain);
  });

  it('counts the rows of groups exactly, for any rounding of probabilities', () => {
    const p = Array.from({ length: 60 }, (_, row) => 0.1 + row / 1000 / 3);
    const quality = judgeDecisions(p, new Uint8Array(60).fill(1, 10, 50), groups(30, 30), { ...options, minGroupSize: 30 }); // prettier-ignore
    expect(quality.groups.map(({ n }) => n)).to.deep.equal([30, 30]);
    // 30 steps of 1 / 3000 separate rows of the two groups; counts are kept to 2^-25.
    expect(quality.dpDiff).to.be.closeTo(0.01, 1e-7);
  });

  it('is NaN for rates without rows, and for gaps without two groups', () => {
    const quality = judgeDecisions([1, 0, 1], Uint8Array.of(1, 1, 1), groups(3, 0), options);
    expect(quality.groups).to.have.length(1);
    expect(quality.groups[0]?.falsePositiveRate).to.be.NaN;
    expect([quality.dpDiff, quality.eoDiff]).to.deep.equal([NaN, NaN]);
    expect([quality.dpDiffCi, quality.eoDiffCi]).to.deep.equal([null, null]);
  });

  it('renaming groups changes only labels', () => {
    const p = Array.from({ length: 100 }, (_, row) => (row % 10) / 9);
    const y = Uint8Array.from(p, (_, row) => Number(row % 3 === 0));
    const before = judgeDecisions(p, y, groups(60, 40), options);
    const after = judgeDecisions(p, y, groups(60, 40, ['__proto__', 'a||b']), options);
    expect([after.dpDiff, after.eoDiff, after.accuracy]).to.deep.equal([before.dpDiff, before.eoDiff, before.accuracy]);
    expect(after.groups.map(({ group }) => group)).to.deep.equal(['__proto__', 'a||b']);
  });
});

describe('a constraint that is met by one decision', () => {
  const quality = (first: number, second: number): DecisionQuality => ({
    n: 300,
    accuracy: 0.7,
    accuracyCi: [0.6, 0.8],
    dpDiff: 0,
    dpDiffCi: null,
    eoDiff: 0,
    eoDiffCi: null,
    groups: [
      { group: 'a', n: 200, selectionRate: first, truePositiveRate: 0, falsePositiveRate: 0 },
      { group: 'b', n: 100, selectionRate: second, truePositiveRate: 0, falsePositiveRate: 0 },
    ],
  });

  it('is a warning, unless the model without the constraint decides the same', () => {
    const warned = (final: DecisionQuality, baseline = quality(0.6, 0.3)): string =>
      constantModelWarnings({ baseline, final }).join();
    // (200 * 0.6 + 100 * 0.3) / 300 = 50%.
    expect(warned(quality(0.01, 0.01))).to.include('decides 0 for nearly all held-out rows (1.0% are 1, and 50.0% without the constraint)'); // prettier-ignore
    expect(warned(quality(1, 1))).to.include('decides 1 for nearly all held-out rows (100.0% are 1');
    expect(warned(quality(0.02, 0.01))).to.equal('');
    expect(warned(quality(0, 0), quality(0, 0.01))).to.equal('');
  });
});
